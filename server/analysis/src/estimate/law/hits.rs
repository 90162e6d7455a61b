//! Sums of hits: distribution of one report's hits on an item, and of sums over all reports.

use super::score::{MAX_TILT, Node, solve_truth};
use crate::estimate::point::{Estimand, Point};
use crate::numeric::limits::{Failure, Observed, Side};
use crate::numeric::roots::bisect;

/// Probabilities of hitting only an item's minus side, neither side, only its plus side, and both.
pub(crate) type Outcomes = [f64; 4];

/// Score of each of [`Outcomes`].
type Scores = [f64; 4];

/// Continuity correction of a normal tail, as a fraction of the step of sums: 1/2 for the lattice
/// and 1/6 for skewness.
///
/// It holds if the score 0 has at least probability [`IDLE`]. Then tails of sums of ±1 and 0 exceed
/// the bound by at most 2 per cent, compared with exact tails.
const CONTINUITY_CORRECTION: f64 = 2.0 / 3.0;
const MIN_ZERO_PROBABILITY: f64 = 0.4;

/// Precision of a ratio's limit, relative to its distance from the estimate.
const PRECISION: f64 = 1e-4;

/// Distribution of the hits on one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HitDistribution {
    /// Outcomes for people with the item at −1, without it, and with it at 1.
    people: [Outcomes; 3],
    /// True if people are given, as for signs. Then cumulants add up.
    ///
    /// Real values make membership random, as if people were drawn. This is the worst case. As ln
    /// E[e^(tX)] is concave in a person's value, no people with the same mean vary more.
    given: bool,
    /// Estimated share of people with the item, in [0, 1].
    present: f64,
    /// Weight of a hit on the opposite side, set by [`HitDistribution::counting_other_side`].
    other_side: f64,
    /// Means from −1 to 1, ascending, each with the most likely share. The share is convex in the
    /// mean, so linear interpolation can only overestimate it.
    shares: [Share; NODES],
}

/// A mean, and the share of people with the item.
type Share = (f64, f64);

/// Number of tabulated means.
const NODES: usize = 9;

impl HitDistribution {
    /// Creates the distribution from an item's estimated mean and non-missing frequency.
    pub(crate) fn new(people: [Outcomes; 3], given: bool, mean: f64, frequency: f64) -> Self {
        let [signs, hits] = [Estimand::Mean, Estimand::Nonmissing].map(|of| scores(of, 0.0));
        let [_, none, plus] = people;
        let gain = expectation(&plus, &signs);
        let without = expectation(&none, &hits);
        let per_hit = expectation(&plus, &hits) - without;
        let held_mean = mean.clamp(-1.0, 1.0);
        let present = frequency.clamp(held_mean.abs(), 1.0);
        let hit = without + per_hit * frequency;
        // The variance of the mean's sum depends on the share of people with the item, which few
        // hits do not determine. So use the maximum-likelihood share at each mean μ for Poisson
        // hits, at least |μ|. Let g be the gain of the mean, h the observed hit rate of both sides,
        // and e the observed difference. If the true rates differ by gμ, the most likely total
        // rate is the root of a quadratic: (h + √(h² + 4gμ(gμ − e)))/2. It is h if gμ is 0 or e,
        // and larger beyond.
        let share = |held: f64| {
            let square = hit * hit + 4.0 * gain * held * gain * (held - mean);
            let likely = 0.5 * (hit + square.max(0.0).sqrt());
            let share = (likely - without) / per_hit;
            // If people without the item hit as often, hits carry no information about the share.
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
            people,
            given,
            present,
            other_side: 0.0,
            shares: means.map(share),
        }
    }

    /// Sets the weight o in [0, 1] of a hit on the opposite side in the frequency of one sign.
    ///
    /// With this weight, people with the opposite sign contribute 0 on average, like people without
    /// the item. Limits treat them as people without the item, who vary more.
    ///
    /// Proof: people with the opposite sign hit the opposite side more often by w, and the own side
    /// less often by o·w. So E[e^(tX)] differs by w·(e^(ot) − 1 − o·(e^t − 1)). This is at most 0,
    /// because e^x is convex.
    pub(crate) fn counting_other_side(self, other_side: f64) -> Self {
        Self { other_side, ..self }
    }

    /// Implements [`Law::limit`](super::Law::limit).
    pub(crate) fn limit(
        &self,
        estimand: Estimand,
        point: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        let family = ScoreFamily::new(self, estimand);
        let observed = Observed {
            sum: reports * (family.without + family.gain * point.estimate),
            shift: self.shift(),
            deviation: reports * family.gain * point.standard_error,
            max_t: MAX_TILT,
        };
        observed.limit(failure, side, |t, sum, exponent| {
            family.solve(t, (t * sum - exponent) / reports)
        })
    }

    /// Implements [`Law::ratio_limit`](super::Law::ratio_limit). The interval contains every r for
    /// which the estimate of mean − r·frequency does not rule out 0.
    pub(crate) fn ratio_limit(
        &self,
        [mean, frequency]: [Point; 2],
        ratio: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        let means = ScoreFamily::new(self, Estimand::Mean);
        let frequencies = ScoreFamily::new(self, Estimand::Nonmissing);
        let present = self.present;
        let ruled_out = |r: f64| {
            // True ratios lie in [-1, 1]. Beyond, use the noise at the end.
            let held = r.clamp(-1.0, 1.0);
            let per_hit = held / frequencies.gain;
            let mut scores = means.scores.map(|score| score / means.gain);
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
                let person = |outcomes| self.additive_of_moment(expectation(&outcomes, &moments));
                let people = self.people.map(person);
                reports * self.cumulant_of(people.iter().zip(weights).map(|(a, b)| a * b).sum())
            };
            let observed = Observed {
                sum: reports
                    * (mean.estimate - r * frequency.estimate - per_hit * frequencies.without),
                shift: self.shift() * (1.0 / means.gain + per_hit.abs()),
                deviation: reports * ratio.standard_error * frequency.estimate,
                max_t: MAX_TILT / scores.iter().fold(0.0, |most: f64, s| most.max(s.abs())),
            };
            observed.rules_out(failure, side, cumulants)
        };
        let away = |by: f64| ratio.estimate + side.sign() * by;
        // Search outwards for a rejected r: far away, the sum exceeds the maximum of all hits.
        let mut reach = (failure.z() * ratio.standard_error).max(PRECISION);
        while !ruled_out(away(reach)) {
            reach *= 2.0;
        }
        let near = |a: f64, b: f64| ((a - b).abs() > PRECISION * reach).then_some(0.5 * (a + b));
        bisect(ratio.estimate, away(reach), near, |r| !ruled_out(r)).1
    }

    /// Returns the continuity correction of a normal tail: [`THIRDS`] of the step of sums. The step
    /// is 2 if every report hits one side.
    fn shift(&self) -> f64 {
        let idle = self.people.iter().map(|outcomes| outcomes[1]);
        match idle.fold(1.0, f64::min) {
            0.0 => 2.0 * CONTINUITY_CORRECTION,
            idle if idle < MIN_ZERO_PROBABILITY => 1.0,
            _ => CONTINUITY_CORRECTION,
        }
    }

    /// Converts E[e^(tX)] − 1 to the quantity that is linear in people: the cumulant if they are
    /// given, else the moment. Both are 0 at t = 0.
    fn additive_of_moment(&self, moment: f64) -> f64 {
        if self.given { moment.ln_1p() } else { moment }
    }

    fn cumulant_of(&self, value: f64) -> f64 {
        if self.given { value } else { value.ln_1p() }
    }
}

/// Returns the scores of an estimand. `other` is the weight of a hit on the opposite side in the
/// frequency of one sign.
fn scores(estimand: Estimand, other: f64) -> Scores {
    match estimand {
        Estimand::Mean => [-1.0, 0.0, 1.0, 0.0],
        Estimand::Plus | Estimand::Share => [other, 0.0, 1.0, 1.0 + other],
        Estimand::Minus => [1.0, 0.0, other, 1.0 + other],
        Estimand::Nonmissing => [1.0, 0.0, 1.0, 2.0],
    }
}

fn expectation(outcomes: &Outcomes, scores: &Scores) -> f64 {
    outcomes
        .iter()
        .zip(scores)
        .map(|(p, score)| p * score)
        .sum()
}

/// Distributions of one report's score, for every true value of an estimand.
struct ScoreFamily<'a> {
    law: &'a HitDistribution,
    estimand: Estimand,
    scores: Scores,
    /// Expected score at a true value of 0.
    without: f64,
    /// Increase of the expected score per unit of the true value.
    gain: f64,
}

impl<'a> ScoreFamily<'a> {
    fn new(law: &'a HitDistribution, estimand: Estimand) -> Self {
        let scores = scores(estimand, law.other_side);
        let [minus, none, plus] = law.people.map(|person| expectation(&person, &scores));
        let with = match estimand {
            Estimand::Minus => minus,
            Estimand::Mean | Estimand::Plus | Estimand::Nonmissing | Estimand::Share => plus,
        };
        Self {
            law,
            estimand,
            scores,
            without: none,
            gain: with - none,
        }
    }

    /// Returns the nodes in ascending order. Between nodes, cumulants or moments are linear in the
    /// true value.
    fn nodes(&self, t: f64) -> [Node; NODES] {
        let weights = self.scores.map(|score| (t * score).exp_m1());
        let [minus, none, plus] = self
            .law
            .people
            .map(|person| self.law.additive_of_moment(expectation(&person, &weights)));
        let at = |(mean, present): Share| {
            // Shares (present ± mean)/2 of people have the item at ±1.
            let both = 0.5 * (present * (plus + minus) + mean * (plus - minus));
            (mean, both + (1.0 - present) * none)
        };
        let of = |with: f64| {
            let mut nodes = [(0.0, none); NODES];
            nodes[NODES - 1] = (1.0, with);
            nodes
        };
        match self.estimand {
            Estimand::Mean => self.law.shares.map(at),
            Estimand::Minus => of(minus),
            Estimand::Plus | Estimand::Nonmissing | Estimand::Share => of(plus),
        }
    }

    /// Implements [`solve_truth`].
    fn solve(&self, t: f64, cumulant: f64) -> Option<f64> {
        solve_truth(&self.nodes(t), self.law.given, self.gain, t, cumulant)
    }
}
