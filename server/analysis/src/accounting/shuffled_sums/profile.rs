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

use super::bounds::ProvenBounds;
use super::noise::UnitMessageNoise;
use crate::accounting::composition::{
    BoundSide, ComposedPart, PrivacyLossDistribution, composed_loss_distribution, delta_curve,
};
use crate::numeric::roots::{arithmetic_midpoint_function, bisect};

/// Maximum change of δ due to truncating loss distributions, as a fraction of δ.
const TRUNCATION_FRACTION: f64 = 1e-9;
/// Part of `SPARE` that the sums over counts may omit.
const OMISSION_BUDGET_SHARE: f64 = 1e-3;
/// Limit on the probability of identifying outcomes. From this limit on, the privacy loss of all
/// other outcomes is not computed.
const LOSS_SKIP_PROBABILITY: f64 = 0.5;

/// Privacy profile δ(ε) for one noise distribution. Its sums are precise for every δ that is not
/// much smaller than the `delta` for which the profile was created.
#[derive(Debug)]
pub(super) struct SumPrivacyProfile {
    counts: CountDistributions,
    coordinates: u32,
    /// Lower and upper bound on the probability that the counts of some coordinate identify the
    /// input.
    identification_bounds: [f64; 2],
    /// Maximum change of δ due to truncating loss distributions.
    max_truncation_delta: f64,
    /// Approximate standard deviation of the privacy loss of one coordinate.
    loss_standard_deviation: f64,
}

/// Upper or lower bound on the privacy profile of all coordinates.
#[derive(Debug)]
pub(super) struct ProfileBound<'a> {
    side: BoundSide,
    identification_bounds: [f64; 2],
    non_identifying_loss: NonIdentifyingLoss<'a>,
}

#[derive(Debug)]
/// Privacy loss of the outcomes that are not identifying.
enum NonIdentifyingLoss<'a> {
    /// Loss that is not computed. Its δ has the trivial bounds 0 and 1.
    NotComputed,
    /// Loss of one coordinate.
    OneCoordinate(&'a CountDistributions),
    /// Composed loss of several coordinates.
    SeveralCoordinates(PrivacyLossDistribution),
}

impl SumPrivacyProfile {
    /// Creates the profile. Its sums are precise for δ down to `delta`.
    pub(super) fn new(noise: &UnitMessageNoise, delta: f64) -> Self {
        let (coordinates, rare) = (f64::from(noise.coordinates()), TRUNCATION_FRACTION * delta);
        let counts =
            CountDistributions::new(noise, -(OMISSION_BUDGET_SHARE * rare / coordinates).ln());
        // 1 − (1 − x)^D, computed without cancellation.
        let all = |one: f64| -(coordinates * (-one).ln_1p()).exp_m1();
        let slack = 16.0 * f64::EPSILON * (coordinates + 1.0);
        let [low, high] = counts.identifying_bounds().map(all);
        Self {
            counts,
            coordinates: noise.coordinates(),
            identification_bounds: [low * (1.0 - slack), (high * (1.0 + slack)).min(1.0)],
            max_truncation_delta: rare,
            loss_standard_deviation: f64::from(noise.levels()) * (2.0 / noise.variance()).sqrt(),
        }
    }

    /// Returns a bound on the profile for each of the given sides.
    pub(super) fn bounded_on_sides<const S: usize>(
        &self,
        sides: [BoundSide; S],
    ) -> [ProfileBound<'_>; S] {
        let curve = (self.coordinates > 1 && self.identification_bounds[1] < LOSS_SKIP_PROBABILITY)
            .then(|| {
                delta_curve(
                    &self.counts,
                    self.coordinates,
                    4.0 * self.loss_standard_deviation,
                    self.max_truncation_delta,
                )
            });
        sides.map(|side| ProfileBound {
            side,
            identification_bounds: self.identification_bounds,
            non_identifying_loss: match &curve {
                _ if self.identification_bounds[1] >= LOSS_SKIP_PROBABILITY => {
                    NonIdentifyingLoss::NotComputed
                }
                None => NonIdentifyingLoss::OneCoordinate(&self.counts),
                Some(curve) => NonIdentifyingLoss::SeveralCoordinates(composed_loss_distribution(
                    curve,
                    side,
                    self.coordinates,
                    self.max_truncation_delta,
                )),
            },
        })
    }

    /// Applies `say` to the lower and to the upper bound on the profile. Returns both results as
    /// bounds.
    pub(super) fn map_to_bounds(&self, say: impl Fn(&ProfileBound) -> f64) -> ProvenBounds {
        let told = self.bounded_on_sides([BoundSide::Below, BoundSide::Above]);
        let [lower, upper] = told.map(|told| say(&told));
        ProvenBounds { lower, upper }
    }
}

impl ProfileBound<'_> {
    pub(super) const fn side(&self) -> BoundSide {
        self.side
    }

    /// Returns the upper or lower bound on δ at `epsilon`, according to the side of this profile.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let [low, high] = self.identification_bounds;
        let rest = match (&self.non_identifying_loss, self.side) {
            (NonIdentifyingLoss::NotComputed, BoundSide::Above) => 1.0,
            (NonIdentifyingLoss::NotComputed, BoundSide::Below) => 0.0,
            (NonIdentifyingLoss::OneCoordinate(counts), BoundSide::Above) => {
                counts.delta_bounds(epsilon).1
            }
            (NonIdentifyingLoss::OneCoordinate(counts), BoundSide::Below) => {
                counts.delta_bounds(epsilon).0
            }
            (NonIdentifyingLoss::SeveralCoordinates(loss), _) => loss.delta_at_epsilon(epsilon),
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
        let [low, high] = self.identification_bounds;
        let slack = 4.0 * f64::EPSILON;
        // δ that is left for the other outcomes after subtracting the probability of identifying
        // ones.
        let left = match self.side {
            BoundSide::Above => (delta * (1.0 - slack) - high) / (1.0 - low) * (1.0 - slack),
            BoundSide::Below => (delta * (1.0 + slack) - low) / (1.0 - high) * (1.0 + slack),
        };
        match &self.non_identifying_loss {
            _ if left <= 0.0 => f64::INFINITY,
            NonIdentifyingLoss::NotComputed if self.side == BoundSide::Below => 0.0,
            NonIdentifyingLoss::NotComputed => f64::INFINITY,
            NonIdentifyingLoss::OneCoordinate(counts) => {
                one_coordinate_epsilon(counts, self.side, left)
            }
            NonIdentifyingLoss::SeveralCoordinates(loss) => loss.epsilon_at_delta(left),
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
