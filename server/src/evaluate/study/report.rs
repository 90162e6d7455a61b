//! What a study leaves behind: tables, figures and a page of both.

use std::fs;
use std::path::Path;

use super::experiment::{Experiment, Figure, StudyError};
use super::figure::svg;
use super::table::Table;

/// An experiment's figures.
pub(crate) struct Drawn {
    pub(crate) title: &'static str,
    pub(crate) name: &'static str,
    pub(crate) figures: Vec<(Figure, String)>,
}

/// Writes `tables/NAME.csv` of every experiment and `figures/NAME.svg` of every figure.
///
/// # Errors
/// [`StudyError::Io`] or [`StudyError::Figure`].
pub(crate) fn write(
    directory: &Path,
    experiments: &[Box<dyn Experiment>],
    tables: &[Table],
) -> Result<Vec<Drawn>, StudyError> {
    for folder in ["tables", "figures"] {
        let folder = directory.join(folder);
        fs::create_dir_all(&folder).map_err(|source| StudyError::io(&folder, source))?;
    }
    let mut all = Vec::new();
    for (experiment, table) in experiments.iter().zip(tables) {
        let name = experiment.name();
        save(
            &directory.join("tables").join(format!("{name}.csv")),
            &csv(table),
        )?;
        let mut figures = Vec::new();
        for figure in experiment.figures(table) {
            let drawn = svg(&figure)?;
            let file = directory
                .join("figures")
                .join(format!("{}.svg", figure.name));
            save(&file, drawn.as_bytes())?;
            figures.push((figure, drawn));
        }
        all.push(Drawn {
            title: experiment.title(),
            name,
            figures,
        });
    }
    Ok(all)
}

/// A file that is whole or the one before.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), StudyError> {
    let part = path.with_added_extension("part");
    fs::write(&part, bytes).map_err(|source| StudyError::io(&part, source))?;
    fs::rename(&part, path).map_err(|source| StudyError::io(path, source))
}

/// A line for each average. Numbers are as short as they can be to be read as the same.
fn csv(table: &Table) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "people",
        "items",
        "sparsity",
        "epsilon",
        "delta",
        "mechanism",
        "estimand",
        "metric",
        "repeats",
        "mean",
        "standard_error",
    ];
    let mut write = |line: [String; 11]| {
        writer
            .write_record(line)
            .expect("memory takes what it is given");
    };
    write(head.map(str::to_owned));
    for row in table.rows() {
        let own = &row.first;
        write([
            own.point.people.to_string(),
            own.point.items.to_string(),
            own.point.sparsity.to_string(),
            own.point.epsilon.to_string(),
            own.point.delta.to_string(),
            own.mechanism.clone(),
            own.estimand.clone(),
            own.metric.clone(),
            row.repeats.to_string(),
            rounded(row.mean),
            rounded(row.standard_error),
        ]);
    }
    writer.into_inner().expect("memory takes what it is given")
}

/// To six digits: what the functions of another machine's library would change is behind
/// them.
fn rounded(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    short.to_string()
}
