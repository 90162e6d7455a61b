//! Tests of the predicted error of means within rows of a cross.

use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    ErrorPredictor, EstimateOptions, EstimateQuery, Estimator, PredictedQuantity, Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

fn task(epsilon: f64, rows: u32, fields: &Value) -> Task {
    let mut number = json!({ "name": "load", "kind": "number", "min": 0, "max": 1 });
    let mut question = json!({ "name": "q", "kind": "cross" });
    for (field, value) in fields.as_object().unwrap() {
        let whose = if field == "mechanism" {
            &mut question
        } else {
            &mut number
        };
        whose[field] = value.clone();
    }
    let row = json!({ "name": "plan", "kind": "choice", "options": rows });
    question["of"] = json!([row, number]);
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn predicted(task: &Task, share: f64, several: bool) -> f64 {
    let predictor = ErrorPredictor::for_question(&task.questions()[0]);
    let variance =
        predictor.max_contribution_variance(PredictedQuantity::MeanWithinRow(share), several);
    variance.unwrap()
}

/// Returns mean and variance of one report's estimate of Σ (place − mean)·share over the cells of
/// the first row.
///
/// The person has these cells with these probabilities. Every cell has its own bucket.
fn contrast(cells: u32, levels: u32, mean: f64, person: &[(u32, f64)], epsilon: f64) -> [f64; 2] {
    let weight = |cell: u32| {
        let place = f64::from(cell) / f64::from(levels - 1);
        if cell < levels { place - mean } else { 0.0 }
    };
    let e = epsilon.exp();
    let all = e + f64::from(cells) - 1.0;
    let none: f64 = (0..cells).map(weight).sum::<f64>() / all;
    let (mut first, mut second) = (0.0, 0.0);
    for &(own, chance) in person {
        for reported in 0..cells {
            let p = if reported == own { e } else { 1.0 } / all;
            let estimate = (weight(reported) - none) * all / (e - 1.0);
            first += chance * p * estimate;
            second += chance * p * estimate * estimate;
        }
    }
    [first, second - first * first]
}

/// Worst case over all means and all pairs of numbers of a row's people, in steps of a quarter of a
/// level. It is summed over all levels that the numbers can be rounded to, and all reports.
#[test]
fn what_is_predicted_is_the_worst_of_all() {
    for (rows, levels, epsilon, share) in [
        (2, 2, 1.0, 0.5),
        (2, 2, 4.0, 0.5),
        (3, 3, 2.0, 1.0 / 3.0),
        (2, 4, 4.0, 0.1),
        (2, 6, 7.0, 0.9),
    ] {
        let cells = rows * levels;
        let mechanism = json!({ "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "balanced", "buckets": cells });
        let task = task(
            epsilon,
            rows,
            &json!({ "levels": levels, "mechanism": mechanism }),
        );
        let quarters = 4 * (levels - 1);
        let mut worst = [0.0_f64; 2];
        for mean in 0..=quarters {
            let at = |quarter: u32| {
                let (below, next) = (quarter / 4, f64::from(quarter % 4) / 4.0);
                let own = [(below, 1.0 - next), ((below + 1).min(levels - 1), next)];
                contrast(
                    cells,
                    levels,
                    f64::from(mean) / f64::from(quarters),
                    &own,
                    epsilon,
                )
            };
            let place = f64::from(mean) / f64::from(quarters);
            let [_, others] = contrast(cells, levels, place, &[(levels, 1.0)], epsilon);
            for (low, high) in (0..=mean).flat_map(|low| (mean..=quarters).map(move |h| (low, h))) {
                let part = f64::from(mean - low) / f64::from((high - low).max(1));
                let [[low, a], [high, b]] = [low, high].map(at);
                let own = (1.0 - part) * a + part * b;
                let apart = (1.0 - part) * low * low + part * high * high;
                for (worst, apart) in worst.iter_mut().zip([0.0, apart]) {
                    let variance = share * (own + apart) + (1.0 - share) * others;
                    *worst = worst.max(variance / (share * share));
                }
            }
        }
        let case = format!("{rows} by {levels} at {epsilon}");
        let [given, drawn] = worst;
        let ratio = predicted(&task, share, true) / drawn;
        assert!((ratio - 1.0).abs() < 1e-9, "{case}: {ratio}");
        let ratio = predicted(&task, share, false) / given;
        assert!((1.0 - 1e-9..1.1).contains(&ratio), "{case}: {ratio}");
    }
}

/// Returns two ratios of measured to predicted errors: the root mean square error, and the mean
/// stated standard error.
///
/// People are in rows of equal size. Half of them have either number, or the number and one of two
/// questions are random.
fn measured(task: &Task, rows: u32, numbers: [f64; 2]) -> [f64; 2] {
    const PEOPLE: u32 = 3000;
    const BATCHES: u64 = 600;
    let estimator = Estimator::for_task(task.clone());
    let options = EstimateOptions {
        question_name: Some("q".to_owned()),
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(task, &options).unwrap();
    let drawn = task.questions().len() > 1;
    let truth = 0.5 * (numbers[0] + numbers[1]);
    let (mut squares, mut stated) = (0.0, 0.0);
    for seed in 0..BATCHES {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut randomizer = Randomizer::new(task);
        let mut totals = Totals::new(task);
        for person in 0..PEOPLE {
            let of = |item: u32, value| {
                let item = item.into();
                [Entry { item, value }]
            };
            let side = if drawn { rng.next_u32() } else { person / rows } % 2;
            let answer = of(person % rows, numbers[side as usize]);
            let answers: [&[Entry]; 2] = [&answer, &of(0, 1.0)];
            let answers = &answers[..task.questions().len()];
            let made = randomizer.randomize_answers(answers, &mut rng).unwrap();
            totals.add_report(&made.report);
        }
        let found = estimator.estimates(&totals, &query).cross.unwrap();
        for own in found.conditional_means {
            squares += (own.mean.estimate.unwrap() - truth).powi(2);
            stated += own.mean.standard_error.unwrap();
        }
    }
    let estimates = BATCHES as f64 * f64::from(rows);
    let variance = predicted(task, 1.0 / f64::from(rows), drawn);
    let expected = (variance / (f64::from(PEOPLE) * task.question_report_share(0))).sqrt();
    [(squares / estimates).sqrt(), stated / estimates].map(|error| error / expected)
}

/// If people are drawn at random, errors are those predicted for people at either end, within 9 per
/// cent. That is at least 4.5 standard deviations for 1200 estimates.
///
/// For given people, errors are at most the predicted ones. For people half a step within either
/// end they are at least 0.8 of them, as only a bound on rounding is known. The stated errors of
/// people at the ends are within 3 per cent.
#[test]
fn errors_are_as_predicted() {
    for (rows, epsilon) in [(2, 3.0), (3, 4.0)] {
        let [alone, one_of_two] = [false, true].map(|several| {
            let task = task(epsilon, rows, &json!({}));
            let mut file = serde_json::to_value(&task).unwrap();
            if several {
                let other = json!({ "name": "other", "kind": "flag", "weight": 1,
                    "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
                        "hashing": "balanced", "buckets": 2 } });
                file["questions"].as_array_mut().unwrap().push(other);
            }
            serde_json::from_value::<Task>(file).unwrap()
        });
        let QuestionKind::CrossTabulation(cross) = alone.questions()[0].kind() else {
            panic!("a cross is asked for");
        };
        let half = 0.5 / f64::from(cross.row_and_column_counts()[1] - 1);
        let [drawn, _] = measured(&one_of_two, rows, [0.0, 1.0]);
        let [within, _] = measured(&alone, rows, [half, 1.0 - half]);
        let [ends, stated] = measured(&alone, rows, [0.0, 1.0]);
        let found = format!("{rows} rows at {epsilon}: {drawn}, {within}, {ends}, {stated}");
        assert!((drawn - 1.0).abs() < 0.09, "{found}");
        assert!((0.8..1.03).contains(&within) && ends < 1.03, "{found}");
        assert!((stated - 1.0).abs() < 0.03, "{found}");
    }
}
