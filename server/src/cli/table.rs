//! Tables that compare estimates with the true values.

use std::io::{self, Write};

use super::describe;
use super::visible_text::visible_text;
use crate::simulate::{ComparedEstimate, ErrorTally};

/// Maximum number of rows of a table.
const MAX_TABLE_ROWS: usize = 20;

/// Writes a table of a simulation's estimates, and how often the intervals contain the true
/// values.
pub(super) fn write_estimates_and_coverage(
    out: &mut dyn Write,
    tally: &ErrorTally,
    are_shares: bool,
    confidence: f64,
) -> io::Result<()> {
    write_estimate_table(out, &tally.estimates, are_shares)?;
    writeln!(
        out,
        "intervals contain the true values: {:.1}% of single intervals, all simultaneous intervals \
         in {:.1}% of runs (promised: {}%)",
        100.0 * tally.covered,
        100.0 * tally.all_covered,
        100.0 * confidence
    )
}

/// Summarises a simulation's estimates in one line: the largest error, and how often the intervals
/// contain the true values.
pub(super) fn error_summary_line(
    name: &str,
    tally: &ErrorTally,
    are_shares: bool,
    confidence: f64,
) -> String {
    let worst = tally.estimates.iter().filter(|own| own.error.is_some());
    let worst = worst.max_by(|a, b| a.error.unwrap_or(0.0).total_cmp(&b.error.unwrap_or(0.0)));
    let Some(worst) = worst else {
        return format!("{name}: there are too few reports for an estimate.");
    };
    let [what, .., error] = estimate_row_cells(worst, are_shares);
    format!(
        "{name}: the largest error is {} ({what}); {}% intervals contain the truth in {}% of cases.",
        error.replace('%', " percentage points"),
        100.0 * confidence,
        describe::format_significant_digits(100.0 * tally.covered, 3)
    )
}

/// Writes a table of estimates and true values. A long table keeps only the rows with the greatest
/// true values. Shares are in per cent.
pub(super) fn write_estimate_table(
    out: &mut dyn Write,
    estimates: &[ComparedEstimate],
    are_shares: bool,
) -> io::Result<()> {
    let mut lines: Vec<&ComparedEstimate> = estimates.iter().collect();
    let others = lines.len().saturating_sub(MAX_TABLE_ROWS);
    if others > 0 {
        lines.sort_by(|a, b| b.truth.total_cmp(&a.truth));
        lines.truncate(MAX_TABLE_ROWS);
    }
    let mut rows = vec!["\ttruth\testimate\t±\terror".to_owned()];
    rows.extend(
        lines
            .iter()
            .map(|own| estimate_row_cells(own, are_shares).join("\t")),
    );
    write_aligned_rows(out, &rows)?;
    match others {
        0 => Ok(()),
        _ => writeln!(out, "and {others} others"),
    }
}

/// Writes a table. Tabs separate the cells of a row. The first column is aligned to the left, the
/// other columns to the right. Control characters in cells are made visible.
pub(super) fn write_aligned_rows(out: &mut dyn Write, rows: &[String]) -> io::Result<()> {
    // Before the widths are known, since visible characters take more columns.
    let rows: Vec<_> = rows.iter().map(|row| visible_text(row)).collect();
    let columns = rows.iter().map(|row| row.split('\t').count()).max();
    let mut widths = vec![0; columns.unwrap_or(0)];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row.split('\t')) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in &rows {
        for (column, (cell, &width)) in row.split('\t').zip(&widths).enumerate() {
            match column {
                0 => write!(out, "{cell:width$}")?,
                _ => write!(out, "  {cell:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Formats the cells of one row of a table of estimates. The half-width of the interval has three
/// significant digits. The other numbers have the same number of decimal places as the half-width.
fn estimate_row_cells(own: &ComparedEstimate, is_share: bool) -> [String; 5] {
    let (scale, unit) = match (is_share, &own.unit) {
        (true, _) => (100.0, "%".to_owned()),
        (false, unit) => (1.0, describe::unit_suffix(unit.as_deref())),
    };
    let [low, high] = own.interval;
    let reach = own
        .estimate
        .map_or(f64::NAN, |own| (own - low).max(high - own));
    let size = if reach > 0.0 { reach } else { own.truth };
    let places = describe::decimal_places(scale * size, 3);
    let number = |number: f64| match number.is_finite() {
        true => format!("{:.places$}{unit}", scale * number),
        false => "-".to_owned(),
    };
    let or_none = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let [truth, estimate, reach, error] =
        [own.truth, or_none(own.estimate), reach, or_none(own.error)].map(number);
    [own.what.clone(), truth, estimate, reach, error]
}
