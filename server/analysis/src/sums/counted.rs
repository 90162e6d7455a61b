//! Counted questions through a shuffler: message parameters, estimates, predicted errors and the
//! influence of dishonest people.

use hushbin::Error;
use hushbin::sums::{
    CountedKind, CountedQuestions, MessageParameters, NoiseLottery, SumTask, SumTaskFields,
};

use super::histogram::{
    BinQuantile, BinTree, HistogramCountsError, LotteryErrors, NumberCounts, estimate_cells,
    estimate_flags, local_share_error, most_moved_by_one_person,
};
use super::totals::SumTotals;
use crate::accounting::{LotteryBatch, LotteryNoise, calibrate_lottery};
use crate::estimate::{
    ConfidenceLevel, Estimate, NumberEstimates, QuantileEstimate, ShareBelowEdge,
};

/// Number of standard deviations by which the noise of a group may exceed its planned mean.
const NOISE_SAFETY_DEVIATIONS: f64 = 4.0;

/// Messages that should be in totals and are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MissingMessages {
    /// Number of messages that are certainly missing.
    pub(super) known: u64,
    /// Maximum number that is assumed for each group of cells.
    most: u64,
}

/// Questions of a task, and the lottery of their noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedTask<'a> {
    pub(super) questions: &'a CountedQuestions,
    pub(super) lottery: NoiseLottery,
}

impl<'a> CountedTask<'a> {
    /// Returns the questions of a task, or `None` if it sums numbers or a vector.
    pub(super) fn of_task(task: &'a SumTask) -> Option<Self> {
        match task.message_parameters() {
            MessageParameters::UnitSteps(_) => None,
            MessageParameters::Lottery(lottery) => Some(Self {
                questions: task.summed_quantity().counted_questions()?,
                lottery: *lottery,
            }),
        }
    }

    /// Returns the noise of one person.
    pub(super) fn noise(&self) -> LotteryNoise {
        LotteryNoise {
            draws: self.lottery.draws(),
            threshold: self.lottery.threshold(),
        }
    }

    /// Returns the predicted errors, if `people` people participate.
    fn errors(&self, people: f64) -> LotteryErrors {
        LotteryErrors::new(people, self.noise(), self.questions.cell_count())
    }

    /// Returns the standard error of the share of one item: an option, the answer yes, or a bin.
    pub(super) fn share_error(&self, people: f64) -> f64 {
        let cells = f64::from(self.questions.cell_count());
        let variance = match self.questions.kind() {
            CountedKind::Choice { .. } | CountedKind::Set { .. } => 1.0 - 1.0 / cells,
            CountedKind::Flags => 0.5,
            CountedKind::Number { .. } => bin_tree(self.questions).variance_of_bin(0),
        };
        self.errors(people).share_error(variance)
    }

    /// Returns the standard error of the same share from locally private reports.
    ///
    /// # Errors
    /// The errors of [`local_share_error`].
    pub(super) fn local_share_error(&self, epsilon: f64, people: f64) -> Result<f64, Error> {
        let items = self.questions.items().item_count().unwrap_or(0);
        let (options, most, questions) = match self.questions.kind() {
            CountedKind::Set { sparsity, .. } => (items, *sparsity, 1),
            CountedKind::Flags => (1, 1, items),
            CountedKind::Choice { .. } | CountedKind::Number { .. } => (items, 1, 1),
        };
        local_share_error(options, most, questions, epsilon, people)
    }

    /// Returns the largest number by which one person can move the count of an item.
    ///
    /// A message about a flag moves its estimate by 1/2, and so does the increase of n.
    pub(super) fn most_moved(&self) -> f64 {
        let own = self.questions.own_message_count();
        let most = f64::from(most_moved_by_one_person(own, self.lottery.draws()));
        match self.questions.kind() {
            CountedKind::Flags => 0.5 * (most + 1.0),
            _ => most,
        }
    }

    /// Returns the counts of each group of cells, with the number of own messages of each person.
    fn groups<'t>(&self, totals: &'t SumTotals) -> Vec<(&'t [u64], u32)> {
        let mut rest = totals.cell_counts();
        let groups = self.questions.cell_groups().into_iter().map(|group| {
            let (own, others) = rest.split_at(group.cells as usize);
            rest = others;
            (own, group.own_messages)
        });
        groups.collect()
    }

    /// Returns the number of messages that are missing.
    ///
    /// Messages that the analyser left out are known. So are blank ones, if people send none. If
    /// groups of cells lack more messages than these, the missing ones were not counted. The noise of
    /// such a group does not show either, so it is assumed to be as large as planned. Messages may
    /// have moved from one group to another, so each group may lack all of them.
    pub(super) fn missing_messages(&self, totals: &SumTotals) -> MissingMessages {
        let people = u128::from(totals.people_count());
        let messages =
            |counts: &[u64]| -> u128 { counts.iter().map(|&count| u128::from(count)).sum() };
        let lacking = |(counts, own): &(&[u64], u32)| -> u128 {
            (people * u128::from(*own)).saturating_sub(messages(counts))
        };
        let groups = self.groups(totals);
        let lacking: u128 = groups.iter().map(lacking).sum();
        let lacking = u64::try_from(lacking).unwrap_or(u64::MAX);
        let blank = match self.lottery.pads_to_equal_counts() {
            true => 0,
            false => u128::from(totals.message_count()) - messages(totals.cell_counts()),
        };
        let known = totals.left_out_message_count() + blank as u64;
        if lacking <= known {
            return MissingMessages { known, most: known };
        }
        let widest = groups.iter().map(|(counts, _)| counts.len()).max();
        let draws = people as f64 * f64::from(self.lottery.draws()) * self.lottery.probability();
        let cells = f64::from(self.questions.cell_count());
        let noise = draws * widest.unwrap_or(0) as f64 / cells;
        let noise = (noise + NOISE_SAFETY_DEVIATIONS * noise.sqrt()).ceil();
        MissingMessages {
            known: lacking,
            most: lacking.saturating_add(noise as u64),
        }
    }

    /// Estimates the number of people behind each item.
    ///
    /// # Errors
    /// [`HistogramCountsError`] if there are more messages than totals can have.
    pub(super) fn estimate_items(
        &self,
        totals: &SumTotals,
        people: u64,
        confidence: &ConfidenceLevel,
    ) -> Result<Vec<Estimate>, HistogramCountsError> {
        let counts = totals.cell_counts();
        let own = self.questions.own_message_count();
        let missing = self.missing_messages(totals).most;
        match self.questions.kind() {
            CountedKind::Choice { .. } | CountedKind::Set { .. } => {
                estimate_cells(counts, people, own, missing, confidence)
            }
            CountedKind::Flags => estimate_flags(counts.as_chunks().0, people, missing, confidence),
            CountedKind::Number { .. } => {
                Ok(self.number_counts(totals, people)?.in_bins(confidence))
            }
        }
    }

    /// Estimates the distribution function and quantiles of a number. Returns `None` for other
    /// questions, and without people.
    ///
    /// # Errors
    /// [`HistogramCountsError`] if there are more messages than totals can have.
    pub(super) fn estimate_number(
        &self,
        totals: &SumTotals,
        people: u64,
        quantiles: &[f64],
        confidence: &ConfidenceLevel,
    ) -> Result<Option<NumberEstimates>, HistogramCountsError> {
        let (CountedKind::Number { limits, .. }, Some(edges)) =
            (self.questions.kind(), self.questions.bin_edges())
        else {
            return Ok(None);
        };
        let counts = self.number_counts(totals, people)?;
        let share = 1.0 / people as f64;
        let band = confidence.for_simultaneous_intervals(counts.edges());
        let below = counts.below_edges(&band).into_iter().zip(&edges[1..]);
        let quantile = |own: BinQuantile| {
            let bin = (own.position as usize).min(edges.len() - 2);
            let part = own.position - bin as f64;
            QuantileEstimate {
                quantile: own.quantile,
                estimate: edges[bin] + part * (edges[bin + 1] - edges[bin]),
                interval: own.interval.map(|edge| edges[edge]),
                simultaneous_interval: own.simultaneous_interval.map(|edge| edges[edge]),
                clamped: own.clamped,
            }
        };
        Ok(Some(NumberEstimates {
            unit: limits.unit().map(str::to_owned),
            range: limits.range(),
            mean: None,
            distribution: below
                .map(|(people, &below)| ShareBelowEdge {
                    below,
                    share: people.rescale_to_range([0.0, share]),
                })
                .collect(),
            quantiles: counts
                .quantiles(quantiles, confidence)
                .into_iter()
                .map(quantile)
                .collect(),
        }))
    }

    /// Returns the counts of a number's cells, by level.
    fn number_counts(
        &self,
        totals: &SumTotals,
        people: u64,
    ) -> Result<NumberCounts, HistogramCountsError> {
        let levels = self.groups(totals).into_iter().map(|(counts, _)| counts);
        let levels: Vec<&[u64]> = levels.collect();
        let missing = self.missing_messages(totals).most;
        NumberCounts::new(&bin_tree(self.questions), &levels, people, missing)
    }
}

/// Returns the batch of people that the accounting is for.
pub(super) fn lottery_batch(questions: &CountedQuestions, honest_people: u64) -> LotteryBatch {
    LotteryBatch {
        cells: questions.cell_count(),
        own_messages: questions.own_message_count(),
        honest_people,
        batches: 1,
    }
}

/// Chooses the fewest draws, and then the least noise, that provide the privacy of the draft.
///
/// There are no blank messages: the number of a person's messages reveals nothing about the answer.
///
/// # Errors
/// The errors of [`calibrate_lottery`].
pub(super) fn choose_lottery(
    fields: &SumTaskFields,
    questions: &CountedQuestions,
) -> Result<NoiseLottery, Error> {
    // Check the other parts of the draft with any lottery.
    let any = NoiseLottery::new(1, 1, false)?;
    let honest_people = SumTask::new(fields.clone(), any)?.honest_people_count();
    let batch = lottery_batch(questions, honest_people);
    let noise = calibrate_lottery(&batch, fields.central_epsilon, fields.delta)?.noise;
    NoiseLottery::new(noise.draws, noise.threshold, false)
}

/// Returns the levels of a number's bins.
fn bin_tree(questions: &CountedQuestions) -> BinTree {
    let bins = questions.items().item_count().unwrap_or(0);
    let upper: Vec<u32> = questions.bins_per_node().into_iter().collect();
    BinTree::new(bins, &upper).expect("the bins of a task are in range")
}
