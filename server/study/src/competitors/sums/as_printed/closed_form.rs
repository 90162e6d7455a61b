//! Probability γ that a report is a uniform cell: the paper's closed form and the proven minimum.

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::grid_cell_reports;

/// Table row for γ, the probability that a report is uniform over M cells: the paper's closed form,
/// and the least γ that is proven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedFormProbabilityRow {
    /// Number of people, n.
    pub people_count: u64,
    /// Number of cells, M.
    pub cell_count: u32,
    /// Central ε.
    pub epsilon: f64,
    /// Central δ.
    pub delta: f64,
    /// Paper's closed form for γ: max(14·M·ln(2/δ)/((n − 1)·ε²), 27·M/((n − 1)·ε)). A value above 1
    /// promises no privacy.
    pub closed_form_probability: f64,
    /// Least γ for which exact summation proves the central (ε, δ).
    pub least_proven_probability: f64,
    /// Local ε of a report with the least γ.
    pub local_epsilon: f64,
}

/// Returns the table row for n people, M cells and a central budget.
///
/// # Errors
/// Same errors as [`grid_cell_reports::least_uniform_probability`].
pub fn closed_form_probability_row(
    people: u64,
    cells: u32,
    central: &Budget,
) -> Result<ClosedFormProbabilityRow, Error> {
    let least = grid_cell_reports::least_uniform_probability(cells, people, central)?;
    Ok(ClosedFormProbabilityRow {
        people_count: people,
        cell_count: cells,
        epsilon: central.epsilon(),
        delta: central.delta(),
        closed_form_probability: grid_cell_reports::closed_form_uniform_probability(
            cells, people, central,
        ),
        least_proven_probability: least,
        local_epsilon: grid_cell_reports::local_epsilon(cells, least),
    })
}

/// Returns the rows of [`closed_form_probability_row`] for batches of 10⁴ and 10⁵ reports.
///
/// # Errors
/// This never fails: all parameters are in range.
pub fn closed_form_probability_rows() -> Result<Vec<ClosedFormProbabilityRow>, Error> {
    let asked = [
        (10_000, 2, 1.0),
        (10_000, 9, 1.0),
        (100_000, 17, 1.0),
        (100_000, 25, 1.0),
        (100_000, 256, 1.0),
        (10_000, 25, 0.3),
    ];
    let row = |(people, cells, epsilon)| {
        closed_form_probability_row(people, cells, &Budget::new(epsilon, 1e-6)?)
    };
    asked.into_iter().map(row).collect()
}
