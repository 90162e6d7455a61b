//! Tests that the accuracy figures in the book equal the results of the quick preset.

use super::QUICK;
use super::table::{Line, Tables};

const PUBLISHED: &str = include_str!("../../../../../www/docs/src/why/published.md");
const WAYS: &str = include_str!("../../../../../www/docs/src/why/ways.md");
const TEXTS: &str = include_str!("../../../../../www/docs/src/ask/texts.md");
const SUMS: &str = include_str!("../../../../../www/docs/src/privacy/sums.md");

/// Cells of the rows of a page's table, without its head.
fn rows(page: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.skip(1).map(cells)
}

#[test]
fn the_table_of_errors_is_what_is_found() {
    let lines = Tables::new(QUICK.path()).of("p1-ratings");
    let found = |mechanism: &str, estimand: &str| {
        let here = |line: &&Line| {
            (line.people, line.items, line.sparsity) == (10_000, 256, 16)
                && line.epsilon == 1.0
                && line.mechanism == mechanism
                && line.estimand == estimand
                && line.metric == "MSE"
        };
        let line = lines.iter().find(here);
        line.map_or("–".to_owned(), |line| {
            assert_eq!(line.repeats, 10);
            format!("{:.4}", line.mean)
        })
    };
    let mut compared = 0;
    for row in rows(PUBLISHED) {
        let [mechanism, mean, frequency] = row[..] else {
            panic!("{row:?}")
        };
        assert_eq!(mean, found(mechanism, "mean"), "{row:?}");
        assert_eq!(frequency, found(mechanism, "frequency"), "{row:?}");
        compared += 1;
    }
    assert_eq!(compared, 10);
}

/// Mean of the only line that passes `wanted`.
fn way(lines: &[Line], wanted: impl Fn(&Line) -> bool) -> f64 {
    let mut found = lines.iter().filter(|line| wanted(line));
    let line = found.next().expect("there is such a way");
    assert!(found.next().is_none(), "{line:?} is not alone");
    line.mean
}

#[test]
fn ways_to_ask_take_what_is_said_beside_each_other() {
    let lines = Tables::new(QUICK.path()).of("ways");
    let mut compared = 0;
    for row in rows(WAYS) {
        let [own, beside, ratios @ ..] = &row[..] else {
            panic!("{row:?}")
        };
        for (ratio, epsilon) in ratios.iter().zip([0.5, 1.0, 2.0, 3.0, 4.0]) {
            let found = way(&lines, |line| {
                (line.mechanism.as_str(), line.epsilon) == (own, epsilon)
                    && line.estimand == format!("beside {beside}")
            });
            assert_eq!(*ratio, format!("{found:.2}"), "{row:?}, {epsilon}");
            compared += 1;
        }
    }
    assert_eq!(compared, 17 * 5);
}

/// Checks that a page contains a sentence, with its numbers in the page's format.
fn says(page: &str, sentence: &str) {
    assert!(page.contains(sentence), "{sentence}");
}

#[test]
fn sentences_with_numbers_say_what_is_found() {
    let tables = Tables::new(QUICK.path());
    let lines = tables.of("ways");
    let [one, two, four] = [1.0, 2.0, 4.0].map(|epsilon| {
        100.0
            * way(&lines, |line| {
                line.metric == "share" && line.epsilon == epsilon
            })
    });
    let found = format!(
        "if {one:.2} per cent of them have it at ε = 1, {two:.2} at ε = 2, {four:.2} at ε = 4;"
    );
    says(TEXTS, &found);
    let sparse = tables.of("p3-sparse");
    let [bits, ours] = ["naive bits, event", "hushbin"].map(|mechanism| {
        way(&sparse, |line| {
            (line.mechanism.as_str(), line.items, line.sparsity) == (mechanism, 256, 16)
                && (line.estimand.as_str(), line.metric.as_str()) == ("mean, event level", "MSE")
        })
    });
    let ratio = bits / ours;
    let found = format!("{ratio:.2} of it where people have 16 of 256 items");
    says(PUBLISHED, &found);
}

/// Errors of sums through a shuffler, and the bytes that a person sends.
#[test]
fn the_table_of_sums_is_what_is_found() {
    let lines = Tables::new(QUICK.path()).of("ways");
    let mut compared = 0;
    for row in rows(SUMS) {
        // Other tables of the page do not begin with two numbers.
        let [Ok(numbers), Ok(people)] = [0, 1].map(|cell| row[cell].parse::<u64>()) else {
            continue;
        };
        let found = |mechanism: &str, metric: &str| {
            way(&lines, |line| {
                (u64::from(line.items), line.people) == (numbers, people)
                    && (line.mechanism.as_str(), line.metric.as_str()) == (mechanism, metric)
            })
        };
        let [through, private] = ["numbers through a shuffler", "numbers, private reports"];
        let expected = [
            format!("{:.5}", found(through, "standard error")),
            format!("{:.4}", found(private, "standard error")),
            found(through, "messages").to_string(),
            found(through, "bytes").to_string(),
        ];
        assert_eq!(row[2..], expected, "{row:?}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}
