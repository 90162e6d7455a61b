//! Output of a study: tables, figures and a page.

use std::fs;
use std::path::Path;

use super::html::render_page;
use super::results::ExperimentResults;
use crate::evaluate::measure::experiment::{Experiment, StudyError};
use crate::evaluate::measure::measurement::MeasurementPoint;
use crate::evaluate::measure::metric_comparisons::metric_comparison_outcomes;
use crate::evaluate::measure::table::{AveragedRow, MeasurementTable};
use crate::figure::figure_to_svg;

/// Writes the files of a finished study. They are `tables/NAME.csv` for every experiment,
/// `tables/wins.csv`, `figures/NAME.svg` for every figure, and the page `index.html`. The page
/// shows `command`, which is the command that reproduces the study.
///
/// # Errors
/// [`StudyError::Io`] if a file cannot be written; [`StudyError::FigureDrawing`] if a figure cannot be
/// drawn.
pub(crate) fn write_results(
    directory: &Path,
    command: &str,
    experiments: &[Box<dyn Experiment>],
    tables: &[MeasurementTable],
) -> Result<Vec<ExperimentResults>, StudyError> {
    for folder in ["tables", "figures"] {
        let folder = directory.join(folder);
        fs::create_dir_all(&folder).map_err(|source| StudyError::file_error(&folder, source))?;
    }
    let mut all = Vec::new();
    for (experiment, table) in experiments.iter().zip(tables) {
        let name = experiment.name();
        write_file(
            &directory.join("tables").join(format!("{name}.csv")),
            &table_csv(table),
        )?;
        let mut figures = Vec::new();
        for figure in experiment.figures(table) {
            let file = directory
                .join("figures")
                .join(format!("{}.svg", figure.name));
            let drawn = figure_to_svg(&figure).map_err(|error| StudyError::FigureDrawing {
                name: figure.name.clone(),
                reason: error.to_string(),
            })?;
            write_file(&file, drawn.as_bytes())?;
            figures.push(figure);
        }
        all.push(ExperimentResults {
            title: experiment.title().to_owned(),
            name: name.to_owned(),
            figures,
            outcomes: metric_comparison_outcomes(&**experiment, table),
            remarks: experiment.remarks(),
        });
    }
    write_file(
        &directory.join("tables/wins.csv"),
        &metric_comparisons_csv(&all),
    )?;
    write_file(
        &directory.join("index.html"),
        render_page(command, &all).as_bytes(),
    )?;
    Ok(all)
}

/// Writes bytes to a file, which is replaced if it exists.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), StudyError> {
    fs::write(path, bytes).map_err(|source| StudyError::file_error(path, source))
}

/// Returns the table as CSV, with a header and one line for each row.
fn table_csv(table: &MeasurementTable) -> Vec<u8> {
    let head = MeasurementPoint::COLUMNS.into_iter().chain([
        "mechanism",
        "estimand",
        "metric",
        "repeats",
        "mean",
        "standard_error",
    ]);
    let line = |row: &AveragedRow| {
        let own = &row.first_measurement;
        own.point.column_values().into_iter().chain([
            own.mechanism.clone(),
            own.estimand.clone(),
            own.metric.clone(),
            row.repeat_count.to_string(),
            format_to_six_digits(row.mean_value),
            format_to_six_digits(row.standard_error),
        ])
    };
    csv_bytes(head, table.rows().iter().map(line))
}

/// Returns the cells of all contests as CSV, with a header and one line for each cell.
fn metric_comparisons_csv(all: &[ExperimentResults]) -> Vec<u8> {
    let head = ["experiment"]
        .into_iter()
        .chain(MeasurementPoint::COLUMNS)
        .chain([
            "estimand",
            "metric",
            "ours",
            "best_other",
            "ratio",
            "standard_error_of_log",
            "lost",
        ]);
    let mut lines = Vec::new();
    for own in all {
        for outcome in &own.outcomes {
            let contest = &outcome.metric_comparison;
            lines.extend(outcome.cells.iter().map(|cell| {
                let columns = [own.name.clone()]
                    .into_iter()
                    .chain(cell.point.column_values());
                columns.chain([
                    contest.estimand.to_owned(),
                    contest.metric.to_owned(),
                    cell.hushbin_mechanism.clone(),
                    cell.best_competitor.clone(),
                    format_to_six_digits(cell.ratio),
                    format_to_six_digits(cell.log_ratio_standard_error),
                    cell.is_lost().to_string(),
                ])
            }));
        }
    }
    csv_bytes(head, lines)
}

/// Formats a CSV header and the lines below it.
fn csv_bytes(
    head: impl Iterator<Item = &'static str>,
    lines: impl IntoIterator<Item = impl Iterator<Item = String>>,
) -> Vec<u8> {
    const MEMORY_WRITE_MESSAGE: &str = "writing to memory cannot fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).expect(MEMORY_WRITE_MESSAGE);
    for line in lines {
        let line: Vec<String> = line.collect();
        writer.write_record(line).expect(MEMORY_WRITE_MESSAGE);
    }
    writer.into_inner().expect(MEMORY_WRITE_MESSAGE)
}

/// Formats a number, rounded to six digits. Later digits depend on the mathematical functions of
/// the machine's library.
fn format_to_six_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    short.to_string()
}
