//! Exact sampling of the discrete Laplace distribution.

use rand_core::Rng;

use super::uniform::{draw_below, draw_u64};

/// Discrete Laplace noise: P(y) is proportional to exp(−|y|·`numerator` / `denominator`).
///
/// An integer of sensitivity Δ plus this noise is (Δ·numerator/denominator)-differentially private.
/// No floating-point number ever carries a secret plus noise (Mironov, "On Significance of the
/// Least Significant Bits for Differential Privacy").
///
/// Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", Algorithm 2.
/// Its powers of 1/e are drawn by Algorithm 1 of the same paper. All probabilities are ratios of
/// integers, drawn without bias.
///
/// ```
/// use hushbin::sample::DiscreteLaplace;
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// // Scale 2048: with ε = 1, the noise of a sum of sensitivity 2048.
/// let noise = DiscreteLaplace::new(1, 2048);
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let draws = (0..1000).map(|_| noise.sample(&mut rng));
/// assert!(draws.map(|y| y.abs() as f64).sum::<f64>() / 1000.0 > 1500.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteLaplace {
    rate_numerator: u64,
    rate_denominator: u64,
}

impl DiscreteLaplace {
    /// Creates noise of rate `numerator` / `denominator`, the inverse of the scale.
    ///
    /// # Panics
    /// If `numerator` or `denominator` is 0, or `denominator` is 2⁵² or more.
    #[must_use]
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        assert!(numerator > 0 && denominator > 0 && denominator < 1 << 52);
        Self {
            rate_numerator: numerator,
            rate_denominator: denominator,
        }
    }

    /// Rate of the noise: the inverse of its scale.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate_numerator as f64 / self.rate_denominator as f64
    }

    /// Draws one value of the noise. Consumes about ten words of 64 bits.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> i64 {
        let Self {
            rate_numerator: numerator,
            rate_denominator: denominator,
        } = *self;
        loop {
            // Draws X, with P(x) proportional to exp(−x/denominator). The remainder of X by the
            // denominator is drawn by rejection, the quotient by counting.
            let remainder = draw_below_u64(rng, denominator);
            if !bernoulli_exp_minus(rng, remainder, denominator) {
                continue;
            }
            let mut quotient = 0u64;
            while bernoulli_exp_minus(rng, 1, 1) {
                quotient += 1;
            }
            // No saturation in practice: a quotient of 2¹¹ has a probability below 2⁻²⁹⁵⁴.
            let x = quotient
                .saturating_mul(denominator)
                .saturating_add(remainder);
            let magnitude = (x / numerator) as i64;
            // Zero can be drawn with either sign. If the sign is negative, the value is redrawn, so
            // that zero is not counted twice.
            let negative = rng.next_u32() & 1 == 1;
            if !(negative && magnitude == 0) {
                return if negative { -magnitude } else { magnitude };
            }
        }
    }
}

/// Returns true with probability exactly exp(−γ), where γ = `numerator` / `denominator` is at
/// most 1. Draw number k, for k = 1, 2, …, succeeds with probability γ/k. The result is true if the
/// first draw that fails has an odd k.
fn bernoulli_exp_minus<R: Rng + ?Sized>(rng: &mut R, numerator: u64, denominator: u64) -> bool {
    // A draw with probability γ/k is two independent draws, with 1/k and with γ, so that no product
    // can overflow. Draws that always succeed are skipped.
    let below_gamma =
        |rng: &mut R| numerator == denominator || draw_below_u64(rng, denominator) < numerator;
    let mut k = 1;
    while (k == 1 || draw_below(rng, k) == 0) && below_gamma(rng) {
        k += 1;
    }
    k % 2 == 1
}

/// Draws a uniform integer below `range`. Masks random words to the bits that `range` − 1 needs,
/// and rejects words that are not below `range`.
fn draw_below_u64<R: Rng + ?Sized>(rng: &mut R, range: u64) -> u64 {
    let mask = u64::MAX >> (range - 1).leading_zeros().min(63);
    loop {
        let word = draw_u64(rng) & mask;
        if word < range {
            return word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    /// Returns true if draws pass a chi-square test against the exact probabilities. The test has
    /// 41 cells and two tails, and a significance of 1e-6.
    fn fits(numerator: u64, denominator: u64, seed: u64) -> bool {
        const DRAWS: usize = 200_000;
        const REACH: i64 = 20;
        let noise = DiscreteLaplace::new(numerator, denominator);
        let q = libm::exp(-noise.rate());
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut counts = [0.0; 2 * REACH as usize + 3];
        for _ in 0..DRAWS {
            let y = noise.sample(&mut rng).clamp(-REACH - 1, REACH + 1);
            counts[(y + REACH + 1) as usize] += 1.0;
        }
        let at_zero = (1.0 - q) / (1.0 + q);
        let tail = at_zero * libm::pow(q, (REACH + 1) as f64) / (1.0 - q);
        let (mut statistic, mut pooled, mut pooled_expected, mut cells) = (0.0, 0.0, 0.0, 0.0);
        for (index, &count) in counts.iter().enumerate() {
            let y = (index as i64 - REACH - 1).abs();
            let probability = if y > REACH {
                tail
            } else {
                at_zero * libm::pow(q, y as f64)
            };
            let expected = probability * DRAWS as f64;
            if expected < 10.0 {
                pooled += count;
                pooled_expected += expected;
            } else {
                statistic += (count - expected) * (count - expected) / expected;
                cells += 1.0;
            }
        }
        if pooled_expected >= 10.0 {
            statistic += (pooled - pooled_expected) * (pooled - pooled_expected) / pooled_expected;
            cells += 1.0;
        } else {
            assert!(pooled < 60.0, "{pooled} draws where hardly any belong");
        }
        // Wilson–Hilferty: 4.75 standard deviations are 1e-6.
        let freedom: f64 = cells - 1.0;
        let z = (libm::cbrt(statistic / freedom) - (1.0 - 2.0 / (9.0 * freedom)))
            / libm::sqrt(2.0 / (9.0 * freedom));
        z < 4.75
    }

    #[test]
    fn draws_have_the_exact_distribution() {
        for (numerator, denominator) in [
            (1, 1),
            (3, 1),
            (1, 3),
            (7, 10),
            (1, 16),
            (5 << 30, 16 << 30),
            (1 << 33, 9_876_543_211),
            ((1 << 51) / 3, (1 << 52) - 1),
        ] {
            assert!(fits(numerator, denominator, 7), "{numerator}/{denominator}");
        }
    }

    /// Checks the power of the test above: a scale that is wrong by 3 per cent is detected.
    #[test]
    fn a_wrong_scale_would_be_seen() {
        let noise = DiscreteLaplace::new(100, 1600);
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let draws = 200_000;
        let square: f64 = (0..draws)
            .map(|_| noise.sample(&mut rng) as f64)
            .map(|y| y * y)
            .sum();
        let ratio = square / draws as f64 / noise.variance();
        // A squared Laplace variate has a standard deviation of √5 its mean.
        let error = libm::sqrt(5.0 / f64::from(draws));
        assert!((ratio - 1.0).abs() < 5.0 * error, "{ratio}");
        assert!(5.0 * error < 0.03);
    }

    #[test]
    fn wide_ranges_are_uniform() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let range = 3u64 << 61;
        let draws = 30_000;
        let low = (0..draws).filter(|_| draw_below_u64(&mut rng, range) < range / 3);
        let z = (low.count() as f64 - f64::from(draws) / 3.0)
            / libm::sqrt(f64::from(draws) * 2.0 / 9.0);
        assert!(z.abs() < 4.9, "{z}");
    }
}
