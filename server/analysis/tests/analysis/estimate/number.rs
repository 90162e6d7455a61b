//! Tests of numbers: means in the number's unit, distribution functions and quantiles.

use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    Estimate, EstimateOptions, EstimateQuery, Estimator, NumberEstimates, Totals,
};
use hushbin_analysis::plan::plan_survey;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Normal};
use serde_json::{Value, json};

const BATCHES: u64 = 400;
const CONFIDENCES: [f64; 3] = [0.9, 0.95, 0.99];

fn task(epsilon: f64, number: &Value) -> Task {
    let mut question = json!({ "name": "q", "kind": "number" });
    let members = question.as_object_mut().unwrap();
    members.extend(number.as_object().unwrap().clone());
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn query(task: &Task, confidence: f64) -> EstimateQuery {
    let options = EstimateOptions {
        confidence,
        ..EstimateOptions::default()
    };
    EstimateQuery::new(task, &options).unwrap()
}

/// Returns numbers from `min` to `max`, ascending, with more low ones.
fn numbers(people: u32, min: f64, max: f64) -> Vec<f64> {
    let part = |person: u32| (f64::from(person) + 0.5) / f64::from(people);
    (0..people)
        .map(|person| min + (max - min) * part(person).powf(1.5))
        .collect()
}

/// Returns the totals of people with these numbers. NaN is a person without a number.
fn batch(task: &Task, numbers: &[f64], seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    for &value in numbers {
        let (item, value) = if value.is_nan() { (1, 1.0) } else { (0, value) };
        let answer = [Entry { item, value }];
        let made = randomizer.randomize_answers(&[&answer], &mut rng).unwrap();
        totals.add_report(&made.report);
    }
    totals
}

/// Returns the estimates for each batch and confidence.
fn answers(task: &Task, numbers: &[f64]) -> Vec<[NumberEstimates; 3]> {
    let estimator = Estimator::for_task(task.clone());
    let queries = CONFIDENCES.map(|confidence| query(task, confidence));
    let answer = |totals: &Totals, query| estimator.estimates(totals, query).number.unwrap();
    (0..BATCHES)
        .map(|seed| {
            let totals = batch(task, numbers, seed);
            queries.each_ref().map(|query| answer(&totals, query))
        })
        .collect()
}

fn holds([low, high]: [f64; 2], truth: f64) -> bool {
    (low..=high).contains(&truth)
}

/// Returns the least coverage of a right interval, except with probability 10⁻⁵ (4.3 standard
/// errors of a share of all batches).
fn fewest(confidence: f64) -> f64 {
    confidence - 4.3 * (confidence * (1.0 - confidence) / BATCHES as f64).sqrt()
}

/// Checks the bias against 4.5 standard errors, which happen by chance in one of 10⁵.
fn unbiased(what: &str, estimates: impl Iterator<Item = Estimate>, truth: f64, error: [f64; 2]) {
    let (mut sum, mut squares, mut stated) = (0.0, 0.0, 0.0);
    for estimate in estimates {
        let off = estimate.estimate - truth;
        sum += off;
        squares += off * off;
        stated += estimate.standard_error.powi(2);
    }
    let z: f64 = sum / f64::sqrt(squares);
    assert!(z.abs() < 4.5, "{what}: {z}");
    let [least, most] = error;
    let ratio = squares / stated;
    assert!((least..most).contains(&ratio), "{what}: {ratio}");
}

#[test]
fn means_are_in_their_unit_and_covered() {
    for (scale, epsilon) in [
        (json!({ "min": 0, "max": 1 }), 1.0),
        (json!({ "min": -40, "max": 120, "unit": "°F" }), 1.0),
        (json!({ "min": 0, "max": 30000, "unit": "ms" }), 4.0),
        (json!({ "min": -1, "max": 1 }), 6.0),
        (
            json!({ "min": 5, "max": 25, "mechanism": { "name": "window", "atoms": 9 } }),
            2.0,
        ),
    ] {
        let task = task(epsilon, &scale);
        let range = [&scale["min"], &scale["max"]].map(|end| end.as_f64().unwrap());
        for people in [25, 600] {
            let numbers = numbers(people, range[0], range[1]);
            let truth = numbers.iter().sum::<f64>() / f64::from(people);
            let answers = answers(&task, &numbers);
            let what = format!("{scale}, n = {people}");
            assert_eq!(answers[0][0].unit.as_deref(), scale["unit"].as_str());
            assert_eq!(answers[0][0].range, range);
            let means = || {
                answers
                    .iter()
                    .map(|by| by.each_ref().map(|a| a.mean.unwrap()))
            };
            unbiased(&what, means().map(|[mean, ..]| mean), truth, [0.3, 1.25]);
            for (index, confidence) in CONFIDENCES.into_iter().enumerate() {
                let held = means()
                    .filter(|by| holds(by[index].interval, truth))
                    .count();
                let held = held as f64 / BATCHES as f64;
                assert!(held > fewest(confidence), "{what}, {confidence}: {held}");
            }
        }
    }
}

#[test]
fn distributions_and_quantiles_are_covered() {
    for (scale, epsilon) in [
        (
            json!({ "want": "quantiles", "min": 0, "max": 8, "bins": 8 }),
            1.0,
        ),
        (json!({ "want": "quantiles", "min": 0, "max": 8 }), 2.0),
        (
            json!({ "edges": [0.0, 1.0, 3.0, 8.0], "mechanism": {
            "name": "collision", "hashing": "independent" } }),
            3.0,
        ),
    ] {
        let task = task(epsilon, &scale);
        for people in [40, 1000] {
            let numbers = numbers(people, 0.0, 8.0);
            let answers = answers(&task, &numbers);
            let what = format!("{scale}, n = {people}");
            let edges = answers[0][0].distribution.len();
            for edge in 0..edges {
                let at = answers[0][0].distribution[edge].below;
                let below = numbers.iter().filter(|&&number| number < at).count();
                let truth = below as f64 / f64::from(people);
                let shares = || {
                    answers
                        .iter()
                        .map(|by| by.each_ref().map(|a| a.distribution[edge]))
                };
                let what = format!("{what}, below {at}");
                unbiased(
                    &what,
                    shares().map(|[below, ..]| below.share),
                    truth,
                    [0.75, 1.3],
                );
                for (index, confidence) in CONFIDENCES.into_iter().enumerate() {
                    let held = shares().filter(|by| holds(by[index].share.interval, truth));
                    let held = held.count() as f64 / BATCHES as f64;
                    assert!(held > fewest(confidence), "{what}, {confidence}: {held}");
                }
            }
            for (index, confidence) in CONFIDENCES.into_iter().enumerate() {
                let all = answers.iter().filter(|by| {
                    by[index].distribution.iter().all(|below| {
                        let under = numbers.iter().filter(|&&number| number < below.below);
                        let truth = under.count() as f64 / f64::from(people);
                        holds(below.share.simultaneous_interval, truth)
                    })
                });
                let all = all.count() as f64 / BATCHES as f64;
                assert!(all > fewest(confidence), "{what}, {confidence}: {all}");
            }
            quantiles_are_covered(&what, &answers, &numbers);
        }
    }
}

/// Small counts. Two people in three have the same one.
#[test]
fn quantiles_of_counts_are_counts_and_covered() {
    for (scale, epsilon) in [
        (
            json!({ "min": 0, "max": 20, "step": 1, "want": "quantiles" }),
            1.0,
        ),
        (
            json!({ "min": 0, "max": 20, "step": 1, "bins": 7, "want": "quantiles" }),
            4.0,
        ),
        (json!({ "min": 0, "max": 20, "step": 1 }), 4.0),
    ] {
        let task = task(epsilon, &scale);
        for people in [40, 1200] {
            let mut counts = numbers(people, 0.0, 21.0);
            counts.iter_mut().for_each(|count| *count = count.floor());
            let few = counts.len() * 2 / 3;
            counts[..few].fill(1.0);
            counts.sort_by(f64::total_cmp);
            let answers = answers(&task, &counts);
            quantiles_are_covered(&format!("{scale}, n = {people}"), &answers, &counts);
            let quantiles = answers.iter().flatten().flat_map(|own| &own.quantiles);
            let found = quantiles.flat_map(|own| [own.interval[0], own.estimate, own.interval[1]]);
            let mut found = found.peekable();
            assert!(found.peek().is_some() && found.all(|own| own.fract() == 0.0));
        }
        assert_eq!(answers(&task, &[3.0; 40])[0][0].range, [0.0, 20.0]);
    }
    // All people have the same number, so the interval has no width.
    let task = task(
        4.0,
        &json!({ "min": 0, "max": 20, "step": 1, "want": "quantiles" }),
    );
    let estimator = Estimator::for_task(task.clone());
    let found = estimator.estimates(&batch(&task, &[1.0; 2000], 5), &query(&task, 0.95));
    let median = found.number.unwrap().quantiles[0];
    assert_eq!((median.estimate, median.interval), (1.0, [1.0, 1.0]));
}

/// Quantiles are those of the people who have a number, who are two in three or only one in six.
/// With a bucket for each cell, the exact distribution of a report is used.
#[test]
fn quantiles_of_people_with_a_number_are_covered() {
    let optional = |edges: &[f64], buckets: u32| {
        json!({ "edges": edges, "optional": true, "mechanism": { "name": "collision",
            "rule": "heaviest", "favoured": 1, "hashing": "balanced", "buckets": buckets } })
    };
    for (scale, epsilon) in [
        (
            json!({ "want": "quantiles", "min": 0, "max": 8, "bins": 8, "optional": true }),
            2.0,
        ),
        (optional(&[0.0, 1.0, 3.0, 8.0], 4), 4.0),
        (optional(&[0.0, 0.5, 1.0, 2.0, 4.0, 8.0], 3), 1.0),
    ] {
        let task = task(epsilon, &scale);
        for (people, with_number) in [(60, 40), (900, 150)] {
            let numbers = numbers(with_number, 0.0, 8.0);
            let mut all = numbers.clone();
            all.resize(people, f64::NAN);
            let answers = answers(&task, &all);
            let what = format!("{scale}, {with_number} of {people}");
            quantiles_are_covered(&what, &answers, &numbers);
            // Shares below edges are of all people.
            let first = |by: &[NumberEstimates; 3]| by[0].distribution[0];
            let at = first(&answers[0]).below;
            let below = numbers.iter().filter(|&&number| number < at).count();
            let shares = answers.iter().map(|by| first(by).share);
            let truth = below as f64 / people as f64;
            unbiased(&what, shares, truth, [0.75, 1.3]);
        }
    }
    // If all people have a number, the interval is about as narrow as if all had to.
    let width = |optional: bool| -> f64 {
        let scale = json!({ "min": 0, "max": 8, "bins": 16, "optional": optional });
        let answers = answers(&task(1.0, &scale), &numbers(900, 0.0, 8.0));
        let widths = answers.iter().map(|by| {
            let [low, high] = by[1].quantiles[1].interval;
            high - low
        });
        widths.sum()
    };
    assert!(width(true) < 1.3 * width(false));
}

/// If no person has a number, nothing is known about quantiles. The interval is the whole range
/// unless noise looks like people with a number, which is as rare as the confidence states.
#[test]
fn quantiles_of_no_numbers_are_the_whole_range() {
    let task = task(
        1.0,
        &json!({ "edges": [0.0, 1.0, 3.0, 8.0], "optional": true }),
    );
    let answers = answers(&task, &[f64::NAN; 500]);
    for (index, confidence) in CONFIDENCES.into_iter().enumerate() {
        let whole = answers.iter().filter(|by| {
            let mut quantiles = by[index].quantiles.iter();
            quantiles.all(|own| own.interval == [0.0, 8.0])
        });
        let whole = whole.count() as f64 / BATCHES as f64;
        assert!(whole > fewest(confidence), "{confidence}: {whole}");
    }
    let estimates = Estimator::for_task(task.clone());
    let found = estimates.estimates(&batch(&task, &[f64::NAN; 500], 1), &query(&task, 0.95));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["estimates"][3]["item"], "no number");
    let share = json["estimates"][3]["share"]["estimate"].as_f64().unwrap();
    assert!((share - 1.0).abs() < 0.5, "{share}");
}

fn quantiles_are_covered(what: &str, answers: &[[NumberEstimates; 3]], numbers: &[f64]) {
    for (place, part) in EstimateOptions::DEFAULT_QUANTILES.into_iter().enumerate() {
        // The numbers are in ascending order.
        let truth = numbers[(part * numbers.len() as f64) as usize];
        for (index, confidence) in CONFIDENCES.into_iter().enumerate() {
            let found = answers.iter().map(|by| by[index].quantiles[place]);
            assert!(found.clone().all(|q| q.quantile == part
                && q.interval[0] <= q.estimate
                && q.estimate <= q.interval[1]));
            let held = found.filter(|q| holds(q.interval, truth)).count();
            let held = held as f64 / BATCHES as f64;
            assert!(
                held > fewest(confidence),
                "{what}, {part}, {confidence}: {held}"
            );
        }
    }
}

#[test]
fn quantiles_are_asked_for_by_part() {
    let binned = task(1.0, &json!({ "edges": [0, 1, 2, 4] }));
    let mean = task(1.0, &json!({ "min": 0, "max": 4 }));
    let ask = |task: &Task, parts: &[f64]| {
        let options = EstimateOptions {
            quantiles: Some(parts.to_vec()),
            ..EstimateOptions::default()
        };
        EstimateQuery::new(task, &options)
    };
    let error = |task, parts: &[f64]| ask(task, parts).unwrap_err().to_string();
    assert!(error(&mean, &[0.5]).contains("a \"number\" with bins"));
    for wrong in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(error(&binned, &[0.5, wrong]).contains("between 0 and 1"));
    }
    let totals = batch(&binned, &[0.5; 2000], 3);
    let estimator = Estimator::for_task(binned.clone());
    let found = estimator.estimates(&totals, &ask(&binned, &[0.1, 0.9]).unwrap());
    let json = serde_json::to_value(&found).unwrap();
    let number = &json["number"];
    assert_eq!(number["range"], json!([0.0, 4.0]));
    assert_eq!(number["quantiles"][1]["quantile"], 0.9);
    assert_eq!(number["distribution"][0]["below"], 1.0);
    assert_eq!(
        json["estimates"][2]["item"],
        json!({ "from": 2.0, "to": 4.0 })
    );
    let mut csv = Vec::new();
    found.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    for start in ["\n2 to 4,share,", "\n1,below,", "\n0.9,quantile,"] {
        assert!(csv.contains(start), "{csv}");
    }
    let none = estimator.estimates(&Totals::new(&binned), &query(&binned, 0.9));
    assert_eq!(none.number, None);
}

/// Normal numbers about the middle bin or less than half a bin from it, as plans assume.
fn normal(people: u32, middle: [f64; 2], spread: f64, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(1000 + seed);
    let [from, to] = middle;
    let middle = from + (to - from) * (rng.next_u32() as f64 / 2_f64.powi(32));
    let normal = Normal::new(middle, spread).unwrap();
    (0..people).map(|_| normal.sample(&mut rng)).collect()
}

#[test]
fn intervals_of_quantiles_are_as_wide_as_planned() {
    const BATCHES: u32 = 60;
    for (scale, wanted, epsilon, people) in [
        (
            json!({}),
            json!({ "quantile": 0.5, "spread": 4 }),
            1.0,
            20_000,
        ),
        (
            json!({ "bins": 32 }),
            json!({ "quantile": 0.9, "spread": 6 }),
            2.0,
            3_000,
        ),
        (
            json!({ "spacing": "logarithmic" }),
            json!({ "quantile": 0.25, "spread": 8 }),
            1.0,
            8_000,
        ),
        (
            json!({ "step": 1 }),
            json!({ "quantile": 0.5, "spread": 4 }),
            2.0,
            4_000,
        ),
    ] {
        let mut question = json!({ "name": "q", "kind": "number", "min": 1, "max": 41,
            "want": "quantiles" });
        let fields = scale.as_object().unwrap().clone();
        question.as_object_mut().unwrap().extend(fields);
        let survey = json!({ "questions": [question], "epsilon": epsilon, "people": people,
            "wanted": { "q": wanted } });
        let planned = plan_survey(&serde_json::from_value(survey).unwrap()).unwrap();
        let QuestionKind::Number(bins) = planned.task.questions()[0].kind() else {
            panic!("a number is asked");
        };
        let edges = bins.edges().unwrap();
        let bin = edges.len() / 2;
        let half = 0.5 * (edges[bin + 1] - edges[bin]);
        let middle = [edges[bin] - half, edges[bin] + half];
        let quantile = wanted["quantile"].as_f64().unwrap();
        let options = EstimateOptions {
            quantiles: Some(vec![quantile]),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(&planned.task, &options).unwrap();
        let estimator = Estimator::for_task(planned.task.clone());
        let width = |seed: u32| {
            let spread = wanted["spread"].as_f64().unwrap();
            let crowd = normal(people, middle, spread, seed.into());
            let crowd: Vec<f64> = crowd.iter().map(|own| own.clamp(1.0, 41.0)).collect();
            let totals = batch(&planned.task, &crowd, seed.into());
            let answers = estimator.estimates(&totals, &query).number.unwrap();
            let [lower, upper] = answers.quantiles[0].interval;
            0.5 * (upper - lower)
        };
        let widths: Vec<f64> = (0..BATCHES).map(width).collect();
        let count = f64::from(BATCHES);
        let mean = widths.iter().sum::<f64>() / count;
        let square = widths.iter().map(|own| (own - mean).powi(2)).sum::<f64>();
        // Standard error of this mean and of the plan's over 200 crowds.
        let error = (square / count * (1.0 / count + 1.0 / 200.0)).sqrt();
        let off = (planned.questions[0].half_width - mean) / error;
        assert!(
            off.abs() < 4.5,
            "{scale}: {mean}, planned {}",
            planned.questions[0].half_width
        );
    }
}
