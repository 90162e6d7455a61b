//! Calibration of noise: searches for the smallest noise probability q that suffices for (ε, δ),
//! and for the fewest trials that can provide enough noise. Both searches start at the Gaussian
//! limit.
//!
//! More trials add independent noise, so δ decreases with the number of trials N at any q. It is
//! not proven that δ also decreases with q up to 1/2, because noise with a larger q is not the sum
//! of noise with a smaller q and other noise. Tests confirm it. In any case, every result is proven
//! by its own bounds.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use serde::Serialize;

use super::bounds::ProvenBounds;
use super::noise::{
    NOISE_PROBABILITY_RANGE, NOISE_VARIANCE_RANGE, TRIAL_COUNT_RANGE, TWO_POW_64, UnitMessageNoise,
};
use super::profile::SumPrivacyProfile;
use super::senders::{NoiseParameters, SenderBatch, TRIALS_PER_PERSON_RANGE};
use super::truncation::TRUNCATION_SHARE;
use crate::accounting::composition::BoundSide;
use crate::accounting::gaussian::gaussian_delta;
use crate::accounting::ranges::{CENTRAL_EPSILON_RANGE, DELTA_RANGE};
use crate::numeric::roots::{
    bisect, find_root_by_secant, geometric_midpoint_function, integer_midpoint, try_bisect,
};

/// Relative precision of the noise probability q.
const NOISE_PROBABILITY_PRECISION: f64 = 1e-7;

/// Smallest noise that suffices for a target (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct CalibratedNoise {
    /// Noise with which a batch is (ε, δ)-differentially private: its probability q and cap B.
    pub(crate) noise: NoiseParameters,
    /// Largest threshold that was found and is proven to be too small: with this threshold, the
    /// batch misses the target.
    pub(crate) too_small: u64,
    /// Mean number of noise messages of one coordinate and sign, from all honest people together.
    pub(crate) mean: f64,
    /// Variance of the number of noise messages of one coordinate and sign, from all honest people
    /// together.
    pub(crate) variance: f64,
    /// Bounds on the δ of untruncated noise at the target ε. Truncation at B adds at most a
    /// millionth of the target δ.
    pub(crate) delta: ProvenBounds,
}

/// Finds the smallest noise probability q with which a batch is (`epsilon`, `delta`)-differentially
/// private, and then the smallest cap B on one person's noise messages.
///
/// The relative distance from q to the smallest probability that the upper bound on δ permits is at
/// most 10⁻⁷. A q that is smaller by a few parts in 10⁴ is proven to be too small. If variances are
/// above 10⁷, this is proven for a q that is smaller by a few parts in 10³.
///
/// # Errors
/// The errors of [`SenderBatch::check_ranges`]. [`Error::OutOfRange`] if δ is outside [`DELTA_RANGE`], if
/// ε is above the maximum of [`CENTRAL_EPSILON_RANGE`], or if even noise with q = 1/2 does not reach ε.
/// [`senders_with_fewest_noise_trials`] finds how many trials a smaller ε needs.
pub(crate) fn calibrate_noise(
    senders: &SenderBatch,
    epsilon: f64,
    delta: f64,
) -> Result<CalibratedNoise, Error> {
    let goal = CalibrationTarget::new(senders, epsilon, delta)?;
    let trials = senders.honest_noise_trials() as f64;
    let at = |q: f64| senders.untruncated_noise(threshold_from_probability(q));
    let excess =
        |q: f64| Ok::<_, Error>((goal.delta_upper_bound(&at(q)?) / goal.noise_delta_budget).ln());
    let greatest = largest_noise_probability(trials);
    // In the Gaussian limit, `near` is 4q(1 − q). The next line solves this for q.
    let near =
        4.0 * required_gaussian_variance(senders.used, senders.levels, epsilon, delta) / trials;
    let near = (0.5 * near / (1.0 + (1.0 - near).max(0.0).sqrt())).min(greatest);
    // Find the lower end of the bracket: a q that is too small.
    let mut low = 0.99 * near;
    while low > NOISE_PROBABILITY_RANGE.min && excess(low)? <= 0.0 {
        low *= 0.9;
    }
    let ends = [low.max(NOISE_PROBABILITY_RANGE.min), greatest];
    let Some(q) = find_root_by_secant(&excess, ends, near, NOISE_PROBABILITY_PRECISION)? else {
        return Err(goal.out_of_reach_error(&at(greatest)?));
    };
    let noise = at(q)?;
    let profile = SumPrivacyProfile::new(&noise, goal.noise_delta_budget);
    let delta_bounds = profile.map_to_bounds(|told| told.delta(epsilon));
    let cut = senders.truncation(noise.threshold());
    Ok(CalibratedNoise {
        noise: NoiseParameters {
            threshold: noise.threshold(),
            most: cut.smallest_cap(epsilon, TRUNCATION_SHARE * (1.0 - TRUNCATION_SHARE) * delta),
        },
        too_small: goal.largest_insufficient_threshold(senders, &noise, delta_bounds.lower)?,
        mean: noise.mean(),
        variance: noise.variance(),
        delta: delta_bounds,
    })
}

/// Returns `senders` with the smallest sufficient number of trials per person. A number of trials
/// suffices if some noise probability q ≤ 1/2 reaches (ε, δ). The number of trials in the argument
/// `senders` is ignored.
///
/// # Errors
/// The errors of [`calibrate_noise`], for the largest number of trials that is within [`TRIALS_PER_PERSON_RANGE`],
/// [`TRIAL_COUNT_RANGE`] and [`NOISE_VARIANCE_RANGE`].
pub(crate) fn senders_with_fewest_noise_trials(
    senders: &SenderBatch,
    epsilon: f64,
    delta: f64,
) -> Result<SenderBatch, Error> {
    let one = SenderBatch {
        repeats: 1,
        ..*senders
    };
    let goal = CalibrationTarget::new(&one, epsilon, delta)?;
    let people = one.honest_people as f64;
    let most = TRIALS_PER_PERSON_RANGE
        .max
        .min((TRIAL_COUNT_RANGE.max.min(4.0 * NOISE_VARIANCE_RANGE.max) / people).floor())
        .max(1.0) as u64;
    let with = |repeats: u64| SenderBatch {
        repeats: repeats as u32,
        ..one
    };
    let noise = |repeats: u64| {
        let senders = with(repeats);
        let greatest = largest_noise_probability(senders.honest_noise_trials() as f64);
        senders.untruncated_noise(threshold_from_probability(greatest))
    };
    let enough = |repeats: u64| {
        Ok::<_, Error>(goal.delta_upper_bound(&noise(repeats)?) <= goal.noise_delta_budget)
    };
    let near = 4.0 * required_gaussian_variance(one.used, one.levels, epsilon, delta) / people;
    let near = (near.ceil() as u64).clamp(1, most);
    // Search in both directions from the Gaussian limit, in growing strides.
    let (mut inside, mut outside, mut stride) = (near, near, 1);
    while !enough(inside)? {
        if inside == most {
            return Err(goal.out_of_reach_error(&noise(most)?));
        }
        outside = inside;
        inside = (inside + stride).min(most);
        stride *= 2;
    }
    stride = 1;
    while outside >= inside {
        outside = outside.saturating_sub(stride);
        stride *= 2;
        if outside > 0 && enough(outside)? {
            inside = outside;
        }
    }
    Ok(with(
        try_bisect(inside, outside, integer_midpoint, enough)?.0,
    ))
}

/// Returns the variance 2DL²/g² of Gaussian noise. With this noise on each of 2D counts, the counts
/// are (`epsilon`, `delta`)-differentially private. D is `coordinates`, L is `levels`, and g is the
/// distance that `max_gaussian_sensitivity` returns.
///
/// This variance is the limit for many noise messages. If noise messages are rare, a somewhat
/// larger variance is needed. If ε is so large that hardly any noise is needed, a much larger
/// variance is needed.
#[must_use]
pub(crate) fn required_gaussian_variance(
    coordinates: u32,
    levels: u32,
    epsilon: f64,
    delta: f64,
) -> f64 {
    let levels = f64::from(levels);
    let apart = max_gaussian_sensitivity(epsilon, delta);
    2.0 * f64::from(coordinates) * levels * levels / (apart * apart)
}

/// Returns g, the largest distance at which two unit Gaussians are (ε, δ)-indistinguishable. It is
/// the solution of Φ(g/2 − ε/g) − exp(ε)·Φ(−g/2 − ε/g) = δ.
fn max_gaussian_sensitivity(epsilon: f64, delta: f64) -> f64 {
    let hidden = |apart: f64| gaussian_delta(1.0, apart, epsilon) <= delta;
    let (mut low, mut high) = (1.0, 1.0);
    while hidden(high) && high < 1e6 {
        high *= 2.0;
    }
    while !hidden(low) && low > 1e-18 {
        low /= 2.0;
    }
    bisect(low, high, geometric_midpoint_function(1e-14), hidden).0
}

/// Target (ε, δ) of a calibration.
#[derive(Debug)]
struct CalibrationTarget {
    epsilon: f64,
    delta: f64,
    /// Part of δ that is available for the noise. The remainder is for truncation.
    noise_delta_budget: f64,
}

impl CalibrationTarget {
    fn new(senders: &SenderBatch, epsilon: f64, delta: f64) -> Result<Self, Error> {
        senders.check_ranges()?;
        CENTRAL_EPSILON_RANGE.check_in_range(epsilon)?;
        DELTA_RANGE.check_in_range(delta)?;
        Ok(Self {
            epsilon,
            delta,
            noise_delta_budget: delta * (1.0 - TRUNCATION_SHARE),
        })
    }

    /// Returns the upper bound on the δ of this noise at the target ε.
    fn delta_upper_bound(&self, noise: &UnitMessageNoise) -> f64 {
        let profile = SumPrivacyProfile::new(noise, self.noise_delta_budget);
        let [above] = profile.bounded_on_sides([BoundSide::Above]);
        above.delta(self.epsilon)
    }

    /// Returns the lower bound on the δ of this noise at the target ε.
    fn delta_lower_bound(&self, noise: &UnitMessageNoise) -> f64 {
        let profile = SumPrivacyProfile::new(noise, self.noise_delta_budget);
        let [below] = profile.bounded_on_sides([BoundSide::Below]);
        below.delta(self.epsilon)
    }

    /// Returns the largest threshold that was found and is proven to be too small: its δ exceeds
    /// the target δ.
    ///
    /// `enough` is noise that suffices, and `lower` a lower bound on its δ.
    fn largest_insufficient_threshold(
        &self,
        senders: &SenderBatch,
        enough: &UnitMessageNoise,
        lower: f64,
    ) -> Result<u64, Error> {
        let q = enough.probability();
        // δ decreases like a power of q, with an exponent of up to about 40.
        let first = ((self.delta / lower).ln() / 40.0).clamp(NOISE_PROBABILITY_PRECISION, 0.5);
        let steps = std::iter::successors(Some(first), |step| Some(1.6 * step));
        for step in steps.take_while(|&step| step < 1.0) {
            let less = senders.untruncated_noise(threshold_from_probability(q * (1.0 - step)))?;
            if less.threshold() < enough.threshold() && self.delta_lower_bound(&less) > self.delta {
                return Ok(less.threshold());
            }
        }
        // The smallest possible threshold means practically no noise, which is never enough.
        Ok(1)
    }

    /// Returns the error for a target that even the largest noise, `most`, does not reach.
    fn out_of_reach_error(&self, most: &UnitMessageNoise) -> Error {
        let profile = SumPrivacyProfile::new(most, self.noise_delta_budget);
        let [above] = profile.bounded_on_sides([BoundSide::Above]);
        let range = ParameterRange {
            min: above.epsilon(self.noise_delta_budget),
            ..CENTRAL_EPSILON_RANGE
        };
        let value = self.epsilon;
        range
            .check_in_range(value)
            .err()
            .unwrap_or(Error::OutOfRange {
                name: range.name,
                value,
                min: range.min,
                max: range.max,
            })
    }
}

/// Converts the noise probability q to a 64-bit threshold: q·2⁶⁴, rounded and limited to the range
/// from 1 to 2⁶³.
fn threshold_from_probability(q: f64) -> u64 {
    ((q * TWO_POW_64).round() as u64).clamp(1, 1 << 63)
}

/// Returns the largest noise probability that the search tries: 1/2, or less if the variance would
/// exceed [`NOISE_VARIANCE_RANGE`].
fn largest_noise_probability(trials: f64) -> f64 {
    let part = 4.0 * NOISE_VARIANCE_RANGE.max / trials;
    if part >= 1.0 {
        NOISE_PROBABILITY_RANGE.max
    } else {
        0.5 * part / (1.0 + (1.0 - part).sqrt()) * (1.0 - 1e-9)
    }
}
