//! Messages of sum tasks, and the parameters that determine the number of messages that a person
//! sends.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::codec::append_varint;
use crate::error::{Error, error};
use crate::sample::Threshold;

/// Message that moves the sum of one coordinate by one level, up or down, or does nothing.
///
/// ```
/// use hushbin::sums::Message;
///
/// let message = Message::SignedUnitStep { coordinate: 70, negative: true };
/// let mut bytes = Vec::new();
/// message.encode(&mut bytes);
/// assert_eq!(bytes, [0x8e, 0x01]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// Blank message, sent so that every person sends the same number of messages.
    Blank,
    /// Move by one level, up or down.
    SignedUnitStep {
        /// Coordinate j, counted from 0.
        coordinate: u32,
        /// True for a move down.
        negative: bool,
    },
}

impl Message {
    /// Returns the code of the message: 0 if blank, 1 + 2j for a move of coordinate j up, and 2 +
    /// 2j for a move down.
    pub(super) const fn message_code(self) -> u32 {
        match self {
            Self::Blank => 0,
            Self::SignedUnitStep {
                coordinate,
                negative,
            } => 1 + 2 * coordinate + negative as u32,
        }
    }

    /// Returns the message with this [`Message::message_code`].
    pub(super) const fn from_code(code: u32) -> Self {
        match code.checked_sub(1) {
            None => Self::Blank,
            Some(unit) => Self::SignedUnitStep {
                coordinate: unit / 2,
                negative: unit % 2 == 1,
            },
        }
    }

    /// Appends the encoded message, a varint, to `bytes`.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        append_varint(bytes, self.message_code().into());
    }
}

/// Returns the length in bytes of the longest message, for this number of coordinates.
pub(super) const fn longest_message_bytes(coordinates: u32) -> usize {
    // The largest code is 2 + 2(D − 1) = 2D; a varint has seven bits a byte.
    let bits = (2 * coordinates).ilog2() + 1;
    bits.div_ceil(7) as usize
}

/// Parameters of the messages of one person: unit messages with binomial noise.
///
/// A person sends three kinds of messages, with the arguments of [`MessageParameters::new`]:
///
/// - The values of k `drawn` coordinates. A value is sent as up to L `levels` messages, one for
///   each level up or down.
/// - Noise: w `trials` for every coordinate and direction, up and down. A trial sends one message
///   with the probability q of `threshold`. If there are more than `noise` messages of noise, all
///   noise is redrawn.
/// - Blank messages until there are k·L + `noise` messages, so that every person sends the same
///   number.
///
/// ```
/// use hushbin::sample::Threshold;
/// use hushbin::sums::MessageParameters;
///
/// let messages = MessageParameters::new(8, 16, 1, Threshold(1 << 62), 30)?;
/// assert_eq!((messages.message_count(), messages.noise_threshold().probability()), (158, 0.25));
/// assert!(MessageParameters::new(0, 16, 1, Threshold(1 << 62), 30).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageParameters {
    pub(super) level_count: u32,
    pub(super) drawn_coordinate_count: u32,
    pub(super) noise_trial_count: u32,
    pub(super) noise_threshold: Threshold,
    pub(super) max_noise_messages: u32,
}

impl MessageParameters {
    /// Checks the ranges and creates the parameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for L outside [`bounds::SUM_LEVEL_COUNT_RANGE`], k outside
    /// [`bounds::SUM_COORDINATE_COUNT_RANGE`], w outside [`bounds::SUM_NOISE_TRIAL_COUNT_RANGE`], or more messages than
    /// [`bounds::REPORTS_PER_UPLOAD_RANGE`]. [`Error::InvalidCombination`] for a q that is 0 or above 1/2.
    pub fn new(
        levels: u32,
        drawn: u32,
        trials: u32,
        threshold: Threshold,
        noise: u32,
    ) -> Result<Self, Error> {
        bounds::SUM_LEVEL_COUNT_RANGE.check_in_range(f64::from(levels))?;
        bounds::SUM_COORDINATE_COUNT_RANGE.check_in_range(f64::from(drawn))?;
        bounds::SUM_NOISE_TRIAL_COUNT_RANGE.check_in_range(f64::from(trials))?;
        // Above 1/2, a larger q would hide less.
        if threshold.0 == 0 || threshold.0 > 1 << 63 {
            return Err(error!(InvalidCombination {
                reason: "the noise \"threshold\" must be above 0 and at most 2⁶³",
            }));
        }
        let most = levels.saturating_mul(drawn).saturating_add(noise);
        bounds::REPORTS_PER_UPLOAD_RANGE.check_in_range(f64::from(most))?;
        Ok(Self {
            level_count: levels,
            drawn_coordinate_count: drawn,
            noise_trial_count: trials,
            noise_threshold: threshold,
            max_noise_messages: noise,
        })
    }

    /// Number of messages that every person sends: k·L plus the maximum number of noise messages.
    #[must_use]
    pub const fn message_count(&self) -> u32 {
        self.level_count * self.drawn_coordinate_count + self.max_noise_messages
    }

    pub(super) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let [levels, drawn, trials] = core::array::from_fn(|_| reader.read_u32());
        let threshold = Threshold(reader.read_u64());
        Self::new(levels, drawn, trials, threshold, reader.read_u32())
    }
}
