//! The budget of one coordinate of many (PVME, Algorithm 3).

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::budget::CoordinateBudget;

/// The budget of a coordinate (PVME, Algorithm 3): what is proven of it, and what is true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetRow {
    /// D = 2d.
    pub coordinates: u32,
    /// ε asked for.
    pub epsilon: f64,
    /// δ asked for.
    pub delta: f64,
    /// ε₀, the same printed and right.
    pub epsilon_0: f64,
    /// ε by advanced composition with δ′ = δ/2.
    pub proven_epsilon: f64,
    /// δ by the same, of the printed δ₀ = δ/(2d): 1.5·δ.
    pub printed_proven_delta: f64,
    /// δ by the same, of δ₀ = δ/(4d).
    pub right_proven_delta: f64,
    /// The greatest δ of the printed (ε₀, δ₀) at the ε asked for, exactly.
    pub printed_delta: f64,
    /// That of the right δ₀.
    pub right_delta: f64,
    /// The greatest δ of the printed (ε₀, δ₀) at `proven_epsilon`, exactly.
    pub printed_delta_at_proven: f64,
}

/// One row: D coordinates at the printed δ₀ and the right one.
///
/// What is printed is not proven by the theorem that it rests on, and false for large ε
/// and δ; but it is true wherever D·ε₀ ≤ ε, which is D ≤ 4·ln(2/δ), by basic
/// composition, and as far as the tests look for ε up to 4.
///
/// # Errors
/// As [`CoordinateBudget::new`].
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::as_printed};
///
/// let row = as_printed::budget(4, &Budget::new(1.0, 1e-6)?)?;
/// assert!((row.printed_proven_delta - 1.5e-6).abs() < 1e-18);
/// // The proof fails, the promise holds.
/// assert!(row.printed_delta <= 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn budget(coordinates: u32, asked: &Budget) -> Result<BudgetRow, Error> {
    let [right, printed] = [
        CoordinateBudget::new(coordinates, asked)?,
        CoordinateBudget::as_printed(coordinates, asked)?,
    ];
    let spare = 0.5 * asked.delta();
    let proven = printed.advanced(coordinates, spare);
    Ok(BudgetRow {
        coordinates,
        epsilon: asked.epsilon(),
        delta: asked.delta(),
        epsilon_0: printed.epsilon(),
        proven_epsilon: proven.epsilon,
        printed_proven_delta: proven.delta,
        right_proven_delta: right.advanced(coordinates, spare).delta,
        printed_delta: printed.composed(coordinates, asked.epsilon()),
        right_delta: right.composed(coordinates, asked.epsilon()),
        printed_delta_at_proven: printed.composed(coordinates, proven.epsilon),
    })
}

/// [`budget`] for D from 4 to 512.
///
/// # Errors
/// None: all parameters are in range.
pub fn budgets() -> Result<Vec<BudgetRow>, Error> {
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
    let row = |(d, epsilon, delta)| budget(d, &Budget::new(epsilon, delta)?);
    asked.into_iter().map(row).collect()
}
