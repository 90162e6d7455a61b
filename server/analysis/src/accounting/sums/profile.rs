//! Privacy profile of all coordinates together. Outcomes that identify the input are counted
//! separately, and the privacy losses of all other outcomes are composed.
//!
//! Let M be the probability that the counts of one coordinate do not identify the input. For D
//! coordinates
//!
//! δ(ε) = 1 − M^D + M^D·E[(1 − exp(ε − Λ))₊].
//!
//! The variable Λ is the sum of D losses of one coordinate, given that its outcome is not
//! identifying. The two distributions of such outcomes are a pair that is its own mirror image. So
//! the losses are composed in the same way as those of batches.

use super::count_distributions::CountDistributions;

use super::bounds::Bounds;
use super::noise::UnitMessageNoise;
use crate::accounting::composition::{
    BoundSide, ComposedPart, PrivacyLossDistribution, composed_loss_distribution, delta_curve,
};
use crate::numeric::roots::{arithmetic_midpoint_function, bisect};

/// Maximum change of δ due to truncating loss distributions, as a fraction of δ.
const SPARE: f64 = 1e-9;
/// Part of `SPARE` that the sums over counts may omit.
const CUT: f64 = 1e-3;
/// Limit on the probability of identifying outcomes. From this limit on, the privacy loss of all
/// other outcomes is not computed.
const MAX_IDENTIFYING: f64 = 0.5;

/// Privacy profile δ(ε) for one noise distribution. Its sums are precise for every δ that is not
/// much smaller than the `delta` for which the profile was created.
#[derive(Debug)]
pub(super) struct SumPrivacyProfile {
    counts: CountDistributions,
    coordinates: u32,
    /// Lower and upper bound on the probability that the counts of some coordinate identify the
    /// input.
    outright: [f64; 2],
    /// Maximum change of δ due to truncating loss distributions.
    rare: f64,
    /// Approximate standard deviation of the privacy loss of one coordinate.
    spread: f64,
}

/// Upper or lower bound on the privacy profile of all coordinates.
#[derive(Debug)]
pub(super) struct ProfileBound<'a> {
    side: BoundSide,
    outright: [f64; 2],
    rest: NonIdentifyingLoss<'a>,
}

#[derive(Debug)]
/// Privacy loss of the outcomes that are not identifying.
enum NonIdentifyingLoss<'a> {
    /// Loss that is not computed. Its δ has the trivial bounds 0 and 1.
    Unknown,
    /// Loss of one coordinate.
    One(&'a CountDistributions),
    /// Composed loss of several coordinates.
    Several(PrivacyLossDistribution),
}

impl SumPrivacyProfile {
    /// Creates the profile. Its sums are precise for δ down to `delta`.
    pub(super) fn new(noise: &UnitMessageNoise, delta: f64) -> Self {
        let (coordinates, rare) = (f64::from(noise.coordinates()), SPARE * delta);
        let counts = CountDistributions::new(noise, -(CUT * rare / coordinates).ln());
        // 1 − (1 − x)^D, computed without cancellation.
        let all = |one: f64| -(coordinates * (-one).ln_1p()).exp_m1();
        let slack = 16.0 * f64::EPSILON * (coordinates + 1.0);
        let [low, high] = counts.identifying_bounds().map(all);
        Self {
            counts,
            coordinates: noise.coordinates(),
            outright: [low * (1.0 - slack), (high * (1.0 + slack)).min(1.0)],
            rare,
            spread: f64::from(noise.levels()) * (2.0 / noise.variance()).sqrt(),
        }
    }

    /// Returns a bound on the profile for each of the given sides.
    pub(super) fn bounded_on_sides<const S: usize>(
        &self,
        sides: [BoundSide; S],
    ) -> [ProfileBound<'_>; S] {
        let curve = (self.coordinates > 1 && self.outright[1] < MAX_IDENTIFYING)
            .then(|| delta_curve(&self.counts, self.coordinates, 4.0 * self.spread, self.rare));
        sides.map(|side| ProfileBound {
            side,
            outright: self.outright,
            rest: match &curve {
                _ if self.outright[1] >= MAX_IDENTIFYING => NonIdentifyingLoss::Unknown,
                None => NonIdentifyingLoss::One(&self.counts),
                Some(curve) => NonIdentifyingLoss::Several(composed_loss_distribution(
                    curve,
                    side,
                    self.coordinates,
                    self.rare,
                )),
            },
        })
    }

    /// Applies `say` to the lower and to the upper bound on the profile. Returns both results as
    /// bounds.
    pub(super) fn map_to_bounds(&self, say: impl Fn(&ProfileBound) -> f64) -> Bounds {
        let told = self.bounded_on_sides([BoundSide::Below, BoundSide::Above]);
        let [lower, upper] = told.map(|told| say(&told));
        Bounds { lower, upper }
    }
}

impl ProfileBound<'_> {
    pub(super) const fn side(&self) -> BoundSide {
        self.side
    }

    /// Returns the upper or lower bound on δ at `epsilon`, according to the side of this profile.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let [low, high] = self.outright;
        let rest = match (&self.rest, self.side) {
            (NonIdentifyingLoss::Unknown, BoundSide::Above) => 1.0,
            (NonIdentifyingLoss::Unknown, BoundSide::Below) => 0.0,
            (NonIdentifyingLoss::One(counts), BoundSide::Above) => counts.delta_bounds(epsilon).1,
            (NonIdentifyingLoss::One(counts), BoundSide::Below) => counts.delta_bounds(epsilon).0,
            (NonIdentifyingLoss::Several(loss), _) => loss.delta_at_epsilon(epsilon),
        };
        let slack = 4.0 * f64::EPSILON;
        match self.side {
            BoundSide::Above => ((high + (1.0 - low) * rest) * (1.0 + slack)).min(1.0),
            BoundSide::Below => (low + (1.0 - high) * rest) * (1.0 - slack),
        }
    }

    /// Returns the upper or lower bound on the ε at which δ(ε) is `delta`, according to the side of
    /// this profile. Returns infinity if there is no such ε.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        let [low, high] = self.outright;
        let slack = 4.0 * f64::EPSILON;
        // δ that is left for the other outcomes after subtracting the probability of identifying
        // ones.
        let left = match self.side {
            BoundSide::Above => (delta * (1.0 - slack) - high) / (1.0 - low) * (1.0 - slack),
            BoundSide::Below => (delta * (1.0 + slack) - low) / (1.0 - high) * (1.0 + slack),
        };
        match &self.rest {
            _ if left <= 0.0 => f64::INFINITY,
            NonIdentifyingLoss::Unknown if self.side == BoundSide::Below => 0.0,
            NonIdentifyingLoss::Unknown => f64::INFINITY,
            NonIdentifyingLoss::One(counts) => one_coordinate_epsilon(counts, self.side, left),
            NonIdentifyingLoss::Several(loss) => loss.epsilon_at_delta(left),
        }
    }
}

/// Returns the upper or lower bound on the ε of one coordinate at `delta`, according to `side`.
fn one_coordinate_epsilon(counts: &CountDistributions, side: BoundSide, delta: f64) -> f64 {
    let most = counts.largest_loss();
    let precision = arithmetic_midpoint_function(1e-13);
    match side {
        BoundSide::Above if counts.delta_bounds(0.0).1 <= delta => 0.0,
        BoundSide::Above if counts.delta_bounds(most).1 > delta => f64::INFINITY,
        BoundSide::Above => bisect(most, 0.0, precision, |x| counts.delta_bounds(x).1 <= delta).0,
        BoundSide::Below => bisect(0.0, most, precision, |x| counts.delta_bounds(x).0 > delta).0,
    }
}
