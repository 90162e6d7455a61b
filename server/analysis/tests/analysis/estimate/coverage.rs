//! Tests of intervals against simulated truth, for every mechanism.
//!
//! Intervals cover at the stated rate, and exact ones hardly more often. All estimates are
//! unbiased. Conditional means are refused at the expected rate.
//!
//! Seeds are fixed. Each comparison would fail for a right implementation with probability at most
//! 10⁻⁷, and all of some 4,500 together with 5·10⁻⁴.

use crate::support::crowd::{ITEMS, all, collect, crowd, names, tasks, truth};
use hushbin::{Entry, Mechanism, Task, ValueKind};
use hushbin_analysis::estimate::{
    ConditionalMean, ErrorPredictor, Estimand, Estimate, EstimateOptions, EstimateQuery,
    ItemEstimates, PostProcessingMethod, Totals, estimates_for_query,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

const SIGNIFICANCE: f64 = 1e-7;
const CONFIDENCES: [f64; 3] = [0.9, 0.95, 0.99];
/// Number of populations for each task.
const CROWDS: u64 = 10;
/// Number of rounds for each population.
const ROUNDS: u64 = 100;
const PEOPLE: usize = 800;
/// Factor of the width: with signs, intervals may cover as often as intervals wider by this.
const WIDTH: f64 = 1.06;
/// Number of standard errors of a non-missing frequency from which on the delta method has to
/// cover.
const DELTA: f64 = 4.0;

/// Coverage counts of intervals of one confidence.
#[derive(Clone, Default)]
struct Tally {
    /// Numbers of covered and of all intervals, by item.
    items: [[u64; 2]; ITEMS as usize],
    /// Number of rounds in which all simultaneous intervals covered.
    together: u64,
    rounds: u64,
    /// Sum of a round's share of covering intervals, and sum of its square.
    shares: [f64; 2],
}

/// Item, its estimate with intervals, and the true value.
type Look<'a> = (usize, &'a Estimate, f64);

impl Tally {
    fn round(&mut self, looks: &[Look]) {
        let within = |[low, high]: [f64; 2], truth: f64| low <= truth && truth <= high;
        let (mut covered, mut looked, mut together) = (0, 0, true);
        for &(item, estimate, truth) in looks {
            let hit = u64::from(within(estimate.interval, truth));
            self.items[item][0] += hit;
            self.items[item][1] += 1;
            covered += hit;
            looked += 1;
            together &= within(estimate.simultaneous_interval, truth);
        }
        if looked > 0 {
            let share = covered as f64 / looked as f64;
            self.rounds += 1;
            self.together += u64::from(together);
            self.shares[0] += share;
            self.shares[1] += share * share;
        }
    }

    /// Returns the coverage over all items, and its standard error.
    ///
    /// Items of one round depend on each other, so only rounds are independent.
    fn coverage(&self) -> (f64, f64) {
        let n = self.rounds as f64;
        let mean = self.shares[0] / n;
        (mean, ((self.shares[1] / n - mean * mean) / n).sqrt())
    }

    /// Adds rounds of another task.
    fn merge(&mut self, other: &Self) {
        self.together += other.together;
        self.rounds += other.rounds;
        for (a, b) in self.shares.iter_mut().zip(other.shares) {
            *a += b;
        }
        for (a, b) in self
            .items
            .iter_mut()
            .flatten()
            .zip(other.items.iter().flatten())
        {
            *a += b;
        }
    }

    fn check(&self, confidence: f64, width: Option<f64>, what: &str) {
        assert!(self.rounds > 0, "{what}");
        at_least(self.together, self.rounds, confidence, what);
        for (item, [covered, looked]) in self.items.into_iter().enumerate() {
            at_least(covered, looked, confidence, &format!("item {item}, {what}"));
        }
        let normal = Normal::standard();
        let reach = -normal.inverse_cdf(SIGNIFICANCE);
        let (coverage, error) = self.coverage();
        assert!(
            coverage > confidence - reach * error,
            "{what}: covered {coverage}, standard error {error}"
        );
        if let Some(width) = width {
            let wider = width * normal.inverse_cdf((1.0 + confidence) / 2.0);
            let most = 2.0 * normal.cdf(wider) - 1.0;
            assert!(
                coverage < most + reach * error,
                "{what}: covered {coverage}, standard error {error}, too wide"
            );
        }
    }
}

/// Tests by a binomial that the coverage probability is at least `confidence`.
fn at_least(covered: u64, looked: u64, confidence: f64, what: &str) {
    let chance = Binomial::new(confidence, looked).unwrap().cdf(covered);
    assert!(
        chance > SIGNIFICANCE,
        "{what}: covered {covered} of {looked}, chance {chance:e}"
    );
}

/// Number of estimates tested for each item: [`Estimand::RATINGS`], then the conditional mean.
const LOOKED_AT: usize = 5;
const CONDITIONAL: usize = 4;

fn looked_at(item: &ItemEstimates, index: usize) -> Option<&Estimate> {
    let ratings = &item.by_estimand[..Estimand::RATING_ESTIMANDS.len()];
    match ratings.get(index) {
        Some(estimate) => estimate.as_ref(),
        None => match item.post_processed.conditional_mean.as_ref()? {
            ConditionalMean::Estimate(estimate) => Some(estimate),
            ConditionalMean::Refused { .. } => None,
        },
    }
}

/// Returns the true values that intervals must cover; `None` if coverage is not required.
fn truths(task: &Task, crowd: &[Vec<Entry>]) -> [Vec<Option<f64>>; LOOKED_AT] {
    let [mean, plus, minus, nonmissing] =
        Estimand::RATING_ESTIMANDS.map(|estimand| truth(task, crowd, estimand));
    let error = ErrorPredictor::for_question(&task.questions()[0])
        .rare_item_standard_error(Estimand::Nonmissing, PEOPLE as f64);
    let conditional = mean.iter().zip(&nonmissing).map(|(mean, nonmissing)| {
        let enough = *nonmissing >= DELTA * error?;
        enough.then(|| mean / nonmissing)
    });
    let conditional = conditional.collect();
    let all = |truth: Vec<f64>| truth.into_iter().map(Some).collect();
    [
        all(mean),
        all(plus),
        all(minus),
        all(nonmissing),
        conditional,
    ]
}

/// Results of one task.
struct Trial {
    task: Task,
    /// True if the task has conditional means.
    conditional: bool,
    /// Queries, by confidence.
    questions: [EstimateQuery; 3],
    /// Coverage counts, by estimate and confidence.
    tallies: [[Tally; 3]; LOOKED_AT],
    /// Sums of errors and of the estimated variances, by estimand and item.
    errors: [[[f64; 2]; ITEMS as usize]; 4],
    /// Numbers of refused conditional means by confidence: of the item that no person has, and of
    /// items that should be covered.
    refused: [[u64; 2]; 3],
}

impl Trial {
    fn new(task: Task) -> Self {
        let ask = |confidence: f64, post: &[PostProcessingMethod]| {
            let options = EstimateOptions {
                question_name: None,
                item_names: task.questions()[0]
                    .items()
                    .item_count()
                    .is_none()
                    .then(names),
                confidence,
                post_processing_methods: post.to_vec(),
                ..EstimateOptions::default()
            };
            EstimateQuery::new(&task, &options)
        };
        let post = [PostProcessingMethod::MeanGivenPresence];
        let conditional = ask(0.5, &post).is_ok();
        let post = if conditional { &post[..] } else { &[] };
        let questions = CONFIDENCES.map(|confidence| ask(confidence, post).unwrap());
        assert_eq!(questions[0].items(), all(&task));
        Self {
            task,
            conditional,
            questions,
            tallies: Default::default(),
            errors: Default::default(),
            refused: Default::default(),
        }
    }

    fn run(mut self, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        for seed in 0..CROWDS {
            let crowd = crowd(&self.task, PEOPLE, seed);
            let truths = truths(&self.task, &crowd);
            for _ in 0..ROUNDS {
                self.round(&collect(&self.task, &crowd, &mut rng), &truths);
            }
        }
        self
    }

    fn round(&mut self, totals: &Totals, truths: &[Vec<Option<f64>>; LOOKED_AT]) {
        for (c, question) in self.questions.iter().enumerate() {
            let items = estimates_for_query(&self.task, totals, question).estimates;
            for (index, truths) in truths.iter().enumerate() {
                let looks: Vec<Look> = (0..)
                    .zip(items.iter().zip(truths))
                    .filter_map(|(j, (item, truth))| Some((j, looked_at(item, index)?, (*truth)?)))
                    .collect();
                self.tallies[index][c].round(&looks);
                // Estimates are equal at all confidences.
                if let (0, Some(errors)) = (c, self.errors.get_mut(index)) {
                    for (j, estimate, truth) in looks {
                        errors[j][0] += estimate.estimate - truth;
                        errors[j][1] += estimate.standard_error.powi(2);
                    }
                }
            }
            let refused = |item: &ItemEstimates| {
                let conditional = item.post_processed.conditional_mean;
                u64::from(matches!(conditional, Some(ConditionalMean::Refused { .. })))
            };
            self.refused[c][0] += items.last().map_or(0, refused);
            self.refused[c][1] += items
                .iter()
                .zip(&truths[CONDITIONAL])
                .filter(|(_, truth)| truth.is_some())
                .map(|(item, _)| refused(item))
                .sum::<u64>();
        }
    }

    fn check(&self) {
        let Self { task, tallies, .. } = self;
        let predictor = ErrorPredictor::for_question(&task.questions()[0]);
        let width = width(task.questions()[0].coded_value_kind());
        for (index, estimand) in Estimand::RATING_ESTIMANDS.into_iter().enumerate() {
            if predictor.rare_item_standard_error(estimand, 1.0).is_none() {
                assert_eq!(tallies[index][0].rounds, 0, "{estimand:?} of {task:?}");
                continue;
            }
            let signs = [Estimand::Plus, Estimand::Minus].contains(&estimand);
            let mechanism = task.questions()[0].mechanism();
            // CoCo treats people with the opposite sign as people without the item, who vary more.
            let bounded = signs && matches!(mechanism, Mechanism::Coco(_));
            let width = width.filter(|_| !bounded);
            for (tally, confidence) in tallies[index].iter().zip(CONFIDENCES) {
                let what = format!("{confidence} {estimand:?} of {task:?}");
                tally.check(confidence, width, &what);
            }
            for (item, [error, variance]) in self.errors[index].into_iter().enumerate() {
                let chance = 2.0 * Normal::standard().sf((error / variance.sqrt()).abs());
                let what = format!("item {item}, {estimand:?} of {task:?}");
                assert!(chance > SIGNIFICANCE, "{what}: biased, chance {chance:e}");
            }
        }
        for (c, confidence) in CONFIDENCES.into_iter().enumerate() {
            let tally = &tallies[CONDITIONAL][c];
            let what = format!("{confidence} conditional mean of {task:?}");
            let [nobody, refused] = self.refused[c];
            if !self.conditional {
                assert_eq!((tally.rounds, nobody, refused), (0, 0, 0), "{what}");
                continue;
            }
            if tally.rounds > 0 {
                tally.check(confidence, width, &what);
            }
            let refusals = format!("refused, {what}");
            at_least(nobody, CROWDS * ROUNDS, confidence, &refusals);
            // At this number of standard errors few are refused, even at 99 per cent.
            let given: u64 = tally.items.iter().map(|[_, looked]| looked).sum();
            at_least(given, given + refused, 0.8, &format!("given, {what}"));
        }
    }
}

/// Tests every mechanism's intervals, for values of one kind.
fn check_all(value: ValueKind) {
    let mut conditional: [Tally; 3] = Default::default();
    for (seed, task) in (0..).zip(tasks(value)) {
        let trial = Trial::new(task).run(seed);
        trial.check();
        for (all, tally) in conditional.iter_mut().zip(&trial.tallies[CONDITIONAL]) {
            all.merge(tally);
        }
    }
    // Few items of a task have enough people for this test, so all tasks are pooled.
    for (tally, confidence) in conditional.iter().zip(CONFIDENCES) {
        let what = format!("{confidence} conditional means, {value:?}");
        assert!(tally.rounds >= 8 * CROWDS * ROUNDS, "{what}");
        tally.check(confidence, width(value), &what);
    }
}

/// Real values turn some variances into upper bounds.
fn width(value: ValueKind) -> Option<f64> {
    match value {
        ValueKind::Sign | ValueKind::Presence => Some(WIDTH),
        ValueKind::Real => None,
    }
}

#[test]
fn intervals_of_signs_cover_and_are_no_wider_than_they_must() {
    check_all(ValueKind::Sign);
}

#[test]
fn intervals_of_real_values_cover() {
    check_all(ValueKind::Real);
}
