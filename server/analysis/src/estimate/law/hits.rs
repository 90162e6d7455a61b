//! Sums of hits: what one report hits of an item, and how sums over all reports
//! are distributed for whatever truth.

use super::score::{Node, STEEPEST, truth_at};
use crate::estimate::point::{Estimand, Point};
use crate::numeric::limits::{Failure, Observed, Side};
use crate::numeric::roots::bisect;

/// Probabilities of hitting an item's minus side only, neither side, its plus side only, and both.
pub(crate) type Outcomes = [f64; 4];

/// What each of [`Outcomes`] adds to a sum.
type Scores = [f64; 4];

/// By which part of a step a normal tail starts nearer to the mean: half of one for sums being
/// whole, and a sixth for their skewness. With it tails of sums of ±1 and 0 are at most 2 per cent
/// above their bound where 0 has this probability at least, as measured against exact ones.
const THIRDS: f64 = 2.0 / 3.0;
const IDLE: f64 = 0.4;

/// To which part of its distance from the estimate a ratio's limit is found.
const PRECISION: f64 = 1e-4;

/// How reports hit one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HitLaw {
    /// For people with the item at −1, without it, and with it at 1.
    people: [Outcomes; 3],
    /// Whether it is given who has the item, as it is with signs; then people's cumulants add up.
    /// Real values make it random, as if people were drawn; no people who have as much on average
    /// vary more, ln E[e^(tX)] being concave in a person's value.
    given: bool,
    /// Share of people with the item, as estimated, in [0, 1].
    present: f64,
    /// See [`HitLaw::counting_other_side`].
    other_side: f64,
    /// Means from −1 to 1, ascending, and the likely share at each. It is convex in
    /// the mean: taken as linear between, it is too large there if anything.
    shares: [Share; NODES],
}

/// A mean, and the share of people with the item.
type Share = (f64, f64);

/// How many means there are shares for.
const NODES: usize = 9;

impl HitLaw {
    /// From an item's estimated mean and non-missing frequency.
    ///
    /// What a mean's sum varies by depends on the share of people with the item, which few hits do
    /// not tell. At each mean μ it is the likeliest, were hits of either side Poisson, and |μ| at
    /// least. Of sides whose rates differ by gμ, g being the mean's gain, and that were hit at a
    /// rate of h in all and differed by e, the likeliest rate in all is (h + √(h² + 4gμ(gμ −
    /// e)))/2, the root of a quadratic: h at μ = 0 and at gμ = e, and more beyond.
    pub(crate) fn new(people: [Outcomes; 3], given: bool, mean: f64, frequency: f64) -> Self {
        let [signs, hits] = [Estimand::Mean, Estimand::Nonmissing].map(|of| scores(of, 0.0));
        let [_, none, plus] = people;
        let gain = expectation(&plus, &signs);
        let without = expectation(&none, &hits);
        let per_hit = expectation(&plus, &hits) - without;
        let held_mean = mean.clamp(-1.0, 1.0);
        let present = frequency.clamp(held_mean.abs(), 1.0);
        let hit = without + per_hit * frequency;
        let share = |held: f64| {
            let square = hit * hit + 4.0 * gain * held * gain * (held - mean);
            let likely = 0.5 * (hit + square.max(0.0).sqrt());
            let share = (likely - without) / per_hit;
            // Where those without the item hit as often, hits tell nothing of it.
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

    /// Where frequencies of one sign count hits of the other sign's side too: for a part
    /// o of one of its own side, in [0, 1], so that who has the item with the other sign
    /// adds as much on average as who does not have it, which is nothing.
    ///
    /// Limits take the former for the latter, who vary more: where those hit the other side more
    /// often by w, they hit the own one less often by o·w, and the difference of E[e^(tX)] is
    /// w·(e^(ot) − 1 − o·(e^t − 1)), which is not above 0, e^x being convex.
    pub(crate) fn counting_other_side(self, other_side: f64) -> Self {
        Self { other_side, ..self }
    }

    /// As [`Law::limit`](super::Law::limit).
    pub(crate) fn limit(
        &self,
        estimand: Estimand,
        point: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        let family = Family::new(self, estimand);
        let observed = Observed {
            sum: reports * (family.without + family.gain * point.estimate),
            shift: self.shift(),
            deviation: reports * family.gain * point.standard_error,
            steepest: STEEPEST,
        };
        observed.limit(failure, side, |t, sum, exponent| {
            family.solve(t, (t * sum - exponent) / reports)
        })
    }

    /// As [`Law::ratio_limit`](super::Law::ratio_limit): no r is given whose
    /// mean − r·frequency, which is 0, is ruled out by the estimated one. Beyond
    /// [-1, 1], where no truth is, noise is as at the end.
    pub(crate) fn ratio_limit(
        &self,
        [mean, frequency]: [Point; 2],
        ratio: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        let means = Family::new(self, Estimand::Mean);
        let frequencies = Family::new(self, Estimand::Nonmissing);
        let present = self.present;
        let ruled_out = |r: f64| {
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
                let person = |outcomes| self.of_moment(expectation(&outcomes, &moments));
                let people = self.people.map(person);
                reports * self.cumulant_of(people.iter().zip(weights).map(|(a, b)| a * b).sum())
            };
            let observed = Observed {
                sum: reports
                    * (mean.estimate - r * frequency.estimate - per_hit * frequencies.without),
                shift: self.shift() * (1.0 / means.gain + per_hit.abs()),
                deviation: reports * ratio.standard_error * frequency.estimate,
                steepest: STEEPEST / scores.iter().fold(0.0, |most: f64, s| most.max(s.abs())),
            };
            observed.rules_out(failure, side, cumulants)
        };
        let away = |by: f64| ratio.estimate + side.sign() * by;
        // Ends: far enough away the sum is beyond what hits can add up to.
        let mut reach = (failure.z() * ratio.standard_error).max(PRECISION);
        while !ruled_out(away(reach)) {
            reach *= 2.0;
        }
        let near = |a: f64, b: f64| ((a - b).abs() > PRECISION * reach).then_some(0.5 * (a + b));
        bisect(ratio.estimate, away(reach), near, |r| !ruled_out(r)).1
    }

    /// By how much a normal tail starts nearer to the mean: [`THIRDS`] of the step
    /// that sums come in, which is two where every report hits one side.
    fn shift(&self) -> f64 {
        let idle = self.people.iter().map(|outcomes| outcomes[1]);
        match idle.fold(1.0, f64::min) {
            0.0 => 2.0 * THIRDS,
            idle if idle < IDLE => 1.0,
            _ => THIRDS,
        }
    }

    /// What is linear in people: cumulants where they are given, else moments.
    /// Both come less their value at t = 0.
    fn of_moment(&self, moment: f64) -> f64 {
        if self.given { moment.ln_1p() } else { moment }
    }

    fn cumulant_of(&self, value: f64) -> f64 {
        if self.given { value } else { value.ln_1p() }
    }
}

/// With what a hit of the other side counts for in a frequency of one sign.
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

/// The laws of one report's score for every truth of an estimand.
struct Family<'a> {
    law: &'a HitLaw,
    estimand: Estimand,
    scores: Scores,
    /// Expected score at truth 0, and by how much it rises with the truth.
    without: f64,
    gain: f64,
}

impl<'a> Family<'a> {
    fn new(law: &'a HitLaw, estimand: Estimand) -> Self {
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

    /// Ascending; between them cumulants or moments are linear in the truth.
    fn nodes(&self, t: f64) -> [Node; NODES] {
        let weights = self.scores.map(|score| (t * score).exp_m1());
        let [minus, none, plus] = self
            .law
            .people
            .map(|person| self.law.of_moment(expectation(&person, &weights)));
        let at = |(mean, present): Share| {
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

    /// As [`truth_at`].
    fn solve(&self, t: f64, cumulant: f64) -> Option<f64> {
        truth_at(&self.nodes(t), self.law.given, self.gain, t, cumulant)
    }
}
