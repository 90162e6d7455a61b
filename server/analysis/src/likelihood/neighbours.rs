//! Pairs of neighbouring inputs that an attacker can distinguish most easily.

use hushbin::task::{
    Cross, NumberLimits, NumberScale, PrefixLengths, QuestionKind, QuestionPart, Together,
};
use hushbin::{Entry, Question, ValueKind, item_name_hash};

/// Two neighbouring inputs: the probabilities of every report under them may differ by at most a
/// factor exp(ε).
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourPair {
    /// Description of each input, in words.
    pub input_descriptions: [String; 2],
    /// Entries of each input.
    pub inputs: [Vec<Entry>; 2],
}

impl NeighbourPair {
    fn new(names: [impl Into<String>; 2], inputs: [Vec<Entry>; 2]) -> Self {
        let names = names.map(Into::into);
        Self {
            input_descriptions: names,
            inputs,
        }
    }
}

/// Values that an incorrect randomizer may treat differently: fractions, a tiny value, both signs,
/// 0, and both ends of the range.
const TEST_INPUT_VALUES: [f64; 6] = [0.9999, -0.5, 1e-9, 1.0, 0.0, -1.0];

/// Creates entries with these values for the first items of the question, one item per value.
fn entries_with_values(question: &Question, values: impl IntoIterator<Item = f64>) -> Vec<Entry> {
    let entry = |(index, value)| Entry {
        item: item_at_index(question, index),
        value,
    };
    (0..).zip(values).map(entry).collect()
}

fn entries_with_equal_value(question: &Question, count: u32, value: f64) -> Vec<Entry> {
    entries_with_values(question, (0..count).map(|_| value))
}

/// Creates `count` entries whose values cycle through those in [`TEST_INPUT_VALUES`] that the question
/// accepts.
fn entries_with_cycling_values(question: &Question, count: u32) -> Vec<Entry> {
    let accepted = |value: &f64| question.coded_value_kind().accepts_value(*value);
    let kinds = TEST_INPUT_VALUES.into_iter().filter(accepted).cycle();
    entries_with_values(question, kinds.take(count as usize))
}

/// Returns the number of entries for an input that is sampled down to s entries. It is 2s, or the
/// number of items if that is smaller.
fn oversized_input_entry_count(question: &Question) -> u32 {
    let most = 2 * question.max_entries_per_report();
    question
        .items()
        .item_count()
        .map_or(most, |items| most.min(items))
}

fn accepts_fractions(question: &Question) -> bool {
    question.coded_value_kind().accepts_value(0.5)
}

/// Creates an input with a single entry.
fn single_entry_input(item: u32, value: f64) -> Vec<Entry> {
    let item = item.into();
    vec![Entry { item, value }]
}

/// Returns pairs of inputs for questions in which every person gives one answer: an item, a number,
/// a cell, one option per part, or a text.
fn single_answer_input_pairs(question: &Question) -> Vec<NeighbourPair> {
    match question.kind() {
        QuestionKind::Number(scale) => single_number_input_pairs(scale),
        QuestionKind::CrossTabulation(cross) => cross_tabulation_input_pairs(cross),
        QuestionKind::JointChoices(together) => joint_choices_input_pairs(together),
        QuestionKind::Text(prefixes) => text_input_pairs(prefixes),
        _ => {
            let last = question.items().item_count().unwrap_or(1) - 1;
            let pair = |a: u32, b: u32| {
                let name = |item: u32| format!("option {item}");
                NeighbourPair::new(
                    [name(a), name(b)],
                    [single_entry_input(a, 1.0), single_entry_input(b, 1.0)],
                )
            };
            let mut pairs = vec![pair(0, last)];
            pairs.extend((last > 1).then(|| pair(last / 2, 0)));
            pairs
        }
    }
}

/// Returns pairs of numbers: the ends of the range, a number inside it, and a number above the
/// maximum. If a person may have no number, one more pair compares that with the maximum.
fn single_number_input_pairs(scale: &NumberScale) -> Vec<NeighbourPair> {
    let [min, max] = scale.range();
    let between = 0.3 * min + 0.7 * max;
    let pair = |a: f64, b: f64| {
        NeighbourPair::new(
            [a, b].map(|number| number.to_string()),
            [single_entry_input(0, a), single_entry_input(0, b)],
        )
    };
    let mut pairs = vec![pair(min, max), pair(between, min), pair(max + 1.0, between)];
    if scale.is_optional() {
        let inputs = [single_entry_input(1, 1.0), single_entry_input(0, max)];
        pairs.push(NeighbourPair::new(
            ["no number".into(), max.to_string()],
            inputs,
        ));
    }
    pairs
}

/// Returns pairs of answers to a cross-tabulation question. The answers differ in the row, in the
/// column, or in both.
fn cross_tabulation_input_pairs(cross: &Cross) -> Vec<NeighbourPair> {
    let rows = cross.row_and_column_counts()[0];
    let ends = match cross.column_part().scale() {
        Some(scale) => scale.range(),
        None => [0.0, f64::from(cross.row_and_column_counts()[1] - 1)],
    };
    let pair = |[row, other]: [u32; 2], [a, b]: [f64; 2]| {
        let name = |row: u32, column: f64| format!("row {row}, {column}");
        NeighbourPair::new(
            [name(row, a), name(other, b)],
            [single_entry_input(row, a), single_entry_input(other, b)],
        )
    };
    let [first, last] = ends;
    vec![
        pair([0, rows - 1], ends),
        pair([0, 0], ends),
        pair([0, rows - 1], [last, last]),
        pair([rows - 1, 0], [last, first]),
    ]
}

/// Returns three pairs of texts: with different first letters, with a common first letter, and with
/// one empty text.
fn text_input_pairs(prefixes: &PrefixLengths) -> Vec<NeighbourPair> {
    let entries = |text: &str| {
        let keys = prefixes.prefix_hashes(text).into_iter();
        keys.map(|item| Entry { item, value: 1.0 }).collect()
    };
    let pair = |texts: [String; 2]| {
        let inputs = [entries(&texts[0]), entries(&texts[1])];
        NeighbourPair::new(texts.map(|text| format!("text {text:?}")), inputs)
    };
    let longest = prefixes.lengths().last();
    let longest = longest.map_or(0, |&length| length as usize);
    let [a, b] = ["a", "b"].map(|letter| letter.repeat(longest + 1));
    vec![
        pair([a.clone(), b.clone()]),
        pair([a.clone(), format!("a{b}")]),
        pair([a, String::new()]),
    ]
}

/// Returns pairs of answers with one option per part. They differ in all parts, in one part, and in
/// every second part.
fn joint_choices_input_pairs(together: &Together) -> Vec<NeighbourPair> {
    let answer = |last: &dyn Fn(usize) -> bool| -> Vec<Entry> {
        let parts = together.parts().iter().enumerate();
        let entry = |(part, own): (usize, &QuestionPart)| Entry {
            item: part as u64,
            value: f64::from(if last(part) { own.cell_count() - 1 } else { 0 }),
        };
        parts.map(entry).collect()
    };
    let pair = |name: &str, other: Vec<Entry>| {
        let names = ["first options", name].map(str::to_owned);
        NeighbourPair::new(names, [answer(&|_| false), other])
    };
    let mut pairs = vec![
        pair("last options", answer(&|_| true)),
        pair("the last of one part", answer(&|part| part == 0)),
    ];
    if together.parts().len() > 2 {
        pairs.push(pair(
            "the last of every other",
            answer(&|part| part % 2 == 1),
        ));
    }
    pairs
}

/// Returns pairs of answers to a question that asks for several numbers.
pub(super) fn several_numbers_input_pairs(question: &Question) -> Vec<NeighbourPair> {
    let QuestionKind::Numbers(limits) = question.kind() else {
        unreachable!("numbers are asked");
    };
    // `place` is −1 at the minimum and 1 at the maximum. Values outside [−1, 1] are numbers outside
    // the range.
    let at = |place: &dyn Fn(usize) -> f64| -> Vec<Entry> {
        let number = |(index, limits): (usize, &NumberLimits)| {
            let [min, max] = limits.range();
            let part = 0.5 * (1.0 + place(index));
            Entry {
                item: index as u64,
                value: ((1.0 - part) * min + part * max).clamp(f64::MIN, f64::MAX),
            }
        };
        limits.iter().enumerate().map(number).collect()
    };
    let of_one = |own: f64, others: f64| at(&|index| if index == 0 { own } else { others });
    let alternate = |index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
    let pair = |names: [&str; 2], inputs| NeighbourPair::new(names, inputs);
    if limits.is_single() {
        let ends = [at(&|_| 1.0), at(&|_| -1.0)];
        let inside = [at(&|_| 2.0), at(&|_| 0.4)];
        return vec![
            pair(["the greatest", "the least"], ends),
            pair(["beyond the greatest", "inside"], inside),
        ];
    }
    vec![
        pair(
            ["all numbers at their greatest", "all at their least"],
            [at(&|_| 1.0), at(&|_| -1.0)],
        ),
        pair(
            ["one number at its greatest", "the same at its least"],
            [of_one(1.0, 0.3), of_one(-1.0, 0.3)],
        ),
        pair(
            ["numbers at alternating ends", "each at its other end"],
            [at(&alternate), at(&|index| -alternate(index))],
        ),
        pair(
            ["all numbers in the middle", "all beyond their greatest"],
            [at(&|_| 0.0), at(&|_| 1.5)],
        ),
    ]
}

/// Returns pairs of inputs that are sets of items. Most sets have `count` items.
fn item_set_input_pairs(question: &Question, count: u32) -> Vec<NeighbourPair> {
    let mut pairs = vec![pair_with_empty_input(question, count, 1.0)];
    pairs.extend(pair_with_disjoint_items(question, count));
    let more = oversized_input_entry_count(question);
    if more > count {
        pairs.push(pair_with_empty_input(question, more, 1.0));
    }
    pairs.push(pair_with_empty_input(question, 1, 0.0));
    pairs
}

pub(super) fn pairs_of_any_two_inputs(question: &Question, count: u32) -> Vec<NeighbourPair> {
    if !question.domain().is_padded() {
        return single_answer_input_pairs(question);
    }
    if !question.domain().is_rated() {
        return item_set_input_pairs(question, count);
    }
    let mut pairs = vec![pair_with_opposite_values(question, count, 1.0)];
    pairs.extend(pair_with_disjoint_items(question, count));
    pairs.push(pair_with_empty_input(question, count, 1.0));
    if count > 1 {
        pairs.push(pair_of_values_of_one_item(question, 1.0, -1.0));
    }
    pairs.push(pair_with_empty_input(question, count, 0.0));
    let more = oversized_input_entry_count(question);
    if more > count {
        pairs.push(pair_with_opposite_values(question, more, 1.0));
        pairs.push(NeighbourPair::new(
            [
                describe_input_in_words(more, 1.0),
                format!("{count} of them, all -1"),
            ],
            [
                entries_with_equal_value(question, more, 1.0),
                entries_with_equal_value(question, count, -1.0),
            ],
        ));
    }
    if accepts_fractions(question) {
        pairs.push(pair_with_opposite_values(question, count, 0.5));
        pairs.push(pair_with_empty_input(question, 1, 0.5));
        let more = more.max(count);
        pairs.push(NeighbourPair::new(
            [
                format!("{more} items of every value"),
                "no items".to_owned(),
            ],
            [entries_with_cycling_values(question, more), Vec::new()],
        ));
    }
    pairs
}

/// Returns a pair in which both inputs have the same `count` items, with opposite values.
fn pair_with_opposite_values(question: &Question, count: u32, value: f64) -> NeighbourPair {
    NeighbourPair::new(
        [
            describe_input_in_words(count, value),
            format!("the same items, all {}", -value),
        ],
        [value, -value].map(|value| entries_with_equal_value(question, count, value)),
    )
}

/// Returns a pair of inputs with different items, `count` items each. `None` if the question has
/// too few items.
fn pair_with_disjoint_items(question: &Question, count: u32) -> Option<NeighbourPair> {
    let there = question.items().item_count();
    there.is_none_or(|items| items >= 2 * count).then(|| {
        let mut all = entries_with_equal_value(question, 2 * count, 1.0);
        let others = all.split_off(count as usize);
        let names = [
            describe_input_in_words(count, 1.0),
            format!("{count} other items, all 1"),
        ];
        NeighbourPair::new(names, [all, others])
    })
}

fn pair_of_values_of_one_item(question: &Question, value: f64, other: f64) -> NeighbourPair {
    NeighbourPair::new(
        [
            describe_input_in_words(1, value),
            format!("the same item, {other}"),
        ],
        [value, other].map(|value| entries_with_equal_value(question, 1, value)),
    )
}

fn pair_with_empty_input(question: &Question, count: u32, value: f64) -> NeighbourPair {
    NeighbourPair::new(
        [describe_input_in_words(count, value), "no items".to_owned()],
        [entries_with_equal_value(question, count, value), Vec::new()],
    )
}

fn describe_input_in_words(count: u32, value: f64) -> String {
    match count {
        1 => format!("one item, {value}"),
        _ => format!("{count} items, all {value}"),
    }
}

/// Returns two copies of `others` that differ only in the value of the first entry. `of` describes
/// the values of the other entries in words.
fn pair_differing_in_first_entry(
    others: &[Entry],
    [value, other]: [f64; 2],
    of: &str,
) -> NeighbourPair {
    let among = format!(" among {} {of}", others.len() - 1);
    NeighbourPair::new(
        [
            format!("an item, {value},{among}"),
            format!("the same, {other},{among}"),
        ],
        [value, other].map(|value| {
            let mut input = others.to_vec();
            input[0].value = value;
            input
        }),
    )
}

pub(super) fn pairs_differing_in_one_item(question: &Question) -> Vec<NeighbourPair> {
    let mut pairs = vec![pair_of_values_of_one_item(question, 1.0, -1.0)];
    let s = question.max_entries_per_report();
    if s > 1 {
        pairs.push(pair_differing_in_first_entry(
            &entries_with_equal_value(question, s, 1.0),
            [1.0, -1.0],
            "of 1",
        ));
    }
    pairs.push(pair_with_empty_input(question, 1, 0.0));
    if oversized_input_entry_count(question) > s {
        let others = entries_with_cycling_values(question, oversized_input_entry_count(question));
        pairs.push(pair_differing_in_first_entry(
            &others,
            [1.0, -1.0],
            "of every value",
        ));
    }
    if accepts_fractions(question) {
        pairs.push(pair_of_values_of_one_item(question, 0.5, -0.5));
        pairs.push(pair_with_empty_input(question, 1, 0.5));
    }
    pairs
}

pub(super) fn pairs_within_distance(question: &Question, distance: f64) -> Vec<NeighbourPair> {
    let s = question.max_entries_per_report();
    let mut pairs = vec![
        pair_at_distance(question, distance),
        pair_with_empty_input(question, s, 0.0),
    ];
    let more = oversized_input_entry_count(question);
    let fractions = accepts_fractions(question);
    if fractions {
        // The factor keeps the total change below the distance in spite of rounding errors.
        let half = 0.5 * distance / f64::from(more) * (1.0 - 1e-9);
        let value = half.min(1.0);
        pairs.push(NeighbourPair::new(
            [
                format!("{more} items, all {value:.4}"),
                format!("the same items, all -{value:.4}"),
            ],
            [value, -value].map(|value| entries_with_equal_value(question, more, value)),
        ));
    }
    let down = distance.min(2.0);
    let down = if fractions { down } else { down.floor() };
    if down > 0.0 {
        let others = entries_with_cycling_values(question, more);
        pairs.push(pair_differing_in_first_entry(
            &others,
            [1.0, 1.0 - down],
            "of every value",
        ));
    }
    pairs
}

/// Returns a pair of inputs whose values differ by `distance` in total, or by as much as the items
/// allow if that is less.
fn pair_at_distance(question: &Question, distance: f64) -> NeighbourPair {
    let there = question.items().item_count().unwrap_or(u32::MAX);
    // The number of entries that change from 1 to −1. It is at most 2¹⁰, because the distance is at
    // most 2¹¹.
    let flipped = ((distance / 2.0) as u32).min(there);
    let mut inputs = [1.0, -1.0].map(|value| entries_with_equal_value(question, flipped, value));
    if flipped < there {
        let rest = match question.coded_value_kind() {
            ValueKind::Real => distance - 2.0 * f64::from(flipped),
            ValueKind::Sign | ValueKind::Presence => (distance - 2.0 * f64::from(flipped)).floor(),
        };
        let last = item_at_index(question, flipped);
        for (input, value) in inputs.iter_mut().zip([1.0, 1.0 - rest]) {
            input.push(Entry { item: last, value });
        }
    }
    NeighbourPair::new(
        [
            format!("{} items, all 1", inputs[0].len()),
            format!("the same items, all in all {distance} less"),
        ],
        inputs,
    )
}

/// Returns the item at `index`. For a closed question, the item is `index` itself. For an open
/// question, it is the key of the text that spells `index`.
fn item_at_index(question: &Question, index: u32) -> u64 {
    match question.items().item_count() {
        Some(_) => u64::from(index),
        None => item_name_hash(&index.to_string()),
    }
}
