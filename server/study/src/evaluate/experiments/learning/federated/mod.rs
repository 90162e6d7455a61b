//! Federated learning, the application of P1. Each person's device trains the shared model on the
//! person's messages. A hushbin task collects a few coordinates of the resulting change.

#[cfg(test)]
mod tests;

use hushbin::choose::{KindDraft, MechanismDraft, QuestionDraft, coco};
use hushbin::sample::move_random_subset_to_front;
use hushbin::task::ReportBudget;
use hushbin::{Entry, Error, Items, Randomizer, Task, TaskDraft, ValueKind};
use hushbin_analysis::estimate::{Totals, point_estimates};
use rand_chacha::ChaCha8Rng;

use super::local::LocalTraining;
use super::messages::{MESSAGES_PER_PERSON, MessageDistribution, TextMessage};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::axis::PRIVACY_EXCESS_ERROR_METRIC;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;

/// Experiment that trains a logistic regression on words by federated averaging.
#[derive(Debug)]
pub(crate) struct FederatedLearningExperiment {
    size: StudySize,
    cells: Vec<FederatedCell>,
}

/// Parameters of one cell of the experiment. Several units of work repeat a cell, each with
/// different random numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FederatedCell {
    people_count: usize,
    word_count: u16,
    /// Sparsity s: number of coordinates that a person reports.
    sparsity: u32,
    round_count: usize,
    /// Local ε that all reports of a person consume together.
    epsilon: f64,
}

/// Rule by which a person's reported coordinates are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoordinateChoice {
    /// Coordinates whose changes have the greatest magnitudes.
    LargestChanges,
    /// Random coordinates among those that changed. Their changes are divided by the fraction of
    /// coordinates that is kept.
    Random,
}

/// Rounds in which a person takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Participation {
    /// A person takes part in one round, and reports at ε.
    OneRound,
    /// A person takes part in each of the R rounds, and reports at ε/R.
    EveryRound,
}

/// Variant of the training: how coordinates are chosen, in which rounds people take part, and
/// whether reports are private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TrainingVariant {
    coordinate_choice: CoordinateChoice,
    participation: Participation,
    is_private: bool,
}

const MISCLASSIFIED_METRIC: &str = "misclassified";
const WORD_MODEL_ESTIMAND: &str = "logistic regression, words";
/// Name of the baseline that ignores the words and always predicts the more frequent answer. It has
/// no privacy.
const MAJORITY_BASELINE: &str = "the commoner answer";
/// Clipping bound C: changes of a weight are clipped to [−C, C] and reported as fractions of C.
const CLIPPING_BOUND: f64 = 0.5;

impl FederatedLearningExperiment {
    /// Creates the experiment, with the points and repeats of the given size.
    pub(crate) fn new(size: StudySize) -> Self {
        let epsilons: &[f64] =
            size.quick_or_full(&[0.5, 2.0, 8.0], &[0.5, 1.0, 2.0, 4.0, 8.0, 12.0]);
        let cell = |&epsilon: &f64| FederatedCell {
            people_count: size.quick_or_full(20_000, 100_000),
            word_count: size.quick_or_full(256, 512),
            sparsity: 8,
            round_count: size.quick_or_full(5, 10),
            epsilon,
        };
        Self {
            size,
            cells: epsilons.iter().map(cell).collect(),
        }
    }
}

impl Experiment for FederatedLearningExperiment {
    fn name(&self) -> &'static str {
        "federated"
    }

    fn title(&self) -> &'static str {
        "Federated learning of sparse changes (P1, application)"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let repeats = self.size.quick_or_full(3, 10);
        let cells = self.cells.iter().enumerate();
        let units = cells.flat_map(|(index, cell)| {
            WorkUnit::repeated_units(repeats, index, cell.estimated_microseconds(), |repeat| {
                format!("ε = {}, repeat {repeat}", cell.epsilon)
            })
        });
        units.collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        self.cells[unit.index].train_all_variants(rng)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let FederatedCell {
            people_count: people,
            word_count: words,
            sparsity,
            round_count: rounds,
            ..
        } = self.cells[0];
        let curves = table.mechanism_curves(
            WORD_MODEL_ESTIMAND,
            MISCLASSIFIED_METRIC,
            |_| true,
            |point| point.epsilon,
        );
        vec![Figure {
            name: "p1-federated".to_owned(),
            title: format!(
                "Federated logistic regression of {people} people in {rounds} rounds over ε"
            ),
            x_label: "ε of a person in all",
            y_label: MISCLASSIFIED_METRIC,
            are_x_and_y_logarithmic: [true, false],
            panels: vec![Panel {
                title: format!("{words} words, {sparsity} reported"),
                curves,
            }],
        }]
    }
}

impl CoordinateChoice {
    const ALL: [Self; 2] = [Self::LargestChanges, Self::Random];

    const fn label(self) -> &'static str {
        match self {
            Self::LargestChanges => "greatest",
            Self::Random => "random",
        }
    }
}

impl TrainingVariant {
    /// Returns the training variants for one choice of coordinates. The variant without privacy is
    /// the first.
    fn variants_of_choice(pick: CoordinateChoice) -> [Self; 3] {
        let way = |participation, is_private| Self {
            coordinate_choice: pick,
            participation,
            is_private,
        };
        [
            way(Participation::OneRound, false),
            way(Participation::OneRound, true),
            way(Participation::EveryRound, true),
        ]
    }

    fn label(self) -> String {
        let pick = self.coordinate_choice.label();
        match (self.is_private, self.participation) {
            (false, _) => format!("without privacy, {pick}"),
            (true, Participation::OneRound) => format!("CoCo, {pick}, one round each at ε"),
            (true, Participation::EveryRound) => format!("CoCo, {pick}, every round at ε/R"),
        }
    }
}

/// Channel through which the server learns the mean change of a round.
enum ChangeAggregation {
    /// Exact mean of the changes, without privacy.
    Plain,
    /// Estimates of the mean from the reports of a task.
    Private(Box<Task>),
}

impl FederatedCell {
    /// Returns the estimated running time of a unit, in microseconds.
    fn estimated_microseconds(&self) -> f64 {
        (self.people_count * (1 + 2 * self.round_count)) as f64 * 4.0
    }

    /// Trains the model in all variants, on the same people. The generator's first stream draws the
    /// people, and later streams draw reports.
    fn train_all_variants(&self, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let words = MessageDistribution::new(self.word_count);
        let drawn = &mut generator_stream(rng, 0);
        let crowd: Vec<_> = (0..self.people_count)
            .map(|_| words.draw_person_messages(drawn))
            .collect();
        let held_out: Vec<_> = (0..self.people_count / 10)
            .map(|_| words.draw_person_messages(drawn))
            .collect();
        // Weights of 0 predict that no message is liked, so their error is the share of liked
        // messages.
        let liked = misclassified_share(&vec![0.0; usize::from(self.word_count)], &held_out);
        let mut rows = vec![self.measurement_of_value(
            MAJORITY_BASELINE,
            MISCLASSIFIED_METRIC,
            liked.min(1.0 - liked),
        )];
        let mut index = 0;
        for pick in CoordinateChoice::ALL {
            let mut plain = None;
            for variant in TrainingVariant::variants_of_choice(pick) {
                index += 1;
                let weights =
                    self.trained_weights(variant, &crowd, generator_stream(rng, index))?;
                let error = misclassified_share(&weights, &held_out);
                let plain = *plain.get_or_insert(error);
                rows.push(self.measurement_of_value(&variant.label(), MISCLASSIFIED_METRIC, error));
                // The gap is the difference from the run without privacy that picks coordinates in
                // the same way.
                rows.push(self.measurement_of_value(
                    &variant.label(),
                    PRIVACY_EXCESS_ERROR_METRIC,
                    error - plain,
                ));
            }
        }
        Ok(rows)
    }

    /// Returns the model's weights after all rounds. The weights start at 0.
    fn trained_weights(
        &self,
        variant: TrainingVariant,
        crowd: &[[TextMessage; MESSAGES_PER_PERSON]],
        mut rng: ChaCha8Rng,
    ) -> Result<Vec<f64>, StudyError> {
        let channel = self.build_change_aggregation(variant)?;
        let mut weights = vec![0.0; self.word_count.into()];
        for round in 0..self.round_count {
            let people = self.participants(variant.participation, crowd, round);
            let change = self.mean_change(
                variant.coordinate_choice,
                &channel,
                people,
                &weights,
                &mut rng,
            )?;
            for (weight, change) in weights.iter_mut().zip(change) {
                *weight += SERVER_LEARNING_RATE * CLIPPING_BOUND * change;
            }
        }
        Ok(weights)
    }

    /// Returns the people who take part in a round.
    fn participants<'a, T>(&self, part: Participation, crowd: &'a [T], round: usize) -> &'a [T] {
        let each = crowd.len() / self.round_count;
        match part {
            Participation::OneRound => &crowd[round * each..(round + 1) * each],
            Participation::EveryRound => crowd,
        }
    }

    /// Returns the channel that a variant uses. It transmits the coordinates of a change, as
    /// fractions of the clipping bound C. If the variant is private, the channel is a task.
    fn build_change_aggregation(
        &self,
        variant: TrainingVariant,
    ) -> Result<ChangeAggregation, Error> {
        if !variant.is_private {
            return Ok(ChangeAggregation::Plain);
        }
        let draft = TaskDraft {
            id: "change".to_owned(),
            epsilon: match variant.participation {
                Participation::OneRound => self.epsilon,
                Participation::EveryRound => self.epsilon / self.round_count as f64,
            },
            people_count: None,
            questions: vec![QuestionDraft {
                name: "weights".to_owned(),
                kind: KindDraft::Ratings(Items::Count(self.word_count.into()), ValueKind::Real),
                sparsity: Some(self.sparsity),
                people_count_by_entry_count: None,
                mean_item_overlap: None,
                sampling_weight: None,
                mechanism: MechanismDraft::Coco(coco::ParametersDraft::default()),
            }],
            budget_per_person: ReportBudget::default(),
        };
        Ok(ChangeAggregation::Private(Box::new(draft.resolve_task()?)))
    }

    /// Returns the mean change of each weight over the people of a round, as the channel estimates
    /// it. Changes are fractions of the clipping bound C.
    fn mean_change(
        &self,
        pick: CoordinateChoice,
        channel: &ChangeAggregation,
        people: &[[TextMessage; MESSAGES_PER_PERSON]],
        weights: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>, StudyError> {
        let mut local = LocalTraining::new(weights.len());
        let mut sums = vec![0.0; weights.len()];
        let mut private = match channel {
            ChangeAggregation::Plain => None,
            ChangeAggregation::Private(task) => {
                Some((task, Randomizer::new(task), Totals::new(task)))
            }
        };
        for messages in people {
            let mut changes = local.train_on_messages(weights, messages);
            self.keep_and_clip_coordinates(pick, &mut changes, rng);
            match &mut private {
                None => changes
                    .iter()
                    .for_each(|own| sums[own.item as usize] += own.value),
                Some((_, randomizer, totals)) => {
                    totals.add_report(&randomizer.randomize(&changes, rng)?.report);
                }
            }
        }
        let Some((task, _, totals)) = private else {
            return Ok(sums.iter().map(|sum| sum / people.len() as f64).collect());
        };
        let items: Vec<u64> = (0..u64::from(self.word_count)).collect();
        let points = point_estimates(task, &totals, &items);
        let mean = |own: &hushbin_analysis::estimate::ItemPointEstimates| {
            own.mean.expect("CoCo estimates means").estimate
        };
        Ok(points.iter().map(mean).collect())
    }

    /// Keeps at most s coordinates of a change, where s is the sparsity, and clips them. The
    /// results are fractions of the clipping bound C.
    fn keep_and_clip_coordinates(
        &self,
        pick: CoordinateChoice,
        changes: &mut Vec<Entry>,
        rng: &mut ChaCha8Rng,
    ) {
        let (all, keep) = (changes.len(), self.sparsity as usize);
        let mut scale = 1.0 / CLIPPING_BOUND;
        if keep < all {
            match pick {
                CoordinateChoice::LargestChanges => {
                    let greater = |a: &Entry, b: &Entry| b.value.abs().total_cmp(&a.value.abs());
                    changes.select_nth_unstable_by(keep, greater);
                }
                CoordinateChoice::Random => {
                    move_random_subset_to_front(rng, changes, keep);
                    // Each coordinate is kept with probability keep/all, so this keeps the sum
                    // unbiased.
                    scale *= all as f64 / keep as f64;
                }
            }
            changes.truncate(keep);
        }
        for own in changes {
            own.value = (scale * own.value).clamp(-1.0, 1.0);
        }
    }

    fn measurement_of_value(&self, mechanism: &str, metric: &str, value: f64) -> Measurement {
        let point = MeasurementPoint {
            people: self.people_count as u64,
            items: self.word_count.into(),
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        };
        Measurement::new(point, mechanism, WORD_MODEL_ESTIMAND, metric, value)
    }
}

/// Factor by which the mean change is multiplied in a step. It exceeds 1 because only few people
/// write any given word.
const SERVER_LEARNING_RATE: f64 = 4.0;

/// Returns the fraction of messages that are predicted wrong.
fn misclassified_share(weights: &[f64], people: &[[TextMessage; MESSAGES_PER_PERSON]]) -> f64 {
    let messages = people.iter().flatten();
    let wrong = messages.filter(|own| (own.weight_sum(weights) > 0.0) != own.is_liked);
    wrong.count() as f64 / (people.len() * MESSAGES_PER_PERSON) as f64
}
