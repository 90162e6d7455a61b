//! Certified privacy losses, computed from probabilities that are integers or ratios of integers.

use super::exp_lower_bound::ExpLowerBound;
use super::laplace::DiscreteLaplace;
use super::uniform::{TWO_POW_64, Threshold};

impl ExpLowerBound {
    /// Returns true if `numerator` / `denominator` is at most this bound. Numerator and denominator
    /// are products of a weight and a count. The comparison is exact.
    #[must_use]
    pub fn is_at_least_ratio(
        &self,
        numerator: WeightAndCount,
        denominator: WeightAndCount,
    ) -> bool {
        // numerator · 2^fraction ≤ denominator · mantissa: factors of at most
        // 128 bits on either side.
        wide_product(numerator.0, self.integer_to_fixed_point(numerator.1))
            <= wide_product(
                denominator.0,
                u128::from(denominator.1) * u128::from(self.mantissa),
            )
    }
}

/// Weight and count, which stand for their quotient or their product. [`realised_epsilon`] takes
/// the quotient weight / count, and [`privacy_loss_of_ratio`] takes the product.
///
/// ```
/// use hushbin::sample::{WeightAndCount, realised_epsilon};
///
/// // Two buckets, one with a weight of 5, one with 2: ln 2.5 lies above 0.9.
/// let weights = [WeightAndCount(5, 1), WeightAndCount(2, 1)];
/// let epsilon = realised_epsilon(weights.into_iter(), 1.0);
/// assert!((0.9..=1.0).contains(&epsilon));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct WeightAndCount(pub u128, pub u64);

/// Computes the privacy loss of a mechanism from the probabilities of its buckets over all inputs.
/// Each probability is given as a weight divided by a count, up to a factor that is common to all
/// probabilities. The loss is the logarithm of the ratio of the greatest to the least probability.
/// The result is rounded up, and never above `requested`.
///
/// # Panics
/// If there are no probabilities, or as for [`privacy_loss_of_ratio`].
#[must_use]
pub fn realised_epsilon(
    probabilities: impl Iterator<Item = WeightAndCount>,
    requested: f64,
) -> f64 {
    // a.0 / a.1 < b.0 / b.1, cross-multiplied so that it is exact.
    let less = |a: &WeightAndCount, b: &WeightAndCount| {
        wide_product(a.0, u128::from(b.1)) < wide_product(b.0, u128::from(a.1))
    };
    let (least, most) = probabilities
        .map(|probability| (probability, probability))
        .reduce(|(least, most), (next, _)| {
            let least = if less(&next, &least) { next } else { least };
            let most = if less(&most, &next) { next } else { most };
            (least, most)
        })
        .expect("every input gives some bucket a probability");
    privacy_loss_of_ratio(
        WeightAndCount(most.0, least.1),
        WeightAndCount(least.0, most.1),
        requested,
    )
}

/// Returns a·b as (high, low) 128-bit halves.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW_64_BITS_MASK: u128 = u64::MAX as u128;
    // Long multiplication of 64-bit halves; no partial sum exceeds 128 bits.
    let (a1, a0, b1, b0) = (a >> 64, a & LOW_64_BITS_MASK, b >> 64, b & LOW_64_BITS_MASK);
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let middle_low = a0 * b1 + (middle & LOW_64_BITS_MASK);
    (
        a1 * b1 + (middle >> 64) + (middle_low >> 64),
        (middle_low << 64) | (low & LOW_64_BITS_MASK),
    )
}

/// Returns the privacy loss ln(`numerator` / `denominator`). The result is rounded up to a double,
/// and never above `requested`. Numerator and denominator are products of a weight and a count.
///
/// A double x is an upper bound of the loss if a lower bound of exp(x) is at least the ratio. The
/// search starts just below the floating-point logarithm and goes up. It ends, because thresholds
/// are rounded so that `requested` is such an upper bound.
///
/// # Panics
/// If `requested` is below the loss. Then the thresholds are wrong.
#[must_use]
pub fn privacy_loss_of_ratio(
    numerator: WeightAndCount,
    denominator: WeightAndCount,
    requested: f64,
) -> f64 {
    let product = |WeightAndCount(weight, count)| weight as f64 * count as f64;
    let ratio = product(numerator) / product(denominator);
    // The margin is eight units. The error is at most six: two of libm's logarithm and four of the
    // ratio. The ratio's relative error is an absolute error of the logarithm.
    let start = libm::log(ratio) - 8.0 * f64::EPSILON;
    let mut candidate = start.clamp(0.0, requested);
    let mut step = f64::EPSILON / 4.0;
    while !ExpLowerBound::new(candidate).is_at_least_ratio(numerator, denominator) {
        assert!(
            candidate < requested,
            "thresholds are rounded so that the requested ε covers the loss"
        );
        candidate = (candidate + step).max(candidate.next_up()).min(requested);
        // A growing step bounds the number of tries.
        step *= 1.5;
    }
    candidate
}

impl Threshold {
    /// Realised probability that a draw is true, as the nearest double.
    #[must_use]
    pub fn probability(self) -> f64 {
        self.0 as f64 / TWO_POW_64
    }

    /// Realised probability that a draw is false, as the nearest double.
    #[must_use]
    pub fn false_probability(self) -> f64 {
        ((1u128 << 64) - u128::from(self.0)) as f64 / TWO_POW_64
    }
}

impl DiscreteLaplace {
    /// Variance of the noise: 2q/(1 − q)², where q = exp(−rate).
    pub(crate) fn variance(&self) -> f64 {
        let rate = self.rate();
        let denominator = -libm::expm1(-rate);
        2.0 * libm::exp(-rate) / (denominator * denominator)
    }
}
