//! What a study leaves behind: tables, figures and a page of both.

use std::fs;
use std::path::Path;

use super::drawn::Drawn;
use super::experiment::{Experiment, StudyError};
use super::figure::svg;
use super::page::html;
use super::table::Table;
use super::wins::outcomes;

/// Writes `tables/NAME.csv` of every experiment, `tables/wins.csv`, `figures/NAME.svg` of every
/// figure, and `index.html`, which says `how` it was made.
///
/// # Errors
/// [`StudyError::Io`] or [`StudyError::Figure`].
pub(crate) fn write(
    directory: &Path,
    how: &str,
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
            title: experiment.title().to_owned(),
            name: name.to_owned(),
            figures,
            outcomes: outcomes(&**experiment, table),
            remarks: experiment.remarks(),
        });
    }
    save(&directory.join("tables/wins.csv"), &wins(&all))?;
    save(&directory.join("index.html"), html(how, &all).as_bytes())?;
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
        "parameter",
        "mechanism",
        "estimand",
        "metric",
        "repeats",
        "mean",
        "standard_error",
    ];
    let mut write = |line: [String; 12]| {
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
            own.point.parameter.to_string(),
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

/// A line for each cell in which ours is compared with others.
fn wins(all: &[Drawn]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "experiment",
        "people",
        "items",
        "sparsity",
        "epsilon",
        "delta",
        "parameter",
        "estimand",
        "metric",
        "ours",
        "best_other",
        "ratio",
        "standard_error_of_log",
        "lost",
    ];
    let mut write = |line: [String; 14]| {
        writer
            .write_record(line)
            .expect("memory takes what it is given");
    };
    write(head.map(str::to_owned));
    for own in all {
        for cell in own.outcomes.iter().flat_map(|outcome| &outcome.cells) {
            let point = &cell.point;
            write([
                own.name.clone(),
                point.people.to_string(),
                point.items.to_string(),
                point.sparsity.to_string(),
                point.epsilon.to_string(),
                point.delta.to_string(),
                point.parameter.to_string(),
                cell.contest.estimand.to_owned(),
                cell.contest.metric.to_owned(),
                cell.ours.clone(),
                cell.best.clone(),
                rounded(cell.ratio),
                rounded(cell.deviation),
                cell.is_lost().to_string(),
            ]);
        }
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
