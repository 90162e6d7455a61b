//! Hypotheses: inputs that an attacker considers as the possible source of a report.

use std::borrow::Cow;

use hushbin::task::{NumberLimits, QuestionKind};
use hushbin::{Entry, Question};

/// Input that may be the source of a report, written as a mixture of inputs with at most s signed
/// items.
///
/// The parts of the mixture are the possible outcomes of ternarisation and sampling down.
/// Ternarisation turns a value v into its sign with probability |v|, and otherwise removes the
/// entry. If more than s entries remain, s of them are kept, and every set of s is equally likely.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    input_entries: Vec<Entry>,
    mixture_parts: Vec<HypothesisMixturePart>,
}

/// Part of a hypothesis's mixture: one possible set of at most s kept entries. Only the signs of
/// these entries count.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HypothesisMixturePart {
    pub(super) probability: f64,
    /// Indices of the entries that are kept.
    pub(super) kept_entry_indices: Vec<usize>,
}

/// Approximate maximum number of entries in all parts of a hypothesis together. Every observation
/// of a report visits all these entries.
const MAX_ENTRIES_IN_ALL_PARTS: usize = 64;

impl Hypothesis {
    /// Creates the hypothesis that a report of `question` came from `entries`.
    ///
    /// If the mixture has few parts, all parts are enumerated. Otherwise a quasi-random selection
    /// represents all parts. Each entry occurs in about the same fraction of the selected parts as
    /// of all parts.
    #[must_use]
    pub fn new(question: &Question, entries: &[Entry]) -> Self {
        match (question.kind(), entries) {
            (QuestionKind::Number(scale), [entry]) => {
                return Self::from_adjacent_cells(scale.cell_of_answer(*entry));
            }
            (QuestionKind::CrossTabulation(cross), [entry]) => {
                return Self::from_adjacent_cells(
                    cross.cell_and_next_cell_probability(entry.item as u32, entry.value),
                );
            }
            (QuestionKind::Text(_), prefixes) => {
                return Self {
                    input_entries: prefixes.to_vec(),
                    mixture_parts: Vec::new(),
                };
            }
            _ => {}
        }
        if let QuestionKind::Numbers(limits) = question.kind() {
            return Self::from_numbers(limits, entries);
        }
        let cells: Vec<Entry>;
        let entries = match question.kind() {
            QuestionKind::JointChoices(together) => {
                cells = together.answered_option_entries(entries).collect();
                &cells
            }
            _ => entries,
        };
        let keep = question.max_entries_per_report() as usize;
        let present = entries.iter().filter(|entry| entry.value != 0.0).copied();
        let entries: Vec<Entry> = present.collect();
        let fractions: Vec<usize> = (0..entries.len())
            .filter(|&index| entries[index].value.abs() < 1.0)
            .collect();
        let most = (MAX_ENTRIES_IN_ALL_PARTS / keep).max(1);
        let parts = match max_mixture_part_count(entries.len(), fractions.len(), keep) {
            Some(count) if count <= most => enumerate_mixture_parts(&entries, &fractions, keep),
            _ => quasi_random_mixture_parts(&entries, keep, most),
        };
        Self {
            input_entries: entries,
            mixture_parts: parts,
        }
    }

    /// Returns the hypothesis for a report with this seed. If the question asks for a text, the
    /// input is the prefix that the seed selects.
    pub(super) fn for_seed(&self, question: &Question, seed: u64) -> Cow<'_, Self> {
        let QuestionKind::Text(prefixes) = question.kind() else {
            return Cow::Borrowed(self);
        };
        let whole = HypothesisMixturePart {
            probability: 1.0,
            kept_entry_indices: vec![0],
        };
        Cow::Owned(Self {
            input_entries: vec![self.input_entries[prefixes.drawn_prefix_index(seed)]],
            mixture_parts: vec![whole],
        })
    }

    /// Creates a mixture of an input in `cell` and an input in `cell + 1`, for a number or a
    /// cross-tabulation. The argument contains `cell` and the probability of rounding up to
    /// `cell + 1`.
    fn from_adjacent_cells((cell, next): (u32, f64)) -> Self {
        // `next` is the probability of rounding up to `cell + 1`.
        let entry = |cell: u32| Entry {
            item: u64::from(cell),
            value: 1.0,
        };
        let part = |(index, probability)| HypothesisMixturePart {
            probability,
            kept_entry_indices: vec![index],
        };
        let chances = [1.0 - next, next].into_iter().enumerate();
        Self {
            input_entries: [cell, cell + 1].map(entry).into(),
            mixture_parts: chances
                .filter(|(_, chance)| *chance > 0.0)
                .map(part)
                .collect(),
        }
    }

    /// Creates the hypothesis for several numbers. Each number is mapped to its position in its
    /// range, from −1 to 1.
    fn from_numbers(limits: &[NumberLimits], entries: &[Entry]) -> Self {
        let coded = |entry: &Entry| Entry {
            value: limits[entry.item as usize].normalise_to_signed_unit(entry.value),
            ..*entry
        };
        Self {
            input_entries: entries.iter().map(coded).collect(),
            mixture_parts: vec![HypothesisMixturePart {
                probability: 1.0,
                kept_entry_indices: (0..entries.len()).collect(),
            }],
        }
    }

    /// Returns the entries whose value is not 0. If the question asks for several numbers, returns
    /// all entries.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.input_entries
    }

    pub(super) fn mixture_parts(&self) -> &[HypothesisMixturePart] {
        &self.mixture_parts
    }
}

/// Returns an upper bound on the number of parts, or `None` if the bound overflows. `fractions` is
/// the number of entries whose absolute value is less than 1, and `keep` is s.
fn max_mixture_part_count(entries: usize, fractions: usize, keep: usize) -> Option<usize> {
    let mut count = 1_usize.checked_shl(u32::try_from(fractions).ok()?)?;
    // Binomial coefficient C(entries, keep). Each division is exact.
    for kept in 0..keep.min(entries.saturating_sub(keep)) {
        count = count.checked_mul(entries - kept)? / (kept + 1);
    }
    Some(count)
}

/// Enumerates all parts: every outcome of ternarisation and, for each outcome, every choice of
/// `keep` entries. `fractions` are the indices of the entries whose absolute value is less than 1.
fn enumerate_mixture_parts(
    entries: &[Entry],
    fractions: &[usize],
    keep: usize,
) -> Vec<HypothesisMixturePart> {
    let mut parts = Vec::new();
    for left in 0..1_usize << fractions.len() {
        // Bit i of `left` decides whether the i-th entry in `fractions` survives ternarisation.
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
        append_entry_choices(&left, keep, &mut Vec::new(), &mut parts);
        let share = probability / (parts.len() - from) as f64;
        for part in &mut parts[from..] {
            part.probability = share;
        }
    }
    parts
}

/// Appends one part for every choice of `keep` entries from `left`. Each part also contains the
/// entries in `chosen`. If `left` has at most `keep` entries, the only choice is all of them.
fn append_entry_choices(
    left: &[usize],
    keep: usize,
    chosen: &mut Vec<usize>,
    parts: &mut Vec<HypothesisMixturePart>,
) {
    if keep == 0 || left.len() <= keep {
        parts.push(HypothesisMixturePart {
            probability: 0.0,
            kept_entry_indices: [chosen, left.get(..keep).unwrap_or(left)].concat(),
        });
        return;
    }
    // First the choices with the first entry, then the choices without it.
    chosen.push(left[0]);
    append_entry_choices(&left[1..], keep - 1, chosen, parts);
    chosen.pop();
    append_entry_choices(&left[1..], keep, chosen, parts);
}

/// Returns `count` quasi-random parts. The fraction of parts that keep an entry approximates the
/// probability that the entry is kept.
fn quasi_random_mixture_parts(
    entries: &[Entry],
    keep: usize,
    count: usize,
) -> Vec<HypothesisMixturePart> {
    // Additive recurrence with the irrational steps 0.618034 = (√5 − 1)/2 and 0.414214 = √2 − 1.
    let part = |number: usize| {
        let draw = |index: usize| (number as f64 * 0.618_034 + index as f64 * 0.414_214).fract();
        let is_left = |&index: &usize| draw(index) < entries[index].value.abs();
        let mut kept: Vec<usize> = (0..entries.len()).filter(is_left).collect();
        // Sampling down: the first kept entry moves from part to part, so that each entry is kept
        // equally often.
        if kept.len() > keep {
            let first = number * kept.len() / count;
            kept.rotate_left(first);
            kept.truncate(keep);
        }
        HypothesisMixturePart {
            probability: 1.0 / count as f64,
            kept_entry_indices: kept,
        }
    };
    (0..count).map(part).collect()
}
