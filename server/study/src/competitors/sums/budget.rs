//! What of (ε, δ) each of D coordinates may spend.

use hushbin::Error;
use hushbin::bounds::Bound;
use libm::lgamma;

use crate::competitors::budget::Budget;
use crate::roots::bisect;

/// Number D of coordinates that are released together: 2d in the ball, d in the box.
pub const COORDINATES: Bound = Bound {
    name: "coordinates",
    min: 1.0,
    max: 1_048_576.0,
};

/// ε₀ of one coordinate.
const EPSILON_0: Bound = Bound {
    name: "epsilon_0",
    min: 1e-6,
    max: 100.0,
};

/// δ₀ of one coordinate.
const DELTA_0: Bound = Bound {
    name: "delta_0",
    min: 1e-30,
    max: 0.5,
};

/// (ε₀, δ₀) of one coordinate of D.
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

/// (ε, δ) of all coordinates together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl CoordinateBudget {
    /// PVME's budget, repaired: ε₀ = ε/(2√(D·ln(2/δ))), δ₀ = δ/(2D), so that D·δ₀ and
    /// δ′ = δ/2 of [advanced composition](Self::advanced) are δ. Its ε is then at most
    /// ε/√2 + ε²/(8·ln(2/δ)), which is below ε up to ε = 2.34·ln(2/δ).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where D is outside [`COORDINATES`], or ε₀ below 10⁻⁶ or δ₀
    /// below 10⁻³⁰, as where δ = 0.
    pub fn new(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        Self::split(coordinates, budget, 2.0)
    }

    /// The same as printed (PVME, Algorithm 3): δ₀ = δ/(2d) for D = 2d coordinates.
    ///
    /// # Errors
    /// As [`CoordinateBudget::new`].
    pub fn as_printed(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        Self::split(coordinates, budget, 1.0)
    }

    fn split(coordinates: u32, budget: &Budget, parts: f64) -> Result<Self, Error> {
        COORDINATES.check(f64::from(coordinates))?;
        let d = f64::from(coordinates);
        let root = (d * (2.0 / budget.delta()).ln()).sqrt();
        Self::of(
            budget.epsilon() / (2.0 * root),
            budget.delta() / (parts * d),
        )
    }

    /// ε₀ from 10⁻⁶ to 100 and δ₀ from 10⁻³⁰ to 1/2 as they are.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where either is out of its range.
    pub fn of(epsilon: f64, delta: f64) -> Result<Self, Error> {
        EPSILON_0.check(epsilon)?;
        DELTA_0.check(delta)?;
        Ok(Self { epsilon, delta })
    }

    /// The largest ε₀, to one part in 10⁹, that [`CoordinateBudget::composed`] allows
    /// beside δ₀ = δ/(2D): what (ε, δ) is worth when composition is summed up, where the
    /// closed form is `CoordinateBudget::new`.
    ///
    /// ```
    /// use hushbin_study::competitors::{Budget, sums::CoordinateBudget};
    ///
    /// let budget = Budget::new(1.0, 1e-6)?;
    /// let closed = CoordinateBudget::new(16, &budget)?;
    /// let summed = CoordinateBudget::summed(16, &budget)?;
    /// assert!(summed.epsilon() > 1.8 * closed.epsilon());
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CoordinateBudget::new`].
    pub fn summed(coordinates: u32, budget: &Budget) -> Result<Self, Error> {
        let least = Self::new(coordinates, budget)?;
        let at = |epsilon: f64| Self { epsilon, ..least };
        let enough = |epsilon: f64| {
            at(epsilon).composed(coordinates, budget.epsilon()) * (1.0 + 1e-9) <= budget.delta()
        };
        // Above ε the first alone is too much, but for δ near 1.
        let epsilon = bisect(
            budget.epsilon() / f64::from(coordinates),
            2.0 * budget.epsilon() + 1.0,
            1e-9,
            enough,
        );
        Self::of(epsilon, least.delta)
    }

    /// ε₀.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// δ₀.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// (ε, δ) of D coordinates by advanced composition with a given δ′:
    /// ε = √(2D·ln(1/δ′))·ε₀ + D·ε₀·(e^ε₀ − 1)/(e^ε₀ + 1), δ = D·δ₀ + δ′.
    ///
    /// Source: Dwork, Rothblum, Vadhan 2010, as Kairouz, Oh, Viswanath 2015 state it.
    #[must_use]
    pub fn advanced(&self, coordinates: u32, spare: f64) -> Total {
        let d = f64::from(coordinates);
        let drift = d * self.epsilon * (0.5 * self.epsilon).tanh();
        Total {
            epsilon: (2.0 * d * (1.0 / spare).ln()).sqrt() * self.epsilon + drift,
            delta: d * self.delta + spare,
        }
    }

    /// δ at ε of D coordinates, exactly, of the mechanism that gives away the most of
    /// all that are (ε₀, δ₀) private: with probability δ₀ it tells the input, else it
    /// answers truly with probability e^ε₀/(1 + e^ε₀). No composition of D mechanisms
    /// that are (ε₀, δ₀) private, adaptive or not, has a greater one:
    ///
    /// 1 − (1 − δ₀)^D·(1 − Σ_i C(D, i)·p^{D−i}·(1 − p)^i·(1 − exp(ε − (D − 2i)·ε₀))₊).
    ///
    /// Source: Kairouz, Oh, Viswanath, "The Composition Theorem for Differential
    /// Privacy" (2015), Theorem 3.3; the tests enumerate outcomes.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::CoordinateBudget;
    ///
    /// let one = CoordinateBudget::of(0.5, 0.01)?;
    /// assert!((one.composed(1, 0.5) - 0.01).abs() < 1e-15);
    /// // Two at 2ε₀: basic composition, but for both telling.
    /// assert!((one.composed(2, 1.0) - 0.0199).abs() < 1e-15);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn composed(&self, coordinates: u32, epsilon: f64) -> f64 {
        let d = f64::from(coordinates);
        // ln p and ln(1 − p).
        let own = -(-self.epsilon).exp().ln_1p();
        let other = own - self.epsilon;
        let term = |wrong: u32| {
            let i = f64::from(wrong);
            let excess = (d - 2.0 * i) * self.epsilon - epsilon;
            let ways = lgamma(d + 1.0) - lgamma(i + 1.0) - lgamma(d - i + 1.0);
            (excess > 0.0).then(|| (ways + (d - i) * own + i * other).exp() * -(-excess).exp_m1())
        };
        let answered: f64 = (0..=coordinates).map_while(term).sum();
        let telling = -(d * (-self.delta).ln_1p()).exp_m1();
        telling + (1.0 - telling) * answered
    }
}
