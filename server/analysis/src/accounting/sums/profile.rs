//! Privacy profile of all coordinates. Identifying outcomes are counted apart; the rest is
//! composed.
//!
//! Let M be the probability that the counts of one coordinate do not identify the input. For D
//! coordinates
//!
//! δ(ε) = 1 − M^D + M^D·E[(1 − exp(ε − Λ))₊].
//!
//! Λ is the sum of D losses of the remaining pair. That pair mirrors itself, so it is composed as
//! batches are.

use super::counts::Counts;

use super::bounds::Bounds;
use super::noise::UnitNoise;
use crate::accounting::composition::{ComposedPart, LossDistribution, Side, delta_curve, sum};
use crate::numeric::roots::{arithmetic, bisect};

/// Fraction of δ that truncation of measures may add.
const SPARE: f64 = 1e-9;
/// Fraction of `SPARE` that may be left out of a sum.
const CUT: f64 = 1e-3;
/// Identifying probability from which on the rest is not computed.
const MAX_IDENTIFYING: f64 = 0.5;

/// Function δ(ε) of a noise, precise near one magnitude of δ.
#[derive(Debug)]
pub(super) struct Profile {
    counts: Counts,
    coordinates: u32,
    /// Bounds on the identifying probability 1 − M^D.
    outright: [f64; 2],
    /// Part of δ that truncation may add.
    rare: f64,
    /// Approximate standard deviation of one coordinate's loss.
    spread: f64,
}

/// Loss of all coordinates, bounded on one side.
#[derive(Debug)]
pub(super) struct OneSidedProfile<'a> {
    side: Side,
    outright: [f64; 2],
    rest: RemainingLoss<'a>,
}

#[derive(Debug)]
/// Loss apart from identifying outcomes.
enum RemainingLoss<'a> {
    /// Loss that is not computed, with the trivial bounds.
    Unknown,
    /// Loss of one coordinate.
    One(&'a Counts),
    /// Composed loss of several coordinates.
    Several(LossDistribution),
}

impl Profile {
    /// Returns the profile, precise for δ from `delta` on.
    pub(super) fn new(noise: &UnitNoise, delta: f64) -> Self {
        let (coordinates, rare) = (f64::from(noise.coordinates()), SPARE * delta);
        let counts = Counts::new(noise, -(CUT * rare / coordinates).ln());
        // 1 − (1 − x)^D without cancellation.
        let all = |one: f64| -(coordinates * (-one).ln_1p()).exp_m1();
        let slack = 16.0 * f64::EPSILON * (coordinates + 1.0);
        let [low, high] = counts.outright().map(all);
        Self {
            counts,
            coordinates: noise.coordinates(),
            outright: [low * (1.0 - slack), (high * (1.0 + slack)).min(1.0)],
            rare,
            spread: f64::from(noise.levels()) * (2.0 / noise.variance()).sqrt(),
        }
    }

    /// Returns the losses, on each of the given sides.
    pub(super) fn one_sided<const S: usize>(&self, sides: [Side; S]) -> [OneSidedProfile<'_>; S] {
        let curve = (self.coordinates > 1 && self.outright[1] < MAX_IDENTIFYING)
            .then(|| delta_curve(&self.counts, self.coordinates, 4.0 * self.spread, self.rare));
        sides.map(|side| OneSidedProfile {
            side,
            outright: self.outright,
            rest: match &curve {
                _ if self.outright[1] >= MAX_IDENTIFYING => RemainingLoss::Unknown,
                None => RemainingLoss::One(&self.counts),
                Some(curve) => {
                    RemainingLoss::Several(sum(curve, side, self.coordinates, self.rare))
                }
            },
        })
    }

    /// Returns the lower and the upper bound of `say`.
    pub(super) fn bounds(&self, say: impl Fn(&OneSidedProfile) -> f64) -> Bounds {
        let told = self.one_sided([Side::Below, Side::Above]);
        let [lower, upper] = told.map(|told| say(&told));
        Bounds { lower, upper }
    }
}

impl OneSidedProfile<'_> {
    pub(super) const fn side(&self) -> Side {
        self.side
    }

    /// Returns δ(`epsilon`), rounded to this side.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let [low, high] = self.outright;
        let rest = match (&self.rest, self.side) {
            (RemainingLoss::Unknown, Side::Above) => 1.0,
            (RemainingLoss::Unknown, Side::Below) => 0.0,
            (RemainingLoss::One(counts), Side::Above) => counts.delta(epsilon).1,
            (RemainingLoss::One(counts), Side::Below) => counts.delta(epsilon).0,
            (RemainingLoss::Several(loss), _) => loss.delta(epsilon),
        };
        let slack = 4.0 * f64::EPSILON;
        match self.side {
            Side::Above => ((high + (1.0 - low) * rest) * (1.0 + slack)).min(1.0),
            Side::Below => (low + (1.0 - high) * rest) * (1.0 - slack),
        }
    }

    /// Returns the ε where δ(ε) = `delta`, rounded to this side; infinite if there is none.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        let [low, high] = self.outright;
        let slack = 4.0 * f64::EPSILON;
        // δ for the rest, after the identifying probability.
        let left = match self.side {
            Side::Above => (delta * (1.0 - slack) - high) / (1.0 - low) * (1.0 - slack),
            Side::Below => (delta * (1.0 + slack) - low) / (1.0 - high) * (1.0 + slack),
        };
        match &self.rest {
            _ if left <= 0.0 => f64::INFINITY,
            RemainingLoss::Unknown if self.side == Side::Below => 0.0,
            RemainingLoss::Unknown => f64::INFINITY,
            RemainingLoss::One(counts) => alone(counts, self.side, left),
            RemainingLoss::Several(loss) => loss.epsilon(left),
        }
    }
}

/// Returns the ε of one coordinate, on one side.
fn alone(counts: &Counts, side: Side, delta: f64) -> f64 {
    let most = counts.most();
    let precision = arithmetic(1e-13);
    match side {
        Side::Above if counts.delta(0.0).1 <= delta => 0.0,
        Side::Above if counts.delta(most).1 > delta => f64::INFINITY,
        Side::Above => bisect(most, 0.0, precision, |x| counts.delta(x).1 <= delta).0,
        Side::Below => bisect(0.0, most, precision, |x| counts.delta(x).0 > delta).0,
    }
}
