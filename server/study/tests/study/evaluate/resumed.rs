//! Tests of an interrupted study, and of the page's contents.

use std::fs;
use std::path::Path;

use super::directory;
use super::table::Tables;
use crate::study;

const EXPERIMENTS: [&str; 2] = ["p1-buckets", "p2-ratings"];

fn evaluate(out: &Path, more: &[&str]) -> std::process::Output {
    let out = out.to_str().unwrap();
    let mut words = vec!["experiments", "--out", out];
    words.extend(more);
    study(&words)
}

fn some(out: &Path, seed: &str) -> std::process::Output {
    let only = EXPERIMENTS.iter().flat_map(|name| ["--only", name]);
    let words: Vec<&str> = only.chain(["--seed", seed]).collect();
    evaluate(out, &words)
}

fn tables(out: &Path) -> Vec<String> {
    let read = |name: &&str| fs::read_to_string(out.join(format!("tables/{name}.csv"))).unwrap();
    let names = EXPERIMENTS.iter().chain(&["wins"]);
    names.map(read).collect()
}

/// A study is interrupted in the middle of a line and loses a file of runs. The resumed study gives
/// the same tables. Another seed gives other tables, and is refused in the same directory.
#[test]
fn it_comes_out_the_same_wherever_it_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let [whole, cut, other] = ["whole", "cut", "other"].map(|name| directory.path().join(name));
    assert!(some(&whole, "7").status.success());
    assert!(some(&cut, "7").status.success());
    let runs = cut.join("runs/p2-ratings.jsonl");
    let bytes = fs::read(&runs).unwrap();
    fs::write(&runs, &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(cut.join("runs/p1-buckets.jsonl")).unwrap();
    assert!(some(&cut, "7").status.success());
    assert_eq!(tables(&cut), tables(&whole));

    let refused = some(&whole, "8");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(
        said.contains("seed 7") && said.contains("another directory"),
        "{said}"
    );
    assert!(some(&other, "8").status.success());
    assert_ne!(tables(&other), tables(&whole));
}

#[test]
fn what_there_is_not_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let refused = evaluate(directory.path(), &["--only", "p9"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(
        said.contains("p1-ratings") && said.contains("p3-sparse"),
        "{said}"
    );
    let refused = evaluate(directory.path(), &["--data", "none.txt"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && said.contains("none.txt"),
        "{said}"
    );
}

/// A model is learned from a table of people. A file that is not a table of people is refused.
#[test]
fn people_of_a_table_are_learned_from() {
    let directory = tempfile::tempdir().unwrap();
    let [table, out] = ["people.CSV", "out"].map(|name| directory.path().join(name));
    // Income grows with age; it is lower in towns.
    let person = |row: u32| {
        let (age, town) = (row * 37 % 60, row.is_multiple_of(3));
        let place = if town { "town" } else { "country" };
        let income = 100 * age + if town { 0 } else { 1500 } + row * 7 % 500;
        format!("{age},{place},{income}\n")
    };
    let rows: String = (0..20_000).map(person).collect();
    fs::write(&table, format!("age,place,income\n{rows}")).unwrap();
    let words = ["--only", "people", "--data", table.to_str().unwrap()];
    let learned = evaluate(&out, &words);
    assert!(learned.status.success(), "{learned:?}");
    let lines = Tables::new(&out).of("learning-people");
    let error = |mechanism: &str| {
        let mut found = lines.iter().filter(|line| {
            (line.mechanism.as_str(), line.metric.as_str()) == (mechanism, "misclassified")
                && line.epsilon == 8.0
                && line.estimand == "logistic regression, people"
        });
        found.next().unwrap().mean
    };
    let [plain, private] = ["without privacy", "hushbin, window"].map(error);
    assert!(plain < 0.1 && private < plain + 0.1, "{plain} {private}");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("20000 people") && !page.contains("best competitor"));

    let twice = [&words[..], &words[2..]].concat();
    let refused = evaluate(&out, &twice);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("two data sets") && said.contains("learning-people"),
        "{said}"
    );
    fs::write(&table, "age,income\n1,2\n").unwrap();
    let refused = evaluate(&out, &words);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("people.CSV") && said.contains("1 rows are too few"),
        "{said}"
    );
}

/// Every figure on the page exists and has alternative text, and every experiment has a table.
#[test]
fn the_page_shows_all_that_was_found() {
    let directory = directory();
    let page = fs::read_to_string(directory.join("index.html")).unwrap();
    let mut figures = 0;
    for shown in page.split("<img src=\"").skip(1) {
        let (file, rest) = shown.split_once('"').unwrap();
        let drawing = fs::read_to_string(directory.join(file)).unwrap();
        assert!(
            drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"),
            "{file}"
        );
        let (_, words) = rest.split_once("alt=\"").unwrap();
        assert!(words.split('"').next().unwrap().len() > 20, "{file}");
        figures += 1;
    }
    let drawn = fs::read_dir(directory.join("figures")).unwrap().count();
    assert_eq!(figures, drawn);
    assert!(figures > 20, "{figures}");
    for experiment in fs::read_dir(directory.join("runs")).unwrap() {
        let name = experiment.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".jsonl").unwrap();
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        assert!(
            directory.join(format!("tables/{name}.csv")).exists(),
            "{name}"
        );
    }
    // The number of listed cells equals the number of lost cells.
    let wins = fs::read_to_string(directory.join("tables/wins.csv")).unwrap();
    let lost = wins.lines().filter(|line| line.ends_with(",true")).count();
    assert_eq!(
        page.matches("<li>").count() - page.matches("<li><a").count(),
        lost
    );
}
