//! Tests of reports from memos over several windows: the windows share the noise of the memos, and
//! error bars are too narrow by the stated factor at most.

use hushbin::upload::upload_header;
use hushbin::{Randomizer, Task, TaskDraft, Upload, UploadId};
use hushbin_analysis::accounting::MemoisedAnswers;
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use statrs::distribution::{Binomial, DiscreteCDF};

const WINDOWS: u32 = 9;
const PEOPLE: usize = 400;
const ROUNDS: u64 = 1000;
const CONFIDENCE: f64 = 0.95;
const SIGNIFICANCE: f64 = 1e-7;

fn task(budget: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "theme", "epsilon": 1.0, "budget": budget,
        "questions": [{ "name": "theme", "kind": "choice", "options": ["a", "b", "c", "d"] }],
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

fn memo_task() -> Task {
    task(&json!({ "days": 7, "memo": { "epsilon": 2.0, "days": 365 } }))
}

/// Returns totals of one round. Everyone draws a memo. The first `once` people report in one window
/// only, the rest in all windows. Every fourth person has the first option.
fn collect(task: &Task, once: usize, rng: &mut ChaCha20Rng) -> Totals {
    let mut randomizer = Randomizer::new(task);
    let (mut bytes, mut count) = (Vec::new(), 0);
    for person in 0..PEOPLE {
        let option = if person % 4 == 0 {
            0
        } else {
            1 + person as u32 % 3
        };
        let memo = randomizer.draw_memo(option, rng).unwrap();
        for _ in 0..if person < once { 1 } else { WINDOWS } {
            randomizer
                .encode_report_from_memo(memo, rng, &mut bytes)
                .unwrap();
            count += 1;
        }
    }
    let upload = [
        upload_header(UploadId([0; 16]), &task.fingerprint(), count),
        bytes,
    ]
    .concat();
    let mut totals = Totals::for_items(task, 0, &[0]);
    for report in &Upload::decode(&upload, task).unwrap().reports {
        totals.add_report(report);
    }
    totals
}

/// Returns the numbers of rounds in which 95 per cent intervals of a share cover the truth, and in
/// which intervals do that are wider by the stated factor.
fn covered(once: usize) -> [u64; 2] {
    let task = memo_task();
    let items = EstimateOptions {
        item_names: Some(vec!["a".into()]),
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(&task, &items).unwrap();
    let share = MemoisedAnswers::for_task(&task)
        .unwrap()
        .memo_share_of_variance();
    let stated = (1.0 + share * f64::from(WINDOWS - 1)).sqrt();
    // The number of people is a multiple of 4, and so is `once`.
    let truth = 0.25;
    let mut rng = ChaCha20Rng::seed_from_u64(once as u64);
    let mut covered = [0; 2];
    for _ in 0..ROUNDS {
        let totals = collect(&task, once, &mut rng);
        let found = &estimates_for_query(&task, &totals, &query).estimates[0];
        let (_, own) = found.estimates().next().unwrap();
        for (covered, width) in covered.iter_mut().zip([1.0, stated]) {
            let [low, high] = own
                .interval
                .map(|end| own.estimate + width * (end - own.estimate));
            *covered += u64::from(low <= truth && truth <= high);
        }
    }
    covered
}

#[test]
fn error_bars_are_too_narrow_by_the_stated_factor_at_most() {
    // A right implementation would miss each with probability at most 10⁻⁷.
    let law = |confidence| Binomial::new(confidence, ROUNDS).unwrap();
    for once in [0, PEOPLE / 2] {
        let [stated, wide] = covered(once);
        let chance = law(CONFIDENCE).cdf(wide);
        assert!(chance > SIGNIFICANCE, "{once} once: {wide} of {ROUNDS}");
        let chance = law(CONFIDENCE).cdf(stated);
        assert!(chance < SIGNIFICANCE, "{once} once: {stated} of {ROUNDS}");
        // The factor is not much larger than needed.
        assert!(
            law(0.99).sf(wide) > SIGNIFICANCE,
            "{once} once: {wide} of {ROUNDS}"
        );
    }
}

#[test]
fn that_is_said_of_memos_alone() {
    for (task, expected) in [(task(&json!({ "days": 7 })), false), (memo_task(), true)] {
        let query = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
        let totals = Totals::for_items(&task, 0, &[0, 1, 2, 3]);
        let answer = estimates_for_query(&task, &totals, &query);
        let words = answer.memo_warning.unwrap_or_default();
        assert_eq!(
            words.contains("within one window of 7 days"),
            expected,
            "{words}"
        );
    }
}
