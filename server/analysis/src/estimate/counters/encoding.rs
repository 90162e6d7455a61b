//! Encoding of the counts in totals. [`Totals::encode`](crate::estimate::Totals::encode) describes
//! the format.

use std::ops::Range;

use hushbin::Fingerprint;
use hushbin::codec::{Cursor, append_signed_varint};
use serde::{Deserialize, Serialize};

/// Format version: the first byte of encoded totals.
const VERSION: u8 = 2;

/// Maximum number of reports in totals, 2⁵³. Estimates use `f64`, which represents integers up to
/// this one exactly.
pub(crate) const MAX_REPORTS: u64 = 1 << f64::MANTISSA_DIGITS;

/// Reasons why bytes are not encoded totals of a task.
///
/// ```
/// use hushbin_analysis::estimate::Totals;
///
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let mut bytes = Totals::new(&task).encode();
/// bytes[18] = 2;
/// let error = Totals::decode(&task, &bytes).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the encoding of totals is impossible at byte 18: expected a count of hits up to 0, found 1"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TotalsError {
    /// The bytes have a format version that is not supported.
    #[error("the encoding of totals has version {found}, expected {expected}")]
    UnsupportedVersion {
        /// Version byte found.
        found: u8,
        /// Supported version.
        expected: u8,
    },
    /// The totals belong to another task.
    #[error("totals are of task {found}, expected {expected}")]
    FingerprintMismatch {
        /// Fingerprint of the task under which the bytes are decoded.
        expected: Fingerprint,
        /// Fingerprint in the bytes.
        found: Fingerprint,
    },
    /// The bytes are too short, too long, or not a valid encoding.
    #[error(transparent)]
    Malformed(#[from] hushbin::Error),
    /// A number is larger than the number of reports allows.
    #[error(
        "the encoding of totals is impossible at byte {offset}: {reason} up to {most}, found {found}"
    )]
    CountTooLarge {
        /// Byte offset of the number.
        offset: usize,
        /// Quantity that was expected, in words.
        reason: &'static str,
        /// Maximum possible magnitude of the number.
        most: u128,
        /// Magnitude of the number that was found.
        found: u128,
    },
}

/// Appends the header of encoded totals.
pub(crate) fn append_header(fingerprint: &Fingerprint, bytes: &mut Vec<u8>) {
    bytes.push(VERSION);
    bytes.extend_from_slice(&fingerprint.0);
}

/// Appends counts, each as its difference from the previous one.
pub(crate) fn append_counts(counts: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
    let mut before = 0_u64;
    for count in counts {
        append_signed_varint(bytes, count.wrapping_sub(before).cast_signed());
        before = count;
    }
}

/// Checks that the list of item counts of an open question is empty, because such counts cannot be
/// encoded.
///
/// # Panics
/// If the list is not empty.
pub(crate) fn assert_no_counted_items<T>(items: &[T]) {
    assert!(
        items.is_empty(),
        "totals of items of an open question are not encoded, expected those of Totals::new"
    );
}

/// Reader of encoded totals. It advances through the bytes.
pub(crate) struct TotalsReader<'a>(Cursor<'a>);

impl<'a> TotalsReader<'a> {
    /// Reads the header, and checks its version and fingerprint.
    pub(crate) fn new(expected: &Fingerprint, bytes: &'a [u8]) -> Result<Self, TotalsError> {
        let mut cursor = Cursor::new("the encoding of totals", bytes);
        let [version] = cursor.read_array("expected a version byte")?;
        if version != VERSION {
            return Err(TotalsError::UnsupportedVersion {
                found: version,
                expected: VERSION,
            });
        }
        let found = Fingerprint(cursor.read_array("expected a task fingerprint of 16 bytes")?);
        if found != *expected {
            return Err(TotalsError::FingerprintMismatch {
                expected: *expected,
                found,
            });
        }
        Ok(Self(cursor))
    }

    /// Checks that no bytes remain.
    pub(crate) fn check_end(&self) -> Result<(), TotalsError> {
        Ok(self.0.expect_end("expected the end after the last count")?)
    }

    /// Reads one count for each index in `places`, and passes index and count to `take`. The sum of
    /// each group of `row` consecutive counts must be at most `reports`.
    pub(crate) fn read_counts(
        &mut self,
        places: Range<usize>,
        row: usize,
        reports: u64,
        mut take: impl FnMut(usize, u64),
    ) -> Result<(), TotalsError> {
        let (mut before, mut left) = (0_u64, reports);
        for (index, place) in places.enumerate() {
            if index.is_multiple_of(row) {
                left = reports;
            }
            let offset = self.0.offset();
            let reason = "expected a count of hits";
            let difference: i64 = self.0.read_value(reason)?;
            // Differences wrap modulo 2⁶⁴, so they can express every count.
            before = before.wrapping_add(difference.cast_unsigned());
            check_maximum(offset, reason, before.into(), left.into())?;
            left -= before;
            take(place, before);
        }
        Ok(())
    }

    /// Reads an unsigned number of at most `most`.
    pub(crate) fn read_at_most<T>(
        &mut self,
        reason: &'static str,
        most: T,
    ) -> Result<T, TotalsError>
    where
        T: Copy + Into<u128> + Serialize + for<'de> Deserialize<'de>,
    {
        let offset = self.0.offset();
        let number: T = self.0.read_value(reason)?;
        check_maximum(offset, reason, number.into(), most.into())?;
        Ok(number)
    }

    /// Reads a signed number of magnitude at most `most`.
    pub(crate) fn read_signed_within(
        &mut self,
        reason: &'static str,
        most: u128,
    ) -> Result<i128, TotalsError> {
        let offset = self.0.offset();
        let number: i128 = self.0.read_value(reason)?;
        check_maximum(offset, reason, number.unsigned_abs(), most)?;
        Ok(number)
    }
}

fn check_maximum(
    offset: usize,
    reason: &'static str,
    found: u128,
    most: u128,
) -> Result<(), TotalsError> {
    if found <= most {
        return Ok(());
    }
    Err(TotalsError::CountTooLarge {
        offset,
        reason,
        most,
        found,
    })
}
