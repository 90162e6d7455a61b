//! Messages, and how many of them a person sends.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::codec::append;
use crate::error::{Error, error};
use crate::sample::Threshold;

/// One message: that a coordinate is to be moved by one level, or nothing.
///
/// ```
/// use hushbin::sums::Message;
///
/// let message = Message::Unit { coordinate: 70, negative: true };
/// let mut bytes = Vec::new();
/// message.encode(&mut bytes);
/// assert_eq!(bytes, [0x8e, 0x01]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// Sent for the number of messages to be the same of everybody.
    Blank,
    /// One level up or down.
    Unit {
        /// j, from 0.
        coordinate: u32,
        /// Down.
        negative: bool,
    },
}

impl Message {
    /// The number that travels: 0 of a blank one, 1 + 2j of one up, 2 + 2j of one down.
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::Blank => 0,
            Self::Unit {
                coordinate,
                negative,
            } => 1 + 2 * coordinate + negative as u32,
        }
    }

    /// What [`Message::code`] gives the number of.
    pub(super) const fn of_code(code: u32) -> Self {
        match code.checked_sub(1) {
            None => Self::Blank,
            Some(unit) => Self::Unit {
                coordinate: unit / 2,
                negative: unit % 2 == 1,
            },
        }
    }

    /// Appends the encoded message, a varint, to `bytes`.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        append(bytes, self.code().into());
    }
}

/// Bytes of the longest message about so many coordinates.
pub(super) const fn longest(coordinates: u32) -> usize {
    let bits = (2 * coordinates).ilog2() + 1;
    bits.div_ceil(7) as usize
}

/// What one person sends: the parameters of unit messages with binomial noise.
///
/// Of k `drawn` coordinates the value, L `levels` up or down at most, in as many messages;
/// of every coordinate, up and down, `trials` w times a message of noise with the probability q
/// of `threshold`, on condition that they are `noise` at most; blank messages up to
/// k·L + `noise`, so that everybody sends as many.
///
/// ```
/// use hushbin::sample::Threshold;
/// use hushbin::sums::Messages;
///
/// let messages = Messages::new(8, 16, 1, Threshold(1 << 62), 30)?;
/// assert_eq!((messages.count(), messages.threshold().probability()), (158, 0.25));
/// assert!(Messages::new(0, 16, 1, Threshold(1 << 62), 30).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    pub(super) levels: u32,
    pub(super) drawn: u32,
    pub(super) trials: u32,
    pub(super) threshold: Threshold,
    pub(super) noise: u32,
}

impl Messages {
    /// Parameters within their ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for L outside [`bounds::SUM_LEVELS`], k outside
    /// [`bounds::SUM_COORDINATES`], w outside [`bounds::SUM_TRIALS`], or more messages than
    /// [`bounds::REPORTS`]; [`Error::Combination`] for a q that is 0 or above 1/2.
    pub fn new(
        levels: u32,
        drawn: u32,
        trials: u32,
        threshold: Threshold,
        noise: u32,
    ) -> Result<Self, Error> {
        bounds::SUM_LEVELS.check(f64::from(levels))?;
        bounds::SUM_COORDINATES.check(f64::from(drawn))?;
        bounds::SUM_TRIALS.check(f64::from(trials))?;
        // Beyond 1/2 more of it hides less.
        if threshold.0 == 0 || threshold.0 > 1 << 63 {
            return Err(error!(Combination {
                reason: "noise is sent with a probability above 0 and up to a half",
            }));
        }
        let most = levels.saturating_mul(drawn).saturating_add(noise);
        bounds::REPORTS.check(f64::from(most))?;
        Ok(Self {
            levels,
            drawn,
            trials,
            threshold,
            noise,
        })
    }

    /// Messages that everybody sends: k·L + [`Messages::noise`].
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.levels * self.drawn + self.noise
    }

    pub(super) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let [levels, drawn, trials] = core::array::from_fn(|_| reader.small());
        let threshold = Threshold(reader.number());
        Self::new(levels, drawn, trials, threshold, reader.small())
    }
}
