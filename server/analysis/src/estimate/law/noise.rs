//! Sums of noisy responses, as hash-bin's are.

use crate::estimate::point::Point;
use crate::numeric::limits::{Failure, Observed, Side};

/// How responses for one item are distributed around its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoiseLaw {
    /// What a step of the grid is worth.
    pub(crate) scale: f64,
    /// Variance of discrete Laplace noise, in steps.
    pub(crate) noise: f64,
    /// Variance of what other items add to a response.
    pub(crate) others: f64,
}

impl NoiseLaw {
    /// As [`Law::limit`](super::Law::limit); a sum of values is given, so that
    /// only its mean depends on the truth.
    pub(crate) fn limit(&self, point: Point, reports: f64, failure: &Failure, side: Side) -> f64 {
        let observed = Observed {
            sum: reports * point.estimate,
            shift: 0.0,
            deviation: reports * point.standard_error,
            steepest: self.steepest(),
        };
        observed.limit(failure, side, |t, sum, exponent| {
            let cumulant = self.cumulant(t);
            Some(((t * sum - exponent) / reports - cumulant) / t)
        })
    }

    /// ln E[e^(tX)] of a response to people without the item.
    ///
    /// Of discrete Laplace noise of variance V it is −ln(1 − V·(cosh t − 1)). Others
    /// add ±v with variance v²·p for each: their part is below the sum of
    /// p·(cosh(tv) − 1) ≤ p·v²·(cosh t − 1), as v² ≤ 1.
    fn cumulant(&self, t: f64) -> f64 {
        let half = |t: f64| 2.0 * (0.5 * t).sinh().powi(2);
        self.others * half(t) - (-self.noise * half(t * self.scale)).ln_1p()
    }

    /// Just below where the noise has no moment: V·(cosh t − 1) = 1.
    fn steepest(&self) -> f64 {
        const BELOW: f64 = 1.0 - 1e-9;
        2.0 * (0.5 / self.noise).sqrt().asinh() / self.scale * BELOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(S = s) of so many discrete Laplace draws of this rate, and of as many ±1
    /// steps of the grid with probability `other`; s from −`REACH` on.
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

    /// Limits rule the truth out with at most the probability they say, and the
    /// next sum would not; with the variance of others known.
    #[test]
    fn limits_fail_as_seldom_as_they_say() {
        let rate = 0.2_f64;
        let q = (-rate).exp();
        for reports in [1, 2, 5, 20] {
            for other in [0.0, 0.9] {
                let law = NoiseLaw {
                    scale: 1.0,
                    noise: 2.0 * q / (1.0 - q).powi(2),
                    others: other,
                };
                let all = exact(reports, rate, other);
                for failure in [0.25, 0.025, 1e-4, 1e-6] {
                    let n = f64::from(reports);
                    let above = |sum: i32| {
                        let point = Point {
                            estimate: f64::from(sum) / n,
                            standard_error: ((law.noise + other) / n).sqrt(),
                        };
                        law.limit(point, n, &Failure::new(failure), Side::Lower) > 0.0
                    };
                    let first = (0..=REACH).find(|&sum| above(sum)).unwrap();
                    let tail = |from: i32| all[(from + REACH) as usize..].iter().sum::<f64>();
                    let what = format!("{reports} reports, {other}, {failure}: {first}");
                    assert!(tail(first) <= failure * (1.0 + 1e-6), "{what}");
                    // Of one report the tail is heavier than any normal one.
                    let next = tail(first - 1);
                    assert!(next > failure / 100.0, "{what}: {next}");
                }
            }
        }
    }
}
