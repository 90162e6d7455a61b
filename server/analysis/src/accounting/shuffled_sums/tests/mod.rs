//! Tests of the accounting for unit messages, against independently computed numbers and exact
//! sums.

mod brute;
mod exact;
mod examples;
mod monotone;
mod reference;

use hushbin::Error;

use super::bounds::ProvenBounds;
use super::profile::SumPrivacyProfile;
use super::truncation::TRUNCATION_SHARE;
use super::{NoiseParameters, SenderBatch, UnitMessageNoise};
use crate::accounting::composition::BoundSide;
use crate::accounting::ranges::{CENTRAL_EPSILON_RANGE, DELTA_RANGE};

/// Factor 2⁶⁴ between a probability and its 64-bit threshold.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// Creates noise whose messages have probability q.
fn noise(coordinates: u32, levels: u32, trials: u64, q: f64) -> UnitMessageNoise {
    UnitMessageNoise::new(coordinates, levels, trials, (q * SCALE) as u64).unwrap()
}

/// Creates a batch of people who each report all coordinates.
fn senders(coordinates: u32, levels: u32, honest_people: u64, repeats: u32) -> SenderBatch {
    SenderBatch {
        coordinates,
        used: coordinates,
        levels,
        honest_people,
        repeats,
    }
}

impl UnitMessageNoise {
    /// Returns bounds on the smallest δ with which the counts are (`epsilon`, δ)-differentially
    /// private, for any two inputs of one person. The bounds are precise for δ from the minimum of
    /// [`DELTA`] to 1/2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`CENTRAL_EPSILON_RANGE`].
    pub(crate) fn delta_bounds(&self, epsilon: f64) -> Result<ProvenBounds, Error> {
        CENTRAL_EPSILON_RANGE.check_in_range(epsilon)?;
        let profile = SumPrivacyProfile::new(self, DELTA_RANGE.min);
        Ok(profile.map_to_bounds(|told| told.delta(epsilon)))
    }

    /// Returns bounds on the smallest ε at `delta`. The bounds are infinite if the probability of
    /// identifying outcomes exceeds `delta`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if δ is outside [`DELTA`].
    pub(crate) fn epsilon_bounds(&self, delta: f64) -> Result<ProvenBounds, Error> {
        DELTA_RANGE.check_in_range(delta)?;
        let profile = SumPrivacyProfile::new(self, delta);
        Ok(profile.map_to_bounds(|told| told.epsilon(delta)))
    }
}

impl SenderBatch {
    /// Returns bounds on the smallest δ with which a batch is (`epsilon`, δ)-differentially
    /// private, with noise truncated at B.
    ///
    /// The bounds differ by about 1/1000 of δ, or by the addition that truncation makes. If δ is
    /// known, `is_enough` is a sharper test.
    ///
    /// # Errors
    /// The errors of [`SenderBatch::noise`], and [`Error::OutOfRange`] when ε is outside
    /// [`CENTRAL_EPSILON_RANGE`].
    pub(crate) fn delta_bounds(
        &self,
        noise: NoiseParameters,
        epsilon: f64,
    ) -> Result<ProvenBounds, Error> {
        let whole = self
            .untruncated_noise(noise.threshold)?
            .delta_bounds(epsilon)?;
        let cut = self
            .truncation(noise.threshold)
            .added_delta(noise.most, epsilon);
        Ok(ProvenBounds {
            lower: (whole.lower - cut).max(0.0),
            upper: (whole.upper + cut).min(1.0),
        })
    }

    /// Returns true if the upper bound proves that a batch is (`epsilon`, `delta`)-differentially
    /// private. [`calibrate_noise`](super::calibrate_noise) uses the same bound, so its result
    /// passes.
    ///
    /// # Errors
    /// The errors of [`SenderBatch::noise`], and [`Error::OutOfRange`] when ε is outside
    /// [`CENTRAL_EPSILON_RANGE`] or δ outside [`DELTA`].
    pub(crate) fn is_enough(
        &self,
        noise: NoiseParameters,
        epsilon: f64,
        delta: f64,
    ) -> Result<bool, Error> {
        CENTRAL_EPSILON_RANGE.check_in_range(epsilon)?;
        DELTA_RANGE.check_in_range(delta)?;
        let profile = SumPrivacyProfile::new(
            &self.untruncated_noise(noise.threshold)?,
            delta * (1.0 - TRUNCATION_SHARE),
        );
        let [above] = profile.bounded_on_sides([BoundSide::Above]);
        let cut = self
            .truncation(noise.threshold)
            .added_delta(noise.most, epsilon);
        Ok(above.delta(epsilon) + cut <= delta)
    }
}
