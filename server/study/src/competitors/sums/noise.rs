//! Noise of one coordinate: the distributions of the numbers of noise messages that satisfy (ε₀,
//! δ₀).

use hushbin::Error;

use super::budget::CoordinateBudget;
use super::negative_binomial::NegativeBinomial;
use super::tuples::{MaxTupleCountShift, ZeroSumTuples};

/// Fraction β of ε₀ that is spent on hiding the counts of tuples. The remaining fraction is spent
/// on hiding the sum of the values.
pub const TUPLE_EPSILON_FRACTION: f64 = 0.25;

/// Total noise that all honest people add to one coordinate with L levels. The noise consists of
/// messages +1 and −1, and of tuples of messages with sum zero.
///
/// The number Z⁺ of messages +1 and the number Z⁻ of messages −1 have the distribution NB(1, p_c)
/// each. The number Z_y of copies of each tuple [s_y](ZeroSumTuples) has the distribution NB(r,
/// p_y). The error of the analyser's sum is Z⁺ − Z⁻, because tuples sum to zero. This error is
/// discrete Laplace noise with parameter p_c.
///
/// # Privacy
/// The shuffled messages are (ε₀, δ₀) private for anyone with a value from −L to L. A change of a
/// person's value changes the sum by at most 2L. The change also shifts at most q of the counts
/// Z_y. If count Z_y is shifted by s_y′, then Σ |s_y′·y| ≤ Γ. Z⁺ − Z⁻ hides the change of the sum
/// at (1 − β)·ε₀. Each Z_y hides its shift s_y′ at β·ε₀·|s_y′·y|/Γ with δ₀/q (GKMPS's lemma).
/// [`CoordinateNoise::delta_between_values`] computes the exact δ.
///
/// ```
/// use hushbin_study::competitors::sums::{CoordinateBudget, CoordinateNoise};
///
/// let noise = CoordinateNoise::new(4, &CoordinateBudget::with_epsilon_and_delta(1.0, 1e-6)?)?;
/// assert!((noise.expected_messages() - 167_063.0).abs() < 1.0);
/// assert!((noise.variance() - 227.4).abs() < 0.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinateNoise {
    tuples: ZeroSumTuples,
    /// Distribution of the number Z⁺ of noise messages +1, and of the number Z⁻ of noise messages
    /// −1.
    unit_count_distribution: NegativeBinomial,
    /// Distributions of the numbers Z_y of copies of the tuples s_y, in the order of
    /// [`ZeroSumTuples::tuple_names`].
    pub(super) tuple_count_distributions: Vec<NegativeBinomial>,
    max_tuple_count_shift: MaxTupleCountShift,
}

impl CoordinateNoise {
    /// Returns the noise that satisfies (ε₀, δ₀) for L `levels`. Its parameters are p_c = exp(−(1 −
    /// β)·ε₀/(2L)), p_y = exp(−0.2·β·ε₀·|y|/Γ) and r = 3·(1 + ln(q/δ₀)). Here β is [`TUPLE_EPSILON_FRACTION`],
    /// and Γ and q are the maxima in [`MaxTupleCountShift`].
    ///
    /// Source: GKMPS 2021 and PVME, Algorithm 3. Here values differ by up to 2L instead of L,
    /// because they have either sign.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if L is outside [`LEVEL_COUNT_RANGE`](super::LEVEL_COUNT_RANGE), or ε₀ is so small that a p
    /// is above 1 − 10⁻⁷.
    pub fn new(levels: u32, budget: &CoordinateBudget) -> Result<Self, Error> {
        let reach = ZeroSumTuples::new(levels)?.max_tuple_count_shift();
        let epsilon = budget.epsilon();
        let of_units = (1.0 - TUPLE_EPSILON_FRACTION) * epsilon / (2.0 * f64::from(levels));
        let of_reach = 0.2 * TUPLE_EPSILON_FRACTION * epsilon / f64::from(reach.max_weighted_shift);
        // 3, 1 and 0.2 are constants of GKMPS's lemma, with δ₀/q for each tuple.
        let r = 3.0 * (1.0 + (f64::from(reach.max_shifted_tuples) / budget.delta()).ln());
        Self::with_parameters(levels, r, (-of_units).exp(), |y| {
            (-of_reach * f64::from(y.unsigned_abs())).exp()
        })
    }

    /// Returns the noise with given parameters: any shape r ≥ 1 of the counts of tuples, p_c =
    /// `units` for messages ±1, and p_y = `copies(y)` for the tuple s_y.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if L is outside [`LEVEL_COUNT_RANGE`](super::LEVEL_COUNT_RANGE), or r or a p is out of the
    /// range of [`NegativeBinomial::new`]. [`Error::InvalidCombination`] if r < 1: the counts would not be
    /// log-concave, so that the best tests would not be thresholds.
    pub fn with_parameters(
        levels: u32,
        r: f64,
        units: f64,
        copies: impl Fn(i32) -> f64,
    ) -> Result<Self, Error> {
        let tuples = ZeroSumTuples::new(levels)?;
        if r < 1.0 {
            return Err(Error::InvalidCombination {
                reason: "noise whose shape r is below 1 is not log-concave",
            });
        }
        let law = |y| NegativeBinomial::new(r, copies(y));
        Ok(Self {
            unit_count_distribution: NegativeBinomial::new(1.0, units)?,
            tuple_count_distributions: tuples.tuple_names().map(law).collect::<Result<_, _>>()?,
            max_tuple_count_shift: tuples.max_tuple_count_shift(),
            tuples,
        })
    }

    /// Tuples that the noise consists of, for L levels.
    #[must_use]
    pub const fn tuples(&self) -> &ZeroSumTuples {
        &self.tuples
    }

    /// Maxima of the shifts of tuple counts that a change of one person's value causes.
    #[must_use]
    pub const fn max_tuple_count_shift(&self) -> MaxTupleCountShift {
        self.max_tuple_count_shift
    }

    /// Distribution NB(1, p_c) of the number of noise messages +1, and also of the number of noise
    /// messages −1.
    #[must_use]
    pub const fn unit_count_distribution(&self) -> NegativeBinomial {
        self.unit_count_distribution
    }

    /// Lists every tuple s_y by its name y, with the distribution NB(r, p_y) of the number of its
    /// copies.
    pub fn tuple_count_distributions(
        &self,
    ) -> impl Iterator<Item = (i32, NegativeBinomial)> + use<'_> {
        self.tuples
            .tuple_names()
            .zip(self.tuple_count_distributions.iter().copied())
    }

    /// Expected total number of noise messages that all honest people send for one coordinate. The
    /// tuple s₁ consists of two messages, and every other tuple of three.
    #[must_use]
    pub fn expected_messages(&self) -> f64 {
        let of_tuple = |(y, law): (i32, NegativeBinomial)| {
            let size = if y == 1 { 2.0 } else { 3.0 };
            size * law.mean()
        };
        2.0 * self.unit_count_distribution.mean()
            + self.tuple_count_distributions().map(of_tuple).sum::<f64>()
    }

    /// Variance 2p_c/(1 − p_c)² of the noise in the coordinate's sum, in squared levels. The noise
    /// is the number of noise messages +1 minus the number of noise messages −1.
    #[must_use]
    pub fn variance(&self) -> f64 {
        // Z⁺ and Z⁻ are independent.
        2.0 * self.unit_count_distribution.variance()
    }
}
