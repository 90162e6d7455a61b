//! Private learning: P4's figures 8, 9 and 10.
//!
//! Each person takes part in one step of the training, with a clipped and randomised gradient. All
//! mechanisms, and the run without privacy, have the same people in the same batches.

mod descent;
mod federated;
mod local;
mod messages;

use std::sync::Arc;

use crate::competitors::Budget;
use rand_chacha::ChaCha8Rng;

use crate::evaluate::crowd::census::{CensusExtract, Person};
use crate::evaluate::crowd::people::{PeopleSequence, PeopleSource, PeopleTable};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::axis::{FIXED_DELTA, PRIVACY_EXCESS_ERROR_METRIC};
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
    words_to_file_name,
};
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::numbers_mechanism::NumbersMechanismName;
pub(crate) use federated::FederatedLearningExperiment;

use descent::{Learner, TrainedModel};

/// Experiment that trains three models of people's incomes with every mechanism.
#[derive(Debug)]
pub(crate) struct GradientLearningExperiment {
    name: String,
    title: String,
    /// Names of the figures, one for each model.
    figure_names: [String; 3],
    repeat_count: u64,
    cells: Vec<LearningCell>,
}

/// Parameters of one cell of the experiment. Several units of work repeat a cell, each with
/// different random numbers.
#[derive(Debug, Clone)]
struct LearningCell {
    people_source: PeopleSource,
    epsilon: f64,
    /// Number of people. A tenth of them are held out to measure the error.
    people_count: u64,
    /// Batch size G: number of gradients averaged in a step.
    batch_size: u64,
}

/// Compared mechanisms. The first is the run without privacy.
const COMPARED_MECHANISMS: [NumbersMechanismName; 5] = [
    NumbersMechanismName::WithoutPrivacy,
    NumbersMechanismName::HushbinWindow,
    NumbersMechanismName::Majority,
    NumbersMechanismName::SampledTwoPoint,
    NumbersMechanismName::Gaussian,
];
const STEP_ERROR_METRIC: &str = "standard error of a step";

impl GradientLearningExperiment {
    /// Creates the experiment, with the points and repeats of the given size.
    ///
    /// The batch size is chosen such that the window mechanism at ε = 1 and d = 85 features has a
    /// standard error of 0.2, a tenth of the range. This takes 25·(d/k)·B² = 9,950 people if a
    /// report has k coordinates with values ±B. The batch size does not depend on ε, so the run
    /// without privacy is the same at every ε.
    pub(crate) fn new(size: StudySize) -> Self {
        let mut cells = Vec::new();
        for &extract in size.quick_or_full(&CensusExtract::ALL[..1], &CensusExtract::ALL) {
            cells.extend(epsilon_values(size).iter().map(|&epsilon| LearningCell {
                people_source: PeopleSource::Generated(extract),
                epsilon,
                people_count: size.quick_or_full(50_000, 1_000_000),
                batch_size: size.quick_or_full(1_500, 10_000),
            }));
        }
        Self {
            name: "learning".to_owned(),
            title: "Private learning by gradient descent (P4, figures 8, 9, 10)".to_owned(),
            figure_names: ["p4-8", "p4-9", "p4-10"].map(str::to_owned),
            repeat_count: size.quick_or_full(3, 10),
            cells,
        }
    }

    /// Creates the experiment on a table's people, with [`STEP_COUNT`] steps.
    pub(crate) fn from_table(table: PeopleTable, size: StudySize) -> Self {
        let name = format!("learning-{}", words_to_file_name(table.label()));
        let people = table.person_count();
        let batch = ((people - people / 10) / STEP_COUNT).max(1);
        let title = format!("Private learning of {people} people, {}", table.label());
        let crowd = PeopleSource::Table(Arc::new(table));
        let cell = |&epsilon: &f64| LearningCell {
            people_source: crowd.clone(),
            epsilon,
            people_count: people,
            batch_size: batch,
        };
        Self {
            figure_names: ["linear", "logistic", "vectors"].map(|model| format!("{name}-{model}")),
            name,
            title,
            repeat_count: size.quick_or_full(3, 10),
            cells: epsilon_values(size).iter().map(cell).collect(),
        }
    }
}

/// Number of steps for which the learning rates of the models were chosen.
const STEP_COUNT: u64 = 90;

fn epsilon_values(size: StudySize) -> &'static [f64] {
    size.quick_or_full(&[0.5, 2.0, 8.0], &[0.1, 0.5, 1.0, 2.0, 4.0, 10.0])
}

impl Experiment for GradientLearningExperiment {
    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let cells = self.cells.iter().enumerate();
        let units = cells.flat_map(|(index, cell)| {
            WorkUnit::repeated_units(
                self.repeat_count,
                index,
                cell.estimated_microseconds(),
                |repeat| {
                    format!(
                        "{}, ε = {}, repeat {repeat}",
                        cell.people_source.label(),
                        cell.epsilon
                    )
                },
            )
        });
        units.collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        self.cells[unit.index].train_all_models(&COMPARED_MECHANISMS, rng)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let mut crowds: Vec<&str> = self
            .cells
            .iter()
            .map(|own| own.people_source.label())
            .collect();
        crowds.dedup();
        let figure = |(name, model): (&String, TrainedModel)| {
            let panel = |crowd: &&str| {
                let curves = table.mechanism_curves(
                    &estimand_name(model, crowd),
                    model.error_metric_name(),
                    |_| true,
                    |point| point.epsilon,
                );
                Panel {
                    title: (*crowd).to_owned(),
                    curves,
                }
            };
            Figure {
                name: name.clone(),
                title: format!(
                    "{} of {} over ε",
                    capitalize(model.label()),
                    self.people_phrase()
                ),
                x_label: "ε",
                y_label: model.error_metric_name(),
                are_x_and_y_logarithmic: [true, model == TrainedModel::Linear],
                panels: crowds.iter().map(panel).collect(),
            }
        };
        self.figure_names
            .iter()
            .zip(TrainedModel::ALL)
            .map(figure)
            .collect()
    }
}

impl GradientLearningExperiment {
    /// Returns a phrase with the number of people, for titles.
    fn people_phrase(&self) -> String {
        let LearningCell {
            people_count: people,
            batch_size: batch,
            ..
        } = self.cells[0];
        format!("{} people in steps of {batch}", people - people / 10)
    }
}

fn capitalize(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

fn estimand_name(model: TrainedModel, crowd: &str) -> String {
    format!("{}, {crowd}", model.label())
}

impl LearningCell {
    /// Returns the estimated running time of a unit, in microseconds.
    fn estimated_microseconds(&self) -> f64 {
        // Mechanism-1 draws vectors until one is favoured, which takes more tries at a greater ε.
        let tries = if self.epsilon > 5.0 { 60.0 } else { 0.0 };
        self.people_count as f64 * (8.0 + tries)
    }

    /// Trains all models with all mechanisms on the same people. The generator's first stream draws
    /// the people, and later streams randomise gradients.
    fn train_all_models(
        &self,
        mechanisms: &[NumbersMechanismName],
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Measurement>, StudyError> {
        let mut drawn = self
            .people_source
            .start_people_sequence(generator_stream(rng, 0));
        let mut learners = self.new_learners(&drawn, mechanisms, rng)?;
        let mut person = Person::default();
        let held_out = self.people_count / 10;
        for _ in 0..(self.people_count - held_out) / self.batch_size {
            for _ in 0..self.batch_size {
                drawn.write_next_person(&mut person);
                for learner in &mut learners {
                    learner.add_gradient(&person.features, person.income)?;
                }
            }
            learners.iter_mut().for_each(Learner::take_step);
        }
        for _ in 0..held_out {
            drawn.write_next_person(&mut person);
            for learner in &mut learners {
                learner.add_held_out_error(&person.features, person.income);
            }
        }
        let mut rows = Vec::new();
        // Learners are grouped by model, and the first of each group has no privacy.
        for of_model in learners.chunks(mechanisms.len()) {
            let plain = of_model[0].mean_error();
            rows.extend(
                of_model
                    .iter()
                    .flat_map(|own| self.learner_measurements(own, plain)),
            );
        }
        Ok(rows)
    }

    /// Returns a learner for each model and each mechanism. The learners are grouped by model, and
    /// the first learner of each group has no privacy.
    fn new_learners(
        &self,
        drawn: &PeopleSequence,
        mechanisms: &[NumbersMechanismName],
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Learner>, StudyError> {
        let budget = Budget::new(self.epsilon, FIXED_DELTA)?;
        let mut learners = Vec::new();
        for model in TrainedModel::ALL {
            for &name in mechanisms {
                // Stream 0 draws the people.
                let rng = generator_stream(rng, 1 + learners.len() as u64);
                let learner = Learner::new(model, name, drawn.feature_count(), &budget, rng)?;
                learners.push(learner);
            }
        }
        Ok(learners)
    }

    fn learner_measurements(&self, learner: &Learner, plain: f64) -> [Measurement; 3] {
        let d = learner.feature_count();
        let point = MeasurementPoint {
            people: self.people_count,
            items: d,
            sparsity: d,
            epsilon: self.epsilon,
            delta: FIXED_DELTA,
            parameter: 0.0,
        };
        let estimand = estimand_name(learner.model, self.people_source.label());
        let measured = |metric: &str, value| {
            Measurement::new(
                point,
                learner.mechanism_name.label(),
                &estimand,
                metric,
                value,
            )
        };
        [
            measured(learner.model.error_metric_name(), learner.mean_error()),
            measured(PRIVACY_EXCESS_ERROR_METRIC, learner.mean_error() - plain),
            measured(
                STEP_ERROR_METRIC,
                learner.step_standard_error(self.batch_size),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn cell(epsilon: f64, people: u64, batch: u64) -> LearningCell {
        LearningCell {
            people_source: PeopleSource::Generated(CensusExtract::Brazil),
            epsilon,
            people_count: people,
            batch_size: batch,
        }
    }

    fn learn(
        cell: &LearningCell,
        mechanisms: &[NumbersMechanismName],
        seeds: u64,
    ) -> MeasurementTable {
        let run = |seed| {
            let rng = ChaCha8Rng::seed_from_u64(seed);
            cell.train_all_models(mechanisms, &rng).unwrap()
        };
        MeasurementTable::new((0..seeds).flat_map(run))
    }

    fn mean(
        table: &MeasurementTable,
        model: TrainedModel,
        metric: &str,
        name: NumbersMechanismName,
    ) -> f64 {
        let estimand = estimand_name(model, CensusExtract::Brazil.label());
        let mut rows = table.rows_of(&estimand, metric);
        let row = rows.find(|row| row.first_measurement.mechanism == name.label());
        row.unwrap().mean_value
    }

    /// The noise of incomes alone causes an MSE of 0.16/3. Even the best linear separation
    /// misclassifies a fraction of 0.196.
    #[test]
    fn income_is_learned_without_privacy() {
        let table = learn(
            &cell(1.0, 100_000, 1000),
            &[NumbersMechanismName::WithoutPrivacy],
            1,
        );
        let error = |model: TrainedModel| {
            mean(
                &table,
                model,
                model.error_metric_name(),
                NumbersMechanismName::WithoutPrivacy,
            )
        };
        assert!((0.053..0.095).contains(&error(TrainedModel::Linear)));
        assert!((0.19..0.235).contains(&error(TrainedModel::Logistic)));
        assert!((0.19..0.245).contains(&error(TrainedModel::SupportVectorMachine)));
    }

    #[test]
    fn the_gap_to_the_run_without_privacy_shrinks() {
        let names = [
            NumbersMechanismName::WithoutPrivacy,
            NumbersMechanismName::HushbinWindow,
        ];
        let [hidden, told] =
            [0.5, 5.0].map(|epsilon| learn(&cell(epsilon, 20_000, 600), &names, 3));
        for model in TrainedModel::ALL {
            let [hidden, told] = [&hidden, &told].map(|table| {
                mean(
                    table,
                    model,
                    PRIVACY_EXCESS_ERROR_METRIC,
                    NumbersMechanismName::HushbinWindow,
                )
            });
            assert!(hidden > 2.0 * told, "{model:?}: {hidden} {told}");
            assert!(hidden > 0.0, "{model:?}: {hidden}");
        }
        let step = |table| {
            mean(
                table,
                TrainedModel::Linear,
                STEP_ERROR_METRIC,
                NumbersMechanismName::HushbinWindow,
            )
        };
        // The squared error per gradient is (d/k)·B² = 42·16.67 at ε = 0.5.
        assert!((step(&hidden) - (42.0 * 16.67 / 600.0_f64).sqrt()).abs() < 1e-3);
        assert!(step(&told) < 0.2);
    }

    #[test]
    fn runs_repeat_and_units_are_named_once() {
        let small = cell(1.0, 200, 50);
        assert_eq!(
            learn(&small, &COMPARED_MECHANISMS, 2),
            learn(&small, &COMPARED_MECHANISMS, 2)
        );
        let learning = GradientLearningExperiment::new(StudySize::Full);
        let mut names: Vec<String> = learning
            .work_units()
            .into_iter()
            .map(|own| own.name)
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let figures = learning.figures(&learn(&small, &COMPARED_MECHANISMS, 1));
        assert_eq!(figures.len(), 3);
        for panels in figures.iter().map(|own| &own.panels) {
            assert_eq!(
                [panels.len(), panels[0].curves.len()],
                [2, COMPARED_MECHANISMS.len()]
            );
        }
        let title = "Linear regression of 900000 people in steps of 10000 over ε";
        assert_eq!(figures[0].title, title);
    }
}
