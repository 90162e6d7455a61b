//! Parts of questions of the kinds `cross` and `together`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::task::items::{Items, check_printable_name};
use crate::task::local::kind::multipart_kind_trait::{
    CHOICE_KIND_CODE, FLAG_KIND_CODE, NUMBER_KIND_CODE, check_option_count,
};
use crate::task::local::scale::NumberScale;

/// Part of a [`Cross`](super::Cross) or of a [`Together`](super::Together): a choice, a flag or,
/// only in a cross, a number.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{QuestionKind, QuestionPart};
///
/// assert_eq!((QuestionPart::new_flag("beta").cell_count(), QuestionPart::new_flag("beta").kind()), (2, QuestionKind::Flag));
/// assert_eq!(QuestionPart::new_choice("theme", Items::Count(7)).cell_count(), 7);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPart {
    pub(in crate::task) name: String,
    pub(in crate::task) kind: PartKind,
    /// Items, as in a question of the part's kind.
    pub(in crate::task) items: Items,
}

/// Kind of a part: a choice, a flag or a number with its scale.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::task) enum PartKind {
    Choice,
    Flag,
    Number(NumberScale),
}

impl QuestionPart {
    /// Returns the scale of a number, or `None` for other kinds.
    #[must_use]
    pub const fn scale(&self) -> Option<&NumberScale> {
        match &self.kind {
            PartKind::Number(scale) => Some(scale),
            _ => None,
        }
    }

    /// Returns the number of options, or of cells if the part is a number. Returns 0 if the options
    /// are open.
    #[must_use]
    pub fn cell_count(&self) -> u32 {
        self.items.item_count().unwrap_or(0)
    }

    /// Returns whether `value` is the index of an option.
    pub(super) fn has_option(&self, value: f64) -> bool {
        // The cast saturates and turns NaN into 0. The comparison rejects both.
        f64::from(value as u32) == value && (value as u32) < self.cell_count()
    }

    pub(super) fn read_canonical_parts(
        count: u32,
        reader: &mut CanonicalReader<'_>,
    ) -> Result<Vec<Self>, Error> {
        let mut part = |_| {
            let name = String::from(reader.read_text());
            let (kind, items) = match reader.read_u64() {
                CHOICE_KIND_CODE => (PartKind::Choice, Items::read_canonical(reader)),
                FLAG_KIND_CODE => (PartKind::Flag, Items::Count(2)),
                NUMBER_KIND_CODE => {
                    let scale = NumberScale::read_canonical(true, false, reader)?;
                    let items = Items::Count(scale.cell_count());
                    (PartKind::Number(scale), items)
                }
                _ => reader.unwrap_or_mark_malformed(None)?,
            };
            Ok(Self { name, kind, items })
        };
        (0..count).map(&mut part).collect()
    }

    fn check_part(&self, index: usize, epsilon: f64) -> Result<(), Error> {
        check_printable_name(index, &self.name)?;
        self.items.check_items()?;
        check_option_count(&self.items)?;
        bounds::EPSILON_RANGE.check_in_range(epsilon)
    }
}

/// Checks the parts of a question. Only the second part of a `cross` may be a number.
pub(super) fn check_parts(
    parts: &[QuestionPart],
    is_cross: bool,
    epsilon: f64,
) -> Result<(), Error> {
    for (index, part) in parts.iter().enumerate() {
        part.check_part(index, epsilon)?;
        if parts[..index].iter().any(|own| own.name == part.name) {
            return Err(error!(DuplicateName {
                name: part.name.clone(),
            }));
        }
        if part.scale().is_some() && (!is_cross || index == 0) {
            return Err(error!(InvalidCombination {
                reason: "the first part of a \"cross\", and each part of \"together\", must be a \
                         \"choice\" or a \"flag\"",
            }));
        }
        // The canonical bytes of a part do not contain this, and no answer reaches the last cell.
        if part.scale().is_some_and(NumberScale::is_optional) {
            return Err(error!(InvalidCombination {
                reason: "the number in a \"cross\" must not be \"optional\"",
            }));
        }
    }
    Ok(())
}
