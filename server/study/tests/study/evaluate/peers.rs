//! Tests that the book's page of published mechanisms has the numbers of the experiment.

use std::sync::LazyLock;

use tempfile::TempDir;

use super::table::{Line, Tables};
use crate::study;

const PAGE: &str = include_str!("../../../../../www/docs/src/why/peers.md");

/// Results of this experiment alone.
static FOUND: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let output = study(&["experiments", "--only", "peers", "--out", out]);
    assert!(output.status.success(), "{output:?}");
    directory
});

fn lines() -> Vec<Line> {
    Tables::new(FOUND.path()).of("peers")
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// Head and rows of the table whose head begins with `begins`.
fn table(begins: &str) -> (Vec<&'static str>, Vec<Vec<&'static str>>) {
    let mut lines = PAGE.lines().skip_while(|line| !line.starts_with(begins));
    let head = cells(lines.next().unwrap());
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    (head, rows.map(cells).collect())
}

fn value(lines: &[Line], estimand: &str, metric: &str, mechanism: &str, at: (u32, f64)) -> f64 {
    let mut found = lines.iter().filter(|line| {
        (line.items, line.epsilon) == at
            && (line.estimand.as_str(), line.metric.as_str()) == (estimand, metric)
            && line.mechanism == mechanism
    });
    let line = found.next();
    let line = line.unwrap_or_else(|| panic!("{estimand}, {metric}, {mechanism}, {at:?}"));
    assert!(found.next().is_none(), "{line:?} is not alone");
    line.mean
}

/// Formats three significant digits, as on the page.
fn digits(value: f64) -> String {
    let value: f64 = format!("{value:.2e}").parse().unwrap();
    let places = 2.0 - value.log10().floor();
    format!("{value:.*}", places.max(0.0) as usize)
}

#[test]
fn variances_of_one_number_are_those_found() {
    let lines = lines();
    let (head, rows) = table("| ε | hushbin |");
    assert_eq!(rows.len(), 16);
    for row in rows {
        let at = (1, row[0].parse().unwrap());
        for (name, cell) in head.iter().zip(&row).skip(1) {
            let (metric, mechanism) = match *name {
                "hushbin" => ("worst variance", "hushbin window"),
                "lower bound" => ("least worst variance", "lower bound"),
                name => ("worst variance", name),
            };
            let found = value(&lines, "one number", metric, mechanism, at);
            assert_eq!(*cell, digits(found), "{row:?}, {name}");
        }
    }
}

#[test]
fn quotients_of_one_number_are_those_found() {
    let lines = lines();
    let (head, rows) = table("| ε | worst |");
    assert_eq!((head.len(), rows.len()), (9, 16));
    for row in rows {
        let at = (1, row[0].parse().unwrap());
        for (name, cell) in head.iter().zip(&row).skip(1) {
            let (metric, over) = match *name {
                "worst" => ("worst variance", "over the best published"),
                "uniform" => ("mean variance", "over the best published"),
                "uniform, for the average" => {
                    ("hushbin window, for the average", "over the best published")
                }
                "normal" => ("mean variance, N(0, 1/16)", "over the best published"),
                "skewed" => ("mean variance, -1 + Exp(0.2)", "over the best published"),
                "both ends" => ("mean variance, halves at ±1", "over the best published"),
                "middle" => ("mean variance, all at 0", "over the best published"),
                "worst over the bound" => ("worst variance", "over the lower bound"),
                name => panic!("{name}"),
            };
            let found = value(&lines, "one number, quotients", over, metric, at);
            assert_eq!(*cell, digits(found), "{row:?}, {name}");
        }
    }
}

#[test]
fn quotients_of_numbers_and_choices_are_those_found() {
    let lines = lines();
    for (letter, estimand, count) in [
        ("d", "several numbers, quotients", 2 * 5 * 6),
        ("k", "a choice, quotients", 2 * 8 * 8),
    ] {
        let (head, rows) = table(&format!("| {letter} | variance |"));
        let mut compared = 0;
        for row in rows {
            let items = row[0].parse().unwrap();
            let mechanism = format!("{letter} = {items}");
            let metric = format!("{} variance over the best published", row[1]);
            for (name, cell) in head.iter().zip(&row).skip(2) {
                let epsilon = name.trim_start_matches("ε = ").parse().unwrap();
                let found = value(&lines, estimand, &metric, &mechanism, (items, epsilon));
                assert_eq!(*cell, digits(found), "{row:?}, {name}");
                compared += 1;
            }
        }
        assert_eq!(compared, count);
    }
}

/// Checks the sentences of the page that count cells or that bound quotients.
#[test]
fn sentences_say_how_often_and_by_how_much() {
    let lines = lines();
    let above = |metric: &str, estimand: &str| -> Vec<f64> {
        let wanted = lines
            .iter()
            .filter(|line| line.estimand == estimand && line.metric == metric);
        wanted
            .map(|line| line.mean)
            .filter(|own| *own > 1.0)
            .collect()
    };
    let [worst, mean] =
        ["worst", "mean"].map(|of| format!("{of} variance over the best published"));
    assert!(above(&worst, "several numbers, quotients").is_empty());
    let lost = above(&mean, "several numbers, quotients");
    assert_eq!(lost.len(), 8);
    assert!(PAGE.contains("eight of its cells are above 1"));
    let most = lost.into_iter().fold(0.0, f64::max);
    assert!(PAGE.contains(&format!("by at most {:.0} per cent", 100.0 * (most - 1.0))));
    assert_eq!(above(&worst, "a choice, quotients").len(), 22);
    assert!(PAGE.contains("22 cells are above 1"));
    let lost = above(&mean, "a choice, quotients");
    assert_eq!(lost.len(), 3);
    let most = lost.into_iter().fold(0.0, f64::max);
    assert!(PAGE.contains(&format!(
        "at most {:.3} per cent to subset",
        100.0 * (most - 1.0)
    )));
    let bounds = above("over the lower bound", "one number, quotients");
    assert_eq!(bounds.len(), 16);
    let most = bounds.into_iter().fold(0.0, f64::max);
    assert!(PAGE.contains(&format!("{most:.3} at ε = 6")));
    assert!(PAGE.contains(&format!(
        "gain at most {:.1} per cent",
        100.0 * (1.0 - 1.0 / most)
    )));
}
