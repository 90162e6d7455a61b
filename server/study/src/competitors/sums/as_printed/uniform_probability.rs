//! Probability γ that a report is a uniform cell (PVME, Algorithms 5 and 6): the printed value and
//! the corrected one.

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::grid_cell_reports;
use crate::roots::bisect;

/// Origin of the constant c of a [`UniformProbabilityRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstantOrigin {
    /// Least c that satisfies (ε, δ) for one coordinate, which has r + 1 cells. The exact δ is
    /// computed by enumeration.
    Enumerated,
    /// Constant of the paper, max(14·ln(2/δ)/ε², 27/ε).
    Paper,
}

/// Table row for two printed values. The first is γ, the probability that a report is uniform over
/// (r + 1)^d cells (PVME, Algorithm 5). The second is the number that is subtracted from the sum of
/// reports (Algorithm 6).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UniformProbabilityRow {
    /// Number of people, n.
    pub people_count: u32,
    /// Number of grid steps of a coordinate, r.
    pub step_count: u32,
    /// Number of coordinates, d.
    pub coordinate_count: u32,
    /// Central ε that n reports with this γ have to satisfy.
    pub epsilon: f64,
    /// Central δ that n reports with this γ have to satisfy.
    pub delta: f64,
    /// Origin of the constant c.
    pub constant_origin: ConstantOrigin,
    /// Constant c, a factor in the formulas for γ.
    pub probability_constant: f64,
    /// Printed γ = c·(r + 1)/n.
    pub printed_probability: f64,
    /// Corrected γ = c·(r + 1)^d/(n − 1).
    pub corrected_probability: f64,
    /// Actual δ of the printed γ at the promised ε: exact if c is enumerated, otherwise a lower
    /// bound.
    pub actual_delta_of_printed: f64,
    /// Actual δ of the corrected γ at the promised ε: exact if c is enumerated, otherwise an upper
    /// bound.
    pub actual_delta_of_corrected: f64,
    /// Printed number subtracted from the sum of a coordinate, c·(r + 1)/2.
    pub printed_sum_offset: f64,
    /// Corrected number subtracted from the sum of a coordinate, γ·n/2 = c·(r + 1)^d/2·n/(n − 1).
    pub corrected_sum_offset: f64,
}

/// Returns the table row with δ computed by enumeration of all batches. Its constant c is the least
/// that satisfies (ε, δ) for one coordinate, to one part in 10⁹.
///
/// # Errors
/// Same errors as [`grid_cell_reports::exact_shuffled_delta`]. [`Error::InvalidCombination`] if the corrected γ is
/// above 1.
pub fn row_with_enumerated_delta(
    people: u32,
    steps: u32,
    coordinates: u32,
    promised: &Budget,
) -> Result<UniformProbabilityRow, Error> {
    let epsilon = promised.epsilon();
    let cells = (steps + 1).pow(coordinates);
    let of_one = |gamma| grid_cell_reports::exact_shuffled_delta(steps + 1, gamma, people, epsilon);
    // Reports an error of the parameters here, before the search hides it as "not enough".
    of_one(1.0)?;
    let enough = |gamma: f64| of_one(gamma).is_ok_and(|delta| delta <= promised.delta());
    let least = bisect(1.0, 1e-9, 1e-9, enough);
    // Solves γ = c·(r + 1)/n for c.
    let c = least * f64::from(people) / f64::from(steps + 1);
    let delta = |gamma| grid_cell_reports::exact_shuffled_delta(cells, gamma, people, epsilon);
    UniformProbabilityRow::from_case(
        UniformProbabilityCase {
            people_count: people,
            step_count: steps,
            coordinate_count: coordinates,
            required_budget: promised,
        },
        (ConstantOrigin::Enumerated, c),
        delta,
        delta,
    )
}

/// Returns the table row for the paper's constant c. The δ of the printed γ is a lower bound, by
/// [`grid_cell_reports::attack_delta_lower_bound`]. The δ of the corrected γ is a proven upper bound.
///
/// # Errors
/// [`Error::InvalidCombination`] if the corrected γ is above 1. Otherwise the errors of
/// [`grid_cell_reports::attack_delta_lower_bound`] and [`grid_cell_reports::proven_delta_upper_bound`].
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::as_printed};
///
/// let row = as_printed::row_with_paper_constant(100_000, 3, 4, &Budget::new(1.0, 1e-6)?)?;
/// assert!(row.actual_delta_of_printed > 1e-3 && row.actual_delta_of_corrected < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn row_with_paper_constant(
    people: u32,
    steps: u32,
    coordinates: u32,
    promised: &Budget,
) -> Result<UniformProbabilityRow, Error> {
    let epsilon = promised.epsilon();
    let cells = (steps + 1).pow(coordinates);
    UniformProbabilityRow::from_case(
        UniformProbabilityCase {
            people_count: people,
            step_count: steps,
            coordinate_count: coordinates,
            required_budget: promised,
        },
        (
            ConstantOrigin::Paper,
            grid_cell_reports::paper_probability_constant(promised),
        ),
        |gamma| grid_cell_reports::attack_delta_lower_bound(cells, gamma, people.into(), epsilon),
        |gamma| grid_cell_reports::proven_delta_upper_bound(cells, gamma, people.into(), epsilon),
    )
}

/// Returns the rows of [`row_with_enumerated_delta`] for n = 6, r = 2, d = 2, and of
/// [`row_with_paper_constant`] for larger batches.
///
/// # Errors
/// This never fails: all parameters are in range.
pub fn uniform_probability_rows() -> Result<Vec<UniformProbabilityRow>, Error> {
    let mut rows = Vec::new();
    for (epsilon, delta) in [(2.0, 0.05), (1.0, 0.35), (0.5, 0.45)] {
        rows.push(row_with_enumerated_delta(
            6,
            2,
            2,
            &Budget::new(epsilon, delta)?,
        )?);
    }
    for (people, steps, coordinates) in [(10_000, 2, 3), (100_000, 6, 2), (100_000, 3, 4)] {
        let promised = Budget::new(1.0, 1e-6)?;
        rows.push(row_with_paper_constant(
            people,
            steps,
            coordinates,
            &promised,
        )?);
    }
    Ok(rows)
}

/// Parameters of a [`UniformProbabilityRow`], before its values are computed.
#[derive(Debug, Clone, Copy)]
struct UniformProbabilityCase<'a> {
    people_count: u32,
    step_count: u32,
    coordinate_count: u32,
    required_budget: &'a Budget,
}

impl UniformProbabilityRow {
    /// Returns the table row of a case, for the constant `c` and its origin. `printed` computes the
    /// actual δ of the printed γ, and `right` the actual δ of the corrected γ.
    fn from_case(
        case: UniformProbabilityCase<'_>,
        (constant, c): (ConstantOrigin, f64),
        printed: impl Fn(f64) -> Result<f64, Error>,
        right: impl Fn(f64) -> Result<f64, Error>,
    ) -> Result<Self, Error> {
        let (n, side) = (f64::from(case.people_count), f64::from(case.step_count + 1));
        let cells = side.powi(case.coordinate_count as i32);
        let (printed_gamma, right_gamma) = (c * side / n, c * cells / (n - 1.0));
        if right_gamma > 1.0 {
            return Err(Error::InvalidCombination {
                reason: "so few people would have to report uniform cells only, and more",
            });
        }
        Ok(Self {
            people_count: case.people_count,
            step_count: case.step_count,
            coordinate_count: case.coordinate_count,
            epsilon: case.required_budget.epsilon(),
            delta: case.required_budget.delta(),
            constant_origin: constant,
            probability_constant: c,
            printed_probability: printed_gamma,
            corrected_probability: right_gamma,
            actual_delta_of_printed: printed(printed_gamma)?,
            actual_delta_of_corrected: right(right_gamma)?,
            printed_sum_offset: 0.5 * c * side,
            corrected_sum_offset: 0.5 * right_gamma * n,
        })
    }
}
