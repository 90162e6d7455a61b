//! Tables of estimates beside the truth.

use std::io::{self, Write};

use super::describe;
use crate::simulate::{Compared, Tally};

/// Most lines of a table.
const MOST_LINES: usize = 20;

/// Writes a table of a tally, and how often its intervals of this confidence hold the truth.
pub(super) fn write_tally(
    out: &mut dyn Write,
    tally: &Tally,
    are_shares: bool,
    confidence: f64,
) -> io::Result<()> {
    write_table(out, &tally.estimates, are_shares)?;
    writeln!(
        out,
        "intervals hold the truth: {:.1}% of each by itself, {:.1}% of all of them at once \
         (promised: {}%)",
        100.0 * tally.covered,
        100.0 * tally.all_covered,
        100.0 * confidence
    )
}

/// Writes estimates beside the truth, of many those with the greatest. Shares are in per cent.
pub(super) fn write_table(
    out: &mut dyn Write,
    estimates: &[Compared],
    are_shares: bool,
) -> io::Result<()> {
    let mut lines: Vec<&Compared> = estimates.iter().collect();
    let others = lines.len().saturating_sub(MOST_LINES);
    if others > 0 {
        lines.sort_by(|a, b| b.truth.total_cmp(&a.truth));
        lines.truncate(MOST_LINES);
    }
    let head = ["", "truth", "estimate", "±", "error"].map(str::to_owned);
    let rows = lines.into_iter().map(|own| cells(own, are_shares));
    let rows: Vec<[String; 5]> = [head].into_iter().chain(rows).collect();
    let length = |cell: &String| cell.chars().count();
    let widths: Vec<usize> = (0..5)
        .map(|column| {
            rows.iter()
                .map(|row| length(&row[column]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    for [what, numbers @ ..] in &rows {
        write!(out, "{what:0$}", widths[0])?;
        for (number, width) in numbers.iter().zip(&widths[1..]) {
            write!(out, "  {number:>width$}")?;
        }
        writeln!(out)?;
    }
    match others {
        0 => Ok(()),
        _ => writeln!(out, "and {others} others"),
    }
}

/// Cells of a line, with three significant digits of what stands behind ±.
fn cells(own: &Compared, is_share: bool) -> [String; 5] {
    let (scale, unit) = match (is_share, &own.unit) {
        (true, _) => (100.0, "%".to_owned()),
        (false, unit) => (1.0, describe::behind(unit.as_ref())),
    };
    let [low, high] = own.interval;
    let reach = own
        .estimate
        .map_or(f64::NAN, |own| (own - low).max(high - own));
    let size = if reach > 0.0 { reach } else { own.truth };
    let places = describe::places(scale * size, 3);
    let number = |number: f64| match number.is_finite() {
        true => format!("{:.places$}{unit}", scale * number),
        false => "-".to_owned(),
    };
    let or_none = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let [truth, estimate, reach, error] =
        [own.truth, or_none(own.estimate), reach, or_none(own.error)].map(number);
    [own.what.clone(), truth, estimate, reach, error]
}
