//! Privacy profile of all coordinates, or of other equal parts, together. Outcomes that identify the input are counted
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
use super::identifying_part::IdentifyingPart;
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
/// other outcomes is not composed.
const COMPOSITION_SKIP_PROBABILITY: f64 = 0.5;
/// Limit for a single part, whose privacy loss is a simple sum.
const LOSS_SKIP_PROBABILITY: f64 = 1.0 - 1e-6;

/// Returns the negative logarithm of the probability that the sums of each of `parts` parts may
/// omit, if the profile is to be precise for δ down to `delta`.
pub(super) fn omission_exponent(parts: u32, delta: f64) -> f64 {
    -(OMISSION_BUDGET_SHARE * TRUNCATION_FRACTION * delta / f64::from(parts)).ln()
}

/// Privacy profile δ(ε) of several independent and equal parts: by default, the coordinates of a
/// person. Its sums are precise for every δ that is not much smaller than the `delta` for which the
/// profile was created.
#[derive(Debug)]
pub(super) struct SumPrivacyProfile<P = CountDistributions> {
    part: P,
    part_count: u32,
    /// Lower and upper bound on the probability that some part identifies the input.
    identification_bounds: [f64; 2],
    /// Maximum change of δ due to truncating loss distributions.
    max_truncation_delta: f64,
}

/// Upper or lower bound on the privacy profile of all parts.
#[derive(Debug)]
pub(super) struct ProfileBound<'a, P = CountDistributions> {
    side: BoundSide,
    identification_bounds: [f64; 2],
    non_identifying_loss: NonIdentifyingLoss<'a, P>,
}

#[derive(Debug)]
/// Privacy loss of the outcomes that are not identifying.
enum NonIdentifyingLoss<'a, P> {
    /// Loss that is not computed. Its δ has the trivial bounds 0 and 1.
    NotComputed,
    /// Loss of one part.
    OnePart(&'a P),
    /// Composed loss of several parts.
    SeveralParts(PrivacyLossDistribution),
}

impl SumPrivacyProfile {
    /// Creates the profile of all coordinates. Its sums are precise for δ down to `delta`.
    pub(super) fn new(noise: &UnitMessageNoise, delta: f64) -> Self {
        let coordinates = noise.coordinates();
        let counts = CountDistributions::new(noise, omission_exponent(coordinates, delta));
        Self::of_parts(counts, coordinates, delta)
    }
}

impl<P: IdentifyingPart> SumPrivacyProfile<P> {
    /// Creates the profile of `part_count` parts like `part`, whose sums omit at most the
    /// probability of [`omission_exponent`].
    pub(super) fn of_parts(part: P, part_count: u32, delta: f64) -> Self {
        let parts = f64::from(part_count);
        // 1 − (1 − x)^D, computed without cancellation.
        let all = |one: f64| -(parts * (-one).ln_1p()).exp_m1();
        let slack = 16.0 * f64::EPSILON * (parts + 1.0);
        let [low, high] = part.identifying_bounds().map(all);
        Self {
            part,
            part_count,
            identification_bounds: [low * (1.0 - slack), (high * (1.0 + slack)).min(1.0)],
            max_truncation_delta: TRUNCATION_FRACTION * delta,
        }
    }

    /// Returns a bound on the profile for each of the given sides.
    pub(super) fn bounded_on_sides<const S: usize>(
        &self,
        sides: [BoundSide; S],
    ) -> [ProfileBound<'_, P>; S] {
        let several = self.part_count > 1;
        let limit = if several {
            COMPOSITION_SKIP_PROBABILITY
        } else {
            LOSS_SKIP_PROBABILITY
        };
        let is_skipped = self.identification_bounds[1] >= limit;
        let curve = (several && !is_skipped).then(|| {
            delta_curve(
                &self.part,
                self.part_count,
                4.0 * self.part.loss_standard_deviation(),
                self.max_truncation_delta,
            )
        });
        sides.map(|side| ProfileBound {
            side,
            identification_bounds: self.identification_bounds,
            non_identifying_loss: match &curve {
                _ if is_skipped => NonIdentifyingLoss::NotComputed,
                None => NonIdentifyingLoss::OnePart(&self.part),
                Some(curve) => NonIdentifyingLoss::SeveralParts(composed_loss_distribution(
                    curve,
                    side,
                    self.part_count,
                    self.max_truncation_delta,
                )),
            },
        })
    }

    /// Applies `say` to the lower and to the upper bound on the profile. Returns both results as
    /// bounds.
    pub(super) fn map_to_bounds(&self, say: impl Fn(&ProfileBound<P>) -> f64) -> ProvenBounds {
        let told = self.bounded_on_sides([BoundSide::Below, BoundSide::Above]);
        let [lower, upper] = told.map(|told| say(&told));
        ProvenBounds { lower, upper }
    }
}

impl<P: IdentifyingPart> ProfileBound<'_, P> {
    pub(super) const fn side(&self) -> BoundSide {
        self.side
    }

    /// Returns the upper or lower bound on δ at `epsilon`, according to the side of this profile.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let [low, high] = self.identification_bounds;
        let rest = match (&self.non_identifying_loss, self.side) {
            (NonIdentifyingLoss::NotComputed, BoundSide::Above) => 1.0,
            (NonIdentifyingLoss::NotComputed, BoundSide::Below) => 0.0,
            (NonIdentifyingLoss::OnePart(part), BoundSide::Above) => part.delta_bounds(epsilon).1,
            (NonIdentifyingLoss::OnePart(part), BoundSide::Below) => part.delta_bounds(epsilon).0,
            (NonIdentifyingLoss::SeveralParts(loss), _) => loss.delta_at_epsilon(epsilon),
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
            NonIdentifyingLoss::OnePart(part) => one_part_epsilon(*part, self.side, left),
            NonIdentifyingLoss::SeveralParts(loss) => loss.epsilon_at_delta(left),
        }
    }
}

/// Returns the upper or lower bound on the ε of one part at `delta`, according to `side`.
fn one_part_epsilon(part: &impl ComposedPart, side: BoundSide, delta: f64) -> f64 {
    let most = part.largest_loss();
    let precision = arithmetic_midpoint_function(1e-13);
    match side {
        BoundSide::Above if part.delta_bounds(0.0).1 <= delta => 0.0,
        BoundSide::Above if part.delta_bounds(most).1 > delta => f64::INFINITY,
        BoundSide::Above => bisect(most, 0.0, precision, |x| part.delta_bounds(x).1 <= delta).0,
        BoundSide::Below => bisect(0.0, most, precision, |x| part.delta_bounds(x).0 > delta).0,
    }
}
