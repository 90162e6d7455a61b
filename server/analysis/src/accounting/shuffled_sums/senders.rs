//! Parameters of the messages that every person of a batch sends, and the account of such a batch.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use serde::Serialize;

use super::bounds::ProvenBounds;
use super::noise::{
    COORDINATE_COUNT_RANGE, LEVEL_COUNT_RANGE, TRIAL_COUNT_RANGE, UnitMessageNoise,
};
use super::profile::{ProfileBound, SumPrivacyProfile};
use super::truncation::{NoiseTruncation, TRUNCATION_SHARE};
use crate::accounting::composition::BoundSide;
use crate::accounting::ranges::{CENTRAL_EPSILON_RANGE, DELTA_RANGE};

/// Permitted number w of noise trials that one person makes for each coordinate and sign.
pub(crate) const TRIALS_PER_PERSON_RANGE: ParameterRange = ParameterRange {
    name: "repeats",
    min: 1.0,
    max: 65_536.0,
};
/// Permitted number n_h of honest people in a batch. Only their noise is counted.
pub(crate) const HONEST_PEOPLE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "honest people",
    ..TRIAL_COUNT_RANGE
};

/// Batch of people who each send unit messages.
///
/// A person reports k of the D `coordinates`. If k < D, the k coordinates are drawn at random,
/// independently of the input. In the worst case, the observer knows which coordinates were drawn.
/// Then only k counts of either sign depend on the input. The true δ is at most the average δ over
/// all draws. Noise messages are sent for all D coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct SenderBatch {
    /// Number of coordinates D, within [`COORDINATE_COUNT_RANGE`].
    pub(crate) coordinates: u32,
    /// Number of coordinates k that a person reports, from 1 to D.
    pub(crate) used: u32,
    /// Number of levels L, within [`LEVEL_COUNT_RANGE`]. A coordinate is rounded to an integer from −L to L.
    pub(crate) levels: u32,
    /// Number of honest people n_h, within [`HONEST_PEOPLE_COUNT_RANGE`], including the person in question.
    /// Honest people send noise as prescribed. The noise of all other people is not counted. If a
    /// batch has fewer honest people, its account is not valid.
    pub(crate) honest_people: u64,
    /// Number w of noise trials that one person makes for each coordinate and sign, within
    /// [`TRIALS_PER_PERSON_RANGE`]. The product N = w·n_h must be within [`TRIAL_COUNT_RANGE`].
    pub(crate) repeats: u32,
}

/// Noise that every person sends: the probability q of a noise message, and the maximum number B of
/// noise messages of one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct NoiseParameters {
    /// Threshold q·2⁶⁴: a trial sends a message if a uniform 64-bit word is below it.
    pub(crate) threshold: u64,
    /// Cap B on the number of one person's noise messages. If a draw has more, all of the person's
    /// noise messages are drawn again. With a cap of at least the number of trials this never
    /// happens.
    pub(crate) most: u64,
}

impl SenderBatch {
    /// Checks that all numbers are within range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number is outside its range.
    pub(crate) fn check_ranges(&self) -> Result<(), Error> {
        COORDINATE_COUNT_RANGE.check_in_range(f64::from(self.coordinates))?;
        let used = ParameterRange {
            name: "coordinates used",
            ..COORDINATE_COUNT_RANGE
        };
        used.with_max(f64::from(self.coordinates))
            .check_in_range(f64::from(self.used))?;
        LEVEL_COUNT_RANGE.check_in_range(f64::from(self.levels))?;
        HONEST_PEOPLE_COUNT_RANGE.check_in_range(self.honest_people as f64)?;
        TRIALS_PER_PERSON_RANGE.check_in_range(f64::from(self.repeats))?;
        TRIAL_COUNT_RANGE.check_in_range(self.honest_people as f64 * f64::from(self.repeats))
    }

    /// Returns the number of trials for one coordinate and sign, N = w·n_h.
    #[must_use]
    pub(crate) const fn honest_noise_trials(&self) -> u64 {
        self.honest_people.saturating_mul(self.repeats as u64)
    }

    /// Returns the noise that hides a person in the batch, without truncation at B.
    ///
    /// # Errors
    /// The errors of [`SenderBatch::check_ranges`] and [`UnitMessageNoise::new`].
    pub(crate) fn untruncated_noise(&self, threshold: u64) -> Result<UnitMessageNoise, Error> {
        self.check_ranges()?;
        UnitMessageNoise::new(
            self.used,
            self.levels,
            self.honest_noise_trials(),
            threshold,
        )
    }

    /// Returns bounds on the smallest ε of a batch at `delta`, with noise truncated at the cap
    /// `noise.most`. The bounds are infinite if identifying outcomes and truncation alone exceed δ.
    ///
    /// # Errors
    /// The errors of [`SenderBatch::untruncated_noise`]. [`Error::OutOfRange`] if δ is outside [`DELTA_RANGE`].
    pub(crate) fn epsilon_bounds(
        &self,
        noise: NoiseParameters,
        delta: f64,
    ) -> Result<ProvenBounds, Error> {
        DELTA_RANGE.check_in_range(delta)?;
        let profile = SumPrivacyProfile::new(
            &self.untruncated_noise(noise.threshold)?,
            delta * (1.0 - TRUNCATION_SHARE),
        );
        let truncation = self.truncation(noise.threshold);
        let cut = |epsilon: f64| truncation.added_delta(noise.most, epsilon);
        let [below, above] = profile.bounded_on_sides([BoundSide::Below, BoundSide::Above]);
        Ok(ProvenBounds {
            lower: below.epsilon_with_truncation(delta, &cut),
            upper: above.epsilon_with_truncation(delta, &cut),
        })
    }

    /// Returns the increase of δ that truncating every person's noise causes, as a function of the
    /// cap and ε.
    pub(super) fn truncation(&self, threshold: u64) -> NoiseTruncation {
        let trials = 2 * u64::from(self.coordinates) * u64::from(self.repeats);
        NoiseTruncation::new(trials, threshold, self.honest_people)
    }
}

/// Maximum number of values of ε to try.
const MAX_EPSILON_TRIES: usize = 8;

impl ProfileBound<'_> {
    /// Returns the upper or lower bound on the ε at which δ(ε) + `cut`(ε) is `delta`, according to
    /// the side of this profile. `cut` is the amount that truncation adds to δ.
    ///
    /// The function `cut` increases with ε. So an ε is valid if it is proven with the value of
    /// `cut` at a larger ε.
    fn epsilon_with_truncation(&self, delta: f64, cut: &impl Fn(f64) -> f64) -> f64 {
        let mut tried = self.epsilon(delta);
        if cut(0.0) == 0.0 {
            return tried;
        }
        // A lower bound uses the addition at the largest possible ε.
        if self.side() == BoundSide::Below {
            let most = CENTRAL_EPSILON_RANGE.max.min(tried);
            return self.epsilon(delta + cut(most)).min(most);
        }
        for _ in 0..MAX_EPSILON_TRIES {
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
