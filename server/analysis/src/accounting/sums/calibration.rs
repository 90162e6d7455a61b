//! Calibration: the least noise that is enough, the fewest trials it may come from, and
//! the Gaussian limit that both are looked for near.
//!
//! More trials are noise added, so that δ falls with N at any q. That it falls with q
//! up to 1/2 is not proven, as noise of a larger q is not a smaller one's with more
//! added; it is tested. Whatever is found is proven by its own bounds.

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use super::bounds::Bounds;
use super::noise::{NOISE_PROBABILITY, NOISE_VARIANCE, SCALE, TRIALS, UnitNoise};
use super::profile::Profile;
use super::senders::{NoiseMessages, REPEATS, Senders};
use super::truncation::SHARE;
use crate::accounting::composition::Side;
use crate::accounting::gaussian::gaussian_delta;
use crate::accounting::ranges::{CENTRAL_EPSILON, DELTA};
use crate::numeric::roots::{bisect, geometric, secant_falling, try_bisect, whole};

/// To what part of q it is found.
const PRECISION: f64 = 1e-7;

/// The least noise that is enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Calibration {
    /// q and B: a batch with it is (ε, δ)-differentially private.
    pub(crate) noise: NoiseMessages,
    /// A threshold with which it is not, as near as the bounds tell.
    pub(crate) too_small: u64,
    /// μ = N·q, the noise messages of one coordinate and sign of all honest people.
    pub(crate) mean: f64,
    /// N·q·(1 − q).
    pub(crate) variance: f64,
    /// Bounds on δ at ε of noise that is not cut. Cutting it at B adds no more than
    /// a millionth of δ.
    pub(crate) delta: Bounds,
}

/// The least noise with which a batch is (`epsilon`, `delta`)-differentially private, to one part
/// in 10⁷ of what the bound from above allows, and then the least B. With q some parts in 10⁴ less
/// it is proven not to be enough, in 10³ where variances are above 10⁷.
///
/// # Errors
/// As [`Senders::check`]; [`Error::OutOfRange`] when δ is outside [`DELTA`], or ε not
/// from what noise of q = 1/2 reaches to [`CENTRAL_EPSILON`]'s greatest:
/// [`least_repeats`] finds how many trials a smaller one takes.
pub(crate) fn calibrate(senders: &Senders, epsilon: f64, delta: f64) -> Result<Calibration, Error> {
    let goal = Goal::new(senders, epsilon, delta)?;
    let trials = senders.trials() as f64;
    let at = |q: f64| senders.noise(threshold(q));
    let excess = |q: f64| Ok::<_, Error>((goal.upper(&at(q)?) / goal.aim).ln());
    let greatest = greatest_probability(trials);
    let near = 4.0 * gaussian_noise(senders.used, senders.levels, epsilon, delta) / trials;
    let near = (0.5 * near / (1.0 + (1.0 - near).max(0.0).sqrt())).min(greatest);
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
            most: cut.least(epsilon, SHARE * (1.0 - SHARE) * delta),
        },
        too_small: goal.too_small(senders, &noise, delta_bounds.lower)?,
        mean: noise.mean(),
        variance: noise.variance(),
        delta: delta_bounds,
    })
}

/// The senders with the least w, whatever theirs is, for which noise of some q up to 1/2 is enough.
///
/// # Errors
/// As [`calibrate`], of the most trials that are within [`REPEATS`], [`TRIALS`] and
/// [`NOISE_VARIANCE`].
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
    // From near the limit, both ways in strides that grow.
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

/// Variance of Gaussian noise on each of 2D counts that hides a person, 2DL²/g², of
/// D `coordinates` used and L `levels`: the limit of much noise. Rare noise takes
/// somewhat more, and much more where ε is so large that little noise is left.
#[must_use]
pub(crate) fn gaussian_noise(coordinates: u32, levels: u32, epsilon: f64, delta: f64) -> f64 {
    let levels = f64::from(levels);
    let apart = gaussian_distance(epsilon, delta);
    2.0 * f64::from(coordinates) * levels * levels / (apart * apart)
}

/// g: how far two unit Gaussians are apart that are told (ε, δ), Φ(g/2 − ε/g) −
/// exp(ε)·Φ(−g/2 − ε/g) = δ.
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

/// What is asked for.
#[derive(Debug)]
struct Goal {
    epsilon: f64,
    delta: f64,
    /// δ without what cutting may cost.
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
            aim: delta * (1.0 - SHARE),
        })
    }

    fn upper(&self, noise: &UnitNoise) -> f64 {
        let profile = Profile::new(noise, self.aim);
        let [above] = profile.told([Side::Above]);
        above.delta(self.epsilon)
    }

    fn lower(&self, noise: &UnitNoise) -> f64 {
        let profile = Profile::new(noise, self.aim);
        let [below] = profile.told([Side::Below]);
        below.delta(self.epsilon)
    }

    /// A threshold below that of `enough`, whose δ is not below `lower`, with which δ is
    /// proven to be more than is asked for.
    fn too_small(&self, senders: &Senders, enough: &UnitNoise, lower: f64) -> Result<u64, Error> {
        let q = enough.probability();
        // δ falls like a power of q, of an exponent up to about 40.
        let first = ((self.delta / lower).ln() / 40.0).clamp(PRECISION, 0.5);
        let steps = std::iter::successors(Some(first), |step| Some(1.6 * step));
        for step in steps.take_while(|&step| step < 1.0) {
            let less = senders.noise(threshold(q * (1.0 - step)))?;
            if less.threshold() < enough.threshold() && self.lower(&less) > self.delta {
                return Ok(less.threshold());
            }
        }
        // No noise to speak of is never enough.
        Ok(1)
    }

    /// The error of an ε that `most` noise does not reach.
    fn out_of_reach(&self, most: &UnitNoise) -> Error {
        let profile = Profile::new(most, self.aim);
        let [above] = profile.told([Side::Above]);
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

/// q·2⁶⁴, at least 1 and at most 2⁶³.
fn threshold(q: f64) -> u64 {
    ((q * SCALE).round() as u64).clamp(1, 1 << 63)
}

/// The greatest q that is looked at: 1/2, or less where there would be more noise than
/// [`NOISE_VARIANCE`].
fn greatest_probability(trials: f64) -> f64 {
    let part = 4.0 * NOISE_VARIANCE.max / trials;
    if part >= 1.0 {
        NOISE_PROBABILITY.max
    } else {
        0.5 * part / (1.0 + (1.0 - part).sqrt()) * (1.0 - 1e-9)
    }
}
