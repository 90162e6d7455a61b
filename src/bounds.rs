//! Every range a parameter must lie in, declared once: checks, error texts and
//! the generators of the tests derive from these.

use crate::error::{Error, error};

/// An inclusive range with the name of what it bounds.
///
/// ```
/// use hushbin::bounds::EPSILON;
///
/// assert!(EPSILON.check(1.0).is_ok());
/// assert!(EPSILON.check(0.0).is_err() && !EPSILON.holds(f64::NAN));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// The parameter as it is spelt in a task file.
    pub name: &'static str,
    /// Least value allowed.
    pub min: f64,
    /// Greatest value allowed.
    pub max: f64,
}

/// Local budget ε of one report. Below the least, estimates would need more
/// people than there are; above the greatest, ε means nothing.
pub const EPSILON: Bound = Bound::new("epsilon", 0.001, 12.0);
/// Number of items of a closed task.
pub const ITEMS: Bound = Bound::new("items", 1.0, (1u32 << 20) as f64);
/// Number of options of a choice, cells of a number among them.
pub const OPTIONS: Bound = Bound::new("options", 2.0, ITEMS.max);
/// Sparsity s: how many entries of one input are reported on. In a closed task
/// it is at most the number of items.
pub const SPARSITY: Bound = Bound::new("sparsity", 1.0, 1024.0);
/// Number of people that a task is planned for.
pub const PEOPLE: Bound = Bound::new("people", 1.0, 1e12);
/// Number of entries by which people are counted; whoever has more is counted
/// among those who have so many.
pub const ENTRIES: Bound = Bound::new("entries of one person", 0.0, 4.0 * SPARSITY.max);
/// Number of items that two people have in common on average.
pub const OVERLAP: Bound = Bound::new("overlap", 0.0, ENTRIES.max);
/// Number of buckets t of Collision and CoCo, of one hash function and of all.
pub const BUCKETS: Bound = Bound::new("buckets", 2.0, (1u32 << 22) as f64);
/// Number of favoured buckets c; further bounded by the number of buckets.
pub const FAVOURED: Bound = Bound::new("favoured", 1.0, BUCKETS.max - 1.0);
/// Number of hash functions R of Collision and CoCo, so that inputs of s elements are hashed to R·s
/// ≤ 4,096 cells, and there are at most as many buckets in all as one function may have.
pub const HASHES: Bound = Bound::new("hashes", 1.0, HASHED as f64);
/// The greatest R·s.
pub(crate) const HASHED: u32 = 4096;
/// Number of bins b of hash-bin, so that a report stays below 40 kilobytes. In a
/// closed task it is at most the number of items.
pub const BINS: Bound = Bound::new("bins", 1.0, 4096.0);
/// Γ of hash-bin, a power of two: bins hold multiples of 1/Γ.
pub const GRID: Bound = Bound::new("grid", 1.0, 65_536.0);
/// η of hash-bin at user level: sums are clipped to [−η, η].
pub const CLIP: Bound = Bound::new("clip", 1.0 / 65_536.0, SPARSITY.max);
/// L of hash-bin: how far neighbours' values are apart, in sum.
pub const DISTANCE: Bound = Bound::new("distance", 1.0 / 65_536.0, 2.0 * SPARSITY.max);
/// δ of hash-bin, where it has one.
pub const DELTA: Bound = Bound::new("delta", 1e-15, 0.01);
/// Number of attributes that "numbers" has.
pub const ATTRIBUTES: Bound = Bound::new("number of attributes", 1.0, SPARSITY.max);
/// Number of attributes m that a report of the window tells of; at most as many as there are.
pub const DRAWN: Bound = Bound::new("drawn", 1.0, 12.0);
/// Number of atoms t of the window, further bounded by its number of cells.
pub const ATOMS: Bound = Bound::new("atoms", 2.0, 4096.0);
/// The greatest value of an atom. Twice it, in units of 2⁻⁵³, has 64 bits.
pub const ATOM_VALUE: Bound = Bound::new("the greatest of \"values\"", 1.0, 1023.0);
/// Number of outputs L of the pattern.
pub const OUTPUTS: Bound = Bound::new("outputs", 2.0, 256.0);
/// Number of parts that are asked together.
pub const PARTS: Bound = Bound::new("number of parts", 2.0, SPARSITY.max);
/// Number of levels that a number of a known mean is rounded to.
pub const LEVELS: Bound = Bound::new("levels", 2.0, 1024.0);
/// Number of bins that numbers are put into.
pub const CELLS: Bound = Bound::new("number of bins between \"edges\"", 2.0, 4096.0);
/// Number of prefixes of a text that are drawn from.
pub const PREFIXES: Bound = Bound::new("number of \"prefixes\"", 1.0, 64.0);
/// Length of a prefix, in characters.
pub const PREFIX_LENGTH: Bound = Bound::new("length of a prefix", 1.0, 256.0);
/// Length of a text of which prefixes of 2, 4, 6 and so on characters are reported, the last
/// twice: of a longer one they are more than [`PREFIXES`].
pub const TEXT_LENGTH: Bound = Bound::new("length of a text", 1.0, 2.0 * (PREFIXES.max - 1.0));
/// Number of questions of one task.
pub const QUESTIONS: Bound = Bound::new("number of questions", 1.0, 64.0);
/// Weight of a question: it is answered by so many reports of the sum of all weights.
pub const WEIGHT: Bound = Bound::new("weight", 1.0, 1_000_000.0);
/// Length of an item's name, in bytes.
pub const NAME_BYTES: Bound = Bound::new("length of an item's name", 1.0, 256.0);
/// Number of reports in one upload.
pub const REPORTS: Bound = Bound::new("reports in one upload", 1.0, 4096.0);

/// Number of coordinates D of a sum.
pub const SUM_COORDINATES: Bound = Bound::new("number of coordinates", 1.0, 1024.0);
/// Dimension d of vectors that are summed, each of at most half as many numbers as there are
/// coordinates.
pub const SUM_DIMENSION: Bound = Bound::new("dimension", 1.0, 512.0);
/// C: how far the coefficients of a vector may be from all alike.
pub const SUM_SPREAD: Bound = Bound::new("spread", 1.0, 4.0);
/// L: messages that say 1.
pub const SUM_LEVELS: Bound = Bound::new("levels", 1.0, 1024.0);
/// w: how often a person draws noise for a coordinate and sign.
pub const SUM_TRIALS: Bound = Bound::new("trials", 1.0, 1024.0);

/// Days of a window in which a person's reports are counted.
pub const DAYS: Bound = Bound::new("days of a budget", 1.0, 3650.0);
/// Number of reports of one person in such a window.
pub const REPORTS_A_WINDOW: Bound = Bound::new("reports of a budget", 1.0, 10_000.0);

impl Bound {
    const fn new(name: &'static str, min: f64, max: f64) -> Self {
        Self {
            // The module that pages download names nothing.
            name: if cfg!(feature = "module") { "" } else { name },
            min,
            max,
        }
    }

    /// The same bound with a smaller greatest value.
    #[must_use]
    pub const fn at_most(self, max: f64) -> Self {
        Self { max, ..self }
    }

    /// Whether `value` lies in the range; NaN never does.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        value >= self.min && value <= self.max
    }

    /// The check that `value` lies in the range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `value` is outside the range or NaN.
    pub fn check(&self, value: f64) -> Result<(), Error> {
        if self.holds(value) {
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

/// The check that numbers are finite, as are their differences, and ascend.
///
/// # Errors
/// [`Error::Combination`] where they are not.
pub(crate) fn ascending(numbers: &[f64]) -> Result<(), Error> {
    let first_to_last = numbers[numbers.len() - 1] - numbers[0];
    // NaN is not below anything.
    if numbers.is_sorted_by(|a, b| a < b) && first_to_last.is_finite() {
        Ok(())
    } else {
        Err(error!(Combination {
            reason: "a number's \"min\" and \"max\", or its \"edges\", are to be finite and ascending",
        }))
    }
}
