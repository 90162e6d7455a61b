//! The table of the README is what the quick preset finds.

use super::table::Tables;
use super::{QUICK, table::Line};

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_table_of_errors_is_what_is_found() {
    let (_, rest) = README
        .split_once("\n### Beside what others published\n")
        .unwrap();
    let own = rest.split("\n### ").next().unwrap();
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
    let mut rows = 0;
    for row in own.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [mechanism, mean, frequency] = cells[..] else {
            panic!("{row}")
        };
        assert_eq!(mean, found(mechanism, "mean"), "{row}");
        assert_eq!(frequency, found(mechanism, "frequency"), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 10);
}
