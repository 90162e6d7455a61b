//! Comparison of the errata's tables with the tests' results.

const DOCUMENT: &str = include_str!("../../../server/analysis/src/docs/errata.md");

/// Returns the headers of all tables.
pub fn headers() -> impl Iterator<Item = &'static str> {
    let before = |rule: &str| rule.starts_with("|-");
    DOCUMENT
        .lines()
        .zip(DOCUMENT.lines().skip(1))
        .filter_map(move |(header, rule)| before(rule).then_some(header))
}

/// Checks that the table with this header has exactly these rows.
pub fn assert_table(header: &str, rows: &[String]) {
    let printed: Vec<&str> = DOCUMENT
        .lines()
        .skip_while(|line| *line != header)
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(printed == rows, "{header}\ncomputed:\n{}", rows.join("\n"));
}
