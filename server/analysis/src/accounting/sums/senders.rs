//! Messages that every person sends, and the account of a batch of such people.

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use super::bounds::Bounds;
use super::noise::{COORDINATES, LEVELS, TRIALS, UnitNoise};
use super::profile::{OneSidedProfile, Profile};
use super::truncation::{TRUNCATION_SHARE, Truncation};
use crate::accounting::composition::Side;
use crate::accounting::ranges::{CENTRAL_EPSILON, DELTA};

/// Trials w of one person for each coordinate and sign.
pub(crate) const REPEATS: Bound = Bound {
    name: "repeats",
    min: 1.0,
    max: 65_536.0,
};
/// Number n_h of honest people of a batch, whose noise is counted.
pub(crate) const HONEST_PEOPLE: Bound = Bound {
    name: "honest people",
    ..TRIALS
};

/// Batch of people who send unit messages.
///
/// Of D `coordinates` a person uses k. If k < D, they are drawn at random, independently of the
/// input. The worst case is that the draw is known: then only k counts of a sign change. δ of the
/// mixture is at most the average δ over the draws. Noise messages cover all D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Senders {
    /// Number of coordinates D, within [`COORDINATES`].
    pub(crate) coordinates: u32,
    /// Number of coordinates k that a person uses, from 1 to D.
    pub(crate) used: u32,
    /// Number of levels L, within [`LEVELS`]: a coordinate is rounded to −L to L.
    pub(crate) levels: u32,
    /// Number of honest people n_h, within [`HONEST_PEOPLE`], including the person in question.
    /// Honest people's noise does not depend on the values. Other people's noise is not counted. A
    /// batch with fewer honest people is not covered.
    pub(crate) honest_people: u64,
    /// Trials w, within [`REPEATS`], of one person for a noise message of one coordinate and sign.
    /// N = w·n_h is within [`TRIALS`].
    pub(crate) repeats: u32,
}

/// Noise of every person: q, and the maximum number B of noise messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct NoiseMessages {
    /// Threshold q·2⁶⁴: a trial sends a message if a uniform 64-bit word is below it.
    pub(crate) threshold: u64,
    /// Cap B on one person's noise messages. Draws above B are rejected and redrawn; B ≥ 2Dw never
    /// rejects.
    pub(crate) most: u64,
}

impl Senders {
    /// Checks that all numbers are within range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when a number is outside its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        COORDINATES.check(f64::from(self.coordinates))?;
        let used = Bound {
            name: "coordinates used",
            ..COORDINATES
        };
        used.at_most(f64::from(self.coordinates))
            .check(f64::from(self.used))?;
        LEVELS.check(f64::from(self.levels))?;
        HONEST_PEOPLE.check(self.honest_people as f64)?;
        REPEATS.check(f64::from(self.repeats))?;
        TRIALS.check(self.honest_people as f64 * f64::from(self.repeats))
    }

    /// Returns N = w·n_h.
    #[must_use]
    pub(crate) const fn trials(&self) -> u64 {
        self.honest_people.saturating_mul(self.repeats as u64)
    }

    /// Returns the noise that hides a person of the batch, without truncation at B.
    ///
    /// # Errors
    /// As [`Senders::check`] and [`UnitNoise::new`].
    pub(crate) fn noise(&self, threshold: u64) -> Result<UnitNoise, Error> {
        self.check()?;
        UnitNoise::new(self.used, self.levels, self.trials(), threshold)
    }

    /// Returns bounds on the least ε of a batch at `delta`, with noise truncated at B. They are
    /// infinite if identifying outcomes or truncation take more than δ.
    ///
    /// # Errors
    /// As [`Senders::noise`]; [`Error::OutOfRange`] when δ is outside [`DELTA`].
    pub(crate) fn account(&self, noise: NoiseMessages, delta: f64) -> Result<Bounds, Error> {
        DELTA.check(delta)?;
        let profile = Profile::new(
            &self.noise(noise.threshold)?,
            delta * (1.0 - TRUNCATION_SHARE),
        );
        let truncation = self.truncation(noise.threshold);
        let cut = |epsilon: f64| truncation.delta(noise.most, epsilon);
        let [below, above] = profile.one_sided([Side::Below, Side::Above]);
        Ok(Bounds {
            lower: below.epsilon_with_truncation(delta, &cut),
            upper: above.epsilon_with_truncation(delta, &cut),
        })
    }

    /// Returns the cost of truncating a person's noise.
    pub(super) fn truncation(&self, threshold: u64) -> Truncation {
        let trials = 2 * u64::from(self.coordinates) * u64::from(self.repeats);
        Truncation::new(trials, threshold, self.honest_people)
    }
}

/// Maximum number of values of ε that are tried.
const TRIES: usize = 8;

impl OneSidedProfile<'_> {
    /// Returns the ε where δ(ε) and the cost `cut` of truncation sum to `delta`, on this side.
    ///
    /// `cut` grows with ε, so an ε proven with the cost at a greater ε is valid.
    fn epsilon_with_truncation(&self, delta: f64, cut: &impl Fn(f64) -> f64) -> f64 {
        let mut tried = self.epsilon(delta);
        if cut(0.0) == 0.0 {
            return tried;
        }
        // From below, the cost at the greatest possible ε is added.
        if self.side() == Side::Below {
            let most = CENTRAL_EPSILON.max.min(tried);
            return self.epsilon(delta + cut(most)).min(most);
        }
        for _ in 0..TRIES {
            let left = delta - cut(tried);
            if left <= 0.0 {
                return f64::INFINITY;
            }
            let found = self.epsilon(left);
            if found <= tried {
                return found;
            }
            tried = found * (1.0 + 1e-12);
        }
        f64::INFINITY
    }
}
