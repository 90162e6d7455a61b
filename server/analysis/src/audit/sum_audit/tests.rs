//! Audits of counted questions: of the core's randomizer, and of people who leak.

use crate::sums::resolve_sum_draft;
use hushbin::sample::{draw_below, draw_with_probability};
use hushbin::sums::{MessageParameters, NoiseLottery, SumTaskDraft};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use super::*;

/// Tasks of all kinds. With a large δ and few people, a batch shows nearly the whole loss.
fn tasks() -> Vec<SumTask> {
    let choice = |options: u32| json!([{ "kind": "choice", "name": "q", "options": options }]);
    let flags = ["a", "b"].map(|name| json!({ "kind": "flag", "name": name }));
    let number = |bins: u32| {
        let (min, max) = (-1.5, 1.0);
        json!([{ "kind": "number", "name": "q", "min": min, "max": max, "bins": bins }])
    };
    let set = json!([{ "kind": "set", "name": "q", "options": 6, "sparsity": 2 }]);
    [
        choice(2),
        choice(16),
        set,
        json!(flags),
        number(4),
        number(32),
    ]
    .iter()
    .map(task)
    .collect()
}

fn task(questions: &Value) -> SumTask {
    let draft = json!({
        "id": "t", "trust": "shuffler", "epsilon": 1.0, "delta": 0.01, "people": 40,
        "questions": questions,
    });
    let draft: SumTaskDraft = serde_json::from_value(draft).unwrap();
    resolve_sum_draft(&draft).unwrap()
}

fn audit(
    task: &SumTask,
    trials: u64,
    send: impl FnMut(&[f64], &mut ChaCha20Rng, &mut Vec<Message>),
) -> SumAuditResult {
    let plan = TrialPlan::for_sums(task, Some(trials), 0.999).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    audit_batches(task, &plan, &mut rng, send, |_, _| {}).unwrap()
}

/// Sender of an answer's messages whose noise is drawn by `noise`. Its arguments are the number of
/// this person, the own cells, the number of cells, and a generator.
fn sender(
    task: &SumTask,
    noise: impl Fn(u64, &[u32], u32, &mut ChaCha20Rng) -> Option<u32>,
) -> impl FnMut(&[f64], &mut ChaCha20Rng, &mut Vec<Message>) {
    let questions = task.summed_quantity().counted_questions().unwrap().clone();
    let MessageParameters::Lottery(lottery) = *task.message_parameters() else {
        unreachable!("questions have a lottery");
    };
    let mut person = 0;
    move |answer, rng, messages| {
        let own = questions.cells_of_answer(answer).unwrap();
        messages.clear();
        messages.extend(own.iter().map(|cell| Message::Cell(*cell)));
        for _ in 0..lottery.draws() {
            if draw_with_probability(rng, lottery.probability()) {
                let cell = noise(person, &own, questions.cell_count(), rng);
                messages.extend(cell.map(Message::Cell));
            }
        }
        person += 1;
    }
}

#[test]
fn the_core_keeps_its_promise_and_nearly_spends_it() {
    for task in tasks() {
        let plan = TrialPlan::for_sums(&task, Some(20_000), 0.999).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let mut calls = Vec::new();
        let found = audit_sums(&task, &plan, &mut rng, |done, all| calls.push([done, all]));
        let found = found.unwrap();
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
        let measured = found.empirical_lower_bound;
        assert!((0.4..=1.0).contains(&measured), "{task:?}: {found:?}");
        assert!(measured <= found.accounted.upper);
        assert_eq!(calls.last(), Some(&[40_000, 40_000]));
        // The senders of the other tests do the same, unless they leak.
        let same = audit(
            &task,
            20_000,
            sender(&task, |_, _, cells, rng| Some(draw_below(rng, cells))),
        );
        assert_eq!(same.verdict, AuditVerdict::WithinBudget, "{same:?}");
    }
}

#[test]
fn half_the_noise_is_found() {
    for task in tasks() {
        let MessageParameters::Lottery(own) = *task.message_parameters() else {
            unreachable!("questions have a lottery");
        };
        let half = NoiseLottery::new(own.draws(), own.threshold() / 2, true).unwrap();
        let other = SumTask::new(task.task_fields().clone(), half).unwrap();
        let mut randomizer = SumRandomizer::new(&other);
        let found = audit(&task, 60_000, |answer, rng, messages| {
            randomizer.randomize(answer, rng, messages).unwrap();
        });
        assert_eq!(found.verdict, AuditVerdict::ExceedsBudget, "{found:?}");
    }
}

/// Three of four people leave the noise out.
#[test]
fn people_without_noise_are_found() {
    for task in tasks() {
        let noise = |person: u64, _: &[u32], cells: u32, rng: &mut ChaCha20Rng| {
            person.is_multiple_of(4).then(|| draw_below(rng, cells))
        };
        let found = audit(&task, 20_000, sender(&task, noise));
        assert_eq!(found.verdict, AuditVerdict::ExceedsBudget, "{found:?}");
    }
}

/// Noise is uniform, but the last cell never has any: a bin, an option, a padding or an answer yes.
#[test]
fn a_cell_without_noise_is_found() {
    for task in tasks() {
        let noise =
            |_, _: &[u32], cells: u32, rng: &mut ChaCha20Rng| Some(draw_below(rng, cells - 1));
        let found = audit(&task, 20_000, sender(&task, noise));
        assert_eq!(found.verdict, AuditVerdict::ExceedsBudget, "{found:?}");
    }
}

#[test]
fn noise_that_avoids_or_prefers_the_own_answer_is_found() {
    for task in tasks() {
        let avoids = |_, own: &[u32], cells: u32, rng: &mut ChaCha20Rng| loop {
            let cell = draw_below(rng, cells);
            if !own.contains(&cell) {
                return Some(cell);
            }
        };
        let found = audit(&task, 20_000, sender(&task, avoids));
        assert_eq!(found.verdict, AuditVerdict::ExceedsBudget, "{found:?}");
        let prefers = |_, own: &[u32], _, rng: &mut ChaCha20Rng| {
            Some(own[draw_below(rng, own.len() as u32) as usize])
        };
        let found = audit(&task, 20_000, sender(&task, prefers));
        assert_eq!(found.verdict, AuditVerdict::ExceedsBudget, "{found:?}");
    }
}

#[test]
fn trials_are_limited() {
    let task = task(&json!([{ "kind": "choice", "name": "q", "options": 3 }]));
    let plan = |trials, confidence| TrialPlan::for_sums(&task, trials, confidence);
    let text = |trials, confidence| plan(trials, confidence).unwrap_err().to_string();
    assert!(text(Some(99), 0.999).contains("trials is 99, expected 100 to 1000000000"));
    assert!(text(None, 1.0).contains("confidence is 1, expected 0.5 to"));
    let default = plan(None, 0.999).unwrap().trials_per_input();
    assert_eq!(default, 100_000);
}
