//! Tests of counted questions: chosen lotteries, and estimates from the messages of the randomizer.

use hushbin::sums::{Message, MessageParameters, SumTask, SumTaskDraft};
use hushbin_analysis::estimate::{Estimate, EstimateOptions};
use hushbin_analysis::sums::{
    SumEstimates, SumInfluence, SumPlan, SumQuery, SumTotals, central_epsilon_bounds,
    resolve_sum_draft,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use super::estimates::batch;

fn draft(questions: &Value, people: u64) -> SumTaskDraft {
    let draft = json!({
        "id": "counts", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": people,
        "questions": questions,
    });
    serde_json::from_value(draft).unwrap()
}

pub(super) fn choice(options: u32) -> Value {
    json!([{ "name": "theme", "kind": "choice", "options": options }])
}

pub(super) fn task(questions: &Value, people: u64) -> SumTask {
    resolve_sum_draft(&draft(questions, people)).unwrap()
}

pub(super) fn estimates(task: &SumTask, totals: &SumTotals) -> SumEstimates {
    let query = SumQuery::new(task, &EstimateOptions::default()).unwrap();
    SumEstimates::new(task, totals, &query).unwrap()
}

#[test]
fn plans_are_those_of_the_accounting() {
    let one = task(&choice(16), 100_000);
    let MessageParameters::Lottery(lottery) = *one.message_parameters() else {
        panic!("a lottery");
    };
    assert_eq!(
        (lottery.draws(), lottery.pads_to_equal_counts()),
        (1, false)
    );
    assert!((lottery.probability() / 0.007_582_587_139 - 1.0).abs() < 1e-9);
    let epsilon = central_epsilon_bounds(&one).unwrap();
    assert!(epsilon.upper <= 1.0 && epsilon.lower > 0.999_999);
    assert_eq!(resolve_sum_draft(&one.clone().into()).as_ref(), Ok(&one));
    let plan = SumPlan::new(one).unwrap();
    assert_eq!(plan.messages, 2);
    assert!((plan.mean_messages - 1.0 - lottery.probability()).abs() < 1e-12);
    assert!((plan.mean_bytes - 34.0 - 53.0 * plan.mean_messages).abs() < 1e-9);
    assert_eq!(plan.bytes, 34 + 2 * 53);
    assert!((plan.noise_messages - lottery.probability()).abs() < 1e-12);
    let [error] = &plan.errors[..] else {
        panic!("{:?}", plan.errors);
    };
    assert!((error.standard_error - 6.67e-5).abs() < 1e-7);
    assert!((error.local_standard_error - 6.57e-3).abs() < 1e-5);
    let [influence] = &plan.influence[..] else {
        panic!("{:?}", plan.influence);
    };
    assert_eq!(
        (influence.honest_change, influence.dishonest_change),
        (1.0, 2.0)
    );
    assert_eq!(influence.dishonest_people, 10_000);
    for (questions, people, messages) in [
        (choice(1000), 100_000, 2),
        (choice(1000), 10_000, 6),
        (
            json!([{ "name": "used", "kind": "set", "options": 40, "sparsity": 3 }]),
            100_000,
            4,
        ),
        (
            json!([{ "name": "a", "kind": "flag" }, { "name": "b", "kind": "flag" }]),
            10_000,
            3,
        ),
        (
            json!([{ "name": "age", "kind": "number", "min": 0, "max": 1, "bins": 1000 }]),
            100_000,
            3,
        ),
    ] {
        let task = task(&questions, people);
        assert!(central_epsilon_bounds(&task).unwrap().upper <= 1.0);
        assert_eq!(
            SumPlan::new(task).unwrap().messages,
            messages,
            "{questions}"
        );
    }
}

#[test]
fn what_cannot_be_hidden_is_refused() {
    let error = resolve_sum_draft(&draft(&choice(1000), 500)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("honest people is 450, expected"),
        "{error}"
    );
    let one = task(&choice(16), 100_000);
    let change = |messages: Value| {
        let mut draft = serde_json::to_value(&one).unwrap();
        draft["messages"] = messages;
        let draft: SumTaskDraft = serde_json::from_value(draft).unwrap();
        resolve_sum_draft(&draft).unwrap_err().to_string()
    };
    let half = "69937014000000000";
    let error = change(json!({ "draws": 1, "threshold": half, "equal": true }));
    assert!(error.contains("ε of the messages"), "{error}");
}

/// Observed coverage, and squared errors relative to the predicted variance.
#[derive(Debug, Default)]
struct Observed {
    batches: f64,
    sums: Vec<f64>,
    squares: f64,
    single: f64,
    all: f64,
}

impl Observed {
    fn add(&mut self, found: &[&Estimate], truth: &[f64], error: f64) {
        let covered = |[low, high]: [f64; 2], truth: f64| low <= truth && truth <= high;
        self.batches += 1.0;
        self.sums.resize(truth.len(), 0.0);
        let mut all = true;
        for ((found, &truth), sum) in found.iter().zip(truth).zip(&mut self.sums) {
            let wrong = (found.estimate - truth) / error;
            *sum += wrong;
            self.squares += wrong * wrong;
            self.single += f64::from(u8::from(covered(found.interval, truth)));
            all &= covered(found.simultaneous_interval, truth);
        }
        self.all += f64::from(u8::from(all));
    }

    /// Checks that estimates are unbiased (to 4.5 standard errors), that the mean square is within 5
    /// per cent of the prediction, and that at least 94 per cent of intervals cover the truth.
    #[track_caller]
    fn check(&self) {
        let items = self.sums.len() as f64;
        for sum in &self.sums {
            assert!(sum.abs() < 4.5 * self.batches.sqrt(), "{self:?}");
        }
        let square = self.squares / self.batches / items;
        assert!((square - 1.0).abs() < 0.05, "{square}");
        assert!(self.single >= 0.94 * self.batches * items, "{self:?}");
        assert!(self.all >= 0.94 * self.batches, "{self:?}");
    }
}

/// Counts with the predicted error in batches of 10,000 people who choose one of 16 options. The
/// variance of 300 · 16 squares is known to 2 per cent.
#[test]
fn a_choice_is_as_accurate_as_predicted() {
    let task = task(&choice(16), 10_000);
    let error = 10_000.0 * SumPlan::new(task.clone()).unwrap().errors[0].standard_error;
    let answers: Vec<Vec<f64>> = (0..10_000)
        .map(|person| vec![f64::from(person % 7)])
        .collect();
    let truth: Vec<f64> = (0..16)
        .map(|option| {
            answers
                .iter()
                .filter(|own| own[0] == f64::from(option))
                .count() as f64
        })
        .collect();
    let (mut rng, mut observed) = (ChaCha20Rng::seed_from_u64(1), Observed::default());
    for _ in 0..300 {
        let found = estimates(&task, &batch(&task, &answers, &mut rng));
        assert_eq!(found.people, 10_000);
        let sums: Vec<&Estimate> = found.estimates.iter().map(|own| &own.sum).collect();
        observed.add(&sums, &truth, error);
        let share = found.estimates[3].mean;
        assert!((share.estimate * 10_000.0 - sums[3].estimate).abs() < 1e-6);
    }
    observed.check();
}

#[test]
fn sets_and_flags_are_as_accurate_as_predicted() {
    let set = json!([{ "name": "used", "kind": "set", "options": 9, "sparsity": 2 }]);
    let flags = json!([
        { "name": "a", "kind": "flag" }, { "name": "b", "kind": "flag" },
        { "name": "c", "kind": "flag" },
    ]);
    let people = 3000;
    let some = |person: u32| -> Vec<f64> {
        // Nobody chooses the last option. Some people choose fewer than two.
        (0..2)
            .map(|i| f64::from(person % 7 + i))
            .take(person as usize % 3)
            .collect()
    };
    let yes = |person: u32| -> Vec<f64> {
        [person % 2, u32::from(person > 2900), 0]
            .map(f64::from)
            .to_vec()
    };
    let sets: Vec<Vec<f64>> = (0..people).map(some).collect();
    let flagged: Vec<Vec<f64>> = (0..people).map(yes).collect();
    let chosen = |option: u32| {
        sets.iter()
            .filter(|own| own.contains(&f64::from(option)))
            .count() as f64
    };
    let said = |flag: usize| flagged.iter().map(|own| own[flag]).sum::<f64>();
    let (mut rng, batches) = (ChaCha20Rng::seed_from_u64(2), 1500);
    for (questions, answers, truth) in [
        (set, &sets, (0..9).map(chosen).collect::<Vec<f64>>()),
        (flags, &flagged, (0..3).map(said).collect()),
    ] {
        let task = task(&questions, people.into());
        let error =
            f64::from(people) * SumPlan::new(task.clone()).unwrap().errors[0].standard_error;
        let mut observed = Observed::default();
        for _ in 0..batches {
            let found = estimates(&task, &batch(&task, answers, &mut rng));
            let sums: Vec<&Estimate> = found.estimates.iter().map(|own| &own.sum).collect();
            observed.add(&sums, &truth, error);
        }
        observed.check();
    }
}

/// A number on two levels of 6 and 40 cells, of which the last upper one covers five bins.
#[test]
fn a_number_is_covered() {
    let question = json!([
        { "name": "age", "kind": "number", "min": 0, "max": 80, "bins": 40, "unit": "a" }
    ]);
    let people = 2000;
    let task = task(&question, people);
    let answers: Vec<Vec<f64>> = (0..people)
        .map(|person| vec![(person % 41) as f64 * (person % 3) as f64])
        .collect();
    let below = |edge: f64| answers.iter().filter(|own| own[0] < edge).count() as f64;
    let edges: Vec<f64> = (1..40).map(|bin| 2.0 * f64::from(bin)).collect();
    let shares: Vec<f64> = edges
        .iter()
        .map(|edge| below(*edge) / people as f64)
        .collect();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let (mut all, mut inside, batches) = (0, 0, 1000);
    for _ in 0..batches {
        let found = estimates(&task, &batch(&task, &answers, &mut rng));
        assert_eq!(found.estimates.len(), 40);
        let number = found.number.unwrap();
        assert_eq!(
            (number.range, number.unit.as_deref()),
            ([0.0, 80.0], Some("a"))
        );
        let covered = |(own, truth): (&hushbin_analysis::estimate::ShareBelowEdge, &f64)| {
            let [low, high] = own.share.simultaneous_interval;
            low <= *truth + 1e-12 && *truth <= high + 1e-12
        };
        assert!(
            number
                .distribution
                .iter()
                .zip(&edges)
                .all(|(own, edge)| own.below == *edge)
        );
        all += u32::from(number.distribution.iter().zip(&shares).all(covered));
        let median = &number.quantiles[0];
        assert_eq!(median.quantile, 0.5);
        let [low, high] = median.interval;
        inside += u32::from(below(low) <= 1000.0 && below(high) >= 1000.0);
    }
    assert!(all >= 940 && inside >= 940, "{all}, {inside}");
    let options = EstimateOptions {
        quantiles: Some(vec![1.5]),
        ..EstimateOptions::default()
    };
    assert!(SumQuery::new(&task, &options).is_err());
}

/// A client that sends the most messages that the shuffler takes, all about one option.
#[test]
fn equal_messages_move_what_is_stated() {
    for (questions, answer, cell, item) in [
        (choice(16), vec![3.0], 3, 3),
        (
            json!([{ "name": "a", "kind": "flag" }, { "name": "b", "kind": "flag" }]),
            vec![0.0, 1.0],
            1,
            0,
        ),
    ] {
        let task = task(&questions, 5000);
        let answers = vec![answer; 5000];
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut totals = batch(&task, &answers, &mut rng);
        let before = estimates(&task, &totals).estimates[item].sum.estimate;
        let most = *task.message_count_range().end();
        totals.add_people(1);
        (0..most).for_each(|_| totals.add_message(Message::Cell(cell)));
        let moved = estimates(&task, &totals).estimates[item].sum.estimate - before;
        let stated = SumInfluence::for_task(&task, 5000.0)[0].dishonest_change;
        assert!(
            moved <= stated + 1e-9 && moved > stated - 0.5,
            "{moved}, {stated}"
        );
        assert_eq!(stated.floor() > 1.0, most > 2 || cell == 3);
    }
}

#[test]
fn totals_are_read_as_they_were_written() {
    let task = task(&choice(16), 100_000);
    let mut totals = SumTotals::new(&task);
    totals.add_people(10);
    (0..20).for_each(|_| totals.add_message(Message::Blank));
    totals.add_message(Message::Cell(15));
    let short = totals.encode();
    assert_eq!(SumTotals::decode(&task, &short), Ok(totals.clone()));
    totals.add_left_out_messages(300);
    let bytes = totals.encode();
    assert!(bytes.starts_with(&short));
    assert_eq!(SumTotals::decode(&task, &bytes), Ok(totals.clone()));
    for more in [&[0][..], &[1, 1]] {
        let bytes = [&short[..], more].concat();
        assert!(SumTotals::decode(&task, &bytes).is_err(), "{more:?}");
    }
    let mut twice = totals.clone();
    twice.merge(&totals);
    assert_eq!(twice.message_count(), 42);
    assert_eq!(twice.left_out_message_count(), 600);
}
