//! Messages of sum tasks, and the parameters that determine the number of messages that a person
//! sends.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::codec::append_varint;
use crate::error::{Error, error};
use crate::sample::Threshold;

/// Message of one person. It moves the sum of one coordinate by one level, up or down, or counts
/// one cell once, or does nothing. A task has either coordinates or cells.
///
/// ```
/// use hushbin::sums::Message;
///
/// let message = Message::SignedUnitStep { coordinate: 70, negative: true };
/// let mut bytes = Vec::new();
/// message.encode(&mut bytes);
/// assert_eq!(bytes, [0x8e, 0x01]);
/// bytes.clear();
/// Message::Cell(70).encode(&mut bytes);
/// assert_eq!(bytes, [71]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// Blank message, sent so that people send the same number of messages.
    Blank,
    /// Move by one level, up or down.
    SignedUnitStep {
        /// Coordinate j, counted from 0.
        coordinate: u32,
        /// True for a move down.
        negative: bool,
    },
    /// Count of one in a cell, numbered from 0, of a task of questions. A cell is an option or a
    /// padding, or a node of a histogram.
    Cell(u32),
}

impl Message {
    /// Returns the code of the message: 0 if blank, 1 + 2j for a move of coordinate j up, 2 + 2j
    /// for a move down, and 1 + j for cell j.
    pub(super) const fn message_code(self) -> u32 {
        match self {
            Self::Blank => 0,
            Self::Cell(cell) => 1 + cell,
            Self::SignedUnitStep {
                coordinate,
                negative,
            } => 1 + 2 * coordinate + negative as u32,
        }
    }

    /// Returns the message with this [`Message::message_code`], in a task of coordinates.
    pub(super) const fn from_step_code(code: u32) -> Self {
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

/// Returns the length in bytes of a message with this code.
pub(super) const fn message_bytes(code: u32) -> usize {
    let bits = (code | 1).ilog2() + 1;
    // A varint has seven bits a byte.
    bits.div_ceil(7) as usize
}

/// Parameters of the messages of one person: unit messages with binomial noise for numbers and
/// vectors, or a lottery of noise messages for questions.
///
/// ```
/// use hushbin::sums::{MessageParameters, NoiseLottery};
///
/// let always = NoiseLottery::new(2, 1 << 64, false)?;
/// assert_eq!(MessageParameters::from(always), MessageParameters::Lottery(always));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageParameters {
    /// Unit messages of numbers or of a vector.
    UnitSteps(UnitStepParameters),
    /// Noise of a question's options.
    Lottery(NoiseLottery),
}

/// Parameters of the messages of one person: unit messages with binomial noise.
///
/// A person sends three kinds of messages, with the arguments of [`UnitStepParameters::new`]:
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
/// use hushbin::sums::UnitStepParameters;
///
/// let messages = UnitStepParameters::new(8, 16, 1, Threshold(1 << 62), 30)?;
/// assert_eq!((messages.message_count(), messages.noise_threshold().probability()), (158, 0.25));
/// assert!(UnitStepParameters::new(0, 16, 1, Threshold(1 << 62), 30).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitStepParameters {
    pub(super) level_count: u32,
    pub(super) drawn_coordinate_count: u32,
    pub(super) noise_trial_count: u32,
    pub(super) noise_threshold: Threshold,
    pub(super) max_noise_messages: u32,
}

impl UnitStepParameters {
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

/// Lottery of the noise messages of one person, for a task of questions.
///
/// A person sends the own messages of the answer. In addition, r = `draws` times independently,
/// the person sends one message about a random cell with probability ρ. The cell is uniform over
/// all K cells of the task: the cells of every question and level, and the paddings.
///
/// So the noise in any set of cells, given its total there, is uniform over these cells. The
/// privacy of a task is computed for this law. The noise total of one question or level is itself
/// random, but the counts reveal it, because its number of own messages is known.
///
/// ρ is `threshold` / 2⁶⁴, above 0 and at most 1.
///
/// ```
/// use hushbin::sums::NoiseLottery;
///
/// let lottery = NoiseLottery::new(3, 1 << 62, false)?;
/// assert_eq!((lottery.draws(), lottery.probability(), lottery.pads_to_equal_counts()), (3, 0.25, false));
/// assert!(NoiseLottery::new(3, (1 << 64) + 1, false).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoiseLottery {
    pub(super) draws: u32,
    /// Largest 64-bit word with which a draw yields a message: `threshold` − 1, because `threshold`
    /// may be 2⁶⁴.
    pub(super) last_winning_word: u64,
    pub(super) pads_to_equal_counts: bool,
}

impl NoiseLottery {
    pub(super) fn from_last_winning_word(
        draws: u32,
        last_winning_word: u64,
        pads_to_equal_counts: bool,
    ) -> Result<Self, Error> {
        bounds::LOTTERY_DRAW_COUNT_RANGE.check_in_range(f64::from(draws))?;
        Ok(Self {
            draws,
            last_winning_word,
            pads_to_equal_counts,
        })
    }

    pub(super) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let draws = reader.read_u32();
        // 2⁶⁴ is written as 0.
        let last_winning_word = reader.read_u64().wrapping_sub(1);
        let equal = reader.read_u64();
        let equal = reader.unwrap_or_mark_malformed((equal < 2).then_some(equal == 1))?;
        Self::from_last_winning_word(draws, last_winning_word, equal)
    }
}
