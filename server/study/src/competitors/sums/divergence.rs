//! Exact privacy loss of the shuffled messages of one coordinate. [`CoordinateNoise`] defines the
//! counts Z⁺, Z⁻ and Z_y of noise messages, and [`ZeroSumTuples`](super::ZeroSumTuples) defines the
//! tuples s_y and the coefficients c_y(x).
//!
//! Z⁺ and Z⁻ are geometric with parameter p_c. They can be written as D⁺ + g and D⁻ + g. Here D is
//! discrete Laplace with parameter p_c, and D⁺ and D⁻ are its positive and negative parts. The
//! count g is geometric with parameter p_c² and independent of D. The histogram of a person's
//! message x is e_x = Σ c_y(x)·s_y + x·e₊₁, where e₊₁ is the histogram of one message +1. With U =
//! D + x, the histogram of the person's message and of the noise is
//!
//! U·e₊₁ + (g + Z₁ + c₁(x) + max(U, x) − U)·s₁ + Σ_{|y| ≥ 2} (Z_y + c_y(x))·s_y.
//!
//! The tuples and e₊₁ are linearly independent. The histogram therefore determines these counts,
//! and both have the same divergence. Given U, the counts are independent and log-concave. Once all
//! counts but one are fixed, the best test of the last count is therefore a threshold.

use hushbin::Error;

use super::negative_binomial::{NegativeBinomial, shifted_probability_pairs};
use super::noise::CoordinateNoise;

/// Maximum number of joint outcomes whose probabilities are listed.
const MAX_OUTCOMES: usize = 1 << 22;

impl CoordinateNoise {
    /// Returns the exact δ at ε₀ = `epsilon` for one coordinate if a person's value is `from`
    /// instead of `to`. Both values are from −L to L.
    ///
    /// The result is the hockey-stick divergence of the two histograms of messages, to about 10⁻¹⁴.
    /// It is a sum over the outcomes of U and of those counts Z_y that the change of value shifts;
    /// the module comment defines U and Z_y.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the counts Z_y with |y| ≥ 2 have more than 2²² joint outcomes. For
    /// L > 2 this is usually the case; use [`delta_upper_bound`](Self::delta_upper_bound) instead.
    ///
    /// # Panics
    /// If a value is not from −L to L.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::CoordinateNoise;
    ///
    /// let noise = CoordinateNoise::with_parameters(2, 4.0, 0.6, |_| 0.6)?;
    /// assert!((noise.delta_between_values(1.5, 1, -1)? - 0.023_420_8).abs() < 1e-6);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    pub fn delta_between_values(&self, epsilon: f64, from: i32, to: i32) -> Result<f64, Error> {
        let outer = self.tuple_outcomes(from, to)?;
        let beside = self.cancelling_pair_count_pmf();
        let k = epsilon.exp();
        let (mut delta, mut last) = (0.0, None);
        for (u, own, other) in self.unit_difference_outcomes(from, to) {
            let shift = self.tuples().tuple_count_shift(1, from, to, u);
            // Most adjacent values of U have the same shift, so the last test is reused.
            if !matches!(&last, Some((of, _)) if *of == shift) {
                last = Some((shift, ThresholdTest::new(&beside, shift)));
            }
            let Some((_, test)) = &last else { continue };
            let excess = |&(a, b): &(f64, f64)| test.weighted_hockey_stick(own * a, k * other * b);
            delta += outer.iter().map(excess).sum::<f64>();
        }
        Ok(delta)
    }

    /// Returns the maximum of [`delta_between_values`](Self::delta_between_values) over all pairs of values that a person
    /// can have.
    ///
    /// # Errors
    /// Same errors as [`CoordinateNoise::delta_between_values`].
    pub fn worst_delta(&self, epsilon: f64) -> Result<f64, Error> {
        let l = self.tuples().level_count() as i32;
        let mut worst = 0.0_f64;
        for (from, to) in (-l..=l).flat_map(|from| (-l..=l).map(move |to| (from, to))) {
            worst = worst.max(self.delta_between_values(epsilon, from, to)?);
        }
        Ok(worst)
    }

    /// Lists the joint outcomes of the counts Z_y of tuples with |y| ≥ 2, as far as the change from
    /// `to` to `from` shifts them. For each outcome, the list has its probability under `from` and
    /// under `to`.
    fn tuple_outcomes(&self, from: i32, to: i32) -> Result<Vec<(f64, f64)>, Error> {
        let mut all = vec![(1.0, 1.0)];
        for (y, law) in self.tuple_count_distributions().skip(1) {
            let shift = self.tuples().tuple_count_shift(y, from, to, 0);
            if shift == 0 {
                continue;
            }
            let own = shifted_probability_pairs(&law.probabilities(), shift);
            if all.len() * own.len() > MAX_OUTCOMES {
                return Err(Error::InvalidCombination {
                    reason: "the tuples have too many outcomes to list",
                });
            }
            // The Z_y are independent, so the probabilities of their outcomes multiply.
            let times = |&(a, b): &(f64, f64)| own.iter().map(move |(p, q)| (a * p, b * q));
            all = all.iter().flat_map(times).collect();
        }
        Ok(all)
    }

    /// Lists the outcomes of U, the discrete Laplace noise plus the person's value. Each outcome
    /// has its probability under the input `from` and under the input `to`. Outcomes with a
    /// probability below about 10⁻²⁰ are left out.
    pub(super) fn unit_difference_outcomes(
        &self,
        from: i32,
        to: i32,
    ) -> impl Iterator<Item = (i32, f64, f64)> {
        let p = self.unit_count_distribution().continue_probability();
        // p^reach ≤ 10⁻²⁰.
        let reach = (1e-20_f64.ln() / p.ln()).ceil() as i32;
        let laplace = move |d: i32| (1.0 - p) / (1.0 + p) * p.powi(d.abs());
        let all = from.min(to) - reach..=from.max(to) + reach;
        all.map(move |u| (u, laplace(u - from), laplace(u - to)))
    }

    /// Returns the probabilities of 0, 1, 2 and so on for the sum g + Z₁. It is the number of noise
    /// pairs {+1, −1} that do not change the sum of messages.
    pub(super) fn cancelling_pair_count_pmf(&self) -> Vec<f64> {
        let p = self.unit_count_distribution().continue_probability();
        // If p² is below the range of `NegativeBinomial`, g is taken to be always 0.
        let g = NegativeBinomial::new(1.0, p * p).map_or(vec![1.0], |law| law.probabilities());
        let z = self.tuple_count_distributions[0].probabilities();
        let mut sum = vec![0.0; g.len() + z.len() - 1];
        for (i, a) in g.iter().enumerate() {
            for (total, b) in sum[i..].iter_mut().zip(&z) {
                *total += a * b;
            }
        }
        sum
    }
}

/// Threshold tests that distinguish a log-concave count from the same count plus a shift. P is the
/// distribution of the count plus the shift, and Q is the distribution of the count itself.
#[derive(Debug)]
struct ThresholdTest {
    /// Likelihood ratios P/Q of the outcomes, in ascending order.
    likelihood_ratios: Vec<f64>,
    /// Tail probabilities: for each index, the total probability, under P and under Q, of the
    /// outcomes from this index on.
    tail_probabilities: Vec<(f64, f64)>,
}

impl ThresholdTest {
    fn new(law: &[f64], shift: i32) -> Self {
        let mut pairs = shifted_probability_pairs(law, shift);
        // For a negative shift the likelihood ratios descend, so the outcomes are reversed.
        if shift < 0 {
            pairs.reverse();
        }
        let ratios = pairs.iter().map(|(p, q)| p / q).collect();
        let mut tails = vec![(0.0, 0.0)];
        for (p, q) in pairs.iter().rev() {
            let (more, less) = tails[tails.len() - 1];
            tails.push((more + p, less + q));
        }
        tails.reverse();
        Self {
            likelihood_ratios: ratios,
            tail_probabilities: tails,
        }
    }

    /// Returns the sum of max(0, a·P − b·Q) over all outcomes.
    fn weighted_hockey_stick(&self, a: f64, b: f64) -> f64 {
        // The positive terms are exactly those from this index on, because the ratios ascend.
        let from = self
            .likelihood_ratios
            .partition_point(|ratio| a * ratio <= b);
        let (p, q) = self.tail_probabilities[from];
        (a * p - b * q).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the sum over thresholds equals the sum over all outcomes, so that no test of a
    /// log-concave count is better than a threshold.
    #[test]
    fn thresholds_sum_up_what_all_outcomes_do() {
        let law = NegativeBinomial::new(3.7, 0.8).unwrap().probabilities();
        for shift in [-3, -1, 0, 1, 4] {
            let test = ThresholdTest::new(&law, shift);
            for (a, b) in [(1.0, 1.0), (0.3, 0.4), (1.0, 2.7), (2.7, 1.0)] {
                let all = shifted_probability_pairs(&law, shift);
                let sum: f64 = all.iter().map(|(p, q)| (a * p - b * q).max(0.0)).sum();
                assert!(
                    (test.weighted_hockey_stick(a, b) - sum).abs() < 1e-14,
                    "{shift}: {sum}"
                );
            }
        }
    }
}
