//! Crosses: what a report reveals about both parts, and leaks about one part that are caught.

use hushbin::hash::{BalancedHash, HashKeys};
use hushbin::mechanism::BucketReport;
use hushbin::{Entry, Report, Task, TaskDraft};
use hushbin_analysis::audit::{AuditVerdict, audit_report_task};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use serde_json::json;

use super::seeds::{Suits, suited};
use super::{CONFIDENCE, TrialPlan, assert_leaks, honest, measured, pick, rng};

const ROWS: u32 = 3;
const COLUMNS: u32 = 4;

/// Three rows by four options, or by a number with four levels. Each cell has its own bucket.
fn task(epsilon: f64, by_number: bool) -> Task {
    let columns = if by_number {
        json!({ "name": "load", "kind": "number", "min": 0, "max": 3, "levels": COLUMNS })
    } else {
        json!({ "name": "load", "kind": "choice", "options": COLUMNS })
    };
    let rows = json!({ "name": "plan", "kind": "choice", "options": ROWS });
    let file = json!({ "id": "crosses", "epsilon": epsilon, "questions": [{
        "name": "q", "kind": "cross", "of": [rows, columns],
        "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "balanced", "buckets": 12 },
    }] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns whether an answer is in the row of a cell, and in its column.
fn shares_part(input: &[Entry], cell: u32) -> [bool; 2] {
    let [row, column] = [cell / COLUMNS, cell % COLUMNS];
    [
        input[0].item == u64::from(row),
        input[0].value == f64::from(column),
    ]
}

#[test]
fn crosses_keep_within_their_budget() {
    for (epsilon, by_number) in [(0.5, false), (2.0, false), (1.0, true), (3.0, true)] {
        let task = task(epsilon, by_number);
        let plan = TrialPlan::new(&task, Some(20_000), CONFIDENCE).unwrap();
        let found = audit_report_task(&task, &plan, &mut rng(2), |_, _| {});
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
        assert!(found.measured.lower_bound > 0.7 * epsilon, "{found:?}");
    }
}

/// Draws a bucket of a cell. A cell that shares a part with the answer is more likely by that
/// part's factor in `likelier`.
fn favouring(likelier: [f64; 2], mut words: ChaCha20Rng) -> impl FnMut(&[Entry]) -> Report {
    let hash = BalancedHash::new(ROWS * COLUMNS, ROWS * COLUMNS);
    move |input| {
        let seed = words.next_u64();
        let mut law = vec![0.0; (ROWS * COLUMNS) as usize];
        for cell in 0..ROWS * COLUMNS {
            let shared = shares_part(input, cell).into_iter().zip(likelier);
            let weight = shared
                .filter(|(shared, _)| *shared)
                .map(|(_, weight)| weight);
            law[hash.bucket_of_slot(&HashKeys::new(seed), cell) as usize] = weight.product();
        }
        let all: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= all);
        let bucket = pick(&law, words.next_u64());
        Report::Collision(BucketReport { seed, bucket })
    }
}

/// Any split of ε over both parts is no leak. More than ε on one part is a leak, even if the report
/// reveals nothing about the other part.
#[test]
fn more_than_is_asked_for_on_one_part_is_caught() {
    for by_number in [false, true] {
        let task = task(1.0, by_number);
        for of_row in [0.0, 0.5, 1.0] {
            let likelier = [of_row, 1.0 - of_row].map(f64::exp);
            let found = measured(&task, 20_000, favouring(likelier, rng(3)));
            assert!(found.lower_bound <= 1.0, "{of_row}: {found:?}");
        }
        for likelier in [[1.4, 0.0], [0.0, 1.4]].map(|spent| spent.map(f64::exp)) {
            let found = measured(&task, 20_000, favouring(likelier, rng(4)));
            assert_leaks(&task, &found);
        }
    }
}

/// Seeds that depend on one part only. The bucket under each seed is honest.
#[test]
fn seeds_that_follow_one_part_are_caught() {
    let task = task(1.0, false);
    let row = |seed: u64, input: &[Entry]| seed.is_multiple_of(2) == (input[0].item == 0);
    let column = |seed: u64, input: &[Entry]| seed.is_multiple_of(2) == (input[0].value == 0.0);
    for suits in [&row as Suits<'_>, &column] {
        assert_leaks(&task, &measured(&task, 20_000, suited(&task, 1, suits)));
    }
}

/// Thresholds of a larger ε if the answer is in one column, and only then.
#[test]
fn larger_epsilon_in_one_column_is_caught() {
    for by_number in [false, true] {
        let task = task(1.0, by_number);
        let larger = self::task(2.5, by_number);
        let (mut plain, mut leaky) = (honest(&task, rng(5)), honest(&larger, rng(6)));
        let either = |input: &[Entry]| match input[0].value {
            0.0 => leaky(input),
            _ => plain(input),
        };
        assert_leaks(&task, &measured(&task, 20_000, either));
    }
}
