//! Noise on the counts of unit messages, and the size of the input that this noise hides.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use serde::Serialize;

/// Permitted number of coordinates D, and permitted number k of coordinates that a person uses.
pub(crate) const COORDINATE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "coordinates",
    min: 1.0,
    max: 16_384.0,
};
/// Permitted number of levels L. A coordinate is rounded to an integer from −L to L.
pub(crate) const LEVEL_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "levels",
    min: 1.0,
    max: 1024.0,
};
/// Permitted number of trials N for one coordinate and sign, from all honest people together.
pub(crate) const TRIAL_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "trials",
    min: 1.0,
    max: 1e12,
};
/// Permitted probability q that a trial sends a noise message.
pub(crate) const NOISE_PROBABILITY_RANGE: ParameterRange = ParameterRange {
    name: "probability of a noise message",
    min: f64::EPSILON / 4096.0,
    max: 0.5,
};
/// Permitted variance N·q·(1 − q) of the noise on a count. The maximum limits the computing time,
/// because a sum extends over a multiple of the standard deviation.
pub(crate) const NOISE_VARIANCE_RANGE: ParameterRange = ParameterRange {
    name: "variance of a count's noise",
    min: 0.0,
    max: 1e10,
};
/// Factor 2⁶⁴ between a probability and its 64-bit threshold.
pub(super) const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// Noise on the counts of unit messages, and the number of coordinates and levels that this noise
/// hides.
///
/// For every coordinate and sign there are Binomial(N, q) noise messages, all independent. They
/// hide any change of `coordinates` coordinates within −L to L. The probability q is given as a
/// 64-bit threshold: a trial sends a message if a uniform 64-bit word is below it.
///
/// Source for the messages: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean
/// Estimation in the Shuffle Model". The noise, which consists of the same messages, goes beyond
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct UnitMessageNoise {
    coordinates: u32,
    levels: u32,
    trials: u64,
    threshold: u64,
}

impl UnitMessageNoise {
    /// Creates the noise from N = `trials` trials, each with probability `threshold`/2⁶⁴.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number is outside [`COORDINATE_COUNT_RANGE`], [`LEVEL_COUNT_RANGE`], [`TRIAL_COUNT_RANGE`],
    /// [`NOISE_PROBABILITY_RANGE`] or [`NOISE_VARIANCE_RANGE`].
    pub(crate) fn new(
        coordinates: u32,
        levels: u32,
        trials: u64,
        threshold: u64,
    ) -> Result<Self, Error> {
        COORDINATE_COUNT_RANGE.check_in_range(f64::from(coordinates))?;
        LEVEL_COUNT_RANGE.check_in_range(f64::from(levels))?;
        TRIAL_COUNT_RANGE.check_in_range(trials as f64)?;
        let noise = Self {
            coordinates,
            levels,
            trials,
            threshold,
        };
        NOISE_PROBABILITY_RANGE.check_in_range(noise.probability())?;
        NOISE_VARIANCE_RANGE.check_in_range(noise.variance())?;
        Ok(noise)
    }

    /// Returns the number of coordinates that a person may change.
    #[must_use]
    pub(crate) const fn coordinates(&self) -> u32 {
        self.coordinates
    }

    /// Returns the number of levels L.
    #[must_use]
    pub(crate) const fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the number of trials N.
    #[must_use]
    pub(crate) const fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns the threshold q·2⁶⁴.
    #[must_use]
    pub(crate) const fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Returns the probability q of a noise message.
    #[must_use]
    pub(crate) fn probability(&self) -> f64 {
        self.probability_and_complement()[0]
    }

    /// Returns q and 1 − q, each correctly rounded.
    pub(super) fn probability_and_complement(&self) -> [f64; 2] {
        let rest = self.threshold.wrapping_neg();
        [self.threshold, rest].map(|part| part as f64 / TWO_POW_64)
    }

    /// Returns the mean μ = N·q of the number of noise messages of one coordinate and sign.
    #[must_use]
    pub(crate) fn mean(&self) -> f64 {
        self.trials as f64 * self.probability()
    }

    /// Returns the variance N·q·(1 − q) of the number of noise messages of one coordinate and sign.
    #[must_use]
    pub(crate) fn variance(&self) -> f64 {
        let [p, rest] = self.probability_and_complement();
        self.trials as f64 * p * rest
    }
}
