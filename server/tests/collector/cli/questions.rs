//! `account` and `simulate` for questions through a shuffler, of each kind.

use std::fmt::Write as _;
use std::fs;

use hushbin::sums::{SumTask, SumTaskDraft};
use hushbin_analysis::sums::{epsilon_bounds_for_people, resolve_sum_draft};
use serde_json::{Value, json};

use super::sums::Files;

const SHUFFLED: &str = include_str!("../../../../tests/reference/histograms-shuffled.json");

fn rows(part: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(SHUFFLED).unwrap();
    all[part].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn flags(count: u64) -> Value {
    let flag = |index| json!({ "kind": "flag", "name": format!("flag-{index}") });
    (0..count).map(flag).collect()
}

fn choice(options: u64) -> Value {
    json!([{ "kind": "choice", "name": "theme", "options": options }])
}

fn set(options: u64, sparsity: u64) -> Value {
    json!([{ "kind": "set", "name": "used", "options": options, "sparsity": sparsity }])
}

fn bins(count: u64) -> Value {
    json!([{ "kind": "number", "name": "load", "min": 0, "max": 10, "bins": count }])
}

/// Words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn draft(people: u64, questions: &Value) -> Value {
    json!({
        "id": "counts", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": people,
        "questions": questions,
    })
}

fn resolved(draft: &Value) -> SumTask {
    let draft: SumTaskDraft = serde_json::from_value(draft.clone()).unwrap();
    resolve_sum_draft(&draft).unwrap()
}

/// The command's numbers are those of the library, for other batches than the task's own, too.
#[test]
fn accounts_of_each_kind_are_those_of_the_library() {
    for questions in [flags(3), choice(7), set(12, 3), bins(20), bins(50)] {
        let draft = draft(2000, &questions);
        let (files, task) = (Files::new(&draft), resolved(&draft));
        for (people, fraction, delta, batches) in [
            (2000, 0.9, 1e-6, 1),
            (5000, 0.5, 1e-7, 1),
            (1200, 1.0, 1e-5, 12),
        ] {
            let found = files.ask(&words(&format!(
                "account -n {people} --honest-fraction {fraction} --delta {delta} \
                 --batches {batches}"
            )));
            let own = epsilon_bounds_for_people(&task, people, fraction, delta).unwrap();
            assert_eq!(found["central_epsilon"], own.upper, "{questions}");
            assert_eq!(found["lower_epsilon"], own.lower, "{questions}");
            assert!(
                own.lower <= own.upper && own.lower > 0.8 * own.upper,
                "{own:?}"
            );
            assert_eq!(found["all_epsilon"], f64::from(batches) * own.upper);
            assert_eq!(found["all_delta"], f64::from(batches) * delta);
            assert_eq!(found["trust"], "shuffler");
            assert_eq!(found["people"], people);
        }
        // The task's own batch keeps its promise, without much to spare.
        let own = files.ask(&words("account -n 2000 --honest-fraction 0.9 --delta 1e-6"));
        let epsilon = number(&own["central_epsilon"]);
        assert!((0.99..=1.0).contains(&epsilon), "{questions}: {epsilon}");
    }
}

/// Accounts a batch of honest people who each make `draws` draws, by the command. `hit` is the
/// probability that a draw sends a message.
fn account(questions: &Value, [people, draws]: [u64; 2], hit: f64, delta: f64) -> f64 {
    let mut task = draft(people, questions);
    // The promise is a weak one, because the file is for other numbers of honest people.
    task["epsilon"] = 4.0.into();
    task["delta"] = 1e-4.into();
    // In units of 2⁻⁶⁴.
    let threshold = (hit * 2_f64.powi(64)) as u64;
    task["messages"] = json!({ "draws": draws, "threshold": threshold.to_string() });
    let found = Files::new(&task).ask(&words(&format!("account -n {people} --delta {delta}")));
    number(&found["central_epsilon"])
}

/// An independent program found the least noise that hides one of the honest people. With this
/// noise the command finds the ε that it was found for.
#[test]
fn accounts_of_choices_sets_and_few_bins_are_the_reference() {
    let rows = rows("lottery_task");
    assert_eq!(rows.len(), 8);
    for row in rows {
        let [options, own, honest, draws] = ["options", "most_chosen", "honest", "draws_a_person"]
            .map(|name| row[name].as_u64().unwrap());
        let kinds = match own {
            1 if options < 32 => vec![choice(options), bins(options)],
            1 => vec![choice(options)],
            own => vec![set(options, own)],
        };
        let (hit, delta) = (number(&row["probability"]), number(&row["delta"]));
        for questions in kinds {
            let found = account(&questions, [honest, draws], hit, delta);
            let off = found / number(&row["epsilon"]) - 1.0;
            assert!(off.abs() < 1e-4, "{questions}: {found} for {row}");
        }
    }
}

/// People who change several answers at once: all flags, or a number in both of its levels. The
/// noise in each cell is that of the reference.
#[test]
fn accounts_of_flags_and_many_bins_are_the_reference() {
    let rows = rows("lottery_moves");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let [ups, draws] = ["ups", "draws"].map(|name| row[name].as_u64().unwrap());
        let (q, delta) = (number(&row["q"]), number(&row["delta"]));
        let mut kinds = vec![flags(ups)];
        if ups == 2 {
            kinds.push(bins(40));
        }
        for questions in kinds {
            let task = resolved(&draft(draws, &questions));
            let cells = task.summed_quantity().coordinate_count();
            let found = account(&questions, [draws, 1], f64::from(cells) * q, delta);
            let off = found / number(&row["epsilon"]) - 1.0;
            assert!(off.abs() < 2e-3, "{questions}: {found} for {row}");
        }
    }
}

const PEOPLE: u64 = 2000;

/// Simulates the answers of all people, and checks the shares of each option, the stated errors and
/// the intervals.
fn simulate(questions: &Value, data: &str, truths: &[f64], clipped: u64) {
    let files = Files::new(&draft(PEOPLE, questions));
    let path = files.path("answers.csv");
    fs::write(&path, data).unwrap();
    let found = files.ask(&words(&format!(
        "simulate --answers {path} --seed 1 --runs 200"
    )));
    assert_eq!([&found["people"], &found["clipped"]], [PEOPLE, clipped]);
    assert_eq!(found["are_shares"], true);
    let estimates = found["estimates"].as_array().unwrap();
    assert_eq!(estimates.len(), truths.len(), "{found}");
    let mut ratios = 0.0;
    for ((own, item), truth) in estimates
        .iter()
        .zip(found["items"].as_array().unwrap())
        .zip(truths)
    {
        assert!(
            (number(&own["truth"]) - truth).abs() < 1e-9,
            "{own}: {truth}"
        );
        let error = number(&own["error"]);
        // This is the estimate of the first run.
        let off = number(&own["estimate"]) - truth;
        assert!(off.abs() < 4.5 * error, "{own}: {truth}");
        ratios += error / number(&item["stated_error"]);
        assert!(number(&item["local_error"]) > 3.0 * error, "{own}");
    }
    let ratio = ratios / truths.len() as f64;
    assert!((0.9..1.1).contains(&ratio), "{questions}: {ratio}");
    let covered = number(&found["covered"]);
    assert!((0.92..0.98).contains(&covered), "{questions}: {covered}");
}

#[test]
fn flags_are_simulated() {
    let mut data = "flag-1,flag-0\n".to_owned();
    for person in 0..PEOPLE {
        writeln!(data, "{},{}", person % 4 == 0, person % 5 != 0).unwrap();
    }
    simulate(&flags(2), &data, &[0.8, 0.25], 0);
}

#[test]
fn choices_are_simulated() {
    let mut data = "theme\n".to_owned();
    for person in 0..PEOPLE {
        writeln!(data, "{}", [0, 0, 0, 2, 3][person as usize % 5]).unwrap();
    }
    simulate(&choice(4), &data, &[0.6, 0.0, 0.2, 0.2], 0);
}

/// A larger set than the sparsity is cut at random, so the sets here are not larger.
#[test]
fn sets_are_simulated() {
    let mut data = "used\n".to_owned();
    for person in 0..PEOPLE {
        writeln!(
            data,
            "{}",
            ["0;1;5", "1", "\"\"", "4;5"][person as usize % 4]
        )
        .unwrap();
    }
    simulate(&set(6, 3), &data, &[0.25, 0.5, 0.0, 0.0, 0.25, 0.5], 0);
}

/// Numbers beyond the limits are counted in the first or last bin.
#[test]
fn numbers_are_simulated_in_few_and_many_bins() {
    let mut data = "load\n".to_owned();
    for person in 0..PEOPLE {
        let load = [-3.0, 0.5, 2.5, 9.9, 12.0][person as usize % 5];
        writeln!(data, "{load}").unwrap();
    }
    for count in [10, 40] {
        let mut truths = vec![0.0; count];
        let bin = |number: f64| (number / 10.0 * count as f64) as usize;
        truths[0] += 0.2;
        truths[bin(0.5)] += 0.2;
        truths[bin(2.5)] += 0.2;
        truths[bin(9.9)] += 0.2;
        truths[count - 1] += 0.2;
        simulate(&bins(count as u64), &data, &truths, 2 * PEOPLE / 5);
    }
}
