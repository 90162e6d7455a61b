//! Budget (ε, δ) of one report, and the privacy loss between the output distributions of two
//! inputs.

use hushbin::Error;
use hushbin::bounds::{EPSILON_RANGE, ParameterRange};
use hushbin::sample::ExpLowerBound;

use crate::roots::bisect;

/// Allowed range of a report's δ.
pub const DELTA_RANGE: ParameterRange = ParameterRange {
    name: "delta",
    min: 0.0,
    max: 0.5,
};

/// Budget (ε, δ) of one report. Both values are known to be in their allowed ranges.
///
/// ```
/// use hushbin_study::competitors::Budget;
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// assert_eq!((budget.epsilon(), budget.delta()), (1.0, 1e-6));
/// assert!(Budget::new(1.0, 0.6).is_err() && Budget::new(0.0, 0.0).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    epsilon: f64,
    delta: f64,
}

impl Budget {
    /// Creates a budget. `epsilon` is in natural units and must be in [`EPSILON_RANGE`]; `delta` must be
    /// in [`DELTA_RANGE`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε or δ is out of its range.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        DELTA_RANGE.check_in_range(delta)?;
        Ok(Self { epsilon, delta })
    }

    /// Privacy loss ε of one report, in natural units.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Failure probability δ of one report.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// Divides ε and δ by `parts`. The results may lie below the ranges that [`Budget::new`]
    /// allows.
    pub(super) fn budget_per_part(&self, parts: f64) -> Self {
        Self {
            epsilon: self.epsilon / parts,
            delta: self.delta / parts,
        }
    }

    /// Returns exp(ε), at most one ulp above a proven lower bound.
    pub(super) fn exp_epsilon(&self) -> f64 {
        ExpLowerBound::new(self.epsilon).to_f64()
    }

    /// Returns exp(ε) − 1 without cancellation.
    pub(super) fn exp_m1_epsilon(&self) -> f64 {
        self.epsilon.exp_m1()
    }
}

/// Returns the hockey-stick divergence at ε: Σ max(0, P − exp(ε)·Q).
///
/// `outcomes` has one pair (P, Q) for each outcome: the probability of the outcome under the first
/// input, and under the second input. The result is the least δ for which P(set) ≤ exp(ε)·Q(set) +
/// δ for all sets of outcomes.
///
/// ```
/// use hushbin_study::competitors::hockey_stick_divergence;
///
/// let response = [(0.75, 0.25), (0.25, 0.75)];
/// assert!(hockey_stick_divergence(response, 3.0_f64.ln()) < 1e-15);
/// assert!((hockey_stick_divergence(response, 2.0_f64.ln()) - 0.25).abs() < 1e-15);
/// ```
#[must_use]
pub fn hockey_stick_divergence(
    outcomes: impl IntoIterator<Item = (f64, f64)>,
    epsilon: f64,
) -> f64 {
    let e = epsilon.exp();
    let excess = |(p, q): (f64, f64)| (p - e * q).max(0.0);
    outcomes.into_iter().map(excess).sum()
}

/// Largest ε that the search in [`least_epsilon`] tries.
const EPSILON_SEARCH_MAX: f64 = 64.0;

/// Returns the least ε at which `delta_at` is at most `delta`, to one part in 10¹². Returns
/// infinity if no ε up to 64 suffices.
///
/// `delta_at` must not increase with ε.
///
/// ```
/// use hushbin_study::competitors::{hockey_stick_divergence, least_epsilon};
///
/// let response = [(0.75, 0.25), (0.25, 0.75)];
/// let epsilon = least_epsilon(0.0, |epsilon| hockey_stick_divergence(response, epsilon));
/// assert!((epsilon - 3.0_f64.ln()).abs() < 1e-11);
/// ```
#[must_use]
pub fn least_epsilon(delta: f64, delta_at: impl Fn(f64) -> f64) -> f64 {
    if delta_at(0.0) <= delta {
        return 0.0;
    }
    if delta_at(EPSILON_SEARCH_MAX) > delta {
        return f64::INFINITY;
    }
    bisect(EPSILON_SEARCH_MAX, 0.0, 1e-12, |epsilon| {
        delta_at(epsilon) <= delta
    })
}
