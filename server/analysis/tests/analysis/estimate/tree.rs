//! Numbers in trees of bins, the whole way from answers to intervals.

use hushbin::choose::Combined;
use hushbin::task::{Kind, Tree};
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    Aim, Estimate, Estimates, Estimator, Options, Predictor, Query, Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::json;

fn task(epsilon: f64, bins: u32, tree: &[u32]) -> Task {
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [{
        "name": "load", "kind": "number", "min": 0, "max": bins, "bins": bins, "tree": tree,
        "want": "quantiles", "unit": "s",
    }] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve().unwrap()
}

fn tree(task: &Task) -> &Tree {
    let Kind::Number(scale) = task.questions()[0].kind() else {
        unreachable!()
    };
    scale.tree().unwrap()
}

/// Of person i: most low, some in the middle, few at the end, a third in one bin.
fn number(bins: u32, person: u64) -> f64 {
    let part = [0.3, 0.3, 0.05, 0.55, 0.31, 0.98, 0.7, 0.3, 0.12][person as usize % 9];
    part * f64::from(bins)
}

fn totals(task: &Task, people: u64, seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let bins = tree(task).bins();
    for person in 0..people {
        let value = number(bins, person);
        let made = randomizer.randomize(&[Entry { item: 0, value }], &mut rng);
        totals.fold(&made.unwrap().report);
    }
    totals
}

fn answered(task: &Task, people: u64, seed: u64, confidence: f64) -> Estimates {
    let options = Options {
        confidence,
        quantiles: Some(vec![0.25, 0.5, 0.9]),
        ..Options::default()
    };
    let query = Query::new(task, &options).unwrap();
    Estimator::for_task(task.clone()).estimates(&totals(task, people, seed), &query)
}

/// The share of people below each inner edge, and in each bin.
fn truth(bins: u32, people: u64) -> [Vec<f64>; 2] {
    let share = |is: &dyn Fn(f64) -> bool| {
        let own = (0..people).filter(|person| is(number(bins, *person)));
        own.count() as f64 / people as f64
    };
    let below = (1..bins).map(|edge| share(&|x| x < f64::from(edge)));
    let inside = (0..bins).map(|bin| share(&|x| x.floor() == f64::from(bin)));
    [below.collect(), inside.collect()]
}

/// What came out of many batches.
#[derive(Default)]
struct Found {
    estimates: f64,
    single: f64,
    batches: f64,
    together: f64,
    /// By estimate, sums of errors and of their squares.
    errors: Vec<[f64; 2]>,
    /// Of the squares of stated standard errors.
    stated: f64,
}

impl Found {
    fn add(&mut self, estimates: &[Estimate], truth: &[f64]) {
        assert_eq!(estimates.len(), truth.len());
        self.errors.resize(truth.len(), [0.0; 2]);
        let mut all = true;
        for ((estimate, truth), sums) in estimates.iter().zip(truth).zip(&mut self.errors) {
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(truth);
            self.single += f64::from(u8::from(holds(estimate.interval)));
            all &= holds(estimate.simultaneous_interval);
            let error = estimate.estimate - truth;
            sums[0] += error;
            sums[1] += error * error;
            self.stated += estimate.standard_error * estimate.standard_error;
        }
        self.estimates += truth.len() as f64;
        self.batches += 1.0;
        self.together += f64::from(u8::from(all));
    }

    /// How many standard errors the average of one estimate is off, at most.
    fn bias(&self) -> f64 {
        let off = self
            .errors
            .iter()
            .map(|[sum, squares]| sum / squares.sqrt());
        off.fold(0.0, |most: f64, z| most.max(z.abs()))
    }

    /// Squared errors over the squares of the standard errors stated.
    fn error(&self) -> f64 {
        self.errors.iter().map(|sums| sums[1]).sum::<f64>() / self.stated
    }
}

fn found(task: &Task, people: u64, batches: u64, confidence: f64) -> [Found; 2] {
    let [below, inside] = truth(tree(task).bins(), people);
    let mut found = [Found::default(), Found::default()];
    for seed in 0..batches {
        let answer = answered(task, people, seed, confidence);
        let edges = answer.number.unwrap().distribution;
        let edges: Vec<Estimate> = edges.iter().map(|below| below.share).collect();
        found[0].add(&edges, &below);
        let bins = answer.estimates.iter();
        let bins = bins.map(|item| *item.estimates().next().unwrap().1);
        found[1].add(&bins.collect::<Vec<_>>(), &inside);
    }
    found
}

/// Shares below edges and in bins are unbiased (4.5 standard errors happen by chance once in
/// 10⁵), their standard errors are what is stated, and their intervals cover as often as they
/// say: of people who are given, while the law is of people drawn for each layer.
#[test]
fn shares_are_unbiased_and_covered() {
    for (epsilon, bins, branches, people) in [
        (1.0, 16, &[4, 4][..], 900),
        (4.0, 15, &[2, 2, 4], 900),
        (2.0, 24, &[3, 8], 90),
        (12.0, 8, &[2, 2, 2], 45),
    ] {
        let task = task(epsilon, bins, branches);
        for confidence in [0.9, 0.95, 0.99] {
            let batches = 300;
            for (what, found) in ["below", "bins"]
                .iter()
                .zip(found(&task, people, batches, confidence))
            {
                let what = format!("{what}, {epsilon}, {bins} in {branches:?}, {confidence}");
                assert!(found.bias() < 4.5, "{what}: {}", found.bias());
                let single = found.single / found.estimates;
                let together = found.together / found.batches;
                let error = found.error();
                assert!(error < 1.12, "{what}: {error}");
                // A part of 300 batches varies by 1.8 per cent at 90, by 0.6 at 99.
                let spread = (confidence * (1.0 - confidence) / batches as f64).sqrt();
                assert!(single > confidence - 3.0 * spread, "{what}: {single}");
                assert!(together > confidence - 3.0 * spread, "{what}: {together}");
            }
        }
    }
}

/// Quantiles of many bins, held by their intervals.
#[test]
fn quantiles_of_many_bins_are_covered() {
    let task = task(1.0, 256, &[4, 4, 4, 4]);
    let mut missed = 0;
    for seed in 0..60 {
        let answer = answered(&task, 4000, seed, 0.95);
        for quantile in answer.number.unwrap().quantiles {
            let mut numbers: Vec<f64> = (0..4000).map(|person| number(256, person)).collect();
            numbers.sort_by(f64::total_cmp);
            let truth = numbers[(quantile.quantile * 4000.0) as usize];
            let [low, high] = quantile.interval;
            // People are at a few points: all of a bin at which the part is met.
            missed += u32::from(truth < low - 1.0 || truth > high + 1.0);
        }
    }
    // Of 180, 9 on average: 20 by chance in one of 1,500 runs.
    assert!(missed < 20, "{missed}");
}

/// What is predicted at the worst is above what is measured, and not by much; and flat bins
/// are worse by as much as is said.
#[test]
fn predictions_are_near_what_comes_out() {
    let layered = task(1.0, 64, &[4, 4, 4]);
    let flat = task(1.0, 64, &[64]);
    let predicted = |task: &Task| {
        let predictor = Predictor::for_question(&task.questions()[0]);
        predictor
            .worst_variance(Aim::Distribution(0.5), false)
            .unwrap()
    };
    // At the worst edge, of people in the worst bins.
    let ratio = predicted(&layered) / predicted(&flat);
    assert!((0.3..0.45).contains(&ratio), "{ratio}");
    let people = 2000;
    let query = Query::new(&layered, &Options::default()).unwrap();
    let estimator = Estimator::for_task(layered.clone());
    let answer = estimator.estimates(&totals(&layered, people, 7), &query);
    let edges = answer.number.unwrap().distribution;
    let stated = edges
        .iter()
        .map(|below| below.share.standard_error.powi(2) * people as f64);
    let worst = stated.fold(0.0, f64::max);
    let over = predicted(&layered) / worst;
    assert!((1.0..1.5).contains(&over), "{over}");
}

/// Without reports of the bins themselves nothing is known of them, and nothing is said.
#[test]
fn nothing_is_said_of_bins_without_reports() {
    let task = task(1.0, 16, &[4, 4]);
    let query = Query::new(&task, &Options::default()).unwrap();
    let estimator = Estimator::for_task(task.clone());
    for people in 0..12 {
        let totals = totals(&task, people, 3);
        let answer = estimator.estimates(&totals, &query);
        assert_eq!(answer.reports, people);
        assert_eq!(answer.number.is_some(), !answer.estimates.is_empty());
        let intervals = answer.estimates.iter().flat_map(|item| item.estimates());
        for (_, estimate) in intervals {
            let [low, high] = estimate.interval;
            assert!(
                low <= high && low.is_finite() && high.is_finite(),
                "{estimate:?}"
            );
        }
    }
}

/// Least squares leave no more than one layer's estimates alone would, however few reports
/// the others have.
#[test]
fn every_layer_lessens_the_variance() {
    let tree = Tree::new(64, vec![4, 4, 4]).unwrap();
    let variance = |weights: &[f64; 3]| {
        let combined = Combined::below(&tree, weights, 27);
        let layers = (0..3).filter(|layer| weights[*layer] > 0.0);
        layers
            .flat_map(|layer| tree.layer(layer).map(move |node| (layer, node)))
            .map(|(layer, node)| combined.of_nodes[node as usize].powi(2) / weights[layer])
            .sum::<f64>()
    };
    let bins = variance(&[0.0, 0.0, 1.0]);
    let (some, even) = (variance(&[0.0, 0.1, 1.0]), variance(&[1.0, 1.0, 1.0]));
    assert!(even < some && some < bins, "{even}, {some}, {bins}");
    // Of 64 bins with the same noise, whose sum is known: 27·37/64.
    assert!((bins - 27.0 * 37.0 / 64.0).abs() < 1e-9, "{bins}");
}
