//! Tests of the margins of crosses: one family of intervals, and errors of the stated size.

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Estimator, Totals};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

fn task(epsilon: f64, of: &[Value; 2]) -> Task {
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [
        { "name": "q", "kind": "cross", "of": of } ] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns the estimates of the cross by each of `runs` batches of these people, as JSON.
fn answers(
    task: &Task,
    people: &[(u64, f64)],
    confidence: f64,
    runs: u64,
) -> impl Iterator<Item = Value> {
    let options = EstimateOptions {
        confidence,
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(task, &options).unwrap();
    let estimator = Estimator::for_task(task.clone());
    let randomizers = Randomizer::new(task);
    (0..runs).map(move |seed| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut randomizer = randomizers.clone();
        let mut totals = Totals::new(estimator.task());
        for &(item, value) in people {
            let made = randomizer.randomize(&[Entry { item, value }], &mut rng);
            totals.add_report(&made.unwrap().report);
        }
        let found = estimator.estimates(&totals, &query);
        serde_json::to_value(found.cross.unwrap()).unwrap()
    })
}

/// Simultaneous coverage at a confidence of one half, which would expose two families of one half
/// each: those covered eight rows and eight columns in 36 per cent of runs. The limit leaves 4.5
/// standard deviations.
#[test]
fn intervals_of_both_margins_hold_together() {
    const RUNS: u64 = 1500;
    let part = |name| json!({ "name": name, "kind": "choice", "options": 8 });
    let task = task(2.0, &[part("row"), part("column")]);
    // Rows and columns of 1 to 15 parts in 64.
    let people: Vec<(u64, f64)> = (0..2048_u64)
        .map(|person| {
            let [row, column] = [person % 64, person / 64 % 64].map(u64::isqrt);
            (row, column as f64)
        })
        .collect();
    let truth = |index: u64, of: &dyn Fn(&(u64, f64)) -> u64| {
        people.iter().filter(|own| of(own) == index).count() as f64 / people.len() as f64
    };
    let rows: Vec<f64> = (0..8).map(|index| truth(index, &|own| own.0)).collect();
    let columns: Vec<f64> = (0..8)
        .map(|index| truth(index, &|own| own.1 as u64))
        .collect();
    let held = answers(&task, &people, 0.5, RUNS).filter(|cross| {
        [("rows", &rows), ("columns", &columns)]
            .into_iter()
            .flat_map(|(margin, truths)| {
                let shares = cross[margin]["shares"].as_array().unwrap();
                assert_eq!(shares.len(), truths.len());
                shares.iter().zip(truths)
            })
            .all(|(own, truth)| {
                let ends = &own["share"]["simultaneous_interval"];
                let [low, high] = [0, 1].map(|end| ends[end].as_f64().unwrap());
                low <= *truth && *truth <= high
            })
    });
    let held = held.count() as f64 / RUNS as f64;
    let deviation = (0.25 / RUNS as f64).sqrt();
    assert!(held > 0.5 - 4.5 * deviation, "{held}");
}

/// People are rounded to levels but never to another row. The stated error of a row's share is its
/// error within 15 per cent, 4.5 standard deviations for 500 runs.
#[test]
fn errors_of_rows_count_no_rounding() {
    const RUNS: u64 = 500;
    let row = json!({ "name": "plan", "kind": "choice", "options": ["free", "pro"] });
    let number = json!({ "name": "load", "kind": "number", "min": 0, "max": 1 });
    let task = task(6.0, &[row, number]);
    let people: Vec<(u64, f64)> = (0..1000_u64)
        .map(|person| (person % 2, (person % 10) as f64 / 10.0))
        .collect();
    let (mut squares, mut stated) = (0.0, 0.0);
    for cross in answers(&task, &people, 0.95, RUNS) {
        assert!(cross["columns"].get("shares").is_none(), "{cross}");
        let share = &cross["rows"]["shares"][1]["share"];
        squares += (share["estimate"].as_f64().unwrap() - 0.5).powi(2);
        stated += share["standard_error"].as_f64().unwrap();
    }
    let runs = RUNS as f64;
    let ratio = stated / runs / (squares / runs).sqrt();
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
}

/// A spreadsheet would run such names as formulas.
#[test]
fn hostile_names_are_neutralised_in_csv() {
    let of = [
        json!({ "name": "=rows", "kind": "choice", "options": ["@a", "b"] }),
        json!({ "name": "columns", "kind": "choice", "options": ["c", "d"] }),
    ];
    let task = task(2.0, &of);
    let query = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let mut randomizer = Randomizer::new(&task);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut totals = Totals::new(&task);
    for _ in 0..100 {
        let entry = Entry {
            item: 0,
            value: 1.0,
        };
        totals.add_report(&randomizer.randomize(&[entry], &mut rng).unwrap().report);
    }
    let mut csv = Vec::new();
    let found = Estimator::for_task(task).estimates(&totals, &query);
    found.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    for line in csv.lines().skip(1) {
        let cell = line.trim_start_matches('"');
        assert!(
            cell.starts_with("'=rows: ") || cell.starts_with("columns: "),
            "{line}"
        );
    }
    for expected in ["\"'=rows: @a, columns: c\",share,", "'=rows: b,share,"] {
        assert!(csv.contains(expected), "{csv}");
    }
}
