//! Tests of counted questions whose messages are missing: invalid, repeated, blank or moved ones, and
//! batches that came in part.

use hushbin::sums::{Message, SumRandomizer, SumTask};
use hushbin_analysis::sums::{SumEstimates, SumTotals};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::estimates::batch;
use super::questions::{choice, estimates, task};

const PEOPLE: u64 = 3000;

/// Number of people who send something else than their answers.
const DISHONEST: u64 = 700;

/// Questions, and the answer of each person.
type Kind = (Value, fn(u64) -> Vec<f64>);

/// Questions of every kind.
fn kinds() -> [Kind; 4] {
    let flag = |name: &str| json!({ "name": name, "kind": "flag" });
    [
        (choice(9), |person| vec![(person % 7) as f64]),
        (
            json!([{ "name": "used", "kind": "set", "options": 9, "sparsity": 2 }]),
            |person| vec![(person % 4) as f64, (4 + person % 3) as f64],
        ),
        (json!([flag("a"), flag("b"), flag("c")]), |person| {
            [person % 2, u64::from(person > 2900), 0]
                .map(|yes| yes as f64)
                .to_vec()
        }),
        (
            json!([{ "name": "age", "kind": "number", "min": 0, "max": 40, "bins": 40 }]),
            |person| vec![(person % 41) as f64],
        ),
    ]
}

/// Returns the number of people behind each item.
fn truth(questions: &Value, answers: &[Vec<f64>], items: usize) -> Vec<f64> {
    let is_in = |item: usize, answer: &Vec<f64>| match questions[0]["kind"].as_str() {
        Some("flag") => answer[item] == 1.0,
        // The last bin includes its upper edge.
        Some("number") => answer[0].min(39.0) == item as f64,
        _ => answer.contains(&(item as f64)),
    };
    let people = |item| answers.iter().filter(|own| is_in(item, own)).count() as f64;
    (0..items).map(people).collect()
}

/// Checks that intervals cover the truth in batches that `change` has changed, and that as many
/// messages are missing as it returns.
fn check_coverage(
    seed: u64,
    (questions, answer): &Kind,
    change: impl Fn(&SumTask, &mut SumTotals) -> u64,
) {
    let task = task(questions, PEOPLE);
    let answers: Vec<Vec<f64>> = (0..PEOPLE).map(answer).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let (mut all, mut each, mut intervals) = (0, 0, 0);
    for _ in 0..100 {
        let mut totals = batch(&task, &answers, &mut rng);
        assert_eq!(estimates(&task, &totals).missing_messages, 0);
        let missing = change(&task, &mut totals);
        let found = estimates(&task, &totals);
        assert_eq!(found.missing_messages, missing, "{questions}");
        let truth = truth(questions, &answers, found.estimates.len());
        let (mut single, mut together) = (0, 0);
        for (own, truth) in found.estimates.iter().zip(&truth) {
            let covers = |[low, high]: [f64; 2]| low <= *truth && *truth <= high;
            single += u32::from(covers(own.sum.interval));
            together += u32::from(covers(own.sum.simultaneous_interval));
            let [low, high] = own.sum.interval;
            assert!(low <= own.sum.estimate && own.sum.estimate <= high);
        }
        let items = truth.len() as u32;
        (each, intervals) = (each + single, intervals + items);
        all += u32::from(together == items);
    }
    // All of a batch are covered with a probability of 95 per cent, so that fewer than 88 are with
    // one of 0.2 per cent.
    let least = 0.93 * f64::from(intervals);
    assert!(
        all >= 88 && f64::from(each) >= least,
        "{questions}: {all}, {each} of {intervals}"
    );
}

/// Returns the number of own messages of all dishonest people.
fn own_messages(task: &SumTask) -> u64 {
    DISHONEST * u64::from(*task.message_count_range().start())
}

/// Messages that cannot be opened, or that repeat others, are left out and known.
#[test]
fn left_out_messages_are_covered() {
    for (seed, kind) in (0..).zip(&kinds()) {
        check_coverage(seed, kind, |task, totals| {
            totals.add_people(DISHONEST);
            totals.add_left_out_messages(own_messages(task));
            own_messages(task)
        });
    }
}

#[test]
fn blank_messages_are_covered() {
    for (seed, kind) in (10..).zip(&kinds()) {
        check_coverage(seed, kind, |task, totals| {
            totals.add_people(DISHONEST);
            (0..own_messages(task)).for_each(|_| totals.add_message(Message::Blank));
            own_messages(task)
        });
    }
}

/// All own messages of some people are about the last flag or the last level. The remaining flags or
/// levels lack them.
#[test]
fn moved_messages_are_covered() {
    for (seed, kind) in (20..).zip(&kinds()[2..]) {
        check_coverage(seed, kind, |task, totals| {
            let questions = task.summed_quantity().counted_questions().unwrap();
            let groups = questions.cell_groups();
            let counts = totals.cell_counts().to_vec();
            totals.add_people(DISHONEST);
            let (last, cells) = (groups[groups.len() - 1].cells, questions.cell_count());
            for message in 0..own_messages(task) {
                let cell = cells - last + (message % u64::from(last)) as u32;
                totals.add_message(Message::Cell(cell));
            }
            let mut begin = 0;
            let lacking = groups[..groups.len() - 1].iter().map(|group| {
                let end = begin + group.cells as usize;
                let messages: u64 = counts[begin..end].iter().sum();
                begin = end;
                (PEOPLE + DISHONEST).saturating_sub(messages)
            });
            let lacking = lacking.sum();
            assert!(lacking > 0);
            lacking
        });
    }
}

/// Estimates of half a batch are near the truth. Nothing is missing of both halves together.
#[test]
fn halves_of_a_batch_have_estimates() {
    let flags = ["a", "b"].map(|name| json!({ "name": name, "kind": "flag" }));
    let yes: fn(u64) -> Vec<f64> = |person| {
        [2, 5]
            .map(|flag| u64::from(person % 8 < flag) as f64)
            .to_vec()
    };
    let [one, set, _, number] = kinds();
    let mut missing = 0;
    for ((questions, answer), people) in [
        (one, 20_000),
        (set, 20_000),
        ((json!(flags), yes), 60_000),
        (number, 20_000),
    ] {
        let task = task(&questions, people);
        let answers: Vec<Vec<f64>> = (0..people).map(answer).collect();
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let (mut randomizer, mut messages, mut all) =
            (SumRandomizer::new(&task), Vec::new(), Vec::new());
        for answer in &answers {
            randomizer
                .randomize(answer, &mut rng, &mut messages)
                .unwrap();
            all.extend_from_slice(&messages);
        }
        let mut halves = [0; 2].map(|_| SumTotals::new(&task));
        // Sealed messages are sorted by random bytes.
        for number in 0..all.len() {
            let other = number + rng.next_u64() as usize % (all.len() - number);
            all.swap(number, other);
            halves[number * 2 / all.len()].add_message(all[number]);
        }
        halves
            .iter_mut()
            .for_each(|half| half.add_people(people / 2));
        let [first, second] = &halves;
        for half in &halves {
            let found = estimates(&task, half);
            let truth = truth(&questions, &answers, found.estimates.len());
            for (own, truth) in found.estimates.iter().zip(truth) {
                let far = (own.mean.estimate - truth / people as f64).abs();
                assert!(far < 0.03, "{questions}: {own:?}, {truth}");
            }
            missing += found.missing_messages;
        }
        let mut whole = first.clone();
        whole.merge(second);
        let whole: SumEstimates = estimates(&task, &whole);
        assert_eq!(whole.missing_messages, 0);
    }
    // A flag has more messages in one half, and fewer than people in the other one.
    assert!(missing > 0);
}
