//! Tests of permanent answers over several windows: one draw is counted repeatedly, and error bars
//! are too narrow by the stated factor at most.

use crate::support::crowd::{all, collect, crowd, task, truth};
use hushbin::Task;
use hushbin_analysis::estimate::{Estimand, EstimateOptions, Query, Totals, estimates};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::json;
use statrs::distribution::{Binomial, DiscreteCDF};

const WINDOWS: u32 = 9;
const PEOPLE: usize = 400;
const ROUNDS: u64 = 1000;
const CONFIDENCE: f64 = 0.95;
const SIGNIFICANCE: f64 = 1e-7;

fn with_answers(answers: &str) -> Task {
    let fresh = task("sign", &json!(8), &json!({ "name": "collision" }));
    let mut task = serde_json::to_value(fresh).unwrap();
    task["budget"] = json!({ "days": 7, "answers": answers });
    serde_json::from_value(task).unwrap()
}

/// Returns the numbers of rounds in which 95 per cent intervals of a mean cover the truth, and in
/// which intervals √k times as wide do.
///
/// `once` people report in one window only, the rest in all windows.
fn covered(once: usize) -> [u64; 2] {
    let task = with_answers("permanent");
    let query = Query::new(&task, &EstimateOptions::default()).unwrap();
    let people = crowd(&task, PEOPLE, 1);
    let (single, steady) = people.split_at(once);
    let counted: Vec<_> = single
        .iter()
        .chain((0..WINDOWS).flat_map(|_| steady))
        .cloned()
        .collect();
    let truth = truth(&task, &counted, Estimand::Mean)[0];
    let mut rng = ChaCha20Rng::seed_from_u64(once as u64);
    let mut covered = [0; 2];
    for _ in 0..ROUNDS {
        let mut totals: Totals = collect(&task, single, &mut rng);
        let drawn = collect(&task, steady, &mut rng);
        (0..WINDOWS).for_each(|_| totals.merge(&drawn));
        let found = &estimates(&task, &totals, &query).estimates[0];
        let (_, mean) = found.estimates().next().unwrap();
        for (covered, width) in covered.iter_mut().zip([1.0, f64::from(WINDOWS).sqrt()]) {
            let [low, high] = mean
                .interval
                .map(|end| mean.estimate + width * (end - mean.estimate));
            *covered += u64::from(low <= truth && truth <= high);
        }
    }
    covered
}

#[test]
fn error_bars_are_too_narrow_by_the_root_of_the_windows_at_most() {
    // A right implementation would miss each with probability at most 10⁻⁷.
    let law = |confidence| Binomial::new(confidence, ROUNDS).unwrap();
    let found = [0, PEOPLE / 2, PEOPLE * 9 / 10].map(|once| (once, covered(once)));
    for (once, [stated, wide]) in found {
        let chance = law(CONFIDENCE).cdf(wide);
        assert!(chance > SIGNIFICANCE, "{once} once: {wide} of {ROUNDS}");
        let chance = law(CONFIDENCE).cdf(stated);
        assert!(chance < SIGNIFICANCE, "{once} once: {stated} of {ROUNDS}");
    }
    // If all people report in each window, the factor √k is necessary: intervals 0.8 times that
    // wide would cover in 88 of 100.
    let (_, [stated, wide]) = found[0];
    assert!(law(0.6).sf(stated) > SIGNIFICANCE, "{stated}");
    assert!(law(0.98).sf(wide) > SIGNIFICANCE, "{wide}");
}

#[test]
fn that_is_said_of_permanent_answers_alone() {
    for (answers, expected) in [("fresh", false), ("permanent", true)] {
        let task = with_answers(answers);
        let query = Query::new(&task, &EstimateOptions::default()).unwrap();
        let answer = estimates(&task, &Totals::for_items(&task, 0, &all(&task)), &query);
        assert_eq!(answer.repeats.is_some(), expected);
        let words = answer.repeats.unwrap_or_default();
        assert_eq!(
            words.contains("in each window of 7 days"),
            expected,
            "{words}"
        );
    }
}
