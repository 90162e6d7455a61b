//! Tests of `hushbin-study compare`: its output matches the library.

use hushbin_study::competitors::{Budget, ComparedQuestion, compare_mechanisms};

use crate::study;

#[test]
fn the_command_says_what_the_library_does() {
    for (words, asked) in [
        (
            &["--options", "40"][..],
            ComparedQuestion::Choice { options: 40 },
        ),
        (
            &["--attributes", "16"],
            ComparedQuestion::Numbers { attributes: 16 },
        ),
        (&["--number"], ComparedQuestion::Number),
    ] {
        let budget = ["--epsilon", "2", "--delta", "1e-6", "--people", "5000"];
        let arguments = [&["compare"], words, &budget].concat();
        let printed = study(&[&arguments[..], &["--json"]].concat()).stdout;
        let printed: serde_json::Value = serde_json::from_slice(&printed).unwrap();
        let table = compare_mechanisms(asked, &Budget::new(2.0, 1e-6).unwrap(), 5000).unwrap();
        assert_eq!(printed, serde_json::to_value(&table).unwrap());

        let text = String::from_utf8(study(&arguments).stdout).unwrap();
        assert!(text.contains("ε = 2, δ = 1e-6, 5000 people"), "{text}");
        let lines: Vec<&str> = text.lines().skip(5).collect();
        assert_eq!(lines.len(), table.rows.len(), "{text}");
        for (line, row) in lines.iter().zip(&table.rows) {
            let variance = row.variance.unwrap();
            let worst = format!("{:.5}", variance.worst);
            let error = format!("{:.5}", row.standard_error.unwrap());
            assert!(line[2..].starts_with(row.mechanism), "{line}");
            assert!(line.contains(&worst) && line.ends_with(&error), "{line}");
        }
        assert!(lines[0].starts_with("* hushbin") && lines[0].contains(" 1.000 "));
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let none = study(&["compare", "--options", "3", "--epsilon", "1"]);
    let none = String::from_utf8(none.stdout).unwrap();
    assert!(
        none.contains("Gaussian                 none: delta is 0"),
        "{none}"
    );
    for (arguments, text) in [
        ("compare --epsilon 1", "--options"),
        (
            "compare --number --options 3 --epsilon 1",
            "cannot be used with",
        ),
        ("compare --options 1 --epsilon 1", "options is 1"),
        ("compare --attributes 0 --epsilon 1", "attributes is 0"),
        ("compare --number --epsilon 13", "epsilon is 13"),
        ("compare --number --epsilon 1 --delta 0.6", "delta is 0.6"),
        ("compare --number --epsilon 1 --people 0", "people is 0"),
    ] {
        let failed = study(&arguments.split_whitespace().collect::<Vec<_>>());
        assert!(!failed.status.success(), "{arguments}");
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(error.contains(text), "{arguments}: {error}");
    }
}
