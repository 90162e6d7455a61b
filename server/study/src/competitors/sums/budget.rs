//! Budget of one coordinate, (ε₀, δ₀), if D coordinates together may spend (ε, δ), and the
//! composition of D coordinates.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use libm::lgamma;

use crate::competitors::budget::Budget;
use crate::roots::bisect;

/// Allowed range of the number D of coordinates that are released together. For vectors of d
/// numbers, D is 2d if vectors are in the Euclidean ball, and d if they are in the box [−1, 1]^d.
pub const COORDINATE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "coordinates",
    min: 1.0,
    max: 1_048_576.0,
};

/// Allowed range of ε₀, the ε of one coordinate.
const COORDINATE_EPSILON_RANGE: ParameterRange = ParameterRange {
    name: "epsilon_0",
    min: 1e-6,
    max: 100.0,
};

/// Allowed range of δ₀, the δ of one coordinate.
const COORDINATE_DELTA_RANGE: ParameterRange = ParameterRange {
    name: "delta_0",
    min: 1e-30,
    max: 0.5,
};

/// Budget (ε₀, δ₀) of one of D coordinates.
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::CoordinateBudget};
///
/// // d = 8 in the ball, so D = 16.
/// let each = CoordinateBudget::new(16, &Budget::new(1.0, 1e-6)?)?;
/// assert!((each.epsilon() - 0.032_817).abs() < 1e-6);
/// assert!((each.delta() - 3.125e-8).abs() < 1e-20);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoordinateBudget {
    epsilon: f64,
    delta: f64,
}

/// Privacy loss (ε, δ) of all coordinates together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalPrivacyLoss {
    /// Total privacy loss ε.
    pub epsilon: f64,
    /// Total failure probability δ.
    pub delta: f64,
}

impl CoordinateBudget {
    /// Returns PVME's budget, corrected: ε₀ = ε/(2√(D·ln(2/δ))) and δ₀ = δ/(2D).
    ///
    /// With these values, D·δ₀ and the δ′ = δ/2 of [advanced
    /// composition](Self::advanced_composition_total) add up to δ. The total ε by advanced composition is
    /// at most ε/√2 + ε²/(8·ln(2/δ)). This total is below the requested ε if the requested ε is at
    /// most 2.34·ln(2/δ).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if D is outside [`COORDINATE_COUNT_RANGE`], if ε₀ is below 10⁻⁶, or if δ₀ is
    /// below 10⁻³⁰, for example because δ = 0.
    pub fn new(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        Self::with_delta_parts(coordinates, budget, 2.0)
    }

    /// Returns the budget as printed (PVME, Algorithm 3): each of D = 2d coordinates has δ₀ =
    /// δ/(2d).
    ///
    /// # Errors
    /// Same errors as [`CoordinateBudget::new`].
    pub fn with_uncorrected_delta(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        Self::with_delta_parts(coordinates, budget, 1.0)
    }

    /// Returns the budget of one of D coordinates with the paper's ε₀ = ε/(2√(D·ln(2/δ))), and with
    /// δ₀ = δ/(`parts`·D).
    fn with_delta_parts(coordinates: u32, budget: &Budget, parts: f64) -> Result<Self, Error> {
        COORDINATE_COUNT_RANGE.check_in_range(f64::from(coordinates))?;
        let d = f64::from(coordinates);
        let root = (d * (2.0 / budget.delta()).ln()).sqrt();
        Self::with_epsilon_and_delta(
            budget.epsilon() / (2.0 * root),
            budget.delta() / (parts * d),
        )
    }

    /// Creates a budget from one coordinate's ε₀, from 10⁻⁶ to 100, and its δ₀, from 10⁻³⁰ to 1/2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε₀ or δ₀ is out of its range.
    pub fn with_epsilon_and_delta(epsilon: f64, delta: f64) -> Result<Self, Error> {
        COORDINATE_EPSILON_RANGE.check_in_range(epsilon)?;
        COORDINATE_DELTA_RANGE.check_in_range(delta)?;
        Ok(Self { epsilon, delta })
    }

    /// Returns the budget with δ₀ = δ/(2D) and the largest ε₀ for which the [exact
    /// composition](Self::exact_total_delta) of D coordinates satisfies (ε, δ), to one part in 10⁹.
    /// This ε₀ is larger than the closed form of [`CoordinateBudget::new`].
    ///
    /// ```
    /// use hushbin_study::competitors::{Budget, sums::CoordinateBudget};
    ///
    /// let budget = Budget::new(1.0, 1e-6)?;
    /// let closed = CoordinateBudget::new(16, &budget)?;
    /// let summed = CoordinateBudget::from_exact_composition(16, &budget)?;
    /// assert!(summed.epsilon() > 1.8 * closed.epsilon());
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`CoordinateBudget::new`].
    pub fn from_exact_composition(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        let least = Self::new(coordinates, budget)?;
        let at = |epsilon: f64| Self { epsilon, ..least };
        let enough = |epsilon: f64| {
            // The factor 1 + 10⁻⁹ is a margin for the rounding errors of the sum.
            at(epsilon).exact_total_delta(coordinates, budget.epsilon()) * (1.0 + 1e-9)
                <= budget.delta()
        };
        // A coordinate with ε₀ above ε alone exceeds the budget, unless δ is near 1.
        let epsilon = bisect(
            budget.epsilon() / f64::from(coordinates),
            2.0 * budget.epsilon() + 1.0,
            1e-9,
            enough,
        );
        Self::with_epsilon_and_delta(epsilon, least.delta)
    }

    /// Privacy loss ε₀ of one coordinate.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Failure probability δ₀ of one coordinate.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// Returns the total (ε, δ) of D coordinates by advanced composition. `spare` is the δ′ that
    /// the composition itself spends. The result is ε = √(2D·ln(1/δ′))·ε₀ + D·ε₀·(e^ε₀ − 1)/(e^ε₀ +
    /// 1), δ = D·δ₀ + δ′.
    ///
    /// Source: Dwork, Rothblum, Vadhan 2010, as stated by Kairouz, Oh, Viswanath 2015.
    #[must_use]
    pub fn advanced_composition_total(&self, coordinates: u32, spare: f64) -> TotalPrivacyLoss {
        let d = f64::from(coordinates);
        // tanh(ε₀/2) = (e^ε₀ − 1)/(e^ε₀ + 1).
        let drift = d * self.epsilon * (0.5 * self.epsilon).tanh();
        TotalPrivacyLoss {
            epsilon: (2.0 * d * (1.0 / spare).ln()).sqrt() * self.epsilon + drift,
            delta: d * self.delta + spare,
        }
    }

    /// Returns the exact δ at ε for D coordinates together, in the worst case over mechanisms that
    /// are (ε₀, δ₀) private for each coordinate.
    ///
    /// The worst (ε₀, δ₀) private mechanism reveals its input with probability δ₀. Otherwise it
    /// reports one bit of the input, which is correct with probability p = e^ε₀/(1 + e^ε₀). No D
    /// mechanisms that are (ε₀, δ₀) private, even chosen adaptively, compose to a greater δ:
    ///
    /// 1 − (1 − δ₀)^D·(1 − Σ_i C(D, i)·p^{D−i}·(1 − p)^i·(1 − exp(ε − (D − 2i)·ε₀))₊).
    ///
    /// Source: Kairouz, Oh, Viswanath, "The Composition Theorem for Differential Privacy" (2015),
    /// Theorem 3.3. The tests check it by enumeration of outcomes.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::CoordinateBudget;
    ///
    /// let one = CoordinateBudget::with_epsilon_and_delta(0.5, 0.01)?;
    /// assert!((one.exact_total_delta(1, 0.5) - 0.01).abs() < 1e-15);
    /// // Two at 2ε₀: basic composition, except if both reveal their inputs.
    /// assert!((one.exact_total_delta(2, 1.0) - 0.0199).abs() < 1e-15);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn exact_total_delta(&self, coordinates: u32, epsilon: f64) -> f64 {
        let d = f64::from(coordinates);
        // ln p and ln(1 − p).
        let own = -(-self.epsilon).exp().ln_1p();
        let other = own - self.epsilon;
        let term = |wrong: u32| {
            let i = f64::from(wrong);
            let excess = (d - 2.0 * i) * self.epsilon - epsilon;
            // ln C(D, i).
            let ways = lgamma(d + 1.0) - lgamma(i + 1.0) - lgamma(d - i + 1.0);
            (excess > 0.0).then(|| (ways + (d - i) * own + i * other).exp() * -(-excess).exp_m1())
        };
        // `excess` falls with i, so the sum ends at the first term whose excess is not positive.
        let answered: f64 = (0..=coordinates).map_while(term).sum();
        // 1 − (1 − δ₀)^D.
        let telling = -(d * (-self.delta).ln_1p()).exp_m1();
        telling + (1.0 - telling) * answered
    }
}
