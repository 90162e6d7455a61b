//! Tests of the comparison of protocols through a shuffler: errors are those predicted, predictions
//! are known numbers, and the book's page has the numbers of the experiment.

use std::sync::LazyLock;

use tempfile::TempDir;

use super::table::{Line, Tables};
use crate::study;

const PAGE: &str = include_str!("../../../../../www/docs/src/why/shuffled.md");

/// Results of this experiment alone.
static FOUND: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let output = study(&["experiments", "--only", "shuffled", "--out", out]);
    assert!(output.status.success(), "{output:?}");
    directory
});

fn lines() -> Vec<Line> {
    Tables::new(FOUND.path()).of("shuffled")
}

/// Crowd and question of a row: what is estimated, people, options or numbers, and true share.
#[derive(Debug, Clone, Copy)]
struct Crowd(&'static str, u64, u32, f64);

/// Value of a metric, or `None` if the protocol has no such row.
fn value(lines: &[Line], crowd: Crowd, mechanism: &str, metric: &str) -> Option<f64> {
    let Crowd(estimand, people, items, share) = crowd;
    let mut found = lines.iter().filter(|line| {
        (line.people, line.items, line.parameter) == (people, items, share)
            && (line.estimand.as_str(), line.metric.as_str()) == (estimand, metric)
            && (line.mechanism.as_str(), line.epsilon) == (mechanism, 1.0)
    });
    let line = found.next()?;
    assert!(found.next().is_none(), "{line:?} is not alone");
    Some(line.mean)
}

/// Measured errors are within six of their standard errors of the predicted ones. If predictions are
/// right, any of the rows fails by chance for fewer than one seed in 10⁴. The study's seed is fixed.
#[test]
fn errors_are_those_predicted() {
    let lines = lines();
    let of = |metric: &'static str| lines.iter().filter(move |line| line.metric == metric);
    let mut compared = 0;
    for (ratio, error) in
        of("measured over predicted").zip(of("standard error of measured over predicted"))
    {
        assert!(ratio.is_beside(error) && ratio.parameter == error.parameter);
        let distance = (ratio.mean - 1.0) / error.mean;
        assert!(
            distance.abs() < 6.0,
            "{ratio:?}: {distance} standard errors"
        );
        assert!((1e-4..0.07).contains(&error.mean), "{error:?}");
        compared += 1;
    }
    // Seven protocols, three values of ε and three numbers of people: three questions with three
    // shares, and means of three numbers of numbers. At ε = 0.5, 1,000 people are too few for
    // hushbin's noise about 1,000 options, and for three grids with the closed form.
    assert_eq!(compared, 7 * 9 * (3 * 3 + 3) - 3 - 3);
    // Over all rows, ratios are neither too high nor too low: within 1 per cent on average.
    let ratios = of("measured over predicted").map(|line| line.mean);
    let mean = ratios.sum::<f64>() / f64::from(compared);
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
}

/// Checks a number of two digits, as printed.
#[track_caller]
fn printed(found: f64, known: f64) {
    let unit = 10_f64.powf(known.log10().floor() - 1.0);
    assert!((found - known).abs() <= 0.51 * unit, "{found}, {known}");
}

/// Standard errors of the share of a rare option: options, people; hushbin, local reports, and
/// geometric or Gaussian noise of a trusted server.
#[test]
fn histograms_have_the_known_errors() {
    let lines = lines();
    for (options, people, known) in [
        (1, 100_000, [4.9e-5, 3.0e-3, 1.4e-5, 4.2e-5]),
        (16, 100_000, [6.7e-5, 5.6e-3, 2.8e-5, 6.0e-5]),
        (1_000, 100_000, [6.9e-5, 6.1e-3, 2.8e-5, 6.0e-5]),
        (1_000, 10_000, [6.9e-4, 1.9e-2, 2.8e-4, 6.0e-4]),
        (16, 1_000, [6.6e-3, 5.6e-2, 2.8e-3, 6.0e-3]),
    ] {
        let mechanisms = [
            "hushbin",
            "local reports",
            "central geometric noise",
            "central Gaussian noise",
        ];
        for (mechanism, known) in mechanisms.iter().zip(known) {
            let crowd = Crowd("share", people, options, 0.0);
            printed(
                value(&lines, crowd, mechanism, "standard error").unwrap(),
                known,
            );
        }
    }
    for (share, known) in [(0.0, 6.6e-5), (0.1, 5.8e-4), (0.5, 1.3e-3)] {
        let crowd = Crowd("share", 100_000, 1_000, share);
        printed(
            value(&lines, crowd, "single message", "standard error").unwrap(),
            known,
        );
        printed(
            value(&lines, crowd, "single message", "local ε of a message").unwrap(),
            8.0,
        );
        printed(
            value(&lines, crowd, "dummies of the shuffler", "standard error").unwrap(),
            2.8e-5,
        );
        // Noise does not depend on the true share.
        printed(
            value(&lines, crowd, "hushbin", "standard error").unwrap(),
            6.9e-5,
        );
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// Head and rows of the table below a heading.
fn table(heading: &str) -> (Vec<&'static str>, Vec<Vec<&'static str>>) {
    let section = PAGE.split(heading).nth(1).unwrap();
    let mut lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let head = cells(lines.next().unwrap());
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    (head, rows.map(cells).collect())
}

/// Formats an error as in the page's tables.
fn digits(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.01 => format!("{value:.1e}"),
        Some(value) => format!("{value:.3}"),
    }
}

/// Formats a number of messages as in the page's tables.
fn messages(value: f64) -> String {
    let places = usize::from(value.fract() != 0.0 && value < 100.0);
    format!("{value:.places$}")
}

/// Checks the tables of errors. Their first columns name the question, and the others are protocols.
#[test]
fn tables_of_errors_have_what_is_found() {
    let lines = lines();
    for (heading, estimand, keys, count) in [
        ("## Shares that nobody has", "share", 2, 9),
        ("## Popular options", "share", 3, 6),
        ("## Means", "mean", 2, 9),
    ] {
        let (head, rows) = table(heading);
        assert_eq!(rows.len(), count, "{heading}");
        for row in rows {
            let items = if row[0] == "flag" {
                1
            } else {
                row[0].parse().unwrap()
            };
            let share = if keys == 3 {
                row[2].parse().unwrap()
            } else {
                0.0
            };
            let crowd = Crowd(estimand, row[1].parse().unwrap(), items, share);
            for (mechanism, cell) in head.iter().zip(&row).skip(keys) {
                let found = value(&lines, crowd, mechanism, "standard error");
                assert_eq!(*cell, digits(found), "{row:?}, {mechanism}");
            }
        }
    }
}

/// Checks the tables of costs, whose columns are the costs of one protocol each.
#[test]
fn tables_of_costs_have_what_is_found() {
    let lines = lines();
    for (heading, estimand, count) in [
        ("## Costs of a histogram", "share", 9),
        ("## Costs of means", "mean", 9),
    ] {
        let (head, rows) = table(heading);
        assert_eq!(rows.len(), count, "{heading}");
        for row in rows {
            let items = if row[0] == "flag" {
                1
            } else {
                row[0].parse().unwrap()
            };
            let crowd = Crowd(estimand, row[1].parse().unwrap(), items, 0.0);
            for (mechanism, cell) in head.iter().zip(&row).skip(2) {
                let found = |metric| value(&lines, crowd, mechanism, metric);
                let [count, bytes] =
                    ["messages of a person", "bytes"].map(|metric| found(metric).unwrap());
                let expected = format!("{}; {bytes:.0}", messages(count));
                assert_eq!(*cell, expected, "{row:?}, {mechanism}");
            }
        }
    }
}

/// Checks the sentences of the page that compare two protocols.
#[test]
fn sentences_say_by_how_much() {
    let lines = lines();
    let ratio = |crowd, metric, one: &str, other: &str| {
        let [one, other] = [one, other].map(|own| value(&lines, crowd, own, metric).unwrap());
        one / other
    };
    let error = "standard error";
    let rare = |people, options| Crowd("share", people, options, 0.0);
    let says = |sentence: String| assert!(PAGE.contains(&sentence), "{sentence}");
    let times = ratio(rare(100_000, 16), error, "local reports", "hushbin");
    says(format!(
        "local reports have {times:.0} times the error of hushbin"
    ));
    let times = ratio(
        rare(100_000, 16),
        error,
        "hushbin",
        "central geometric noise",
    );
    says(format!(
        "hushbin has {times:.1} times the error of geometric noise"
    ));
    let less = 1.0 - ratio(rare(1_000, 1_000), error, "single message", "hushbin");
    says(format!(
        "up to {:.0} per cent less error than hushbin",
        100.0 * less
    ));
    let popular = Crowd("share", 100_000, 1_000, 0.5);
    let times = ratio(popular, error, "single message", "hushbin");
    says(format!("its error is {times:.0} times hushbin's"));
    let times = ratio(
        rare(100_000, 1_000),
        "messages of a person",
        "coins and cap",
        "hushbin",
    );
    says(format!("up to {times:.1} times as many messages"));
    let exact = "zero-sum tuples, exact composition";
    let one = Crowd("mean", 100_000, 1, 0.0);
    let less = ratio(one, error, exact, "hushbin");
    let more = ratio(one, "bytes", exact, "hushbin");
    says(format!(
        "have {less:.2} of hushbin's error for one number, with {more:.1} times as many bytes"
    ));
    let many = Crowd("mean", 100_000, 16, 0.0);
    let times = ratio(many, error, exact, "hushbin");
    says(format!(
        "for 16 numbers they have {times:.1} times its error"
    ));
}

/// The page shows an output of `hushbin plan`, which another test compares with the program's. Its
/// error is that of hushbin's row.
#[test]
fn the_plan_on_the_page_has_the_same_error() {
    let crowd = Crowd("share", 100_000, 16, 0.0);
    let found = value(&lines(), crowd, "hushbin", "standard error").unwrap();
    assert!(
        PAGE.contains(&format!("\nerror     each: {found:.4e};")),
        "{found:.4e}"
    );
}
