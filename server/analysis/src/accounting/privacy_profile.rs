//! Privacy profile of a batch: δ as a function of ε_c, and its inverse, the smallest ε_c at a given
//! δ.
//!
//! Two profiles are computed. The profile of the reduction (P1's Theorem 1) is a [hockey-stick
//! divergence](super::hockey_stick). The profile of the [privacy blanket](super::privacy_blanket)
//! is a proven upper bound for the batch. Both profiles are equal if every report in the blanket is
//! informative.

use std::cell::Cell;

use super::gaussian::{gaussian_delta, gaussian_delta_decrease_rate};
use super::grouped_sum::GroupedBlanketSum;
use super::hockey_stick;
use super::informative_reports::InformativeCountDistribution;
use super::method::AccountingMethod;
use super::mixture::ReportMixture;
use super::privacy_blanket::{BatchAtEpsilon, PrivacyBlanket, UninformativeWeight};
use crate::numeric::roots::{
    NEWTON_RELATIVE_ERROR, find_valid_value_above, find_valid_value_below,
    solve_by_newton_on_logarithm,
};

/// Maximum part of δ that sums may omit, as a fraction of δ. The upper bound includes this part.
const OMITTED_FRACTION: f64 = 1e-12;
/// Relative margin that is added to the ε_c that Newton's method finds. With this margin, the first
/// ε_c that is checked usually satisfies the proven bound.
const NEWTON_RESULT_MARGIN: f64 = 1e-10;
/// Margin that is added to the reduction's ε_c, in multiples of the error of the last sum. The
/// multiple is more than one, so that it usually also covers the increase due to grouping.
const ERROR_MARGIN_MULTIPLE: f64 = 1.5;
/// Approximate number of terms of a grouped sum.
const GROUPED_SUM_TERM_COUNT: f64 = 3e4;
/// Minimum and maximum number of groups into which values of z, the number of uninformative
/// reports, are collected.
const GROUP_COUNT_RANGE: [f64; 2] = [4.0, 40.0];

/// Privacy profile of a batch. Its sums are precise for every δ that is not much smaller than the
/// `delta` for which the profile was created.
#[derive(Debug, Clone)]
pub(super) struct PrivacyProfile {
    mixture: ReportMixture,
    informative_counts: InformativeCountDistribution,
    /// Negative logarithm of the probability that a sum may omit at each end of the range of z.
    /// Here z is the number of uninformative reports in the blanket.
    tail_exponent: f64,
    mean_uninformative_weight: UninformativeWeight,
    privacy_blanket: Option<PrivacyBlanket>,
    /// Sum over grouped values of z. `None` if the blanket's sum has few terms.
    grouped_blanket_sum: Option<GroupedBlanketSum>,
}

/// Bounds on the δ of a batch at one central ε, and on the δ of the reduction in P1's Theorem 1
/// (see [`Account::reduction_epsilon`](super::BatchPrivacy::reduction_epsilon)).
#[derive(Debug, Clone, Copy)]
pub struct DeltaBounds {
    /// Lower bound on the reduction's δ.
    pub reduction_lower_delta: f64,
    /// δ of the reduction as computed, without an error margin.
    pub(super) computed_reduction_delta: f64,
    /// Upper bound on the reduction's δ.
    pub reduction_upper_delta: f64,
    /// Proven upper bound on the batch's δ.
    pub proven_upper_delta: f64,
    /// Negative derivative −dδ/dε_c of the reduction.
    pub(super) reduction_delta_decrease_rate: f64,
}

/// Bounds on the smallest central ε at one δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EpsilonBounds {
    /// Strict lower bound on the smallest ε_c of the reduction.
    pub(super) reduction_lower_epsilon: f64,
    /// Upper bound on the smallest ε_c of the reduction.
    pub(super) reduction_upper_epsilon: f64,
    /// Proven upper bound on the smallest ε_c of the batch.
    pub(super) proven_upper_epsilon: f64,
}

impl PrivacyProfile {
    /// Creates the profile of a batch of `n` reports. Its sums are precise for δ down to `delta`.
    pub(super) fn new(mixture: ReportMixture, n: u64, delta: f64) -> Self {
        // Another person's report is informative with probability 2α.
        let (alpha, rest) = (mixture.alpha(), mixture.uninformative_probability());
        let p = [2.0 * alpha, rest + alpha * mixture.epsilon().exp_m1()];
        Self::with_informative_probability(mixture, p, n, delta)
    }

    /// Creates the profile of a batch in which another person's report is informative with
    /// probability `p[0]`, and uninformative with probability `p[1]`.
    ///
    /// If a report always points to one of the two inputs, p affects only the distribution of the
    /// number of other people's informative reports.
    pub(super) fn with_informative_probability(
        mixture: ReportMixture,
        p: [f64; 2],
        n: u64,
        delta: f64,
    ) -> Self {
        let far = -(0.5 * OMITTED_FRACTION * delta).ln();
        let telling = InformativeCountDistribution::new(n as f64, p, far);
        // Terms with z outside its range have a weight of up to exp(ε): see `omitted_delta_bound`
        // in `privacy_blanket`.
        let far = far + mixture.epsilon();
        let blanket = PrivacyBlanket::new(&mixture, p);
        let long = blanket.filter(|blanket| !blanket.has_few_terms(&telling, far));
        let groups = (GROUPED_SUM_TERM_COUNT / telling.value_count())
            .clamp(GROUP_COUNT_RANGE[0], GROUP_COUNT_RANGE[1]);
        Self {
            mixture,
            informative_counts: telling,
            tail_exponent: far,
            mean_uninformative_weight: UninformativeWeight::mean_weight(&mixture, &telling),
            privacy_blanket: blanket,
            grouped_blanket_sum: long
                .map(|blanket| GroupedBlanketSum::new(&blanket, &telling, far, groups)),
        }
    }

    /// Returns the method by which the proven bounds are computed.
    pub(super) fn accounting_method(&self) -> AccountingMethod {
        if self.grouped_blanket_sum.is_some() {
            AccountingMethod::BoundedSum
        } else {
            AccountingMethod::ExactSum
        }
    }

    /// Returns the number of terms in a sum over the numbers of informative reports.
    pub(super) fn terms_per_sum(&self) -> f64 {
        self.informative_counts.value_count()
    }

    /// Returns the ε_c at `delta` in the limit of large batches.
    ///
    /// In this limit the privacy loss is nearly Gaussian. Its standard deviation is 2α(e −
    /// 1)/√(n·p). The numerator is the effect of exchanging the input. The denominator comes from
    /// the noise of all n reports, which are informative with probability p.
    pub(super) fn gaussian_epsilon(&self, delta: f64) -> f64 {
        let apart = 2.0 * self.mixture.alpha() * self.mixture.epsilon().exp_m1();
        let spread = apart / self.informative_counts.approximate_mean().sqrt();
        // A fixed-point iteration on the Gaussian tail yields the starting value for Newton's
        // method.
        let mut square: f64 = 2.0 * (1.0 / delta).ln();
        for _ in 0..4 {
            square = 2.0 * (spread / (2.5 * delta * square)).ln().max(0.5);
        }
        let start = spread * square.sqrt();
        solve_by_newton_on_logarithm(4.0 * start, start, delta, |central| {
            let fall = gaussian_delta_decrease_rate(1.0, spread, central);
            (gaussian_delta(1.0, spread, central), fall)
        })
    }

    /// Returns bounds on δ at ε_c = `central`, which must be between 0 and the local ε.
    pub(super) fn delta_bounds(&self, central: f64) -> DeltaBounds {
        let found = self.reduction_delta_bounds(central);
        let upper = self
            .blanket_delta(central)
            .unwrap_or(found.reduction_upper_delta);
        DeltaBounds {
            proven_upper_delta: upper.clamp(found.reduction_upper_delta, 1.0),
            ..found
        }
    }

    /// Returns the upper bound on δ that the privacy blanket yields. `None` if the reduction yields
    /// an equal upper bound.
    fn blanket_delta(&self, central: f64) -> Option<f64> {
        let (telling, far) = (&self.informative_counts, self.tail_exponent);
        let batch = BatchAtEpsilon::new(telling, self.mixture.epsilon(), central);
        let sum = match &self.grouped_blanket_sum {
            Some(grouped) => grouped.delta_upper_bound(&self.mixture, &batch, far),
            None => self
                .privacy_blanket
                .as_ref()?
                .delta_upper_bound(&batch, telling, far),
        };
        Some(sum + telling.outside_range_probability_bound)
    }

    /// Returns only the bounds on the reduction's δ. This takes less time than also computing the
    /// proven bound. In the result, `upper` is the trivial bound 1.
    pub(super) fn reduction_delta_bounds(&self, central: f64) -> DeltaBounds {
        let telling = &self.informative_counts;
        let batch = BatchAtEpsilon::new(telling, self.mixture.epsilon(), central);
        let found = hockey_stick::hockey_stick_divergence(
            &self.mixture,
            telling,
            &batch,
            &self.mean_uninformative_weight,
        );
        let (delta, error) = (found.delta, found.delta_error_bound);
        DeltaBounds {
            reduction_lower_delta: (delta - error).max(0.0),
            computed_reduction_delta: delta.max(0.0),
            reduction_upper_delta: (delta + error + telling.outside_range_probability_bound)
                .min(1.0),
            proven_upper_delta: 1.0,
            reduction_delta_decrease_rate: found.delta_decrease_rate,
        }
    }

    /// Returns bounds on the smallest ε_c at which δ(ε_c) is at most `delta`.
    ///
    /// The bounds are at most the local ε. The search starts at the ε_c in the limit of large
    /// batches.
    pub(super) fn epsilon_bounds(&self, delta: f64) -> EpsilonBounds {
        let most = self.mixture.epsilon();
        let last = Cell::new(None);
        let near =
            solve_by_newton_on_logarithm(most, self.gaussian_epsilon(delta), delta, |central| {
                let found = self.reduction_delta_bounds(central);
                last.set(Some(found));
                (
                    found.computed_reduction_delta,
                    found.reduction_delta_decrease_rate,
                )
            });
        // Relative change of ε_c that corresponds to the given error of a sum nearby.
        let found = last.get().expect("a sum");
        let room = |error: f64| {
            let part = ERROR_MARGIN_MULTIPLE * error / (found.reduction_delta_decrease_rate * near);
            NEWTON_RELATIVE_ERROR + if part < 1.0 { part } else { 0.0 }
        };
        let (above, below) = (
            room(found.reduction_upper_delta - found.computed_reduction_delta),
            room(found.computed_reduction_delta - found.reduction_lower_delta),
        );
        let reduction = find_valid_value_above(near, most, above, |central| {
            self.reduction_delta_bounds(central).reduction_upper_delta <= delta
        });
        let upper = if self.privacy_blanket.is_none() || reduction >= most {
            reduction
        } else {
            self.blanket_epsilon(reduction, delta)
        };
        EpsilonBounds {
            reduction_lower_epsilon: find_valid_value_below(near, below, |central| {
                self.reduction_delta_bounds(central).reduction_lower_delta > delta
            }),
            reduction_upper_epsilon: reduction,
            proven_upper_epsilon: upper,
        }
    }

    /// Returns the smallest ε_c that the privacy blanket proves. It is at least `reduction`, the
    /// ε_c of the reduction.
    fn blanket_epsilon(&self, reduction: f64, delta: f64) -> f64 {
        let most = self.mixture.epsilon();
        let is_enough = |central| {
            let found = self.blanket_delta(central);
            found.is_some_and(|found| found <= delta)
        };
        if is_enough(reduction) {
            return reduction;
        }
        let near = solve_by_newton_on_logarithm(most, reduction, delta, |central| {
            let found = self.delta_bounds(central);
            (
                found.proven_upper_delta,
                found.reduction_delta_decrease_rate,
            )
        });
        find_valid_value_above(
            near * (1.0 + NEWTON_RESULT_MARGIN),
            most,
            NEWTON_RELATIVE_ERROR,
            is_enough,
        )
        .max(reduction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushbin::hash::HashFamily;
    use hushbin::mechanism::collision::{Collision, FavouredBucketRule};

    fn profile(favoured: u32, t: u32, epsilon: f64, n: u64, delta: f64) -> PrivacyProfile {
        let rule = FavouredBucketRule::Heaviest { favoured };
        let collision = Collision::new(rule, HashFamily::Independent, t).unwrap();
        let mixture = ReportMixture::for_collision(&collision, 1, epsilon).unwrap();
        PrivacyProfile::new(mixture, n, delta)
    }

    /// Returns the δ of the privacy blanket, computed by the ungrouped sum.
    fn whole(profile: &PrivacyProfile, central: f64) -> f64 {
        let batch = BatchAtEpsilon::new(
            &profile.informative_counts,
            profile.mixture.epsilon(),
            central,
        );
        let blanket = profile.privacy_blanket.unwrap();
        blanket.delta_upper_bound(&batch, &profile.informative_counts, profile.tail_exponent)
            + profile.informative_counts.outside_range_probability_bound
    }

    /// The δ of the grouped sum is never below that of the ungrouped sum, from ε_c = 0 to the far
    /// tail.
    #[test]
    fn what_is_bounded_is_above_the_sum() {
        let mut bounded = 0;
        for (favoured, t, epsilon) in [(4, 17, 1.0), (1, 300, 3.0), (5, 7, 0.5), (1, 40, 8.0)] {
            for n in [10_000, 100_000] {
                for delta in [1e-2, 1e-6, 1e-12] {
                    let profile = profile(favoured, t, epsilon, n, delta);
                    if profile.grouped_blanket_sum.is_none() {
                        continue;
                    }
                    bounded += 1;
                    let likely = profile.gaussian_epsilon(delta);
                    for part in [0.0, 0.3, 1.0, 1.5, 4.0, 20.0] {
                        let central = (part * likely).min(epsilon);
                        let (sum, upper) = (
                            whole(&profile, central),
                            profile.delta_bounds(central).proven_upper_delta,
                        );
                        let at = format!("{:?}, {n}, {central}: {sum}, {upper}", profile.mixture);
                        assert!(upper >= sum * (1.0 - 1e-10), "{at}");
                        assert!(part > 1.0 || upper <= 1.01 * sum, "{at}");
                    }
                }
            }
        }
        assert!(bounded > 12, "{bounded}");
    }

    /// The proven ε_c is within 1/10000 of the ε_c of the ungrouped sum, for batches just below and
    /// just above the size at which grouping starts.
    #[test]
    fn hardly_anything_is_given_away() {
        let mut bounded = 0;
        for (favoured, t, epsilon) in [(1, 1000, 5.0), (4, 17, 3.0), (5, 7, 1.0), (1, 100, 2.0)] {
            for n in [2000, 5000, 12_000, 30_000, 80_000] {
                for delta in [1e-4, 1e-10] {
                    let profile = profile(favoured, t, epsilon, n, delta);
                    bounded += u32::from(profile.grouped_blanket_sum.is_some());
                    let upper = profile.epsilon_bounds(delta).proven_upper_epsilon;
                    let at = format!("{favoured} of {t}, {epsilon}, {n}, {delta}: {upper}");
                    assert!(whole(&profile, upper) <= delta, "{at}");
                    assert!(whole(&profile, upper * (1.0 - 1e-4)) > delta, "{at}");
                }
            }
        }
        assert!((10..40).contains(&bounded), "{bounded}");
    }
}
