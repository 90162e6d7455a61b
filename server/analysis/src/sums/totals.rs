//! Totals of a sum task: counts of messages.

use hushbin::Fingerprint;
use hushbin::codec::append_varint;
use hushbin::sums::{Message, SumTask};

use crate::estimate::{TotalsError, TotalsReader, append_header};

/// Totals of the messages of a sum task: for each coordinate the numbers N⁺ and N⁻ of positive and
/// negative messages, or the number N of messages about each cell, the number of all messages, and
/// the number of people who sent them. Shuffled messages reveal nothing else. Messages that were
/// left out, because they are invalid or repeated, are counted apart.
///
/// ```
/// use hushbin::sums::{Message, SumTask};
/// use hushbin_analysis::sums::SumTotals;
///
/// # let task: SumTask = serde_json::from_str(r#"{
/// #     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
/// #     "numbers": [{ "name": "load", "min": 0, "max": 10 }],
/// #     "messages": { "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904",
/// #         "noise": 2 }
/// # }"#).unwrap();
/// let mut totals = SumTotals::new(&task);
/// totals.add_message(Message::SignedUnitStep { coordinate: 0, negative: true });
/// totals.add_message(Message::Blank);
/// totals.add_people(1);
/// assert_eq!((totals.message_count(), totals.counts_by_sign(0)), (2, [0, 1]));
/// assert_eq!(SumTotals::decode(&task, &totals.encode()), Ok(totals));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SumTotals {
    fingerprint: Fingerprint,
    people_count: u64,
    message_count: u64,
    left_out_message_count: u64,
    /// Numbers N⁺ and N⁻ of positive and negative messages, by coordinate, or numbers N by cell.
    counts: Vec<u64>,
}

/// Maximum number of messages, and of people, in totals: 2⁵³. Integers up to this one are exact as
/// `f64`.
const MAX_TOTAL_MESSAGES: u64 = 1 << f64::MANTISSA_DIGITS;

impl SumTotals {
    /// Creates empty totals for a task.
    #[must_use]
    pub fn new(task: &SumTask) -> Self {
        let quantity = task.summed_quantity();
        let kinds = if quantity.counted_questions().is_some() {
            1
        } else {
            2
        };
        Self {
            fingerprint: task.fingerprint(),
            people_count: 0,
            message_count: 0,
            left_out_message_count: 0,
            counts: vec![0; kinds * quantity.coordinate_count() as usize],
        }
    }

    /// Adds one message that was decoded under the same task.
    ///
    /// # Panics
    /// If the message's coordinate or cell is outside the task.
    pub fn add_message(&mut self, message: Message) {
        self.message_count += 1;
        let index = match message {
            Message::Blank => return,
            Message::Cell(cell) => cell as usize,
            Message::SignedUnitStep {
                coordinate,
                negative,
            } => 2 * coordinate as usize + usize::from(negative),
        };
        self.counts[index] += 1;
    }

    /// Adds people whose messages are added, or were lost on the way.
    pub fn add_people(&mut self, people: u64) {
        self.people_count += people;
    }

    /// Adds to the number of messages that were left out.
    pub fn add_left_out_messages(&mut self, messages: u64) {
        self.left_out_message_count += messages;
    }

    /// Adds totals of the same task.
    ///
    /// # Panics
    /// If `others` belongs to another task.
    pub fn merge(&mut self, others: &Self) {
        assert_eq!(self.fingerprint, others.fingerprint, "totals of one task");
        self.people_count += others.people_count;
        self.message_count += others.message_count;
        self.left_out_message_count += others.left_out_message_count;
        for (count, more) in self.counts.iter_mut().zip(&others.counts) {
            *count += more;
        }
    }

    /// Returns the number of folded messages, including blank ones.
    #[must_use]
    pub const fn message_count(&self) -> u64 {
        self.message_count
    }

    /// Returns the number of messages that were left out, although people sent them.
    #[must_use]
    pub const fn left_out_message_count(&self) -> u64 {
        self.left_out_message_count
    }

    /// Returns the number n of people.
    #[must_use]
    pub const fn people_count(&self) -> u64 {
        self.people_count
    }

    /// Returns the numbers N⁺ and N⁻ of positive and negative messages of a coordinate.
    ///
    /// # Panics
    /// If `coordinate` is outside the task, or if the task counts cells.
    #[must_use]
    pub fn counts_by_sign(&self, coordinate: usize) -> [u64; 2] {
        self.signed_counts_by_coordinate()[coordinate]
    }

    /// Returns the numbers N⁺ and N⁻ of positive and negative messages of every coordinate.
    pub(super) fn signed_counts_by_coordinate(&self) -> &[[u64; 2]] {
        self.counts.as_chunks().0
    }

    /// Returns the number N of messages about each cell, in a task that counts cells.
    #[must_use]
    pub fn cell_counts(&self) -> &[u64] {
        &self.counts
    }

    /// Encodes the totals for storage.
    ///
    /// The bytes are the header that all totals have, then the numbers of people and of messages,
    /// then N⁺ and N⁻ of each coordinate or N of each cell. The number of messages that were left out
    /// follows if it is not 0. All numbers are varints.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_header(&self.fingerprint, &mut bytes);
        append_varint(&mut bytes, self.people_count);
        append_varint(&mut bytes, self.message_count);
        self.counts
            .iter()
            .for_each(|count| append_varint(&mut bytes, *count));
        if self.left_out_message_count > 0 {
            append_varint(&mut bytes, self.left_out_message_count);
        }
        bytes
    }

    /// Decodes totals that [`SumTotals::encode`] wrote.
    ///
    /// # Errors
    /// [`TotalsError`] if the bytes are no encoding of totals of the task, or if no messages have
    /// such counts.
    pub fn decode(task: &SumTask, bytes: &[u8]) -> Result<Self, TotalsError> {
        let mut reader = TotalsReader::new(&task.fingerprint(), bytes)?;
        let mut totals = Self::new(task);
        totals.people_count =
            reader.read_at_most("expected a number of people", MAX_TOTAL_MESSAGES)?;
        totals.message_count =
            reader.read_at_most("expected a number of messages", MAX_TOTAL_MESSAGES)?;
        let mut left = totals.message_count;
        for count in &mut totals.counts {
            *count = reader.read_at_most("expected a count of messages", left)?;
            // The sum of all counts is at most the number of messages.
            left -= *count;
        }
        if let Err(not_the_end) = reader.check_end() {
            let reason = "expected a number of messages that were left out";
            totals.left_out_message_count = reader.read_at_most(reason, MAX_TOTAL_MESSAGES)?;
            if totals.left_out_message_count == 0 {
                return Err(not_the_end);
            }
            reader.check_end()?;
        }
        Ok(totals)
    }
}
