//! Tests of the distances from the bound that the book states.

use hushbin::choose::Objective;
use hushbin::{Question, TaskDraft};
use hushbin_analysis::mechanism_optimality::{distance_from_best, least_variance};
use hushbin_analysis::plan::{Survey, plan_survey};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../www/docs/src/math/subset.md");

/// Returns the cells of the page's rows whose first cell is one of these.
fn rows(first: &'static [&'static str]) -> Vec<Vec<&'static str>> {
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    let rows = PAGE
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(cells);
    rows.filter(|row: &Vec<&str>| first.contains(&row[0]))
        .collect()
}

fn resolved(mut file: Value, epsilon: f64) -> Question {
    file["id"] = json!("t");
    file["epsilon"] = json!(epsilon);
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap().questions()[0].clone()
}

fn ratings(items: u32, sparsity: u32, epsilon: f64, objective: &str) -> Question {
    let mechanism = json!({ "name": "auto", "objective": objective });
    let file = json!({
        "items": items, "sparsity": sparsity, "value": "sign", "mechanism": mechanism,
    });
    resolved(file, epsilon)
}

fn set(options: u32, sparsity: u32, epsilon: f64) -> Question {
    let set = json!({ "name": "q", "kind": "set", "options": options, "sparsity": sparsity });
    resolved(json!({ "questions": [set] }), epsilon)
}

fn times_bound(question: &Question, objective: &Objective) -> f64 {
    let epsilon = question.epsilon();
    let found = distance_from_best(&question.domain(), question.mechanism(), epsilon, objective);
    found.unwrap().times_bound
}

/// Returns the variance in sum over items.
fn total(question: &Question, objective: &Objective) -> f64 {
    let domain = question.domain();
    let least = least_variance(&domain, question.epsilon(), objective).unwrap();
    let items = f64::from(domain.item_count().unwrap());
    times_bound(question, objective) * least.variance * items
}

/// Returns the question and the objective of a row of the table.
fn asked(words: &str, items: u32, sparsity: u32, epsilon: f64) -> (Question, Objective) {
    match words {
        "means of ratings" => {
            let question = ratings(items, sparsity, epsilon, "mean");
            (question, Objective::MEAN_ONLY)
        }
        "frequencies of ratings" => {
            let question = ratings(items, sparsity, epsilon, "frequency");
            (question, Objective::FREQUENCY_ONLY)
        }
        _ => (set(items, sparsity, epsilon), Objective::FREQUENCY_ONLY),
    }
}

const ESTIMATED: [&str; 3] = [
    "means of ratings",
    "frequencies of ratings",
    "shares of a set",
];

#[test]
fn the_table_of_distances_is_what_is_found() {
    let table = rows(&ESTIMATED);
    assert_eq!(table.len(), 20);
    let mut wrong = Vec::new();
    for row in &table {
        let [items, sparsity] = [1, 2].map(|cell| row[cell].parse().unwrap());
        for (cell, epsilon) in row[3..].iter().zip([0.25, 0.5, 1.0, 2.0, 4.0]) {
            let (question, objective) = asked(row[0], items, sparsity, epsilon);
            let found = format!("{:.2}", times_bound(&question, &objective));
            if *cell != found {
                wrong.push(format!("{}, {epsilon}: {found}", row.join(" | ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every row above 1.08 up to ε = 2 is in the table.
#[test]
fn other_rows_are_within_8_per_cent() {
    let table = rows(&ESTIMATED);
    for words in ESTIMATED {
        for items in [8, 16, 32, 64, 256, 1024] {
            for sparsity in [1, 2, 4, 8] {
                let here = |row: &&Vec<&str>| {
                    row[0] == words && row[1] == items.to_string() && row[2] == sparsity.to_string()
                };
                let as_256 = (words, sparsity) == (ESTIMATED[0], 2) && [32, 64].contains(&items);
                let everything = words == ESTIMATED[2] && items == sparsity;
                if table.iter().any(|row| here(&row)) || as_256 || everything {
                    continue;
                }
                for epsilon in [0.25, 0.5, 1.0, 2.0] {
                    let (question, objective) = asked(words, items, sparsity, epsilon);
                    let found = times_bound(&question, &objective);
                    assert!(
                        found <= 1.08,
                        "{words}, {items}, {sparsity}, {epsilon}: {found}"
                    );
                }
            }
        }
    }
}

/// Returns the least sum of variances for people with exactly two of four items, by all sets of
/// inputs.
fn least_of_four_items(epsilon: f64) -> f64 {
    let mut inputs: Vec<[i32; 4]> = Vec::new();
    for first in 0..4 {
        for second in first + 1..4 {
            for signs in [[1, 1], [1, -1], [-1, 1], [-1, -1]] {
                let mut input = [0; 4];
                (input[first], input[second]) = (signs[0], signs[1]);
                inputs.push(input);
            }
        }
    }
    let (all, excess) = (inputs.len() as f64, epsilon.exp_m1());
    let (mut sums, mut inside, mut most) = ([0_i32; 4], 0_i32, 0.0_f64);
    // Gray code: one input enters or leaves at a time.
    for step in 1_u32..1 << inputs.len() {
        let index = step.trailing_zeros();
        let comes = 2 * ((step ^ (step >> 1)) >> index & 1) as i32 - 1;
        inside += comes;
        for (sum, value) in sums.iter_mut().zip(inputs[index as usize]) {
            *sum += comes * value;
        }
        let square: i32 = sums.iter().map(|sum| sum * sum).sum();
        let told = excess / (all + excess * f64::from(inside));
        most = most.max(told * told * f64::from(square));
    }
    4.0 / most - 2.0
}

#[test]
fn the_best_of_tiny_domains_is_as_stated() {
    let table = rows(&[
        "means, 4 items, exactly 2",
        "set of 4, at most 2",
        "set of 5, at most 2",
    ]);
    assert_eq!(table.len(), 6);
    for row in table {
        let epsilon: f64 = row[1].parse().unwrap();
        let best: f64 = row[2].parse().unwrap();
        let ours = match row[0] {
            "means, 4 items, exactly 2" => {
                let found = least_of_four_items(epsilon);
                assert_eq!(row[2], format!("{found:.1}"), "{row:?}");
                total(&ratings(4, 2, epsilon, "mean"), &Objective::MEAN_ONLY)
            }
            // The best variance is checked in the tests of the bound itself.
            words => {
                let options = if words.starts_with("set of 4") { 4 } else { 5 };
                total(&set(options, 2, epsilon), &Objective::FREQUENCY_ONLY)
            }
        };
        let digits = if ours < 100.0 { 2 } else { 1 };
        assert_eq!(row[3], format!("{ours:.digits$}"), "{row:?}");
        assert_eq!(row[4], format!("{:.2}", ours / best), "{row:?}");
    }
}

/// Flags instead of a set with half of the options.
#[test]
fn flags_take_fewer_people_than_a_large_set() {
    for (epsilon, before, after) in [(1.0, 358.0, 300.0), (0.25, 5688.0, 4139.0)] {
        let found = total(&set(16, 8, epsilon), &Objective::FREQUENCY_ONLY);
        assert_eq!(found.round(), before);
        let flags: Vec<Value> = (0..16)
            .map(|index| json!({ "name": format!("f{index}"), "kind": "flag" }))
            .collect();
        let people = 1_000_000;
        let asked = json!({ "questions": flags, "people": people, "epsilon": epsilon });
        let asked: Survey = serde_json::from_value(asked).unwrap();
        let error = plan_survey(&asked).unwrap().questions[0].standard_error;
        let found = 16.0 * error * error * f64::from(people);
        assert_eq!(found.round(), after);
        let row = format!(
            "| 16 flags instead | set, 16, $`s = 8`$, $`\\varepsilon = {epsilon}`$ | {before} | {after} |"
        );
        assert!(PAGE.contains(&row), "{row}");
    }
}
