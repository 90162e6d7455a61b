//! Privacy of a pattern's report by enumeration, and its sampling.

use hushbin::mechanism::pattern::{Pattern, Randomizer};
use hushbin::sample::ExpLowerBound;
use hushbin::{Entry, Report, Task};
use serde_json::json;

use super::patterns;
use crate::support::generators::{randomize, seeded};
use crate::support::significance::assert_rates;

fn task(pattern: &Pattern, cells: u32, epsilon: f64) -> Task {
    let edges: Vec<u32> = (0..=cells).collect();
    let mechanism = json!({
        "name": "pattern", "outputs": pattern.output_count(), "favoured": pattern.favoured_outputs(),
    });
    let question = json!({ "name": "q", "kind": "number", "edges": edges, "mechanism": mechanism });
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

/// Every cell favours c of L outputs with probability p each; each other output has probability q.
/// p ≤ exp(ε)·q in integers. This is tested for patterns, cells and ε of all sizes.
#[test]
fn any_two_cells_are_as_near_as_epsilon_says() {
    let mut tried = 0;
    for own in patterns() {
        let epsilon = [0.05, 0.5, 1.0, 2.0, 5.0][own.output_count() as usize % 5];
        tried += 1;
        let thresholds = own.favoured_output_thresholds(epsilon);
        let (c, others) = (
            own.favoured_outputs().len() as u128,
            own.output_count() as u128 - own.favoured_outputs().len() as u128,
        );
        let inside = u128::from(thresholds.favoured_threshold(1).0);
        // p/q = inside·(L − c)/((2⁶⁴ − inside)·c) is at most exp(ε), rounded down.
        let bound = ExpLowerBound::new(epsilon);
        assert!(
            inside <= u128::from(bound.favoured_probability(c as u64, c as u64, others as u64)),
            "{own:?}"
        );
        assert!(thresholds.effective_epsilon() <= epsilon);
        let randomizer = Randomizer::new(&own, epsilon);
        for cell in 0..own.output_count() {
            let probabilities = randomizer.output_probabilities(cell);
            let favoured =
                (0..own.output_count()).filter(|output| own.cell_favours_output(cell, *output));
            let favoured: Vec<u32> = favoured.collect();
            assert_eq!(favoured.len() as u128, c);
            let [p, q] = thresholds.favoured_and_other_probabilities();
            for (output, probability) in (0..).zip(&probabilities) {
                let expected = if favoured.contains(&output) { p } else { q };
                assert_eq!(*probability, expected, "{own:?}, {cell}, {output}");
            }
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((p / q).ln() <= epsilon + 1e-12, "{own:?}, {epsilon}");
        }
    }
    assert!(tried >= 1000, "{tried}");
}

/// Reports have the stated probabilities, over the whole path from a number to bytes.
#[test]
fn reports_are_drawn_as_is_said() {
    let n = 40_000;
    for (pattern, cells, epsilon) in [
        (Pattern::new(7, [0, 1, 3]).unwrap(), 7, 1.0),
        (Pattern::new(12, [0, 1, 8, 9, 10]).unwrap(), 8, 0.5),
        (Pattern::new(5, [2]).unwrap(), 4, 3.0),
    ] {
        let task = task(&pattern, cells, epsilon);
        let mut randomizer = hushbin::Randomizer::new(&task);
        let mut rng = seeded(17);
        let exact = Randomizer::new(&pattern, epsilon);
        let mut events = Vec::new();
        for cell in [0, cells / 2, cells - 1] {
            let mut counts = vec![0; pattern.output_count() as usize];
            let entry = Entry {
                item: 0,
                value: f64::from(cell) + 0.5,
            };
            for _ in 0..n {
                let made = randomize(&mut randomizer, &[entry], &mut rng).unwrap();
                let Report::Pattern(report) = made.report else {
                    unreachable!()
                };
                counts[report.bucket as usize] += 1;
            }
            let probabilities = exact.output_probabilities(cell);
            for (output, (count, probability)) in counts.into_iter().zip(probabilities).enumerate()
            {
                events.push((format!("{pattern:?}, {cell}, {output}"), count, probability));
            }
        }
        assert_rates(n, &events);
    }
}
