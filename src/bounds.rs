//! Allowed ranges of all parameters, each declared once. Checks, error texts and the generators of
//! the tests use these declarations.

use crate::error::{Error, error};

/// Inclusive range of a named parameter.
///
/// ```
/// use hushbin::bounds::EPSILON_RANGE;
///
/// assert!(EPSILON_RANGE.check_in_range(1.0).is_ok());
/// assert!(EPSILON_RANGE.check_in_range(0.0).is_err() && !EPSILON_RANGE.contains(f64::NAN));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ParameterRange {
    /// Name of the parameter, as spelt in a task file.
    pub name: &'static str,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

/// Local budget ε of one report. Below the minimum, estimates would need more people than there
/// are. Above the maximum, ε protects nothing.
pub const EPSILON_RANGE: ParameterRange = ParameterRange::new("epsilon", 0.001, 12.0);
/// Number of items of a closed task.
pub const ITEM_COUNT_RANGE: ParameterRange = ParameterRange::new("items", 1.0, (1u32 << 20) as f64);
/// Number of options of a choice. The cells of a number count as options.
pub const OPTION_COUNT_RANGE: ParameterRange =
    ParameterRange::new("options", 2.0, ITEM_COUNT_RANGE.max);
/// Sparsity s: number of entries of one input that a report covers. In a closed task, s is at most
/// the number of items.
pub const SPARSITY_RANGE: ParameterRange = ParameterRange::new("sparsity", 1.0, 1024.0);
/// Number of people that a task is planned for.
pub const PEOPLE_COUNT_RANGE: ParameterRange = ParameterRange::new("people", 1.0, 1e12);
/// Number of entries of one person. A draft may list the numbers of people with 0, 1, 2, … entries.
/// Such a list must count people with more entries at the maximum.
pub const ENTRIES_PER_PERSON_RANGE: ParameterRange =
    ParameterRange::new("entries of one person", 0.0, 4.0 * SPARSITY_RANGE.max);
/// Average number of items that two people have in common.
pub const MEAN_ITEM_OVERLAP_RANGE: ParameterRange =
    ParameterRange::new("overlap", 0.0, ENTRIES_PER_PERSON_RANGE.max);
/// Number of buckets t of Collision and CoCo. The range applies to the buckets of one hash
/// function, and also to the buckets of all hash functions together.
pub const BUCKET_COUNT_RANGE: ParameterRange =
    ParameterRange::new("buckets", 2.0, (1u32 << 22) as f64);
/// Number of favoured buckets c. The number of buckets limits c further.
pub const FAVOURED_BUCKET_COUNT_RANGE: ParameterRange =
    ParameterRange::new("favoured", 1.0, BUCKET_COUNT_RANGE.max - 1.0);
/// Number of hash functions R of Collision and CoCo. R is also limited by R·s ≤ 4,096 for inputs of
/// s elements. [`BUCKET_COUNT_RANGE`] limits the buckets of all functions together.
pub const HASH_FUNCTION_COUNT_RANGE: ParameterRange =
    ParameterRange::new("hashes", 1.0, MAX_HASHES_PER_REPORT as f64);
/// Maximum of R·s, the number of hashed elements of a report.
pub(crate) const MAX_HASHES_PER_REPORT: u32 = 4096;
/// Number of bins b of hash-bin. The maximum keeps a report below 40 kilobytes. In a closed task, b
/// is at most the number of items.
pub const HASH_BIN_COUNT_RANGE: ParameterRange = ParameterRange::new("bins", 1.0, 4096.0);
/// Number of grid steps per unit, Γ, of hash-bin: a power of two. Bins contain multiples of 1/Γ.
pub const GRID_STEPS_PER_UNIT_RANGE: ParameterRange = ParameterRange::new("grid", 1.0, 65_536.0);
/// Clipping bound η of hash-bin at user level: each sum is clipped to [−η, η].
pub const CLIPPING_BOUND_RANGE: ParameterRange =
    ParameterRange::new("clip", 1.0 / 65_536.0, SPARSITY_RANGE.max);
/// Distance L of hash-bin. The values of two neighbouring inputs differ by at most L, summed over
/// all items.
pub const NEIGHBOUR_DISTANCE_RANGE: ParameterRange =
    ParameterRange::new("distance", 1.0 / 65_536.0, 2.0 * SPARSITY_RANGE.max);
/// Probability δ of hash-bin under (ε, δ)-privacy. Pure ε-privacy has no δ.
pub const DELTA_RANGE: ParameterRange = ParameterRange::new("delta", 1e-15, 0.01);
/// Number of attributes of a question of kind "numbers".
pub const ATTRIBUTE_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of attributes", 1.0, SPARSITY_RANGE.max);
/// Number of drawn attributes m: one report of the window mechanism covers m attributes. m is at
/// most the number of attributes of the question.
pub const DRAWN_ATTRIBUTE_COUNT_RANGE: ParameterRange = ParameterRange::new("drawn", 1.0, 12.0);
/// Number of atoms t of the window mechanism: a report contains one of t atoms for each attribute
/// that it covers. The number of cells limits t further.
pub const ATOM_COUNT_RANGE: ParameterRange = ParameterRange::new("atoms", 2.0, 4096.0);
/// Greatest value of an atom of the window mechanism. Twice this limit, in units of 2⁻⁵³, fits into
/// 64 bits.
pub const MAX_ATOM_VALUE_RANGE: ParameterRange =
    ParameterRange::new("the greatest of \"values\"", 1.0, 1023.0);
/// Number of outputs L of the pattern mechanism.
pub const PATTERN_OUTPUT_COUNT_RANGE: ParameterRange = ParameterRange::new("outputs", 2.0, 256.0);
/// Number of parts of a question of kind "together".
pub const QUESTION_PART_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of parts", 2.0, SPARSITY_RANGE.max);
/// Number of levels that a number is rounded to when its mean is estimated.
pub const ROUNDING_LEVEL_COUNT_RANGE: ParameterRange = ParameterRange::new("levels", 2.0, 1024.0);
/// Number of bins into which the range of a number is divided.
pub const NUMBER_BIN_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of bins", 2.0, 4096.0);
/// Number of prefixes of a text. Each report covers one of them, drawn at random.
pub const PREFIX_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of \"prefixes\"", 1.0, 64.0);
/// Length of a prefix, in characters.
pub const PREFIX_LENGTH_RANGE: ParameterRange =
    ParameterRange::new("length of a prefix", 1.0, 256.0);
/// Maximum length of a text, in characters. The prefixes of the text have 2, 4, 6, … characters,
/// and the last prefix has the maximum length. A maximum length above 2 is listed twice. A longer
/// text would need more prefixes than [`PREFIX_COUNT_RANGE`] allows.
pub const MAX_TEXT_LENGTH_RANGE: ParameterRange = ParameterRange::new(
    "length of a text",
    1.0,
    2.0 * (PREFIX_COUNT_RANGE.max - 1.0),
);
/// Number of questions of one task.
pub const QUESTION_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of questions", 1.0, 64.0);
/// Weight of a question. Its share of all reports is its weight divided by the sum of all weights.
pub const QUESTION_WEIGHT_RANGE: ParameterRange = ParameterRange::new("weight", 1.0, 1_000_000.0);
/// Length of an item's name, in bytes.
pub const ITEM_NAME_BYTES_RANGE: ParameterRange =
    ParameterRange::new("length of an item's name", 1.0, 256.0);
/// Number of reports in one upload.
pub const REPORTS_PER_UPLOAD_RANGE: ParameterRange =
    ParameterRange::new("reports in one upload", 1.0, 4096.0);

/// Number of coordinates D of a sum.
pub const SUM_COORDINATE_COUNT_RANGE: ParameterRange =
    ParameterRange::new("number of coordinates", 1.0, 1024.0);
/// Dimension d of summed vectors, before padding. d is at most half of the number of coordinates.
pub const SUM_DIMENSION_RANGE: ParameterRange = ParameterRange::new("dimension", 1.0, 512.0);
/// Spread C of a frame: the coefficients of a vector of length 1 are at most C/√d. Here d is the
/// dimension, padded to a power of two.
pub const SUM_FRAME_SPREAD_RANGE: ParameterRange = ParameterRange::new("spread", 1.0, 4.0);
/// Number of levels L: a coordinate with the value 1 is sent as L messages.
pub const SUM_LEVEL_COUNT_RANGE: ParameterRange = ParameterRange::new("levels", 1.0, 1024.0);
/// Number of noise trials w of one person, for each coordinate and sign. Each trial may send one
/// message.
pub const SUM_NOISE_TRIAL_COUNT_RANGE: ParameterRange = ParameterRange::new("trials", 1.0, 1024.0);
/// Number of draws r of a lottery of noise messages. Each draw may send one message.
pub const LOTTERY_DRAW_COUNT_RANGE: ParameterRange = ParameterRange::new("draws", 1.0, 64.0);

/// Length of a budget's window, in days.
pub const BUDGET_WINDOW_DAYS_RANGE: ParameterRange =
    ParameterRange::new("days of a budget", 1.0, 3650.0);
/// Length of a memo's epoch, in days. It is at least the length of a window.
pub(crate) const MEMO_EPOCH_DAYS_RANGE: ParameterRange =
    ParameterRange::new("days of a memo", 1.0, 3650.0);
/// Minutes from the beginning of a window until its report is sent, with cover reports.
pub(crate) const COVER_DELAY_MINUTES_RANGE: ParameterRange =
    ParameterRange::new("minutes of a cover", 1.0, 5_256_000.0);
/// Maximum number of reports of one person in a window.
pub const REPORTS_PER_WINDOW_RANGE: ParameterRange =
    ParameterRange::new("reports of a budget", 1.0, 10_000.0);

impl ParameterRange {
    const fn new(name: &'static str, min: f64, max: f64) -> Self {
        Self {
            // Names cost bytes in the module that pages download, and its errors are codes only.
            name: if cfg!(feature = "module") { "" } else { name },
            min,
            max,
        }
    }

    /// Returns this bound with a larger minimum.
    #[must_use]
    pub(crate) const fn with_min(self, min: f64) -> Self {
        Self { min, ..self }
    }

    /// Returns this bound with a smaller maximum.
    #[must_use]
    pub const fn with_max(self, max: f64) -> Self {
        Self { max, ..self }
    }

    /// Returns whether `value` lies in the range. NaN does not.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        value >= self.min && value <= self.max
    }

    /// Checks that `value` lies in the range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `value` is outside the range or NaN.
    pub fn check_in_range(&self, value: f64) -> Result<(), Error> {
        if self.contains(value) {
            Ok(())
        } else {
            Err(error!(OutOfRange {
                name: self.name,
                value,
                min: self.min,
                max: self.max,
            }))
        }
    }
}

/// Checks that numbers ascend strictly, and that all numbers and differences are finite.
///
/// # Errors
/// [`Error::InvalidCombination`] otherwise.
pub(crate) fn check_ascending(numbers: &[f64]) -> Result<(), Error> {
    let first_to_last = numbers[numbers.len() - 1] - numbers[0];
    // NaN fails `a < b`. A finite difference of the ends implies that all numbers are finite.
    if numbers.is_sorted_by(|a, b| a < b) && first_to_last.is_finite() {
        Ok(())
    } else {
        Err(error!(InvalidCombination {
            reason: "\"min\" and \"max\", or the \"edges\", of a number must be finite and \
                     ascending",
        }))
    }
}
