//! Conditional mean of an item: its mean among the people who have the item.
//!
//! A conditional mean is the mean divided by the non-missing frequency (P1, Wang et al.,
//! "Differentially Private Numerical Vector Analyses in the Local and Shuffle Model"). Both
//! estimates are unbiased, but their ratio is biased. The bias is largest if the frequency is
//! within a few standard errors of 0.

use crate::estimate::distribution::ContributionDistribution;
use crate::estimate::point::{Estimand, PointEstimate};
use crate::estimate::query::{ConfidenceLevel, Estimate};
use crate::numeric::confidence_limits::LimitSide;

/// Returns the conditional mean of an item from its mean and non-missing frequency, whose estimates
/// have this covariance. `None` if the frequency is not significantly above 0.
///
/// The test for this is one-sided, at the confidence of `quantiles`. The standard error comes from
/// the delta method. The interval contains every ratio r for which the estimate of mean −
/// r·frequency could be noise around 0 (Fieller 1954).
pub(crate) fn estimate_conditional_mean(
    [mean, frequency]: [PointEstimate; 2],
    covariance: f64,
    law: &ContributionDistribution,
    reports: f64,
    quantiles: &ConfidenceLevel,
) -> Option<Estimate> {
    let certain = quantiles.one_sided_test_thresholds();
    let least = law.confidence_limit(
        Estimand::Nonmissing,
        frequency,
        reports,
        certain,
        LimitSide::Lower,
    );
    if least <= 0.0 {
        return None;
    }
    let estimate = mean.estimate / frequency.estimate;
    // Delta method: to first order, the ratio's noise is that of mean − r·frequency, divided by
    // frequency. The true r lies in [-1, 1], so r is clamped here. The estimate is not.
    let r = estimate.clamp(-1.0, 1.0);
    let variance =
        mean.standard_error.powi(2) - 2.0 * r * covariance + (r * frequency.standard_error).powi(2);
    let ratio = PointEstimate {
        estimate,
        standard_error: variance.max(0.0).sqrt() / frequency.estimate,
    };
    Some(quantiles.estimate_with_intervals(ratio, |failure, side| {
        law.conditional_mean_limit([mean, frequency], ratio, reports, failure, side)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COVARIANCE: f64 = 0.0005;

    fn points(mean: f64, nonmissing: f64) -> [PointEstimate; 2] {
        [(mean, 0.04), (nonmissing, 0.03)].map(|(estimate, standard_error)| PointEstimate {
            estimate,
            standard_error,
        })
    }

    #[test]
    fn errors_are_those_of_the_delta_method() {
        let quantiles = ConfidenceLevel::new(0.95, 1).unwrap();
        let of = |mean, nonmissing| {
            super::estimate_conditional_mean(
                points(mean, nonmissing),
                COVARIANCE,
                &ContributionDistribution::Normal,
                1.0,
                &quantiles,
            )
        };
        let point = of(0.2, 0.4).unwrap();
        assert_eq!(point.estimate, 0.5);
        let expected = (0.0016 - 0.0005 + 0.25 * 0.0009_f64).sqrt() / 0.4;
        assert!((point.standard_error - expected).abs() < 1e-15);
        // The raw ratio may lie outside [-1, 1]. The variance is that at −1.
        let point = of(-0.3, 0.2).unwrap();
        assert!((point.estimate + 1.5).abs() < 1e-15);
        let expected = (0.0016 + 0.001 + 0.0009_f64).sqrt() / 0.2;
        assert!((point.standard_error - expected).abs() < 1e-15);
    }

    #[test]
    fn a_frequency_that_may_be_zero_is_refused() {
        // 1.2816 and 2.3263 standard errors of 0.03.
        for (confidence, limit) in [(0.5, 0.0), (0.9, 0.038_447), (0.99, 0.069_790)] {
            let quantiles = ConfidenceLevel::new(confidence, 7).unwrap();
            let of = |nonmissing| {
                super::estimate_conditional_mean(
                    points(0.1, nonmissing),
                    COVARIANCE,
                    &ContributionDistribution::Normal,
                    1.0,
                    &quantiles,
                )
            };
            assert_eq!(of(limit - 1e-5), None, "{confidence}");
            assert!(of(limit + 1e-5).is_some(), "{confidence}");
            assert_eq!(of(-1.0), None);
        }
    }
}
