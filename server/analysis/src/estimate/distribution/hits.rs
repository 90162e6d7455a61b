//! Distribution of one report's hits on an item, and of their sum over all reports.
//!
//! A report can hit an item on its plus side, on its minus side, on both or on neither. An estimand
//! has a score for each of these outcomes. Its estimate is a linear function of the reports' summed
//! scores.
//!
//! People are *given* if the population is fixed. Then the cumulants ln E[e^(tX)] of people's
//! scores X add up. Otherwise people are *drawn* at random. Then all scores have one distribution,
//! whose moment E[e^(tX)] is the average over people.

use super::noise_law::NoiseLaw;
use super::score::{MAX_ARGUMENT_TIMES_SCORE, TruthAndCumulantOrMoment, solve_true_value};
use crate::estimate::point::{Estimand, PointEstimate};
use crate::numeric::confidence_limits::{LimitSide, SumForConfidenceLimits, TailThresholds};
use crate::numeric::roots::bisect;

/// Probabilities that a report hits only an item's minus side, neither side, only its plus side,
/// and both sides.
pub(crate) type SideHitProbabilities = [f64; 4];

/// Score of each outcome, in the order of [`SideHitProbabilities`].
type SideHitScores = [f64; 4];

/// Continuity correction of a normal tail, as a fraction of the distance between possible sums: 1/2
/// because sums are discrete, and 1/6 for skewness.
///
/// This correction is sufficient if the score 0 has at least the probability
/// [`MIN_ZERO_SCORE_PROBABILITY`]. Then exact tails of sums of the scores −1, 0 and 1 exceed the
/// corrected normal tail by at most 2 per cent.
const CONTINUITY_CORRECTION: f64 = 2.0 / 3.0;
const MIN_ZERO_SCORE_PROBABILITY: f64 = 0.4;

/// Precision of a ratio's confidence limit, relative to the distance of the limit from the
/// estimate.
const LIMIT_PRECISION: f64 = 1e-4;

/// Distribution of one report's hits on one item, for people with and without the item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HitDistribution {
    /// Outcome probabilities for people who have the item at −1, who do not have it, and who have
    /// it at 1.
    probabilities_by_true_sign: [SideHitProbabilities; 3],
    /// True if people are given (the population is fixed), so that cumulants add up. Values are
    /// then signs.
    ///
    /// Real values are rounded to signs at random, as if people were drawn. This is the worst case:
    /// ln E[e^(tX)] is concave in a person's value, so no people with the same mean vary more.
    is_fixed_population: bool,
    /// Observed mean and non-missing frequency. All fields below depend on them, except the weight.
    observed_mean_and_frequency: [f64; 2],
    /// Estimated share of people with the item, in [0, 1].
    presence_share: f64,
    /// Weight of a hit on the opposite side, if the frequency of one sign is estimated. A hit on
    /// the sign's own side has the weight 1. Set by [`HitDistribution::with_opposite_side_weight`].
    opposite_side_weight: f64,
    /// Possible true means from −1 to 1, ascending, each with the most likely share of people who
    /// have the item. The share is convex in the mean, so linear interpolation can only
    /// overestimate the share.
    means_and_presence_shares: [MeanAndShare; MEAN_NODE_COUNT],
}

/// A true mean, and the share of people who have the item.
type MeanAndShare = (f64, f64);

/// Number of means in the table of shares.
const MEAN_NODE_COUNT: usize = 9;

impl HitDistribution {
    /// Creates the distribution from an item's estimated `mean` and non-missing `frequency`.
    pub(crate) fn new(
        people: [SideHitProbabilities; 3],
        given: bool,
        mean: f64,
        frequency: f64,
    ) -> Self {
        let [signs, hits] =
            [Estimand::Mean, Estimand::Nonmissing].map(|of| outcome_scores(of, 0.0));
        let [_, none, plus] = people;
        let gain = expectation_over_outcomes(&plus, &signs);
        let without = expectation_over_outcomes(&none, &hits);
        let per_hit = expectation_over_outcomes(&plus, &hits) - without;
        let held_mean = mean.clamp(-1.0, 1.0);
        let present = frequency.clamp(held_mean.abs(), 1.0);
        let hit = without + per_hit * frequency;
        // The variance of the sum behind the mean depends on the share of people who have the item.
        // A few hits do not determine this share. So at each mean μ, use the maximum-likelihood
        // share for Poisson hits, but at least |μ|. Let h be the observed hit rate of both sides
        // together, and e the observed rate of the plus side minus that of the minus side. At a
        // true mean μ these rates differ by gμ, where g is `gain`. Then the most likely rate of
        // both sides is the root of a quadratic: (h + √(h² + 4gμ(gμ − e)))/2. It is h if gμ is 0 or
        // e, smaller between 0 and e, and larger outside.
        let share = |held: f64| {
            let square = hit * hit + 4.0 * gain * held * gain * (held - mean);
            let likely = 0.5 * (hit + square.max(0.0).sqrt());
            let share = (likely - without) / per_hit;
            // If people without the item hit it as often, the number of hits carries no information
            // about the share.
            let share = if per_hit > 0.0 { share } else { present };
            (held, share.clamp(held.abs(), 1.0))
        };
        let distance = held_mean.abs();
        let (most, least) = (0.5 * (present + distance), 0.5 * (present - distance));
        let mut means = [
            -1.0,
            -2.0 * least,
            -least,
            0.0,
            0.5 * distance,
            distance,
            most,
            (2.0 * most).min(1.0),
            1.0,
        ];
        if held_mean < 0.0 {
            means.reverse();
            means = means.map(|mean| -mean);
        }
        Self {
            probabilities_by_true_sign: people,
            is_fixed_population: given,
            observed_mean_and_frequency: [mean, frequency],
            presence_share: present,
            opposite_side_weight: 0.0,
            means_and_presence_shares: means.map(share),
        }
    }

    /// Sets the weight o of a hit on the opposite side. This weight is used if the frequency of one
    /// sign is estimated. It must be from 0 to 1.
    ///
    /// The weight must be such that people with the opposite sign contribute 0 on average, like
    /// people without the item. Confidence limits then treat them as people without the item, whose
    /// scores vary more.
    ///
    /// Proof: compare people with the opposite sign to people without the item. They hit the
    /// opposite side with a probability that is larger by some w. They hit the side of the
    /// estimated sign with a probability that is smaller by o·w. So E[e^(tX)] differs by w·(e^(ot)
    /// − 1 − o·(e^t − 1)). This is at most 0, because e^x is convex.
    pub(crate) fn with_opposite_side_weight(self, other_side: f64) -> Self {
        Self {
            opposite_side_weight: other_side,
            ..self
        }
    }

    /// Returns the parameters that items may share: all of them except the observed mean and
    /// frequency, and the numbers derived from these two.
    pub(crate) fn noise_law(&self) -> NoiseLaw {
        let mut words = [0; 14];
        let probabilities = self.probabilities_by_true_sign.as_flattened();
        let numbers = probabilities.iter().chain([&self.opposite_side_weight]);
        for (word, number) in words.iter_mut().zip(numbers) {
            *word = number.to_bits();
        }
        words[13] = u64::from(self.is_fixed_population);
        words
    }

    /// Returns the observed mean and non-missing frequency.
    pub(crate) const fn observed_mean_and_frequency(&self) -> [f64; 2] {
        self.observed_mean_and_frequency
    }

    /// Returns the confidence limit for the true value on one side: see
    /// [`ContributionDistribution`](super::ContributionDistribution::confidence_limit).
    pub(crate) fn confidence_limit(
        &self,
        estimand: Estimand,
        point: PointEstimate,
        reports: f64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        let family = ScoreFamily::new(self, estimand);
        let observed = SumForConfidenceLimits {
            observed_sum: reports
                * (family.expected_score_at_zero + family.expected_score_slope * point.estimate),
            continuity_correction: self.continuity_correction(),
            standard_deviation: reports * family.expected_score_slope * point.standard_error,
            max_cumulant_argument: MAX_ARGUMENT_TIMES_SCORE,
        };
        observed.confidence_limit(failure, side, |t, sum, exponent| {
            family.solve_true_value(t, (t * sum - exponent) / reports)
        })
    }

    /// Returns the confidence limit for a conditional mean on one side: see
    /// [`ContributionDistribution`](super::ContributionDistribution::conditional_mean_limit).
    /// The interval contains a ratio r unless the estimates rule out that mean − r·frequency is 0.
    pub(crate) fn conditional_mean_limit(
        &self,
        [mean, frequency]: [PointEstimate; 2],
        ratio: PointEstimate,
        reports: f64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        let means = ScoreFamily::new(self, Estimand::Mean);
        let frequencies = ScoreFamily::new(self, Estimand::Nonmissing);
        let present = self.presence_share;
        let ruled_out = |r: f64| {
            // True ratios lie in [-1, 1]. For r outside, use the noise at the nearer end.
            let held = r.clamp(-1.0, 1.0);
            let per_hit = held / frequencies.expected_score_slope;
            let mut scores = means.scores.map(|score| score / means.expected_score_slope);
            for (score, hits) in scores.iter_mut().zip(frequencies.scores) {
                *score -= per_hit * hits;
            }
            let weights = [
                0.5 * present * (1.0 - held),
                1.0 - present,
                0.5 * present * (1.0 + held),
            ];
            let cumulants = |t: f64| {
                let moments = scores.map(|score| (t * score).exp_m1());
                let person = |outcomes| {
                    self.cumulant_if_fixed_population(expectation_over_outcomes(
                        &outcomes, &moments,
                    ))
                };
                let people = self.probabilities_by_true_sign.map(person);
                reports
                    * self
                        .cumulant_from_average(people.iter().zip(weights).map(|(a, b)| a * b).sum())
            };
            let observed = SumForConfidenceLimits {
                observed_sum: reports
                    * (mean.estimate
                        - r * frequency.estimate
                        - per_hit * frequencies.expected_score_at_zero),
                continuity_correction: self.continuity_correction()
                    * (1.0 / means.expected_score_slope + per_hit.abs()),
                standard_deviation: reports * ratio.standard_error * frequency.estimate,
                max_cumulant_argument: MAX_ARGUMENT_TIMES_SCORE
                    / scores.iter().fold(0.0, |most: f64, s| most.max(s.abs())),
            };
            observed.rules_out_distribution(failure, side, cumulants)
        };
        let away = |by: f64| ratio.estimate + side.sign() * by;
        // Search outwards for a ratio that is ruled out. There is one, because far away the sum
        // would have to exceed its maximum over all hits.
        let mut reach = (failure.normal_quantile() * ratio.standard_error).max(LIMIT_PRECISION);
        while !ruled_out(away(reach)) {
            reach *= 2.0;
        }
        let near =
            |a: f64, b: f64| ((a - b).abs() > LIMIT_PRECISION * reach).then_some(0.5 * (a + b));
        bisect(ratio.estimate, away(reach), near, |r| !ruled_out(r)).1
    }

    /// Returns the continuity correction of a normal tail, in units of the score:
    /// [`CONTINUITY_CORRECTION`] times the distance between possible sums. This distance is 2 if
    /// every report hits exactly one side.
    fn continuity_correction(&self) -> f64 {
        let idle = self
            .probabilities_by_true_sign
            .iter()
            .map(|outcomes| outcomes[1]);
        match idle.fold(1.0, f64::min) {
            0.0 => 2.0 * CONTINUITY_CORRECTION,
            idle if idle < MIN_ZERO_SCORE_PROBABILITY => 1.0,
            _ => CONTINUITY_CORRECTION,
        }
    }

    /// Converts `moment`, which is E[e^(tX)] − 1, to the quantity that is averaged over people.
    /// This is the cumulant if people are given, otherwise the moment itself. Both are 0 at t = 0.
    fn cumulant_if_fixed_population(&self, moment: f64) -> f64 {
        if self.is_fixed_population {
            moment.ln_1p()
        } else {
            moment
        }
    }

    fn cumulant_from_average(&self, value: f64) -> f64 {
        if self.is_fixed_population {
            value
        } else {
            value.ln_1p()
        }
    }
}

/// Returns the scores of an estimand. `other` is the weight of a hit on the opposite side. This
/// weight is used only for the frequency of one sign.
fn outcome_scores(estimand: Estimand, other: f64) -> SideHitScores {
    match estimand {
        Estimand::Mean => [-1.0, 0.0, 1.0, 0.0],
        Estimand::Plus | Estimand::Share => [other, 0.0, 1.0, 1.0 + other],
        Estimand::Minus => [1.0, 0.0, other, 1.0 + other],
        Estimand::Nonmissing => [1.0, 0.0, 1.0, 2.0],
    }
}

fn expectation_over_outcomes(outcomes: &SideHitProbabilities, scores: &SideHitScores) -> f64 {
    outcomes
        .iter()
        .zip(scores)
        .map(|(p, score)| p * score)
        .sum()
}

/// Distributions of one report's score for one estimand, with one distribution for each true value.
struct ScoreFamily<'a> {
    hit_distribution: &'a HitDistribution,
    estimand: Estimand,
    scores: SideHitScores,
    /// Expected score if the true value is 0.
    expected_score_at_zero: f64,
    /// Increase of the expected score per unit of the true value.
    expected_score_slope: f64,
}

impl<'a> ScoreFamily<'a> {
    fn new(law: &'a HitDistribution, estimand: Estimand) -> Self {
        let scores = outcome_scores(estimand, law.opposite_side_weight);
        let [minus, none, plus] = law
            .probabilities_by_true_sign
            .map(|person| expectation_over_outcomes(&person, &scores));
        let with = match estimand {
            Estimand::Minus => minus,
            Estimand::Mean | Estimand::Plus | Estimand::Nonmissing | Estimand::Share => plus,
        };
        Self {
            hit_distribution: law,
            estimand,
            scores,
            expected_score_at_zero: none,
            expected_score_slope: with - none,
        }
    }

    /// Returns e^(tx) − 1 for the score x of each outcome.
    fn exponential_weights(&self, t: f64) -> [f64; 4] {
        let mut weights = [0.0; 4];
        for (outcome, &score) in self.scores.iter().enumerate() {
            // Exponentials are slow, and outcomes share scores.
            weights[outcome] = match self.scores[..outcome].iter().position(|own| *own == score) {
                Some(same) => weights[same],
                None if score == 0.0 => t * score,
                None => (t * score).exp_m1(),
            };
        }
        weights
    }

    /// Calls `solve` with true values in ascending order, each with the cumulant (given people) or
    /// moment (drawn people) of the score at t. Between two of these values, this quantity is linear
    /// in the true value.
    fn with_interpolation_nodes<T>(
        &self,
        t: f64,
        solve: impl FnOnce(&[TruthAndCumulantOrMoment]) -> T,
    ) -> T {
        let weights = self.exponential_weights(t);
        let person = |person: usize| {
            let outcomes = &self.hit_distribution.probabilities_by_true_sign[person];
            (self.hit_distribution)
                .cumulant_if_fixed_population(expectation_over_outcomes(outcomes, &weights))
        };
        let none = person(1);
        match self.estimand {
            Estimand::Mean => {
                let (minus, plus) = (person(0), person(2));
                let at = |(mean, present): MeanAndShare| {
                    // A share (present + mean)/2 of people has the item at 1, and (present −
                    // mean)/2 at −1.
                    let both = 0.5 * (present * (plus + minus) + mean * (plus - minus));
                    (mean, both + (1.0 - present) * none)
                };
                solve(&self.hit_distribution.means_and_presence_shares.map(at))
            }
            Estimand::Minus => solve(&[(0.0, none), (1.0, person(0))]),
            Estimand::Plus | Estimand::Nonmissing | Estimand::Share => {
                solve(&[(0.0, none), (1.0, person(2))])
            }
        }
    }

    /// Returns the true value at which the score has this cumulant at t: see [`solve_true_value`].
    fn solve_true_value(&self, t: f64, cumulant: f64) -> Option<f64> {
        self.with_interpolation_nodes(t, |nodes| {
            solve_true_value(
                nodes,
                self.hit_distribution.is_fixed_population,
                self.expected_score_slope,
                t,
                cumulant,
            )
        })
    }
}
