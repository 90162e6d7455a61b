//! What every person sends, and what is accounted for of a batch of such people.

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use super::bounds::Bounds;
use super::noise::{COORDINATES, LEVELS, TRIALS, UnitNoise};
use super::profile::{Profile, Told};
use super::truncation::{SHARE, Truncation};
use crate::accounting::composition::Side;
use crate::accounting::ranges::{CENTRAL_EPSILON, DELTA};

/// Trials w of one person, coordinate and sign.
pub(crate) const REPEATS: Bound = Bound {
    name: "repeats",
    min: 1.0,
    max: 65_536.0,
};
/// Honest people of a batch n_h, whose noise is counted on.
pub(crate) const HONEST_PEOPLE: Bound = Bound {
    name: "honest people",
    ..TRIALS
};

/// A batch of people who send unit messages.
///
/// Of D `coordinates` a person uses k, all of them or as many drawn at random and
/// independently of the input: with what was drawn known, that is worst, only k counts
/// of a sign change, and δ of the mixture is no more than the average of the δ of what
/// may be drawn. Noise messages are sent of all D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Senders {
    /// D, within [`COORDINATES`].
    pub(crate) coordinates: u32,
    /// k, from 1 to D.
    pub(crate) used: u32,
    /// L, within [`LEVELS`]: a coordinate is rounded to −L to L.
    pub(crate) levels: u32,
    /// n_h, within [`HONEST_PEOPLE`], the person among them: their noise does not depend
    /// on their values. What others send is not counted on; of a batch with fewer
    /// honest people nothing is said.
    pub(crate) honest_people: u64,
    /// w, within [`REPEATS`]: trials of one person for a noise message of one
    /// coordinate and sign. N = w·n_h is within [`TRIALS`].
    pub(crate) repeats: u32,
}

/// Noise of every person: q, and how many noise messages a person sends at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct NoiseMessages {
    /// q·2⁶⁴: a trial sends a message where a uniform word of 64 bits is below.
    pub(crate) threshold: u64,
    /// B: all a person's noise messages are drawn anew until they are no more. 2Dw or
    /// above, they never are.
    pub(crate) most: u64,
}

impl Senders {
    /// The check that all is within its range.
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

    /// N = w·n_h.
    #[must_use]
    pub(crate) const fn trials(&self) -> u64 {
        self.honest_people.saturating_mul(self.repeats as u64)
    }

    /// What hides a person among them, where noise is not cut at B.
    ///
    /// # Errors
    /// As [`Senders::check`] and [`UnitNoise::new`].
    pub(crate) fn noise(&self, threshold: u64) -> Result<UnitNoise, Error> {
        self.check()?;
        UnitNoise::new(self.used, self.levels, self.trials(), threshold)
    }

    /// Bounds on the least ε of a batch at `delta`, of noise that is cut at B; infinite
    /// where more than δ is told outright, or cut.
    ///
    /// # Errors
    /// As [`Senders::noise`]; [`Error::OutOfRange`] when δ is outside [`DELTA`].
    pub(crate) fn account(&self, noise: NoiseMessages, delta: f64) -> Result<Bounds, Error> {
        DELTA.check(delta)?;
        let profile = Profile::new(&self.noise(noise.threshold)?, delta * (1.0 - SHARE));
        let truncation = self.truncation(noise.threshold);
        let cut = |epsilon: f64| truncation.delta(noise.most, epsilon);
        let [below, above] = profile.told([Side::Below, Side::Above]);
        Ok(Bounds {
            lower: below.epsilon_beside(delta, &cut),
            upper: above.epsilon_beside(delta, &cut),
        })
    }

    /// What cutting a person's noise costs.
    pub(super) fn truncation(&self, threshold: u64) -> Truncation {
        let trials = 2 * u64::from(self.coordinates) * u64::from(self.repeats);
        Truncation::new(trials, threshold, self.honest_people)
    }
}

/// How often ε is tried.
const TRIES: usize = 8;

impl Told<'_> {
    /// The ε where δ(ε) and what is `cut` there are `delta` together, on this side.
    ///
    /// What is cut grows with ε: what proves an ε to be enough at a greater one proves
    /// it where it is. From below it is taken off at the greatest ε there is.
    fn epsilon_beside(&self, delta: f64, cut: &impl Fn(f64) -> f64) -> f64 {
        let mut tried = self.epsilon(delta);
        if cut(0.0) == 0.0 {
            return tried;
        }
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
