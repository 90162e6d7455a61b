//! How many reports are uniform cells (PVME, Algorithms 5 and 6).

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::grid;
use crate::roots::bisect;

/// How the c of a [`GammaRow`] was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// The least for which (ε, δ) holds of the r + 1 cells of d = 1, exactly.
    Enumerated,
    /// The paper's, max(14·ln(2/δ)/ε², 27/ε).
    Paper,
}

/// γ of reports of one cell of (r + 1)^d (PVME, Algorithm 5), and what is subtracted from
/// their sum (Algorithm 6).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaRow {
    /// n.
    pub people: u32,
    /// r.
    pub steps: u32,
    /// d.
    pub coordinates: u32,
    /// ε promised.
    pub epsilon: f64,
    /// δ promised.
    pub delta: f64,
    /// Whose c.
    pub constant: Constant,
    /// c.
    pub c: f64,
    /// c·(r + 1)/n.
    pub printed_gamma: f64,
    /// c·(r + 1)^d/(n − 1).
    pub right_gamma: f64,
    /// δ at the ε promised, of the printed γ: exact where c is enumerated, else from below.
    pub printed_delta: f64,
    /// That of the right γ: exact where c is enumerated, else from above.
    pub right_delta: f64,
    /// c·(r + 1)/2, which is subtracted as printed from the sum of a coordinate.
    pub printed_subtracted: f64,
    /// γ·n/2 of the right γ: c·(r + 1)^d/2·n/(n − 1).
    pub right_subtracted: f64,
}

/// One row by enumeration of all batches: c is the least that is enough for d = 1, to one
/// part in 10⁹.
///
/// # Errors
/// [`Error::Combination`] as [`grid::shuffled_delta`], or where the right γ is above 1.
pub fn enumerated_gamma(
    people: u32,
    steps: u32,
    coordinates: u32,
    promised: &Budget,
) -> Result<GammaRow, Error> {
    let epsilon = promised.epsilon();
    let cells = (steps + 1).pow(coordinates);
    let of_one = |gamma| grid::shuffled_delta(steps + 1, gamma, people, epsilon);
    of_one(1.0)?;
    let enough = |gamma: f64| of_one(gamma).is_ok_and(|delta| delta <= promised.delta());
    let least = bisect(1.0, 1e-9, 1e-9, enough);
    let c = least * f64::from(people) / f64::from(steps + 1);
    let delta = |gamma| grid::shuffled_delta(cells, gamma, people, epsilon);
    GammaRow::of(
        Case {
            people,
            steps,
            coordinates,
            promised,
        },
        (Constant::Enumerated, c),
        delta,
        delta,
    )
}

/// One row by the paper's c: what is certainly given away with the printed γ, by
/// [`grid::counted_delta`], and what is proven with the right one.
///
/// # Errors
/// [`Error::Combination`] where the right γ is above 1, and as the functions named.
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::as_printed};
///
/// let row = as_printed::paper_gamma(100_000, 3, 4, &Budget::new(1.0, 1e-6)?)?;
/// assert!(row.printed_delta > 1e-3 && row.right_delta < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn paper_gamma(
    people: u32,
    steps: u32,
    coordinates: u32,
    promised: &Budget,
) -> Result<GammaRow, Error> {
    let epsilon = promised.epsilon();
    let cells = (steps + 1).pow(coordinates);
    GammaRow::of(
        Case {
            people,
            steps,
            coordinates,
            promised,
        },
        (Constant::Paper, grid::constant(promised)),
        |gamma| grid::counted_delta(cells, gamma, people.into(), epsilon),
        |gamma| grid::proven_delta(cells, gamma, people.into(), epsilon),
    )
}

/// [`enumerated_gamma`] for n = 6, r = 2, d = 2 and [`paper_gamma`] for larger batches.
///
/// # Errors
/// None: all parameters are in range.
pub fn gammas() -> Result<Vec<GammaRow>, Error> {
    let mut rows = Vec::new();
    for (epsilon, delta) in [(2.0, 0.05), (1.0, 0.35), (0.5, 0.45)] {
        rows.push(enumerated_gamma(6, 2, 2, &Budget::new(epsilon, delta)?)?);
    }
    for (people, steps, coordinates) in [(10_000, 2, 3), (100_000, 6, 2), (100_000, 3, 4)] {
        let promised = Budget::new(1.0, 1e-6)?;
        rows.push(paper_gamma(people, steps, coordinates, &promised)?);
    }
    Ok(rows)
}

#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    people: u32,
    steps: u32,
    coordinates: u32,
    promised: &'a Budget,
}

impl GammaRow {
    fn of(
        case: Case<'_>,
        (constant, c): (Constant, f64),
        printed: impl Fn(f64) -> Result<f64, Error>,
        right: impl Fn(f64) -> Result<f64, Error>,
    ) -> Result<Self, Error> {
        let (n, side) = (f64::from(case.people), f64::from(case.steps + 1));
        let cells = side.powi(case.coordinates as i32);
        let (printed_gamma, right_gamma) = (c * side / n, c * cells / (n - 1.0));
        if right_gamma > 1.0 {
            return Err(Error::Combination {
                reason: "so few people would have to report uniform cells only, and more",
            });
        }
        Ok(Self {
            people: case.people,
            steps: case.steps,
            coordinates: case.coordinates,
            epsilon: case.promised.epsilon(),
            delta: case.promised.delta(),
            constant,
            c,
            printed_gamma,
            right_gamma,
            printed_delta: printed(printed_gamma)?,
            right_delta: right(right_gamma)?,
            printed_subtracted: 0.5 * c * side,
            right_subtracted: 0.5 * right_gamma * n,
        })
    }
}
