//! Tests that the quantile results in the book equal the tables, and that errors keep their limits.

use super::table::{Line, Tables};
use super::{QUICK, tables};

const PAGE: &str = include_str!("../../../../../www/docs/src/why/quantiles.md");
const CROWDS: [&str; 9] = [
    "load", "log", "beta", "bimodal", "atom", "exp", "uniform", "timeout", "rounded",
];
const NAMES: [&str; 3] = ["p50", "p75", "p95"];
const PATTERN: &str = "hushbin, pattern";
const WAVE: &str = "Square Wave, EMS";
const BELOW: &str = "shares below edges";
const SMOOTHED: &str = "shares below edges, averaged over an eighth";
/// Number of repeats of the full preset, from which the page is made.
const FULL: u32 = 60;

/// Returns the rows of the table under a heading of the page, without its head.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, section) = PAGE.split_once(&format!("# {heading}\n")).unwrap();
    let section = section.split_once("\n# ").map_or(section, |(own, _)| own);
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.skip(1).map(cells).collect()
}

/// Formats a number with three significant digits.
fn rounded(value: f64) -> String {
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

/// Compares a table of 24 rows with the variances of an estimand.
fn check_variances(lines: &[Line], heading: &str, estimand: &str) {
    let rows = rows(heading);
    assert_eq!(rows.len(), 24);
    for row in rows {
        let [cells, epsilon] = [0, 1].map(|at| row[at].parse::<f64>().unwrap());
        let found = |mechanism: &str, estimand: &str| {
            let here = |line: &&Line| {
                (f64::from(line.items), line.epsilon) == (cells, epsilon)
                    && (line.mechanism.as_str(), line.estimand.as_str()) == (mechanism, estimand)
                    && !line.metric.ends_with("over the lower bound")
            };
            rounded(lines.iter().find(here).unwrap().mean)
        };
        let all = [PATTERN, "hierarchy", "choice of a cell", "window"];
        let mut expected = all.map(|mechanism| found(mechanism, estimand)).to_vec();
        if estimand == BELOW {
            expected.push(found("any unbiased mechanism", BELOW));
        }
        assert_eq!(row[2..], expected, "{row:?}");
    }
}

#[test]
fn tables_of_variances_are_what_is_found() {
    let lines = Tables::new(QUICK.path()).of("quantiles");
    check_variances(&lines, "Computed variances", BELOW);
    check_variances(&lines, "Computed variances after smoothing", SMOOTHED);
}

/// Returns the line of a mean squared error.
fn error<'a>(lines: &'a [Line], mechanism: &str, estimand: &str, at: (u64, f64)) -> &'a Line {
    let here = |line: &&Line| {
        (line.people, line.epsilon) == at
            && (line.mechanism.as_str(), line.estimand.as_str()) == (mechanism, estimand)
            && line.metric == "MSE"
    };
    lines.iter().find(here).unwrap()
}

/// Returns the geometric mean over crowds of root mean square errors relative to Square Wave's.
fn mean_ratio(lines: &[Line], mechanism: &str, name: &str, at: (u64, f64)) -> f64 {
    let of_crowd = |crowd| {
        let estimand = format!("{name}, {crowd}");
        let [own, wave] = [mechanism, WAVE].map(|own| error(lines, own, &estimand, at).mean);
        0.5 * (own / wave).ln()
    };
    (CROWDS.map(of_crowd).iter().sum::<f64>() / CROWDS.len() as f64).exp()
}

/// The page is from a run of the full preset, which `HUSHBIN_EVALUATION` can name.
#[test]
fn the_table_of_errors_is_what_a_full_run_finds() {
    let lines = tables().of("quantiles");
    let rows = rows("Errors");
    assert_eq!(rows.len(), 12);
    if lines.iter().all(|line| line.repeats != FULL) {
        return;
    }
    for row in rows {
        let at = (
            row[0].replace(' ', "").parse().unwrap(),
            row[1].parse().unwrap(),
        );
        let of = |mechanism| NAMES.map(|name| mean_ratio(&lines, mechanism, name, at));
        let found = [PATTERN, "hierarchy", "choice of 32"].map(of).concat();
        let found: Vec<String> = found.iter().map(|own| format!("{own:.2}")).collect();
        assert_eq!(row[2..], found, "{row:?}");
    }
}

/// Returns the logarithm of the ratio of two root mean square errors, and its standard error.
fn distance(own: &Line, other: &Line) -> [f64; 2] {
    let relative = |line: &Line| line.standard_error / line.mean;
    [
        0.5 * (own.mean / other.mean).ln(),
        0.5 * relative(own).hypot(relative(other)),
    ]
}

#[test]
fn all_losses_of_a_full_run_are_listed() {
    let lines = tables().of("quantiles");
    let rows = rows("Where another mechanism is better");
    assert!(!rows.is_empty());
    if lines.iter().all(|line| line.repeats != FULL) {
        return;
    }
    let mut found = Vec::new();
    let own = (lines.iter()).filter(|line| line.mechanism == PATTERN && line.metric == "MSE");
    for line in own {
        for mechanism in [WAVE, "hierarchy"] {
            let at = (line.people, line.epsilon);
            let [log, deviation] = distance(line, error(&lines, mechanism, &line.estimand, at));
            if log > 3.0 * deviation {
                found.push(vec![
                    line.estimand.clone(),
                    line.people.to_string(),
                    line.epsilon.to_string(),
                    mechanism.to_owned(),
                    format!("{:.2}", log.exp()),
                ]);
            }
        }
    }
    let mut listed: Vec<Vec<String>> = (rows.into_iter())
        .map(|row| row.into_iter().map(str::to_owned).collect())
        .collect();
    found.sort();
    listed.sort();
    assert_eq!(listed, found);
}

/// Four repeats suffice for means over crowds and quantiles, and for all intervals together.
#[test]
fn errors_are_below_square_waves_and_intervals_cover() {
    let lines = Tables::new(QUICK.path()).of("quantiles");
    for epsilon in [1.0, 2.0] {
        let ratios = NAMES.map(|name| mean_ratio(&lines, PATTERN, name, (100_000, epsilon)));
        assert!(
            ratios.iter().all(|own| *own < 0.95),
            "{epsilon}: {ratios:?}"
        );
    }
    let covered = lines
        .iter()
        .filter(|line| line.metric.starts_with("covered"));
    let (sum, count) = covered.fold((0.0, 0.0), |(sum, count), line| {
        (sum + line.mean, count + 1.0)
    });
    assert_eq!(count, 2.0 * 2.0 * 9.0 * 3.0);
    assert!(sum / count > 0.97, "{}", sum / count);
}
