//! The window: its numbers against the reference, its privacy, sampler and choice, and questions
//! for numbers.

mod choice;
mod numbers;
mod privacy;
mod question;
mod sampler;

use hushbin::domain::Domain;
use hushbin::mechanism::window::{Randomizer, Window};
use hushbin::task::{NumberLimits, QuestionFields, QuestionKind};
use hushbin::{Entry, ErrorCode, Items, Question, Task};
use serde_json::Value;

const REFERENCE: &str = include_str!("../../reference/number.json");

fn rows(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    all[key].as_array().unwrap().clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

fn whole(row: &Value, field: &str) -> u32 {
    row[field].as_u64().unwrap() as u32
}

/// A 64-bit number, stored as a string.
fn word(row: &Value, field: &str) -> u64 {
    row[field].as_str().unwrap().parse().unwrap()
}

fn list(row: &Value, field: &str) -> Vec<f64> {
    serde_json::from_value(row[field].clone()).unwrap()
}

fn near(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-3)
}

/// Window of a row, for one number unless the row has the number of drawn ones.
fn window(row: &Value) -> Window {
    let values: Vec<i64> = serde_json::from_value(row["values"].clone()).unwrap();
    let upper = &values[values.len().div_ceil(2)..];
    let upper: Vec<u32> = upper.iter().map(|value| *value as u32).collect();
    let drawn = row["drawn"].as_u64().unwrap_or(1) as u32;
    let own = Window::new(drawn, whole(row, "atoms"), whole(row, "favoured"), upper).unwrap();
    let value = |atom| i64::from(own.atom_value(atom));
    assert!((0..own.atoms_per_attribute()).map(value).eq(values));
    own
}

/// The implementation rounds exp(ε) down by at most a relative 2⁻⁵⁷, so the threshold is lower by
/// that.
fn assert_threshold(ours: u64, row: &Value) {
    let theirs = word(row, "threshold");
    assert!(ours <= theirs && theirs - ours <= 1 << 8, "{row}: {ours}");
}

/// Windows of many sizes with at most `most` cells, and unevenly increasing values.
fn windows(most: u32) -> impl Iterator<Item = Window> {
    let sizes = (1..=12).flat_map(|drawn| (2..=4096_u32).map(move |atoms| (drawn, atoms)));
    let fitting = sizes
        .filter(move |(drawn, atoms)| atoms.checked_pow(*drawn).is_some_and(|cells| cells <= most));
    fitting.flat_map(|(drawn, atoms)| {
        let half = atoms / 2;
        let mut sizes = vec![1, 2, 3, atoms / 4, atoms / 3, half];
        sizes.retain(|favoured| (1..=half).contains(favoured));
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().filter_map(move |favoured| {
            let values: Vec<u32> = (1..=atoms / 2)
                .map(|at| (3 * at + at * at / 4).min(1023))
                .collect();
            Window::new(drawn, atoms, favoured, values.clone()).ok()
        })
    })
}

fn entries(values: &[f64]) -> Vec<Entry> {
    let entry = |(item, &value)| Entry { item, value };
    (0..).zip(values).map(entry).collect()
}

/// Cell of these atoms; the first attribute is the most significant.
fn cell(window: &Window, atoms: &[u32]) -> u32 {
    atoms
        .iter()
        .fold(0, |cell, atom| cell * window.atoms_per_attribute() + atom)
}

/// Atoms of a cell.
fn atoms(window: &Window, cell: u32) -> Vec<u32> {
    let places = (0..window.drawn_attribute_count()).rev();
    let atom =
        |place| cell / window.atoms_per_attribute().pow(place) % window.atoms_per_attribute();
    places.map(atom).collect()
}

/// Number at the position of a level.
fn stands(window: &Window, level: u32) -> f64 {
    f64::from(window.favoured_atom_value_sum(level))
        / f64::from(window.favoured_atom_value_sum(window.level_count() - 1))
}

fn task(attributes: u32, window: Window, epsilon: f64) -> Task {
    let limits = NumberLimits::new(-1.0, 1.0, None).unwrap();
    let names = (0..attributes).map(|index| format!("n{index}")).collect();
    let items = match attributes {
        1 => Items::Count(1),
        _ => Items::Named(names),
    };
    let question = Question::new(QuestionFields {
        name: "all".to_owned(),
        kind: QuestionKind::Numbers(vec![limits; attributes as usize].into()),
        items,
        max_entries_per_report: attributes,
        weight: 1,
        epsilon,
        mechanism: window.into(),
    });
    Task::from_questions("t".to_owned(), vec![question.unwrap()]).unwrap()
}

#[test]
fn rates_are_those_of_the_reference() {
    let mut seen = 0;
    for row in rows("mechanisms") {
        let (own, epsilon) = (window(&row), number(&row, "epsilon"));
        let thresholds = own.thresholds(epsilon);
        assert_threshold(thresholds.favoured_threshold(1).0, &row);
        let effective = number(&row, "effective_epsilon");
        assert!((thresholds.effective_epsilon() - effective).abs() < 1e-9);
        let [favoured, other] = thresholds.favoured_and_other_probabilities();
        assert!(near(favoured, number(&row, "favoured_probability")));
        assert!(near(other, number(&row, "other_probability")));
        let rates = own.estimate_scale_and_variance(&Domain::of_dense_inputs(1), epsilon);
        for (ours, theirs) in rates
            .atom_top_level_ratios
            .iter()
            .zip(list(&row, "estimates"))
        {
            assert!(near(ours * rates.estimate_factor(), theirs), "{row}");
        }
        assert_eq!(rates.level_values.len(), list(&row, "levels").len());
        for (ours, theirs) in rates.level_values.iter().zip(list(&row, "levels")) {
            assert!(near(*ours, theirs), "{row}");
        }
        let squares = list(&row, "second_moments");
        for (level, square) in rates.level_values.iter().zip(squares) {
            assert!(near(rates.estimate_second_moment(*level), square), "{row}");
        }
        assert!(
            near(rates.max_variance(), number(&row, "worst_variance")),
            "{row}"
        );
        assert!(near(
            rates.estimate_variance(number(&row, "worst_x")),
            number(&row, "worst_variance")
        ));
        assert!(
            near(
                rates.uniform_average_variance(),
                number(&row, "average_variance")
            ),
            "{row}"
        );
        let at: Vec<[f64; 2]> = serde_json::from_value(row["variance_at"].clone()).unwrap();
        for [x, variance] in at {
            assert!(near(rates.estimate_variance(x), variance), "{row} at {x}");
        }
        seen += 1;
    }
    assert_eq!(seen, 47);
}

#[test]
fn rates_of_several_numbers_are_those_of_the_reference() {
    let mut seen = 0;
    for row in rows("joint") {
        let (own, epsilon) = (window(&row), number(&row, "epsilon"));
        assert_threshold(own.thresholds(epsilon).favoured_threshold(1).0, &row);
        let rates = own.estimate_scale_and_variance(
            &Domain::of_dense_inputs(whole(&row, "attributes")),
            epsilon,
        );
        let top = f64::from(own.favoured_atom_value_sum(own.level_count() - 1));
        assert!(
            near(
                rates.estimate_factor() / top,
                number(&row, "scale_per_value")
            ),
            "{row}"
        );
        // The reference states the share of reports whose atom is certainly in the window.
        let told = rates.favoured_probability_gap * f64::from(own.favoured_atom_count());
        assert!(near(told, number(&row, "share_that_tells")), "{row}");
        for (level, square) in rates.level_values.iter().zip(list(&row, "second_moments")) {
            assert!(near(rates.estimate_second_moment(*level), square), "{row}");
        }
        assert!(
            near(rates.max_variance(), number(&row, "worst_variance")),
            "{row}"
        );
        seen += 1;
    }
    assert_eq!(seen, 10);
}

/// Mean and variance of one report's estimate, over all cells.
#[test]
fn estimates_are_unbiased_with_the_variance_stated() {
    let mut sets = 0;
    for own in windows(300) {
        let attributes = own.drawn_attribute_count() + sets % 3;
        let domain = Domain::of_dense_inputs(attributes);
        let epsilon = [0.2, 1.0, 3.0, 7.0][sets as usize % 4];
        let rates = own.estimate_scale_and_variance(&domain, epsilon);
        let randomizer = Randomizer::new(&own, &domain, epsilon);
        let seed = u64::from(sets);
        let mut drawn = Vec::new();
        let report = hushbin::mechanism::window::Report { seed, bucket: 0 };
        own.atom_decoder(&domain)
            .for_each_atom(&report, |attribute, _| drawn.push(attribute));
        for value in [-1.0, -0.61, 0.0, 0.37, stands(&own, 0), 1.0] {
            // The other numbers do not matter.
            let mut values = vec![0.4; attributes as usize];
            values[drawn[0] as usize] = value;
            let row = randomizer.cell_probabilities(seed, &entries(&values));
            let (mut mean, mut square) = (0.0, 0.0);
            for (cell, p) in (0..).zip(row) {
                let estimate = rates.estimate_factor()
                    * rates.atom_top_level_ratios[atoms(&own, cell)[0] as usize];
                mean += rates.attribute_reveal_fraction * p * estimate;
                square += rates.attribute_reveal_fraction * p * estimate * estimate;
            }
            let what = format!("{own:?} of {attributes} at {value}, ε = {epsilon}");
            assert!((mean - value).abs() < 1e-9, "{what}: {mean}");
            let variance = rates.estimate_variance(value);
            assert!(
                ((square - value * value) / variance - 1.0).abs() < 1e-9,
                "{what}"
            );
            assert!(variance <= rates.max_variance() * (1.0 + 1e-12), "{what}");
        }
        sets += 1;
    }
    assert!(sets > 1000, "{sets}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (drawn, atoms, favoured, values, code) in [
        (0, 2, 1, &[1][..], ErrorCode::OutOfRange),
        (13, 2, 1, &[1], ErrorCode::OutOfRange),
        (u32::MAX, u32::MAX, 1, &[1], ErrorCode::OutOfRange),
        (1, 1, 1, &[], ErrorCode::OutOfRange),
        (1, 4097, 1, &[1], ErrorCode::OutOfRange),
        (1, 4, 0, &[1, 2], ErrorCode::OutOfRange),
        (1, 4, 3, &[1, 2], ErrorCode::OutOfRange),
        (1, 5, 3, &[1, 2], ErrorCode::OutOfRange),
        // Values that reveal nothing, or are too great.
        (1, 4, 1, &[0, 0], ErrorCode::OutOfRange),
        (1, 2, 1, &[65_536], ErrorCode::OutOfRange),
        (1, 4, 1, &[], ErrorCode::OutOfRange),
        (1, 4, 1, &[1], ErrorCode::InvalidCombination),
        (1, 4, 1, &[1, 2, 3], ErrorCode::InvalidCombination),
        (1, 4, 1, &[2, 1], ErrorCode::InvalidCombination),
        // More than 4096 cells.
        (2, 65, 1, &[1; 32], ErrorCode::InvalidCombination),
        (3, 17, 1, &[1; 8], ErrorCode::InvalidCombination),
    ] {
        let error = Window::new(drawn, atoms, favoured, values).unwrap_err();
        assert_eq!(
            error.code(),
            code,
            "{drawn}, {atoms}, {favoured}, {values:?}: {error}"
        );
    }
    for (drawn, atoms) in [(12, 2), (2, 64), (3, 16), (4, 8), (1, 4096)] {
        let values = vec![1023; (atoms / 2) as usize];
        assert!(Window::new(drawn, atoms, atoms / 2, values.clone()).is_ok());
    }
}
