//! Inputs that an attacker holds a report against.

use std::borrow::Cow;

use hushbin::task::{Kind, Limits};
use hushbin::{Entry, Question};

/// An input that a report may have been made of, with what ternarisation and
/// sampling down leave of it under the mechanisms of buckets: each value v its
/// sign with probability |v|, and of more than s entries any s equally often.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    entries: Vec<Entry>,
    parts: Vec<Part>,
}

/// One of the inputs that a hypothesis is a mixture of: the signs of at most s of its entries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) probability: f64,
    /// By their index.
    pub(super) kept: Vec<usize>,
}

/// Entries in all parts of a hypothesis together, about: all are looked at for every report.
const WORK: usize = 64;

impl Hypothesis {
    /// The hypothesis that a report of `question` was made of `entries`.
    ///
    /// The parts are all there are where these are few. Elsewhere they are some,
    /// in which each entry comes about as often as it should.
    #[must_use]
    pub fn new(question: &Question, entries: &[Entry]) -> Self {
        match (question.kind(), entries) {
            (Kind::Number(scale), [entry]) => {
                return Self::of_cells(scale.cell(entry.value));
            }
            (Kind::Cross(cross), [entry]) => {
                return Self::of_cells(cross.cell(entry.item as u32, entry.value));
            }
            (Kind::Text(_), prefixes) => {
                return Self {
                    entries: prefixes.to_vec(),
                    parts: Vec::new(),
                };
            }
            _ => {}
        }
        if let Kind::Numbers(limits) = question.kind() {
            return Self::of_numbers(limits, entries);
        }
        let cells: Vec<Entry>;
        let entries = match question.kind() {
            Kind::Together(together) => {
                cells = together.elements(entries).collect();
                &cells
            }
            _ => entries,
        };
        let keep = question.sparsity() as usize;
        let present = entries.iter().filter(|entry| entry.value != 0.0).copied();
        let entries: Vec<Entry> = present.collect();
        let fractions: Vec<usize> = (0..entries.len())
            .filter(|&index| entries[index].value.abs() < 1.0)
            .collect();
        let most = (WORK / keep).max(1);
        let parts = match count_parts(entries.len(), fractions.len(), keep) {
            Some(count) if count <= most => all_parts(&entries, &fractions, keep),
            _ => some_parts(&entries, keep, most),
        };
        Self { entries, parts }
    }

    /// What a report of this seed tells of: of a text the prefix that the seed draws.
    pub(super) fn told(&self, question: &Question, seed: u64) -> Cow<'_, Self> {
        let Kind::Text(prefixes) = question.kind() else {
            return Cow::Borrowed(self);
        };
        let whole = Part {
            probability: 1.0,
            kept: vec![0],
        };
        Cow::Owned(Self {
            entries: vec![self.entries[prefixes.drawn(seed)]],
            parts: vec![whole],
        })
    }

    /// A number or a row and a column, which become one of two cells.
    fn of_cells((cell, next): (u32, f64)) -> Self {
        let entry = |cell: u32| Entry {
            item: u64::from(cell),
            value: 1.0,
        };
        let part = |(index, probability)| Part {
            probability,
            kept: vec![index],
        };
        let chances = [1.0 - next, next].into_iter().enumerate();
        Self {
            entries: [cell, cell + 1].map(entry).into(),
            parts: chances
                .filter(|(_, chance)| *chance > 0.0)
                .map(part)
                .collect(),
        }
    }

    /// Numbers, by where they are in their ranges.
    fn of_numbers(limits: &[Limits], entries: &[Entry]) -> Self {
        let coded = |entry: &Entry| Entry {
            value: limits[entry.item as usize].code(entry.value),
            ..*entry
        };
        Self {
            entries: entries.iter().map(coded).collect(),
            parts: vec![Part {
                probability: 1.0,
                kept: (0..entries.len()).collect(),
            }],
        }
    }

    /// The entries that are not 0; all of numbers.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// A bound of the number of parts; `None` where it is beyond counting.
fn count_parts(entries: usize, fractions: usize, keep: usize) -> Option<usize> {
    let mut count = 1_usize.checked_shl(u32::try_from(fractions).ok()?)?;
    for kept in 0..keep.min(entries.saturating_sub(keep)) {
        count = count.checked_mul(entries - kept)? / (kept + 1);
    }
    Some(count)
}

/// Every set of fractions that may be left, and of those that are too many every choice of `keep`.
fn all_parts(entries: &[Entry], fractions: &[usize], keep: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    for left in 0..1_usize << fractions.len() {
        let is_left = |index| left >> index & 1 == 1;
        let mut probability = 1.0;
        let mut gone = Vec::new();
        for (bit, &index) in fractions.iter().enumerate() {
            let magnitude = entries[index].value.abs();
            probability *= if is_left(bit) {
                magnitude
            } else {
                gone.push(index);
                1.0 - magnitude
            };
        }
        let left: Vec<usize> = (0..entries.len())
            .filter(|index| !gone.contains(index))
            .collect();
        let from = parts.len();
        choices(&left, keep, &mut Vec::new(), &mut parts);
        let share = probability / (parts.len() - from) as f64;
        for part in &mut parts[from..] {
            part.probability = share;
        }
    }
    parts
}

/// Adds every choice of `keep` of the entries left, or all where they are no more,
/// to what is chosen already.
fn choices(left: &[usize], keep: usize, chosen: &mut Vec<usize>, parts: &mut Vec<Part>) {
    if keep == 0 || left.len() <= keep {
        parts.push(Part {
            probability: 0.0,
            kept: [chosen, left.get(..keep).unwrap_or(left)].concat(),
        });
        return;
    }
    chosen.push(left[0]);
    choices(&left[1..], keep - 1, chosen, parts);
    chosen.pop();
    choices(&left[1..], keep, chosen, parts);
}

/// So many parts that together hold each entry about as often as it is left: the multiples of two
/// irrational numbers stand in for draws, and who is kept goes round.
fn some_parts(entries: &[Entry], keep: usize, count: usize) -> Vec<Part> {
    let part = |number: usize| {
        let draw = |index: usize| (number as f64 * 0.618_034 + index as f64 * 0.414_214).fract();
        let is_left = |&index: &usize| draw(index) < entries[index].value.abs();
        let mut kept: Vec<usize> = (0..entries.len()).filter(is_left).collect();
        if kept.len() > keep {
            let first = number * kept.len() / count;
            kept.rotate_left(first);
            kept.truncate(keep);
        }
        Part {
            probability: 1.0 / count as f64,
            kept,
        }
    };
    (0..count).map(part).collect()
}
