//! Simulations of tasks of questions: comparison of the estimates with the truth.

use chacha20::ChaCha20Rng;
use hushbin::task::QuestionKind;
use hushbin::{Entry, Question, Task};
use hushbin_analysis::estimate::{
    Estimand, EstimateOptions, EstimateQuery, Estimates, Estimator, Totals,
};
use hushbin_analysis::heavy_hitters;
use serde::Serialize;

use super::answers::Answers;
use super::error_tally::{ComparedEstimate, ErrorTally};
use super::reports::{SimulateError, simulate_reports};
use super::texts::{TextQuestionResult, TextSearchSimulation};

/// Result of simulating a task, as averages over `runs`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SimulationResult {
    /// Number of people who reported.
    pub(crate) people: usize,
    /// Number of runs.
    pub(crate) runs: usize,
    /// Confidence of the intervals.
    pub(crate) confidence: f64,
    /// Number of people whose answer has more entries than the question's sparsity. Only the
    /// question that the person's report answers is considered.
    pub(crate) sampled_down: usize,
    /// Nanoseconds to randomise one person's answers, on one core.
    pub(crate) randomize_ns: f64,
    /// Nanoseconds to fold one report into totals, on one core.
    pub(crate) decode_ns: f64,
    /// Results of each question whose kind is not text.
    pub(crate) questions: Vec<QuestionResult>,
    /// Results of each question of kind text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) texts: Vec<TextQuestionResult>,
}

/// Result of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct QuestionResult {
    /// Name of the question.
    pub(crate) question: String,
    /// Kind of the question.
    pub(crate) kind: &'static str,
    /// Expected share of people whose report answers the question.
    pub(crate) share: f64,
    /// Number of reports that answered the question; mean over runs.
    pub(crate) reports: f64,
    /// Quantity that is estimated for each item.
    pub(crate) estimand: Estimand,
    /// Number of items, options, bins or levels.
    pub(crate) items: usize,
    /// Mean squared error, averaged over items and over runs with at least one answer. NaN if no
    /// run had an answer. If the question asks for several numbers, each error is divided by the
    /// width of its number's range.
    pub(crate) mse: f64,
    /// Mean square of the stated standard errors, averaged like `mse`.
    pub(crate) stated_mse: f64,
    /// Mean squared error of estimating 0 for every item.
    pub(crate) zero_mse: f64,
    /// Comparison of the items' estimates with the true shares.
    #[serde(flatten)]
    pub(crate) shares: ErrorTally,
    /// Number of answers outside the range of a number.
    pub(crate) clipped: u64,
    /// Comparison of a number's mean and quantiles with the truth. A `cross` question has the mean
    /// of each row instead.
    #[serde(skip_serializing_if = "ErrorTally::is_empty")]
    pub(crate) numbers: ErrorTally,
    /// Number of runs with at least one answer.
    #[serde(skip)]
    answered: u32,
}

/// Simulates the reports of the first `people` people once for each random generator. `progress` is
/// called with the index of the run and the number of people done in that run.
///
/// # Errors
/// [`SimulateError`] if `people` is out of range, a question is open, a query is invalid, or an
/// answer is refused.
pub(crate) fn simulate_survey(
    task: &Task,
    answers: &Answers,
    people: usize,
    search: &heavy_hitters::SearchOptions,
    rngs: impl Iterator<Item = ChaCha20Rng>,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<SimulationResult, SimulateError> {
    check_people(people, answers.person_count())?;
    let estimator = Estimator::for_task(task.clone());
    let confidence = search.confidence;
    let truth = |&index: &usize| TrueValues::new(task, index, answers, people, confidence);
    let is_text = |&index: &usize| matches!(task.questions()[index].kind(), QuestionKind::Text(_));
    let (texts, listed): (Vec<usize>, Vec<usize>) = (0..task.questions().len()).partition(is_text);
    let truths: Vec<TrueValues> = listed.iter().map(truth).collect::<Result<_, _>>()?;
    let crowd = |index| TextSearchSimulation::new(task, index, answers, people, search);
    let mut crowds: Vec<TextSearchSimulation> =
        texts.into_iter().map(crowd).collect::<Result<_, _>>()?;
    let none = |(&index, truth): (&usize, &TrueValues)| {
        QuestionResult::new(task, index, truth, answers.clipped_count(index))
    };
    let mut questions: Vec<QuestionResult> = listed.iter().zip(&truths).map(none).collect();
    let (mut runs, mut sampled_down, mut nanoseconds) = (0, 0, [0.0; 2]);
    for (run, rng) in rngs.enumerate() {
        let of = |person| answers.answers_of_person(person);
        let whole = simulate_reports(task, &of, people, &rng, &|done| progress(run, done))?;
        for (found, truth) in questions.iter_mut().zip(&truths) {
            found.add_run(task, truth, &estimator, &whole.totals);
        }
        for (crowd, reports) in crowds.iter_mut().zip(&whole.texts) {
            crowd.search_run(reports)?;
        }
        for (sum, time) in nanoseconds
            .iter_mut()
            .zip([whole.randomizing_time, whole.folding_time])
        {
            *sum += time.as_nanos() as f64 / people as f64;
        }
        runs += 1;
        sampled_down += whole.answers_over_sparsity;
    }
    let [randomize_ns, decode_ns] = nanoseconds.map(|time| time / f64::from(runs));
    Ok(SimulationResult {
        people,
        runs: runs as usize,
        confidence,
        sampled_down: sampled_down / runs as usize,
        randomize_ns,
        decode_ns,
        questions: questions
            .into_iter()
            .map(|own| own.into_averages(runs))
            .collect(),
        texts: crowds
            .into_iter()
            .map(|crowd| crowd.into_averages(runs))
            .collect(),
    })
}

/// Checks that the number of people `asked` is at least 1 and at most `there`.
fn check_people(asked: usize, there: usize) -> Result<(), SimulateError> {
    match (1..=there).contains(&asked) {
        true => Ok(()),
        false => Err(SimulateError::PeopleOutOfRange { asked, there }),
    }
}

/// True values of a question, and the query to estimate them.
struct TrueValues {
    query: EstimateQuery,
    /// True value of each item of the query.
    by_item: Vec<f64>,
    /// Divisor of each item's errors. If the question asks for several numbers, it is the width of
    /// the number's range, otherwise 1.
    error_divisors: Vec<f64>,
    /// Sorted answers to a number, clipped to the range.
    sorted_numbers: Vec<f64>,
    /// Number of people in each row, and sum of their numbers. Empty unless a `cross` question has
    /// means.
    row_counts_and_sums: Vec<[f64; 2]>,
}

impl TrueValues {
    fn new(
        task: &Task,
        index: usize,
        answers: &Answers,
        people: usize,
        confidence: f64,
    ) -> Result<Self, SimulateError> {
        let question = &task.questions()[index];
        if question.items().item_count().is_none() {
            return Err(SimulateError::UnlistedItems {
                question: question.name().to_owned(),
            });
        }
        let query = EstimateQuery::new(
            task,
            &EstimateOptions {
                question_name: (!task.has_unnamed_question()).then(|| question.name().to_owned()),
                confidence,
                ..EstimateOptions::default()
            },
        )?;
        let mut truth = Self {
            by_item: vec![0.0; query.items().len()],
            error_divisors: vec![1.0; query.items().len()],
            query,
            sorted_numbers: Vec::new(),
            row_counts_and_sums: Vec::new(),
        };
        for person in 0..people {
            for entry in answers.answer_entries(person, index) {
                truth.add_entry(question, entry, people as f64);
            }
        }
        truth.sorted_numbers.sort_by(f64::total_cmp);
        Ok(truth)
    }

    fn add_entry(&mut self, question: &Question, entry: &Entry, people: f64) {
        // The query contains all items in order, so an item is also an index.
        let item = entry.item as usize;
        let (cell, next) = match question.kind() {
            QuestionKind::Number(scale) => {
                let [min, max] = scale.range();
                let answer = scale.cell_of_answer(*entry);
                // A person without a number counts for no quantile.
                if answer.0 < scale.level_or_bin_count() {
                    self.sorted_numbers.push(entry.value.clamp(min, max));
                }
                answer
            }
            QuestionKind::CrossTabulation(cross) => {
                if let Some(levels) = cross.level_scale() {
                    let [min, max] = levels.range();
                    self.row_counts_and_sums
                        .resize(cross.row_and_column_counts()[0] as usize, [0.0; 2]);
                    self.row_counts_and_sums[item][0] += 1.0;
                    self.row_counts_and_sums[item][1] += entry.value.clamp(min, max);
                    // Cells of levels are not estimated.
                    return;
                }
                cross.cell_and_next_cell_probability(entry.item as u32, entry.value)
            }
            QuestionKind::JointChoices(together) => {
                (together.cell_of_option(item, entry.value as u32), 0.0)
            }
            QuestionKind::Numbers(of) => {
                let [min, max] = of[item].range();
                self.by_item[item] += entry.value.clamp(min, max) / people;
                self.error_divisors[item] = max - min;
                return;
            }
            _ => {
                self.by_item[item] += entry.value / people;
                return;
            }
        };
        let cell = cell as usize;
        // A number between two cells counts for both, in proportion.
        self.by_item[cell] += (1.0 - next) / people;
        if next > 0.0 {
            self.by_item[cell + 1] += next / people;
        }
    }

    /// Returns the true quantile for the share `part`. It is the smallest answer that is at least
    /// as large as the answers of this share of people. `None` if no person has a number.
    fn true_quantile(&self, part: f64) -> Option<f64> {
        let people = self.sorted_numbers.len();
        if people == 0 {
            return None;
        }
        // The rounding error of the product must not add a person.
        let reached = (part * people as f64 - 1e-9).ceil() as usize;
        Some(self.sorted_numbers[reached.clamp(1, people) - 1])
    }

    /// Compares the estimated mean and quantiles, or the estimated means of rows, with the truth.
    fn compare_numbers(&self, question: &Question, answer: &Estimates) -> Vec<ComparedEstimate> {
        let unit = question_number_unit(question, 0);
        let Some(number) = &answer.number else {
            let cross = answer.cross.iter();
            let means = cross.flat_map(|cross| &cross.conditional_means);
            let means = means
                .zip(&self.row_counts_and_sums)
                .map(|(own, [people, sum])| {
                    let what = format!("mean of {}", own.row);
                    let intervals = [own.mean.interval, own.mean.simultaneous_interval];
                    ComparedEstimate::new(&what, unit, sum / people, own.mean.estimate, intervals)
                });
            return means.collect();
        };
        let mean = number.mean.iter();
        let mean =
            mean.map(|own| ComparedEstimate::from_estimate(&"mean", unit, self.by_item[0], own));
        let quantiles = number.quantiles.iter().filter_map(|own| {
            let what = match own.quantile {
                0.5 => "median".to_owned(),
                part => format!("quantile {part}"),
            };
            let truth = self.true_quantile(own.quantile)?;
            let intervals = [own.interval, own.simultaneous_interval];
            let estimate = Some(own.estimate);
            Some(ComparedEstimate::new(
                &what, unit, truth, estimate, intervals,
            ))
        });
        mean.chain(quantiles).collect()
    }
}

/// Returns the unit of a question's number, if it has one. If the question asks for several
/// numbers, `item` is the index of one of them. A cross-tabulation has the number in its columns.
fn question_number_unit(question: &Question, item: usize) -> Option<&str> {
    match question.kind() {
        QuestionKind::Number(scale) => scale.unit(),
        QuestionKind::Numbers(of) => of[item].unit(),
        QuestionKind::CrossTabulation(cross) => cross.column_part().scale()?.unit(),
        _ => None,
    }
}

impl QuestionResult {
    /// Creates the result of a question before any run.
    fn new(task: &Task, index: usize, truth: &TrueValues, clipped: u64) -> Self {
        let question = &task.questions()[index];
        let items = truth.by_item.len();
        let parts = truth.by_item.iter().zip(&truth.error_divisors);
        let squares = parts.map(|(truth, width)| (truth / width).powi(2));
        Self {
            question: question.name().to_owned(),
            kind: question.kind().name(),
            share: task.question_report_share(index),
            reports: 0.0,
            estimand: if question.domain().is_rated() {
                Estimand::Mean
            } else {
                Estimand::Share
            },
            items,
            mse: 0.0,
            stated_mse: 0.0,
            zero_mse: squares.sum::<f64>() / items as f64,
            shares: ErrorTally::default(),
            clipped,
            numbers: ErrorTally::default(),
            answered: 0,
        }
    }

    /// Adds the estimates of a run, unless the run has no answers to the question.
    fn add_run(&mut self, task: &Task, truth: &TrueValues, estimator: &Estimator, totals: &Totals) {
        let question = &task.questions()[truth.query.question_index()];
        let answer = estimator.estimates(totals, &truth.query);
        if answer.reports == 0 {
            return;
        }
        self.answered += 1;
        self.reports += answer.reports as f64;
        let items = self.items as f64;
        let mut found = Vec::with_capacity(self.items);
        let truths = truth.by_item.iter().zip(&truth.error_divisors).enumerate();
        for (item, (index, (&truly, width))) in answer.estimates.iter().zip(truths) {
            let mut estimates = item.estimates();
            let asked = estimates.find(|(estimand, _)| *estimand == self.estimand);
            let Some((_, own)) = asked else {
                continue;
            };
            let error = (own.estimate - truly) / width;
            self.mse += error * error / items;
            self.stated_mse += (own.standard_error / width).powi(2) / items;
            let unit = match question.kind() {
                QuestionKind::Numbers(_) => question_number_unit(question, index),
                _ => None,
            };
            found.push(ComparedEstimate::from_estimate(
                &item.item, unit, truly, own,
            ));
        }
        self.shares.add_run(found);
        self.numbers
            .add_run(truth.compare_numbers(question, &answer));
    }

    /// Converts the sums over runs to averages over the runs with at least one answer.
    fn into_averages(self, runs: u32) -> Self {
        let average = |sum: f64| sum / f64::from(self.answered);
        Self {
            reports: self.reports / f64::from(runs),
            mse: average(self.mse),
            stated_mse: average(self.stated_mse),
            shares: self.shares.into_averages(),
            numbers: self.numbers.into_averages(),
            ..self
        }
    }
}
