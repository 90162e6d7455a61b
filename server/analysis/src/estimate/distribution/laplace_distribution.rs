//! Distribution of sums of noisy responses under hash-bin. A response is the reported value of the
//! bin to which the item is hashed, times the item's sign.

use super::noise_law::NoiseLaw;
use crate::estimate::point::PointEstimate;
use crate::numeric::confidence_limits::{LimitSide, SumForConfidenceLimits, TailThresholds};

/// Distribution of the deviations of responses from one item's true value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LaplaceResponseDistribution {
    /// Value of one grid step.
    pub(crate) grid_step: f64,
    /// Variance V of the discrete Laplace noise, in squared grid steps.
    pub(crate) noise_variance: f64,
    /// Variance that other items in the same bin add to a response.
    pub(crate) bin_collision_variance: f64,
}

impl LaplaceResponseDistribution {
    /// Returns the parameters, which all items share.
    pub(crate) fn noise_law(&self) -> NoiseLaw {
        let numbers = [
            self.grid_step,
            self.noise_variance,
            self.bin_collision_variance,
        ];
        let mut words = [0; 14];
        words[..3].copy_from_slice(&numbers.map(f64::to_bits));
        // Neither 0 nor 1, which stand for hits.
        words[13] = 2;
        words
    }

    /// Returns the confidence limit for the true value on one side: see
    /// [`ContributionDistribution`](super::ContributionDistribution::confidence_limit).
    /// People's values only shift the sum of responses. So the distribution of the sum around its
    /// mean does not depend on the true value.
    pub(crate) fn confidence_limit(
        &self,
        point: PointEstimate,
        reports: f64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        let observed = SumForConfidenceLimits {
            observed_sum: reports * point.estimate,
            continuity_correction: 0.0,
            standard_deviation: reports * point.standard_error,
            max_cumulant_argument: self.max_cumulant_argument(),
        };
        observed.confidence_limit(failure, side, |t, sum, exponent| {
            let cumulant = self.cumulant(t);
            Some(((t * sum - exponent) / reports - cumulant) / t)
        })
    }

    /// Returns an upper bound on ln E[e^(tX)], where X is a response for people without the item.
    fn cumulant(&self, t: f64) -> f64 {
        // Discrete Laplace noise of variance V contributes −ln(1 − V·(cosh t − 1)), with t in grid
        // steps. An entry v of another item adds ±v with probability p, if it shares the bin. It
        // contributes at most p·(cosh(tv) − 1) ≤ p·v²·(cosh t − 1), as v² ≤ 1, and adds p·v² to the
        // variance. cosh t − 1 is computed as 2 sinh²(t/2), to avoid cancellation.
        let half = |t: f64| 2.0 * (0.5 * t).sinh().powi(2);
        self.bin_collision_variance * half(t)
            - (-self.noise_variance * half(t * self.grid_step)).ln_1p()
    }

    /// Returns the maximum argument t of the cumulant. It is just below the solution of V·(cosh t −
    /// 1) = 1, where V is the noise variance. At that solution, the noise has no finite moment.
    fn max_cumulant_argument(&self) -> f64 {
        const BELOW: f64 = 1.0 - 1e-9;
        2.0 * (0.5 / self.noise_variance).sqrt().asinh() / self.grid_step * BELOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns P(S = s) for s from −`REACH` on. S is the sum of `reports` discrete Laplace draws
    /// with this rate, and of `reports` steps of ±1 that occur with probability `other`.
    fn exact(reports: u32, rate: f64, other: f64) -> Vec<f64> {
        let q = (-rate).exp();
        let one = |s: i32| (1.0 - q) / (1.0 + q) * q.powi(s.abs());
        let mut all = vec![0.0; 2 * REACH as usize + 1];
        all[REACH as usize] = 1.0;
        let sum = |all: &[f64], law: &dyn Fn(i32) -> f64, reach: i32| -> Vec<f64> {
            (-REACH..=REACH)
                .map(|s| {
                    let steps = (s - REACH).max(-reach)..=(s + REACH).min(reach);
                    steps.map(|x| law(x) * all[(s - x + REACH) as usize]).sum()
                })
                .collect()
        };
        for _ in 0..reports {
            all = sum(&all, &one, REACH);
            all = sum(&all, &|x| if x == 0 { 1.0 - other } else { 0.5 * other }, 1);
        }
        all
    }

    const REACH: i32 = 400;

    /// Limits exclude the true value at most at the nominal rate, and are not much wider than
    /// necessary. Here the variance that other items add is known.
    #[test]
    fn limits_fail_as_seldom_as_they_say() {
        let rate = 0.2_f64;
        let q = (-rate).exp();
        for reports in [1, 2, 5, 20] {
            for other in [0.0, 0.9] {
                let law = LaplaceResponseDistribution {
                    grid_step: 1.0,
                    noise_variance: 2.0 * q / (1.0 - q).powi(2),
                    bin_collision_variance: other,
                };
                let all = exact(reports, rate, other);
                for failure in [0.25, 0.025, 1e-4, 1e-6] {
                    let n = f64::from(reports);
                    let above = |sum: i32| {
                        let point = PointEstimate {
                            estimate: f64::from(sum) / n,
                            standard_error: ((law.noise_variance + other) / n).sqrt(),
                        };
                        law.confidence_limit(
                            point,
                            n,
                            &TailThresholds::new(failure),
                            LimitSide::Lower,
                        ) > 0.0
                    };
                    let first = (0..=REACH).find(|&sum| above(sum)).unwrap();
                    let tail = |from: i32| all[(from + REACH) as usize..].iter().sum::<f64>();
                    let what = format!("{reports} reports, {other}, {failure}: {first}");
                    assert!(tail(first) <= failure * (1.0 + 1e-6), "{what}");
                    // One report has a heavier tail than any normal distribution.
                    let next = tail(first - 1);
                    assert!(next > failure / 100.0, "{what}: {next}");
                }
            }
        }
    }
}
