//! Reads the tables that a study wrote.

use std::fs;
use std::path::{Path, PathBuf};

/// Tables of a directory.
pub(super) struct Tables(PathBuf);

/// A line of a table.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) people: u64,
    pub(super) items: u32,
    pub(super) sparsity: u32,
    pub(super) epsilon: f64,
    pub(super) parameter: f64,
    pub(super) mechanism: String,
    pub(super) estimand: String,
    pub(super) metric: String,
    pub(super) repeats: u32,
    pub(super) mean: f64,
    pub(super) standard_error: f64,
}

impl Line {
    /// Returns true if both lines have the same crowd, mechanism and estimand.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        let key = |own: &Self| {
            let Self {
                people,
                items,
                sparsity,
                epsilon,
                ..
            } = *own;
            let (mechanism, estimand) = (own.mechanism.clone(), own.estimand.clone());
            (
                people,
                items,
                sparsity,
                epsilon.to_bits(),
                mechanism,
                estimand,
            )
        };
        key(self) == key(other)
    }
}

impl Tables {
    pub(super) fn new(directory: &Path) -> Self {
        Self(directory.join("tables"))
    }

    /// Reads the table of an experiment.
    pub(super) fn of(&self, experiment: &str) -> Vec<Line> {
        let path = self.0.join(format!("{experiment}.csv"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let line = |record: csv::StringRecord| {
            let text = |name: &str| {
                let place = head.iter().position(|own| own == name).unwrap();
                record[place].to_owned()
            };
            let number = |name: &str| -> f64 { text(name).parse().unwrap() };
            Line {
                people: number("people") as u64,
                items: number("items") as u32,
                sparsity: number("sparsity") as u32,
                epsilon: number("epsilon"),
                parameter: number("parameter"),
                mechanism: text("mechanism"),
                estimand: text("estimand"),
                metric: text("metric"),
                repeats: number("repeats") as u32,
                mean: number("mean"),
                standard_error: number("standard_error"),
            }
        };
        reader
            .records()
            .map(|record| line(record.unwrap()))
            .collect()
    }
}
