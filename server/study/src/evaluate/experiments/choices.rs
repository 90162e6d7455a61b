//! Experiment on a choice among k options. It estimates the share of each option, as in P4's
//! figures 2, 6 and 7.

use crate::competitors::Budget;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use crate::evaluate::crowd::census::{CensusCrowd, CensusExtract, Person};
use crate::evaluate::crowd::random::{ZipfItemDistribution, generator_stream};
use crate::evaluate::measure::axis::{FIXED_DELTA, plotted_epsilons};
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::measurement::MSE;
use crate::evaluate::measure::score::ErrorSummary;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::choice_protocol::ChoiceProtocolName;

/// Experiment that estimates the shares of a choice's options, with every protocol.
#[derive(Debug)]
pub(crate) struct OptionSharesExperiment {
    study_size: StudySize,
    experiment_cells: Vec<ChoiceExperimentCell>,
}

/// Crowd of people, and the questions that they answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ChoiceCrowd {
    /// One choice among this number of options, whose shares follow Zipf's law.
    Zipf(u32),
    /// The categories of a census-like crowd. Each person answers about one category, drawn
    /// uniformly.
    Census(CensusExtract),
}

/// Parameters of one cell of the experiment. Several units of work repeat a cell, each with
/// different random numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ChoiceExperimentCell {
    crowd: ChoiceCrowd,
    people_count: u64,
    epsilon: f64,
    delta: f64,
}

/// Answers to one question: the number of people who reported each option, and the true share of
/// each option among all people.
struct QuestionAnswerCounts {
    reported_option_counts: Vec<u64>,
    true_shares: Vec<f64>,
}

/// Values of δ in P4's figure 6.
const CENSUS_FIGURE_DELTAS: [f64; 2] = [1e-6, 1e-7];
/// Values of ε in P4's figure 7.
const ZIPF_FIGURE_EPSILONS: [f64; 2] = [0.5, 5.0];
/// Values of k in P4's figure 2.
const OPTION_COUNTS: [u32; 3] = [2, 10, 100];
/// Metric: [`MSE`] that a formula predicts.
const EXPECTED_MSE_METRIC: &str = "expected MSE";
/// Name, in tables, of the estimand of figure 2: the share of one option.
const ONE_OPTION_ESTIMAND: &str = "one option";
/// Metric: variance of one report's estimate of an option's share, if the reporting person did not
/// choose the option. The paper calls this variance the noise.
const UNCHOSEN_VARIANCE_METRIC: &str = "variance of another's option";
/// Metric: variance of one report's estimate of an option's share, averaged over all k options. The
/// reporting person chose one of them.
const AVERAGE_VARIANCE_METRIC: &str = "average variance";

impl OptionSharesExperiment {
    /// Creates the experiment, with the points and repeats of the given size.
    pub(crate) fn new(size: StudySize) -> Self {
        let mut cells = Vec::new();
        for &extract in size.quick_or_full(&CensusExtract::ALL[..1], &CensusExtract::ALL) {
            for &delta in size.quick_or_full(&CENSUS_FIGURE_DELTAS[..1], &CENSUS_FIGURE_DELTAS) {
                cells.extend(
                    plotted_epsilons(size)
                        .iter()
                        .map(|&epsilon| ChoiceExperimentCell {
                            crowd: ChoiceCrowd::Census(extract),
                            people_count: size.quick_or_full(10_000, 400_000),
                            epsilon,
                            delta,
                        }),
                );
            }
        }
        let options: &[u32] = size.quick_or_full(
            &[2, 16, 128],
            &[2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024],
        );
        for epsilon in ZIPF_FIGURE_EPSILONS {
            cells.extend(options.iter().map(|&options| ChoiceExperimentCell {
                crowd: ChoiceCrowd::Zipf(options),
                people_count: size.quick_or_full(10_000, 100_000),
                epsilon,
                delta: FIXED_DELTA,
            }));
        }
        Self {
            study_size: size,
            experiment_cells: cells,
        }
    }
}

impl Experiment for OptionSharesExperiment {
    fn name(&self) -> &'static str {
        "choices"
    }

    fn title(&self) -> &'static str {
        "Shares of the options of one choice (P4, figures 2, 6, 7)"
    }

    /// Returns one unit of work that only evaluates formulas, and one unit for each repeat of each
    /// cell.
    fn work_units(&self) -> Vec<WorkUnit> {
        let computed = WorkUnit::formula_unit("computed", self.experiment_cells.len());
        let repeats = self.study_size.quick_or_full(5, 10);
        let cells = self.experiment_cells.iter().enumerate();
        let simulated = cells.flat_map(|(index, cell)| {
            WorkUnit::repeated_units(repeats, index, cell.estimated_microseconds(), |repeat| {
                format!(
                    "{}, {} options, ε = {}, δ = {}, repeat {repeat}",
                    cell.crowd.estimand_name(),
                    cell.crowd.total_option_count(),
                    cell.epsilon,
                    cell.delta
                )
            })
        });
        std::iter::once(computed).chain(simulated).collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        match self.experiment_cells.get(unit.index) {
            Some(cell) => cell.simulate(rng),
            None => formula_measurements(),
        }
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let noise = |&options: &u32| Panel {
            title: format!("k = {options}"),
            curves: table.mechanism_curves(
                ONE_OPTION_ESTIMAND,
                UNCHOSEN_VARIANCE_METRIC,
                |point| point.items == options,
                |point| point.epsilon,
            ),
        };
        let over_options = |&epsilon: &f64| Panel {
            title: format!("ε = {epsilon}"),
            curves: table.mechanism_curves(
                ChoiceCrowd::Zipf(2).estimand_name(),
                MSE,
                |point| point.epsilon == epsilon,
                |point| f64::from(point.items),
            ),
        };
        let figure = |name: &str, title: &str, x, y, panels| Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            x_label: x,
            y_label: y,
            are_x_and_y_logarithmic: [true, true],
            panels,
        };
        let title =
            "Variance of the share of an option that the person did not choose, at δ = 1e-6";
        let y = "variance of one report's estimate";
        let panels = OPTION_COUNTS.iter().map(noise).collect();
        let two = figure("p4-2", title, "ε", y, panels);
        let title = "MSE of the shares of categories, for census-like people";
        let six = figure(
            "p4-6",
            title,
            "ε",
            "MSE of shares",
            self.census_panels(table),
        );
        let title = "MSE of shares that follow Zipf's law with exponent 1.3, at δ = 1e-6";
        let panels = ZIPF_FIGURE_EPSILONS.iter().map(over_options).collect();
        let seven = figure("p4-7", title, "k", "MSE of shares", panels);
        vec![two, six, seven]
    }
}

impl OptionSharesExperiment {
    /// Returns the panels of P4's figure 6, one for each census-like crowd and δ.
    fn census_panels(&self, table: &MeasurementTable) -> Vec<Panel> {
        let mut panels: Vec<Panel> = Vec::new();
        for cell in &self.experiment_cells {
            let ChoiceCrowd::Census(extract) = cell.crowd else {
                continue;
            };
            let title = format!("{}, δ = {:e}", extract.label(), cell.delta);
            if panels.iter().any(|own| own.title == title) {
                continue;
            }
            let here = |point: &MeasurementPoint| point.delta == cell.delta;
            panels.push(Panel {
                title,
                curves: table
                    .mechanism_curves(cell.crowd.estimand_name(), MSE, here, |point| point.epsilon),
            });
        }
        panels
    }
}

/// Computes the measurements of P4's figure 2 from formulas.
fn formula_measurements() -> Result<Vec<Measurement>, StudyError> {
    let mut rows = Vec::new();
    for options in OPTION_COUNTS {
        for &epsilon in plotted_epsilons(StudySize::Full) {
            let budget = Budget::new(epsilon, FIXED_DELTA)?;
            let point = MeasurementPoint {
                people: 1,
                items: options,
                sparsity: 1,
                epsilon,
                delta: FIXED_DELTA,
                parameter: 0.0,
            };
            for name in ChoiceProtocolName::ALL {
                let protocol = name.build(options, &budget)?;
                let [own, other] = [true, false].map(|own| protocol.single_report_variance(own));
                let k = f64::from(options);
                let average = (own + (k - 1.0) * other) / k;
                for (metric, value) in [
                    (UNCHOSEN_VARIANCE_METRIC, other),
                    (AVERAGE_VARIANCE_METRIC, average),
                ] {
                    rows.push(Measurement::new(
                        point,
                        name.label(),
                        ONE_OPTION_ESTIMAND,
                        metric,
                        value,
                    ));
                }
            }
        }
    }
    Ok(rows)
}

impl ChoiceCrowd {
    const fn estimand_name(self) -> &'static str {
        match self {
            Self::Zipf(_) => "share, Zipf 1.3",
            Self::Census(CensusExtract::Brazil) => "share, like Brazil's census",
            Self::Census(CensusExtract::Mexico) => "share, like Mexico's census",
        }
    }

    /// Returns the total number of options of all questions.
    fn total_option_count(self) -> u32 {
        match self {
            Self::Zipf(options) => options,
            Self::Census(extract) => extract.category_sizes().iter().sum(),
        }
    }

    fn question_count(self) -> u32 {
        match self {
            Self::Zipf(_) => 1,
            Self::Census(extract) => extract.category_sizes().len() as u32,
        }
    }

    /// Draws people and counts the answers to each question.
    fn draw_answers(self, people: u64, rng: &mut ChaCha8Rng) -> Vec<QuestionAnswerCounts> {
        match self {
            Self::Zipf(options) => {
                let law = ZipfItemDistribution::new(options, 1.3);
                let mut counts = vec![0; options as usize];
                for _ in 0..people {
                    counts[law.draw_item(rng) as usize] += 1;
                }
                vec![QuestionAnswerCounts::from_all_answers(&counts)]
            }
            Self::Census(extract) => {
                let none = |values: &u32| vec![0; *values as usize];
                let mut counts: Vec<Vec<u64>> = extract.category_sizes().iter().map(none).collect();
                let mut all = counts.clone();
                let (census, mut person) = (CensusCrowd::new(extract), Person::default());
                for _ in 0..people {
                    census.draw_person(rng, &mut person);
                    for (counts, &own) in all.iter_mut().zip(&person.category_values) {
                        counts[own as usize] += 1;
                    }
                    let drawn = rng.next_u32() as usize % counts.len();
                    counts[drawn][person.category_values[drawn] as usize] += 1;
                }
                let both = counts.into_iter().zip(all);
                both.map(|(counts, all)| {
                    QuestionAnswerCounts::from_reported_and_all_counts(counts, &all)
                })
                .collect()
            }
        }
    }
}

impl QuestionAnswerCounts {
    fn from_reported_and_all_counts(counts: Vec<u64>, all: &[u64]) -> Self {
        let people = all.iter().sum::<u64>() as f64;
        Self {
            true_shares: all.iter().map(|own| *own as f64 / people).collect(),
            reported_option_counts: counts,
        }
    }

    fn from_all_answers(counts: &[u64]) -> Self {
        Self::from_reported_and_all_counts(counts.to_vec(), counts)
    }

    fn answer_count(&self) -> f64 {
        self.reported_option_counts.iter().sum::<u64>() as f64
    }
}

impl ChoiceExperimentCell {
    /// Returns the estimated running time of a unit, in microseconds.
    fn estimated_microseconds(&self) -> f64 {
        let each = match self.crowd {
            ChoiceCrowd::Zipf(options) => 0.15 + f64::from(options) * 0.003 / self.epsilon.exp(),
            ChoiceCrowd::Census(_) => 0.9,
        };
        self.people_count as f64 * each + f64::from(self.crowd.total_option_count())
    }

    /// Estimates a crowd's shares with every protocol. The generator's first stream draws the
    /// people. Each later stream draws the reports of one protocol.
    fn simulate(&self, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let budget = Budget::new(self.epsilon, self.delta)?;
        let questions = self
            .crowd
            .draw_answers(self.people_count, &mut generator_stream(rng, 0));
        let truth: Vec<f64> = questions
            .iter()
            .flat_map(|own| own.true_shares.clone())
            .collect();
        let mut rows = Vec::new();
        for (index, name) in (1..).zip(ChoiceProtocolName::ALL) {
            let rng = &mut generator_stream(rng, index);
            let (mut estimates, mut expected) = (Vec::new(), 0.0);
            for own in &questions {
                let protocol = name.build(own.reported_option_counts.len() as u32, &budget)?;
                estimates
                    .extend(protocol.simulate_estimated_shares(&own.reported_option_counts, rng)?);
                let [hit, other] = [true, false].map(|own| protocol.single_report_variance(own));
                let n = own.answer_count();
                // The truth includes people who were not asked this question, which adds the
                // variance of sampling.
                let left_out = 1.0 - n / self.people_count as f64;
                let variance = |f: &f64| f * hit + (1.0 - f) * other + left_out * f * (1.0 - f);
                let sum: f64 = own.true_shares.iter().map(variance).sum();
                expected += sum / n / truth.len() as f64;
            }
            let observed = ErrorSummary::new(&estimates, &truth).mean_squared_error;
            for (metric, value) in [(MSE, observed), (EXPECTED_MSE_METRIC, expected)] {
                rows.push(self.measurement_of_value(name, metric, value));
            }
        }
        Ok(rows)
    }

    fn measurement_of_value(
        &self,
        name: ChoiceProtocolName,
        metric: &str,
        value: f64,
    ) -> Measurement {
        let point = MeasurementPoint {
            people: self.people_count,
            items: self.crowd.total_option_count(),
            sparsity: self.crowd.question_count(),
            epsilon: self.epsilon,
            delta: self.delta,
            parameter: 0.0,
        };
        Measurement::new(
            point,
            name.label(),
            self.crowd.estimand_name(),
            metric,
            value,
        )
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn run(cell: ChoiceExperimentCell, seed: u64) -> Vec<Measurement> {
        cell.simulate(&ChaCha8Rng::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn errors_are_as_variances_say() {
        for (crowd, epsilon) in [
            (ChoiceCrowd::Zipf(16), 0.5),
            (ChoiceCrowd::Zipf(40), 5.0),
            (ChoiceCrowd::Census(CensusExtract::Brazil), 1.0),
            (ChoiceCrowd::Census(CensusExtract::Mexico), 4.0),
        ] {
            let cell = ChoiceExperimentCell {
                crowd,
                people_count: 2000,
                epsilon,
                delta: FIXED_DELTA,
            };
            let table = MeasurementTable::new((0..40).flat_map(|seed| run(cell, seed)));
            for expected in table.rows_of(crowd.estimand_name(), EXPECTED_MSE_METRIC) {
                let name = &expected.first_measurement.mechanism;
                let mut rows = table.rows_of(crowd.estimand_name(), MSE);
                let observed = rows
                    .find(|row| row.first_measurement.mechanism == *name)
                    .unwrap();
                let ratio = observed.mean_value / expected.mean_value;
                let off = observed.standard_error / expected.mean_value;
                assert!((ratio - 1.0).abs() < 4.5 * off, "{cell:?} {name}: {ratio}");
            }
        }
    }

    #[test]
    fn figures_have_a_curve_for_each_protocol_and_units_a_name() {
        let choices = OptionSharesExperiment::new(StudySize::Quick);
        let mut rows = formula_measurements().unwrap();
        for cell in &choices.experiment_cells {
            let cell = ChoiceExperimentCell {
                people_count: 200,
                ..*cell
            };
            let again = run(cell, 1);
            assert_eq!(again, run(cell, 1));
            rows.extend(again);
        }
        let figures = choices.figures(&MeasurementTable::new(rows));
        let names: Vec<&str> = figures.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["p4-2", "p4-6", "p4-7"]);
        for panel in figures.iter().flat_map(|own| &own.panels) {
            assert_eq!(
                panel.curves.len(),
                ChoiceProtocolName::ALL.len(),
                "{panel:?}"
            );
        }
        // hushbin's parameters minimise the sum of variances over all options, including the
        // person's own.
        for panel in &figures[0].panels {
            let ours = &panel.curves[0].points;
            for curve in &panel.curves[1..] {
                for (ours, theirs) in ours.iter().zip(&curve.points) {
                    let ratio = theirs[1] / ours[1];
                    assert!(ratio > 0.94, "{} {}: {ratio}", panel.title, curve.label);
                }
            }
        }
        let full = OptionSharesExperiment::new(StudySize::Full);
        let mut names: Vec<String> = full.work_units().into_iter().map(|own| own.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
