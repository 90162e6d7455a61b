//! How many reports are uniform cells by a formula, and how many have to be.

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::grid;

/// γ of reports of one of M cells: by the paper's closed form, and the least proven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedFormRow {
    /// n.
    pub people: u64,
    /// M.
    pub cells: u32,
    /// Central ε.
    pub epsilon: f64,
    /// Central δ.
    pub delta: f64,
    /// max(14·M·ln(2/δ)/((n − 1)·ε²), 27·M/((n − 1)·ε)); above 1 it promises nothing.
    pub closed_form: f64,
    /// The least γ that is proven by summing up.
    pub least: f64,
    /// Local ε of the least γ.
    pub local_epsilon: f64,
}

/// One row: γ by either.
///
/// # Errors
/// As [`grid::least_gamma`].
pub fn closed_form(people: u64, cells: u32, central: &Budget) -> Result<ClosedFormRow, Error> {
    let least = grid::least_gamma(cells, people, central)?;
    Ok(ClosedFormRow {
        people,
        cells,
        epsilon: central.epsilon(),
        delta: central.delta(),
        closed_form: grid::closed_form(cells, people, central),
        least,
        local_epsilon: grid::local_epsilon(cells, least),
    })
}

/// [`closed_form`] for batches of 10⁴ and 10⁵.
///
/// # Errors
/// None: all parameters are in range.
pub fn closed_forms() -> Result<Vec<ClosedFormRow>, Error> {
    let asked = [
        (10_000, 2, 1.0),
        (10_000, 9, 1.0),
        (100_000, 17, 1.0),
        (100_000, 25, 1.0),
        (100_000, 256, 1.0),
        (10_000, 25, 0.3),
    ];
    let row = |(people, cells, epsilon)| closed_form(people, cells, &Budget::new(epsilon, 1e-6)?);
    asked.into_iter().map(row).collect()
}
