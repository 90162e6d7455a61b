//! Budget (ε₀, δ₀) of one of D coordinates (PVME, Algorithm 3): the printed budget and the
//! corrected one.

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::budget::CoordinateBudget;

/// Table row for the budget (ε₀, δ₀) of a coordinate (PVME, Algorithm 3). It compares the proven
/// total δ and the exact total δ of all coordinates, for the printed and for the corrected budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetRow {
    /// Number D = 2d of coordinates, for vectors of d numbers.
    pub coordinate_count: u32,
    /// Requested ε.
    pub epsilon: f64,
    /// Requested δ.
    pub delta: f64,
    /// Privacy loss ε₀ of a coordinate. The printed value is correct.
    pub coordinate_epsilon: f64,
    /// Total ε by advanced composition with δ′ = δ/2.
    pub proven_total_epsilon: f64,
    /// Total δ by advanced composition for the printed δ₀ = δ/(2d): 1.5·δ.
    pub delta_proven_for_printed: f64,
    /// Total δ by advanced composition for the corrected δ₀ = δ/(4d).
    pub corrected_proven_delta: f64,
    /// Exact worst-case total δ at the requested ε, for the printed (ε₀, δ₀).
    pub exact_delta_of_printed: f64,
    /// Exact worst-case total δ at the requested ε, for the corrected (ε₀, δ₀).
    pub exact_delta_of_corrected: f64,
    /// Exact worst-case total δ at `proven_total_epsilon`, for the printed (ε₀, δ₀).
    pub delta_at_proven_epsilon: f64,
}

/// Returns the table row for D coordinates, with the printed δ₀ and the corrected one.
///
/// The paper claims that the printed δ₀ satisfies (ε, δ). This does not follow from the theorem
/// that it cites, and it is false for large ε and δ. By basic composition it is true if D·ε₀ ≤ ε,
/// which means D ≤ 4·ln(2/δ). For ε up to 4 the tests find no counterexample either.
///
/// # Errors
/// Same errors as [`CoordinateBudget::new`].
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::as_printed};
///
/// let row = as_printed::budget_row(4, &Budget::new(1.0, 1e-6)?)?;
/// assert!((row.delta_proven_for_printed - 1.5e-6).abs() < 1e-18);
/// // The proof fails, but the claim is true.
/// assert!(row.exact_delta_of_printed <= 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn budget_row(coordinates: u32, asked: &Budget) -> Result<BudgetRow, Error> {
    let [right, printed] = [
        CoordinateBudget::new(coordinates, asked)?,
        CoordinateBudget::with_uncorrected_delta(coordinates, asked)?,
    ];
    let spare = 0.5 * asked.delta();
    let proven = printed.advanced_composition_total(coordinates, spare);
    Ok(BudgetRow {
        coordinate_count: coordinates,
        epsilon: asked.epsilon(),
        delta: asked.delta(),
        coordinate_epsilon: printed.epsilon(),
        proven_total_epsilon: proven.epsilon,
        delta_proven_for_printed: proven.delta,
        corrected_proven_delta: right.advanced_composition_total(coordinates, spare).delta,
        exact_delta_of_printed: printed.exact_total_delta(coordinates, asked.epsilon()),
        exact_delta_of_corrected: right.exact_total_delta(coordinates, asked.epsilon()),
        delta_at_proven_epsilon: printed.exact_total_delta(coordinates, proven.epsilon),
    })
}

/// Returns the rows of [`budget_row`] for numbers of coordinates from 4 to 512.
///
/// # Errors
/// This never fails: all parameters are in range.
pub fn budget_rows() -> Result<Vec<BudgetRow>, Error> {
    let asked = [
        (4, 1.0, 1e-6),
        (16, 1.0, 1e-6),
        (128, 1.0, 1e-6),
        (512, 1.0, 1e-6),
        (128, 4.0, 1e-3),
        (512, 12.0, 1e-3),
        (16, 12.0, 0.1),
        (128, 12.0, 0.1),
    ];
    let row = |(d, epsilon, delta)| budget_row(d, &Budget::new(epsilon, delta)?);
    asked.into_iter().map(row).collect()
}
