//! Calibration of noise: searches for the smallest noise probability q that suffices for (ε, δ),
//! and for the fewest trials that can provide enough noise. Both searches start at the Gaussian
//! limit.
//!
//! More trials add independent noise, so δ decreases with the number of trials N at any q. It is
//! not proven that δ also decreases with q up to 1/2, because noise with a larger q is not the sum
//! of noise with a smaller q and other noise. Tests confirm it. In any case, every result is proven
//! by its own bounds.

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use super::bounds::Bounds;
use super::noise::{NOISE_PROBABILITY, NOISE_VARIANCE, SCALE, TRIALS, UnitNoise};
use super::profile::Profile;
use super::senders::{NoiseMessages, REPEATS, Senders};
use super::truncation::TRUNCATION_SHARE;
use crate::accounting::composition::Side;
use crate::accounting::gaussian::gaussian_delta;
use crate::accounting::ranges::{CENTRAL_EPSILON, DELTA};
use crate::numeric::roots::{bisect, geometric, secant_falling, try_bisect, whole};

/// Relative precision of the noise probability q.
const PRECISION: f64 = 1e-7;

/// Smallest noise that suffices for a target (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Calibration {
    /// Noise with which a batch is (ε, δ)-differentially private: its probability q and cap B.
    pub(crate) noise: NoiseMessages,
    /// Largest threshold found that is proven too small: with it, the batch misses the target.
    pub(crate) too_small: u64,
    /// Mean number of noise messages of one coordinate and sign, from all honest people together.
    pub(crate) mean: f64,
    /// Variance of the number of noise messages of one coordinate and sign, from all honest people
    /// together.
    pub(crate) variance: f64,
    /// Bounds on the δ of untruncated noise at the target ε. Truncation at B adds at most a
    /// millionth of the target δ.
    pub(crate) delta: Bounds,
}

/// Finds the smallest noise probability q with which a batch is (`epsilon`, `delta`)-differentially
/// private, and then the smallest cap B on one person's noise messages.
///
/// The probability q is within one part in 10⁷ of the smallest one that the upper bound on δ
/// permits. A q that is smaller by a few parts in 10⁴ is proven too small, or by a few parts in 10³
/// if variances are above 10⁷.
///
/// # Errors
/// The errors of [`Senders::check`]. [`Error::OutOfRange`] if δ is outside [`DELTA`], if ε is above
/// the maximum of [`CENTRAL_EPSILON`], or if even noise with q = 1/2 does not reach ε.
/// [`least_repeats`] finds how many trials a smaller ε needs.
pub(crate) fn calibrate(senders: &Senders, epsilon: f64, delta: f64) -> Result<Calibration, Error> {
    let goal = Goal::new(senders, epsilon, delta)?;
    let trials = senders.trials() as f64;
    let at = |q: f64| senders.noise(threshold(q));
    let excess = |q: f64| Ok::<_, Error>((goal.upper(&at(q)?) / goal.aim).ln());
    let greatest = greatest_probability(trials);
    // In the Gaussian limit, `near` is 4q(1 − q). The next line solves this for q.
    let near = 4.0 * gaussian_noise(senders.used, senders.levels, epsilon, delta) / trials;
    let near = (0.5 * near / (1.0 + (1.0 - near).max(0.0).sqrt())).min(greatest);
    // Find the lower end of the bracket: a q that is too small.
    let mut low = 0.99 * near;
    while low > NOISE_PROBABILITY.min && excess(low)? <= 0.0 {
        low *= 0.9;
    }
    let ends = [low.max(NOISE_PROBABILITY.min), greatest];
    let Some(q) = secant_falling(&excess, ends, near, PRECISION)? else {
        return Err(goal.out_of_reach(&at(greatest)?));
    };
    let noise = at(q)?;
    let profile = Profile::new(&noise, goal.aim);
    let delta_bounds = profile.bounds(|told| told.delta(epsilon));
    let cut = senders.truncation(noise.threshold());
    Ok(Calibration {
        noise: NoiseMessages {
            threshold: noise.threshold(),
            most: cut.least(epsilon, TRUNCATION_SHARE * (1.0 - TRUNCATION_SHARE) * delta),
        },
        too_small: goal.too_small(senders, &noise, delta_bounds.lower)?,
        mean: noise.mean(),
        variance: noise.variance(),
        delta: delta_bounds,
    })
}

/// Returns the senders with the smallest number of trials per person that suffices: with it, some
/// noise probability q ≤ 1/2 reaches (ε, δ). The number of trials in `senders` is ignored.
///
/// # Errors
/// The errors of [`calibrate`], for the largest number of trials that is within [`REPEATS`],
/// [`TRIALS`] and [`NOISE_VARIANCE`].
pub(crate) fn least_repeats(senders: &Senders, epsilon: f64, delta: f64) -> Result<Senders, Error> {
    let one = Senders {
        repeats: 1,
        ..*senders
    };
    let goal = Goal::new(&one, epsilon, delta)?;
    let people = one.honest_people as f64;
    let most = REPEATS
        .max
        .min((TRIALS.max.min(4.0 * NOISE_VARIANCE.max) / people).floor())
        .max(1.0) as u64;
    let with = |repeats: u64| Senders {
        repeats: repeats as u32,
        ..one
    };
    let noise = |repeats: u64| {
        let senders = with(repeats);
        let greatest = greatest_probability(senders.trials() as f64);
        senders.noise(threshold(greatest))
    };
    let enough = |repeats: u64| Ok::<_, Error>(goal.upper(&noise(repeats)?) <= goal.aim);
    let near = 4.0 * gaussian_noise(one.used, one.levels, epsilon, delta) / people;
    let near = (near.ceil() as u64).clamp(1, most);
    // Search in both directions from the Gaussian limit, in growing strides.
    let (mut inside, mut outside, mut stride) = (near, near, 1);
    while !enough(inside)? {
        if inside == most {
            return Err(goal.out_of_reach(&noise(most)?));
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
    Ok(with(try_bisect(inside, outside, whole, enough)?.0))
}

/// Returns the variance 2DL²/g² of Gaussian noise. If it is added to each of 2D counts, the counts
/// are (`epsilon`, `delta`)-differentially private. D is `coordinates`, L is `levels`, and g is the
/// distance that `gaussian_distance` returns.
///
/// It is the limit of many noise messages. If noise messages are rare, the variance must be
/// somewhat larger. If ε is so large that hardly any noise is needed, it must be much larger.
#[must_use]
pub(crate) fn gaussian_noise(coordinates: u32, levels: u32, epsilon: f64, delta: f64) -> f64 {
    let levels = f64::from(levels);
    let apart = gaussian_distance(epsilon, delta);
    2.0 * f64::from(coordinates) * levels * levels / (apart * apart)
}

/// Returns g, the largest distance at which two unit Gaussians are (ε, δ)-indistinguishable. It is
/// the solution of Φ(g/2 − ε/g) − exp(ε)·Φ(−g/2 − ε/g) = δ.
fn gaussian_distance(epsilon: f64, delta: f64) -> f64 {
    let hidden = |apart: f64| gaussian_delta(1.0, apart, epsilon) <= delta;
    let (mut low, mut high) = (1.0, 1.0);
    while hidden(high) && high < 1e6 {
        high *= 2.0;
    }
    while !hidden(low) && low > 1e-18 {
        low /= 2.0;
    }
    bisect(low, high, geometric(1e-14), hidden).0
}

/// Target (ε, δ) of a calibration.
#[derive(Debug)]
struct Goal {
    epsilon: f64,
    delta: f64,
    /// Part of δ that is available for the noise. The remainder is for truncation.
    aim: f64,
}

impl Goal {
    fn new(senders: &Senders, epsilon: f64, delta: f64) -> Result<Self, Error> {
        senders.check()?;
        CENTRAL_EPSILON.check(epsilon)?;
        DELTA.check(delta)?;
        Ok(Self {
            epsilon,
            delta,
            aim: delta * (1.0 - TRUNCATION_SHARE),
        })
    }

    /// Returns the upper bound on the δ of this noise at the target ε.
    fn upper(&self, noise: &UnitNoise) -> f64 {
        let profile = Profile::new(noise, self.aim);
        let [above] = profile.one_sided([Side::Above]);
        above.delta(self.epsilon)
    }

    /// Returns the lower bound on the δ of this noise at the target ε.
    fn lower(&self, noise: &UnitNoise) -> f64 {
        let profile = Profile::new(noise, self.aim);
        let [below] = profile.one_sided([Side::Below]);
        below.delta(self.epsilon)
    }

    /// Returns the largest threshold found that is proven too small: its δ exceeds the target δ.
    ///
    /// `enough` is noise that suffices, and `lower` a lower bound on its δ.
    fn too_small(&self, senders: &Senders, enough: &UnitNoise, lower: f64) -> Result<u64, Error> {
        let q = enough.probability();
        // δ decreases like a power of q, with an exponent of up to about 40.
        let first = ((self.delta / lower).ln() / 40.0).clamp(PRECISION, 0.5);
        let steps = std::iter::successors(Some(first), |step| Some(1.6 * step));
        for step in steps.take_while(|&step| step < 1.0) {
            let less = senders.noise(threshold(q * (1.0 - step)))?;
            if less.threshold() < enough.threshold() && self.lower(&less) > self.delta {
                return Ok(less.threshold());
            }
        }
        // The smallest possible threshold means practically no noise, which is never enough.
        Ok(1)
    }

    /// Returns the error for a target that even the largest noise, `most`, does not reach.
    fn out_of_reach(&self, most: &UnitNoise) -> Error {
        let profile = Profile::new(most, self.aim);
        let [above] = profile.one_sided([Side::Above]);
        let range = Bound {
            min: above.epsilon(self.aim),
            ..CENTRAL_EPSILON
        };
        let value = self.epsilon;
        range.check(value).err().unwrap_or(Error::OutOfRange {
            name: range.name,
            value,
            min: range.min,
            max: range.max,
        })
    }
}

/// Converts the noise probability q to a 64-bit threshold: q·2⁶⁴, rounded and limited to the range
/// from 1 to 2⁶³.
fn threshold(q: f64) -> u64 {
    ((q * SCALE).round() as u64).clamp(1, 1 << 63)
}

/// Returns the largest noise probability that the search tries: 1/2, or less if the variance would
/// exceed [`NOISE_VARIANCE`].
fn greatest_probability(trials: f64) -> f64 {
    let part = 4.0 * NOISE_VARIANCE.max / trials;
    if part >= 1.0 {
        NOISE_PROBABILITY.max
    } else {
        0.5 * part / (1.0 + (1.0 - part).sqrt()) * (1.0 - 1e-9)
    }
}
