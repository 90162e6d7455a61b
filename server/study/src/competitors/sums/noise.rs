//! The noise of one coordinate: how much of what is sent for (ε₀, δ₀).

use hushbin::Error;

use super::budget::CoordinateBudget;
use super::negative_binomial::NegativeBinomial;
use super::tuples::{Reach, Tuples};

/// β: the part of ε₀ that the tuples take; the sum takes the rest.
pub const TUPLES_PART: f64 = 0.25;

/// Noise of one coordinate with L levels: unit messages of either sign and tuples of
/// sum zero, over all honest people together.
///
/// Z⁺ and Z⁻ messages +1 and −1 are NB(1, p_c) each; Z_y copies of every tuple
/// [s_y](Tuples) are NB(r, p_y). The analyser's sum is off by Z⁺ − Z⁻, discrete Laplace
/// noise of parameter p_c, whatever the Z_y.
///
/// # Privacy
/// The shuffled messages are (ε₀, δ₀) private to anyone with a value from −L to L:
/// Z⁺ − Z⁻ hides a change of 2L at (1 − β)·ε₀, and each Z_y a shift s at
/// β·ε₀·|s·y|/Γ with δ₀/q (GKMPS's lemma), of which at most q are shifted, Σ |s·y| ≤ Γ.
/// What is given away really is [`CoordinateNoise::delta_at`].
///
/// ```
/// use hushbin_study::competitors::sums::{CoordinateBudget, CoordinateNoise};
///
/// let noise = CoordinateNoise::new(4, &CoordinateBudget::of(1.0, 1e-6)?)?;
/// assert!((noise.messages() - 167_063.0).abs() < 1.0);
/// assert!((noise.variance() - 227.4).abs() < 0.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinateNoise {
    tuples: Tuples,
    units: NegativeBinomial,
    /// By the order of [`Tuples::names`].
    pub(super) copies: Vec<NegativeBinomial>,
    reach: Reach,
}

impl CoordinateNoise {
    /// Noise for (ε₀, δ₀): p_c = exp(−(1 − β)·ε₀/(2L)), p_y = exp(−0.2·β·ε₀·|y|/Γ),
    /// r = 3·(1 + ln(q/δ₀)), β = [`TUPLES_PART`].
    ///
    /// Source: GKMPS 2021 and PVME, Algorithm 3, with what differs by 2L for values of either sign.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where L is outside [`LEVELS`](super::LEVELS), or ε₀ so
    /// small that a p is above 1 − 10⁻⁷.
    pub fn new(levels: u32, budget: &CoordinateBudget) -> Result<Self, Error> {
        let reach = Tuples::new(levels)?.reach();
        let epsilon = budget.epsilon();
        let of_units = (1.0 - TUPLES_PART) * epsilon / (2.0 * f64::from(levels));
        let of_reach = 0.2 * TUPLES_PART * epsilon / f64::from(reach.gamma);
        let r = 3.0 * (1.0 + (f64::from(reach.differing) / budget.delta()).ln());
        Self::with_parameters(levels, r, (-of_units).exp(), |y| {
            (-of_reach * f64::from(y.unsigned_abs())).exp()
        })
    }

    /// Noise with any r ≥ 1, p_c and p_y.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where L is outside [`LEVELS`](super::LEVELS) or r or a p
    /// is out of the range of [`NegativeBinomial::new`]; [`Error::Combination`] where
    /// r < 1, of which tests would be no thresholds.
    pub fn with_parameters(
        levels: u32,
        r: f64,
        units: f64,
        copies: impl Fn(i32) -> f64,
    ) -> Result<Self, Error> {
        let tuples = Tuples::new(levels)?;
        if r < 1.0 {
            return Err(Error::Combination {
                reason: "noise whose shape r is below 1 is not log-concave",
            });
        }
        let law = |y| NegativeBinomial::new(r, copies(y));
        Ok(Self {
            units: NegativeBinomial::new(1.0, units)?,
            copies: tuples.names().map(law).collect::<Result<_, _>>()?,
            reach: tuples.reach(),
            tuples,
        })
    }

    /// The tuples, of L levels.
    #[must_use]
    pub const fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// Γ and q.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// The law of Z⁺ and of Z⁻, NB(1, p_c).
    #[must_use]
    pub const fn units(&self) -> NegativeBinomial {
        self.units
    }

    /// Every tuple y with the law of Z_y, NB(r, p_y).
    pub fn copies(&self) -> impl Iterator<Item = (i32, NegativeBinomial)> + use<'_> {
        self.tuples.names().zip(self.copies.iter().copied())
    }

    /// Expected number of noise messages of one coordinate, of all honest people
    /// together: two of a unit or of s₁, three of any other tuple.
    #[must_use]
    pub fn messages(&self) -> f64 {
        let of_tuple = |(y, law): (i32, NegativeBinomial)| {
            let size = if y == 1 { 2.0 } else { 3.0 };
            size * law.mean()
        };
        2.0 * self.units.mean() + self.copies().map(of_tuple).sum::<f64>()
    }

    /// V, the variance of Z⁺ − Z⁻: 2p_c/(1 − p_c)², in squared levels.
    #[must_use]
    pub fn variance(&self) -> f64 {
        2.0 * self.units.variance()
    }
}
