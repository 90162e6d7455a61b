//! Questions whose options are counted through a shuffler, and the coding of answers as cells.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::task::items::check_printable_name;
use crate::task::{Items, NumberLimits};

/// Questions whose options are counted: a choice, a set, a number in bins, or flags.
///
/// The count of an option is a sum of zeros and ones. Each person sends messages that name a
/// *cell*. Cells are numbered from 0 to K − 1, in [groups](CountedQuestions::cell_groups). Every person sends the same
/// number of own messages about each group:
///
/// | kind | groups | own messages |
/// |---|---|---|
/// | choice of k options | k options | 1 |
/// | set of at most s of k options | k options, then s paddings | s |
/// | k flags | k times "no" and "yes" | k times 1 |
/// | number in b bins | nodes of the upper level if b ≥ 32; b bins | 1 for each level |
///
/// A set with fewer than s options is filled up with the first paddings. A node of the upper level
/// covers ⌈√b⌉ bins, and the last node the remaining bins.
///
/// ```
/// use hushbin::Items;
/// use hushbin::sums::{CountedKind, CountedQuestions};
///
/// let kind = CountedKind::Set { name: "features".into(), sparsity: 3 };
/// let set = CountedQuestions::new(kind, Items::Count(40))?;
/// assert_eq!((set.cell_count(), set.own_message_count()), (43, 3));
/// assert!(CountedQuestions::new(set.kind().clone(), Items::Count(2)).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CountedQuestions {
    pub(super) kind: CountedKind,
    pub(super) items: Items,
}

/// Kind of [`CountedQuestions`].
///
/// ```
/// use hushbin::Items;
/// use hushbin::sums::{CountedKind, CountedQuestions};
///
/// let flags = CountedQuestions::new(CountedKind::Flags, Items::Named(vec!["beta".into()]))?;
/// // One message, about "no" or "yes".
/// assert_eq!((flags.cell_count(), flags.own_message_count()), (2, 1));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum CountedKind {
    /// Exactly one option. The items are the options.
    Choice {
        /// Name of the question.
        name: String,
    },
    /// Any of the options. The items are the options.
    Set {
        /// Name of the question.
        name: String,
        /// Maximum number s of options that a person sends.
        sparsity: u32,
    },
    /// An answer yes or no to each of several questions. The items are the names.
    Flags,
    /// A number, counted in equal bins. The items are the bins.
    Number {
        /// Name of the question.
        name: String,
        /// Limits of the number. Numbers outside are counted in the first or last bin.
        limits: NumberLimits,
    },
}

/// Number of bins from which on a number has two levels. For the distribution function, two levels
/// are better from 8 bins on; for the share of a bin they are a little worse.
const LEAST_BINS_WITH_TWO_LEVELS: u32 = 32;

impl CountedQuestions {
    /// Describes questions of this kind. `items` are the options of a choice or set, the names of
    /// flags, or the bins of a number.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number of options, flags or bins outside
    /// [`bounds::OPTION_COUNT_RANGE`] (a set may have one option), [`bounds::QUESTION_COUNT_RANGE`]
    /// or [`bounds::NUMBER_BIN_COUNT_RANGE`], or for a sparsity outside [`bounds::SPARSITY_RANGE`]
    /// or above the number of options. [`Error::InvalidCombination`] for open options, flags
    /// without names, named bins, and bins that are too narrow for floating-point edges. Also the
    /// errors for invalid names.
    pub fn new(kind: CountedKind, items: Items) -> Result<Self, Error> {
        let unsuitable = matches!(
            (&kind, &items),
            (_, Items::Open(_))
                | (CountedKind::Flags, Items::Count(_))
                | (CountedKind::Number { .. }, Items::Named(_))
        );
        if unsuitable {
            return Err(error!(InvalidCombination {
                reason: "questions through a shuffler need \"options\" that are a list or a \
                         number, flags need names, and \"bins\" are a number",
            }));
        }
        let count = f64::from(items.item_count().unwrap_or(0));
        match &kind {
            CountedKind::Choice { .. } => bounds::OPTION_COUNT_RANGE.check_in_range(count)?,
            CountedKind::Set { sparsity, .. } => {
                bounds::ITEM_COUNT_RANGE.check_in_range(count)?;
                let range = bounds::SPARSITY_RANGE;
                let range = range.with_max(range.max.min(count));
                range.check_in_range(f64::from(*sparsity))?;
            }
            CountedKind::Flags => bounds::QUESTION_COUNT_RANGE.check_in_range(count)?,
            CountedKind::Number { limits, .. } => {
                bounds::NUMBER_BIN_COUNT_RANGE.check_in_range(count)?;
                let bins = count as u32;
                let edge = |index| bin_edge(limits, index, bins);
                if !(0..bins).all(|index| edge(index) < edge(index + 1)) {
                    return Err(error!(InvalidCombination {
                        reason: "a \"number\" needs \"min\" and \"max\" that are far enough apart \
                                 for its \"bins\"",
                    }));
                }
            }
        }
        if let CountedKind::Choice { name }
        | CountedKind::Set { name, .. }
        | CountedKind::Number { name, .. } = &kind
        {
            check_printable_name(0, name)?;
        }
        items.check_items()?;
        Ok(Self { kind, items })
    }

    /// Options of a choice or set, names of flags, or bins of a number.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    pub(super) fn item_count(&self) -> u32 {
        self.items.item_count().unwrap_or(0)
    }

    /// Number of bins in a node of the upper level of a number. `None` if there is no such level.
    #[must_use]
    pub fn bins_per_node(&self) -> Option<u32> {
        let bins = self.item_count();
        let has_levels =
            matches!(self.kind, CountedKind::Number { .. }) && bins >= LEAST_BINS_WITH_TWO_LEVELS;
        has_levels.then(|| {
            (1..bins)
                .find(|width| width * width >= bins)
                .unwrap_or(bins)
        })
    }

    /// Number of nodes of the upper level of a number, or 0 if there is no such level.
    pub(super) fn upper_node_count(&self) -> u32 {
        let bins = self.item_count();
        self.bins_per_node().map_or(0, |width| bins.div_ceil(width))
    }

    /// Number K of cells: options, paddings and nodes.
    #[must_use]
    pub fn cell_count(&self) -> u32 {
        let count = self.item_count();
        match self.kind {
            CountedKind::Choice { .. } => count,
            CountedKind::Set { sparsity, .. } => count + sparsity,
            CountedKind::Flags => 2 * count,
            CountedKind::Number { .. } => self.upper_node_count() + count,
        }
    }

    /// Number s of own messages of every person.
    #[must_use]
    pub fn own_message_count(&self) -> u32 {
        match self.kind {
            CountedKind::Choice { .. } => 1,
            CountedKind::Set { sparsity, .. } => sparsity,
            CountedKind::Flags => self.item_count(),
            CountedKind::Number { .. } => 1 + u32::from(self.upper_node_count() > 0),
        }
    }

    /// Replaces `cells` by the cells of an answer. Returns true if a number is beyond its limits, or
    /// if a set has more options than s. The cells are distinct. There are
    /// [`CountedQuestions::own_message_count`] cells, or more for such a set.
    ///
    /// # Errors
    /// As [`SumRandomizer::randomize`](super::SumRandomizer::randomize).
    pub(super) fn answer_to_cells(
        &self,
        answer: &[f64],
        cells: &mut Vec<u32>,
    ) -> Result<bool, Error> {
        let count = self.item_count();
        let (expected, indices) = match self.kind {
            CountedKind::Choice { .. } => (1, count),
            CountedKind::Set { .. } => (answer.len() as u32, count),
            CountedKind::Flags => (count, 2),
            CountedKind::Number { .. } => (1, 0),
        };
        if answer.len() != expected as usize {
            return Err(error!(WrongAnswerCount {
                given: answer.len(),
                expected,
            }));
        }
        cells.clear();
        if let CountedKind::Number { limits, .. } = &self.kind {
            return self.number_to_cells(limits, answer[0], cells);
        }
        let is_flag = self.kind == CountedKind::Flags;
        for (item, &value) in answer.iter().enumerate() {
            let index = value as u32;
            if index >= indices || f64::from(index) != value {
                return Err(error!(ValueOutOfRange {
                    item: item as u64,
                    value,
                    expected: match is_flag {
                        true => "0 for no or 1 for yes",
                        false => "the index of an option",
                    },
                }));
            }
            cells.push(index + 2 * item as u32 * u32::from(is_flag));
        }
        let CountedKind::Set { sparsity, .. } = self.kind else {
            return Ok(false);
        };
        let mut has_option = alloc::vec![false; count as usize];
        for &cell in cells.iter() {
            if core::mem::replace(&mut has_option[cell as usize], true) {
                return Err(error!(DuplicateItem {
                    item: u64::from(cell)
                }));
            }
        }
        let given = cells.len() as u32;
        cells.extend(count..count + sparsity.saturating_sub(given));
        Ok(given > sparsity)
    }

    /// Appends the bin of a number, and before it the node above if there are two levels. Returns
    /// true if the number is beyond its limits.
    fn number_to_cells(
        &self,
        limits: &NumberLimits,
        number: f64,
        cells: &mut Vec<u32>,
    ) -> Result<bool, Error> {
        if !number.is_finite() {
            return Err(error!(ValueOutOfRange {
                item: 0,
                value: number,
                expected: "a finite number",
            }));
        }
        let bins = self.item_count();
        // Compares with every inner edge, so that the work does not depend on the number.
        let inner = (1..bins).map(|index| bin_edge(limits, index, bins));
        let bin = inner.filter(|edge| *edge <= number).count() as u32;
        cells.extend(self.bins_per_node().map(|width| bin / width));
        // The bins follow the nodes of the upper level.
        cells.push(self.upper_node_count() + bin);
        let [min, max] = limits.range();
        Ok(number < min || number > max)
    }

    /// Reads the kind of this number and its fields.
    pub(super) fn read_canonical(
        kind: u64,
        items: Items,
        reader: &mut CanonicalReader<'_>,
    ) -> Result<Self, Error> {
        if kind == 4 {
            return Self::new(CountedKind::Flags, items);
        }
        let name = String::from(reader.read_text());
        let kind = match kind {
            2 => CountedKind::Choice { name },
            3 => CountedKind::Set {
                name,
                sparsity: reader.read_u32(),
            },
            5 => CountedKind::Number {
                name,
                limits: NumberLimits::read_canonical(reader)?,
            },
            _ => return reader.unwrap_or_mark_malformed(None),
        };
        Self::new(kind, items)
    }
}

/// Returns the lower edge of a bin. The values ascend with `index`, because every operation rounds
/// monotonically.
pub(super) fn bin_edge(limits: &NumberLimits, index: u32, bins: u32) -> f64 {
    let [min, max] = limits.range();
    min + (max - min) * (f64::from(index) / f64::from(bins))
}
