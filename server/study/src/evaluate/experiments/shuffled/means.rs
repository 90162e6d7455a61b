//! Means of d numbers in [−1, 1] of every person, by every protocol.
//!
//! All people have the same numbers: for each protocol, numbers with its worst error.

use hushbin::sums::MessageParameters;
use hushbin::{Entry, Error, Mechanism, Randomizer};
use hushbin_analysis::estimate::{Totals, point_estimates};
use hushbin_analysis::sums::{SumPlan, local_numbers_task, resolve_sum_draft};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::measured_error::{MeasuredError, mean_squared_error};
use super::one_by_one::randomize_one_by_one;
use super::protocol_row::{
    DELTA, HONEST_FRACTION, LOCAL_EPSILON_METRIC, MESSAGES_METRIC, NOISE_MESSAGES_METRIC,
    ONE_BY_ONE_PEOPLE, PEOPLE, ProtocolRow, TrialCounts, honest_people, measurement_point,
    refused_to_none, upload_bytes,
};
use crate::competitors::sums::{
    CoordinateBudget, NegativeBinomial, VectorSumProtocol, grid_cell_reports,
};
use crate::competitors::{Budget, GaussianMechanism};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{Measurement, StudyError};
use crate::evaluate::measure::measurement::REPORT_BYTES_METRIC;
use crate::evaluate::mechanism::choice_protocol::draw_binomial;

pub(super) const ESTIMAND: &str = "mean";
/// Maximum number of messages of one person, as in hushbin's own choice of parameters.
const MAX_MESSAGES: f64 = 512.0;
/// Increase of the variance that is accepted for fewer messages, as in hushbin's own choice.
const ACCEPTED_VARIANCE_INCREASE: f64 = 0.25;
/// Maximum number of levels of the multi-message protocol of the paper.
const MAX_LEVELS: u32 = 64;
/// Maximum number of cells of a grid.
const MAX_GRID_CELLS: u32 = 4096;
/// Factor by which the exact account needs fewer uniform cells than the closed form, about.
const CLOSED_FORM_EXCESS: f64 = 5.5;
/// Number of steps in which a range is searched for the worst number.
const NUMBER_STEPS: u32 = 2_000;

/// Question and central ε for which all protocols are compared.
pub(super) struct MeansCell {
    /// Number d of numbers of every person.
    pub(super) numbers: u32,
    pub(super) epsilon: f64,
}

impl MeansCell {
    /// Returns the measurements of all protocols and all numbers of people. A protocol that cannot
    /// provide the privacy for a number of people has no measurements.
    pub(super) fn measurements(
        &self,
        trials: TrialCounts,
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Measurement>, StudyError> {
        let mut all = Vec::new();
        let mut streams = (0..).map(|index| generator_stream(rng, index));
        let mut next_stream = || streams.next().expect("there are streams for all rows");
        let (local_error, local) = self.local_errors(trials, &mut next_stream())?;
        for people in PEOPLE {
            let mut rows = vec![self.hushbin_row(people, trials, &mut next_stream())];
            for (mechanism, budget) in [
                (
                    "zero-sum tuples",
                    CoordinateBudget::new as CoordinateBudgetOf,
                ),
                (
                    "zero-sum tuples, exact composition",
                    CoordinateBudget::from_exact_composition,
                ),
            ] {
                let rng = &mut next_stream();
                rows.push(self.tuples_row(mechanism, budget, people, trials, rng));
            }
            for (mechanism, is_exact) in [
                ("single message on a grid, closed form", false),
                ("single message on a grid", true),
            ] {
                let rng = &mut next_stream();
                rows.push(self.grid_row(mechanism, is_exact, people, trials, rng));
            }
            rows.push(self.central_gaussian_row(people, trials, &mut next_stream()));
            // Reports are independent, so variances are in inverse proportion to people.
            let fewer = (ONE_BY_ONE_PEOPLE as f64 / people as f64).sqrt();
            rows.push(Ok(ProtocolRow {
                mechanism: "local reports",
                standard_error: fewer * local_error,
                measured: local,
                costs: vec![(MESSAGES_METRIC, 1.0), (LOCAL_EPSILON_METRIC, self.epsilon)],
            }));
            for row in rows {
                if let Some(row) = refused_to_none(row)? {
                    let point = measurement_point(people, self.numbers, self.epsilon, 0.0);
                    all.extend(row.measurements(point, ESTIMAND));
                }
            }
        }
        Ok(all)
    }

    fn budget(&self) -> Result<Budget, Error> {
        Budget::new(self.epsilon, DELTA)
    }

    /// hushbin's row: the plan of the task, which `hushbin plan` prints.
    ///
    /// # Errors
    /// [`StudyError::InvalidDraft`] if a person would report only some of the numbers. The plan's
    /// worst case is then that of no single crowd.
    fn hushbin_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let numbers: Vec<Value> = (0..self.numbers)
            .map(|index| json!({ "name": index.to_string(), "min": -1, "max": 1 }))
            .collect();
        let draft = json!({
            "id": "study", "trust": "shuffler", "epsilon": self.epsilon, "delta": DELTA,
            "people": people, "honest_fraction": HONEST_FRACTION, "numbers": numbers,
        });
        let draft = serde_json::from_value(draft).expect("a draft is written as it is read");
        let plan = SumPlan::new(resolve_sum_draft(&draft)?)?;
        let MessageParameters::UnitSteps(steps) = *plan.task.message_parameters() else {
            unreachable!("numbers have unit messages")
        };
        if steps.drawn_coordinate_count() < self.numbers {
            let reason = "a person reports only some of the numbers";
            return Err(StudyError::invalid_draft("hushbin", &reason));
        }
        let standard_error = plan.errors[0].standard_error;
        let squares = if people == ONE_BY_ONE_PEOPLE {
            // All numbers are halfway between two levels.
            let number = 0.5 / f64::from(steps.messages_per_unit());
            let answer = vec![number; self.numbers as usize];
            (0..trials.one_by_one)
                .map(|_| randomize_one_by_one(&plan.task, |_| answer.clone(), |_| number, rng))
                .collect::<Result<Vec<_>, _>>()?
        } else {
            let noise_trials = people * u64::from(steps.noise_trial_count());
            let q = steps.noise_threshold().probability();
            let levels = f64::from(steps.messages_per_unit());
            let trial = |_| {
                let [up, down] = [(); 2].map(|()| draw_binomial(noise_trials, q, rng) as f64);
                let sum = draw_rounding_error(people, rng) + up - down;
                (sum / levels / people as f64).powi(2)
            };
            (0..trials.at_once).map(trial).collect()
        };
        Ok(ProtocolRow {
            mechanism: "hushbin",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: vec![
                (MESSAGES_METRIC, plan.messages.into()),
                (NOISE_MESSAGES_METRIC, plan.noise_messages),
                (REPORT_BYTES_METRIC, plan.bytes as f64),
            ],
        })
    }

    /// Returns the tuples with the number of levels that is chosen as hushbin's is: the least variance
    /// with at most 512 messages, or up to a quarter more variance for fewer messages. If one level
    /// needs more messages, it is used all the same.
    fn tuples_with_best_levels(
        &self,
        people: u64,
        each: &CoordinateBudget,
    ) -> Result<VectorSumProtocol, Error> {
        let honest = honest_people(people) as u32;
        let with_levels = |levels| VectorSumProtocol::new(self.numbers, levels, honest, each);
        let mut candidates = vec![with_levels(1)?];
        // More levels need more messages.
        candidates.extend(
            (2..=MAX_LEVELS)
                .map_while(|levels| with_levels(levels).ok())
                .take_while(|sum| self.tuple_messages(sum, people) <= MAX_MESSAGES),
        );
        let variance = |sum: &VectorSumProtocol| sum.variance(people as u32, 0.25);
        let least = candidates
            .iter()
            .map(variance)
            .fold(f64::INFINITY, f64::min);
        let most = (1.0 + ACCEPTED_VARIANCE_INCREASE) * least;
        let chosen = candidates.into_iter().find(|sum| variance(sum) <= most);
        Ok(chosen.expect("the least is enough"))
    }

    /// Mean number of messages of one person: one for each number, and noise.
    fn tuple_messages(&self, sum: &VectorSumProtocol, people: u64) -> f64 {
        f64::from(self.numbers) + sum.expected_noise_messages(people as u32) / people as f64
    }

    /// The paper's protocol of several messages: values in clear and tuples of noise with sum zero.
    fn tuples_row(
        &self,
        mechanism: &'static str,
        coordinate_budget: CoordinateBudgetOf,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let each = coordinate_budget(self.numbers, &self.budget()?)?;
        let chosen = self.tuples_with_best_levels(people, &each)?;
        let (n, honest) = (people as f64, honest_people(people) as f64);
        let standard_error = chosen.variance(people as u32, 0.25).sqrt() / n;
        let noise = chosen.coordinate_noise();
        let levels = f64::from(noise.tuples().level_count());
        // The parts of n people add up to more noise than those of the n_h honest people.
        let units = noise.unit_count_distribution();
        let shape = units.shape() * n / honest;
        let units = NegativeBinomial::new(shape, units.continue_probability())?;
        let trial = |_| {
            let [up, down] = [(); 2].map(|()| units.draw_count(rng) as f64);
            let sum = draw_rounding_error(people, rng) + up - down;
            (sum / levels / n).powi(2)
        };
        let squares: Vec<f64> = (0..trials.at_once).map(trial).collect();
        // Messages have a coordinate and one of 2L values.
        let longest = u64::from(self.numbers) * 2 * u64::from(noise.tuples().level_count());
        let messages = self.tuple_messages(&chosen, people);
        Ok(ProtocolRow {
            mechanism,
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: vec![
                (MESSAGES_METRIC, messages),
                (NOISE_MESSAGES_METRIC, messages - f64::from(self.numbers)),
                (REPORT_BYTES_METRIC, upload_bytes(messages, longest)),
            ],
        })
    }

    /// Returns the grid with the least worst variance, if the probability of a uniform cell is that of
    /// the closed form, divided by `excess`. Returns `None` if no grid has a probability below 1.
    fn best_grid(&self, honest: u64, budget: &Budget, excess: f64) -> Option<GridReports> {
        let grid = |drawn: u32, steps: u32| {
            let cells = (steps + 1).checked_pow(drawn);
            let cells = cells.filter(|cells| *cells <= MAX_GRID_CELLS)?;
            let closed = grid_cell_reports::closed_form_uniform_probability(cells, honest, budget);
            Some(GridReports {
                lift: f64::from(self.numbers) / f64::from(drawn),
                steps,
                cells,
                gamma: closed / excess,
            })
        };
        let grids = (1..=self.numbers)
            .flat_map(|drawn| (1..MAX_GRID_CELLS).map_while(move |steps| grid(drawn, steps)));
        let grids = grids.filter(|grid| grid.gamma < 1.0);
        grids
            .map(|grid| (grid.worst_variance(), grid))
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, grid)| grid)
    }

    /// The paper's protocol of a single message: a cell of a grid. The grid is the best one for the
    /// closed form, whose γ is divided by [`CLOSED_FORM_EXCESS`] for the exact account.
    fn grid_row(
        &self,
        mechanism: &'static str,
        is_exact: bool,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let budget = self.budget()?;
        let honest = honest_people(people);
        let excess = if is_exact { CLOSED_FORM_EXCESS } else { 1.0 };
        let best = self.best_grid(honest, &budget, excess);
        let mut grid = best.ok_or(Error::OutOfRange {
            name: "gamma",
            value: 1.0,
            min: 0.0,
            max: 1.0,
        })?;
        if is_exact {
            grid.gamma = grid_cell_reports::least_uniform_probability(grid.cells, honest, &budget)?;
        }
        let standard_error = (grid.worst_variance() / people as f64).sqrt();
        let (number, _) = worst_number(|number| grid.variance(number));
        let squares = (0..trials.at_once).map(|_| grid.draw_error(people, number, rng).powi(2));
        let squares: Vec<f64> = squares.collect();
        Ok(ProtocolRow {
            mechanism,
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: vec![
                (MESSAGES_METRIC, 1.0),
                (NOISE_MESSAGES_METRIC, 0.0),
                (REPORT_BYTES_METRIC, upload_bytes(1.0, grid.cells.into())),
                (
                    LOCAL_EPSILON_METRIC,
                    grid_cell_reports::local_epsilon(grid.cells, grid.gamma),
                ),
            ],
        })
    }

    /// Gaussian noise of a trusted server on each sum.
    fn central_gaussian_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let noise = GaussianMechanism::for_numbers(self.numbers, &self.budget()?)?;
        let standard_error = noise.sigma() / people as f64;
        let zeros = vec![0.0; self.numbers as usize];
        let trial = |_| {
            let errors = noise.add_noise(&zeros, rng);
            mean_squared_error(errors.into_iter().map(|own| own / people as f64))
        };
        let squares: Vec<f64> = (0..trials.at_once).map(trial).collect();
        Ok(ProtocolRow {
            mechanism: "central Gaussian noise",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: Vec::new(),
        })
    }

    /// Returns the predicted and the measured error of hushbin's local reports, for
    /// [`ONE_BY_ONE_PEOPLE`] people. Each person runs the randomiser.
    fn local_errors(
        &self,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<(f64, MeasuredError), StudyError> {
        let numbers = (0..self.numbers).map(|index| (index.to_string(), [-1.0, 1.0]));
        let task = local_numbers_task(numbers, self.epsilon)?;
        let question = &task.questions()[0];
        let Mechanism::Window(window) = question.mechanism() else {
            let reason = "numbers are not asked by a window";
            return Err(StudyError::invalid_draft("local reports", &reason));
        };
        let rates = window.estimate_scale_and_variance(&question.domain(), self.epsilon);
        let (number, variance) = worst_number(|number| rates.estimate_variance(number));
        let standard_error = (variance / ONE_BY_ONE_PEOPLE as f64).sqrt();
        let items: Vec<u64> = (0..self.numbers.into()).collect();
        let answer: Vec<Entry> = items
            .iter()
            .map(|&item| Entry {
                item,
                value: number,
            })
            .collect();
        let mut randomizer = Randomizer::new(&task);
        let squares = (0..trials.one_by_one).map(|_| {
            let mut totals = Totals::new(&task);
            for _ in 0..ONE_BY_ONE_PEOPLE {
                totals.add_report(&randomizer.randomize(&answer, rng)?.report);
            }
            let points = point_estimates(&task, &totals, &items);
            let errors = points.iter().map(|own| {
                let mean = own.mean.expect("means of numbers are estimated");
                mean.estimate - number
            });
            Ok::<_, StudyError>(mean_squared_error(errors))
        });
        let squares = squares.collect::<Result<Vec<_>, _>>()?;
        let measured = MeasuredError::from_squared_errors(&squares, standard_error);
        Ok((standard_error, measured))
    }
}

/// Budget of one coordinate, given the number of coordinates and the budget of all.
type CoordinateBudgetOf = fn(u32, &Budget) -> Result<CoordinateBudget, Error>;

/// Returns the number from −1 to 1 with the largest variance, and this variance.
fn worst_number(variance: impl Fn(f64) -> f64) -> (f64, f64) {
    let number = |step: u32| 2.0 * f64::from(step) / f64::from(NUMBER_STEPS) - 1.0;
    let all = (0..=NUMBER_STEPS).map(|step| (number(step), variance(number(step))));
    all.max_by(|one, other| one.1.total_cmp(&other.1))
        .expect("there are steps")
}

/// Draws the error of the sum of n values, each rounded up or down by 1/2 with equal probability.
fn draw_rounding_error(people: u64, rng: &mut ChaCha8Rng) -> f64 {
    draw_binomial(people, 0.5, rng) as f64 - 0.5 * people as f64
}

/// Reports of one cell of a grid, with evenly spaced levels from −1 to 1 in some of the d numbers.
struct GridReports {
    /// Ratio d/k of all numbers to the k that a person draws.
    lift: f64,
    /// Number r of steps between levels: a number has r + 1 levels.
    steps: u32,
    /// Number M = (r + 1)^k of cells.
    cells: u32,
    /// Probability γ of a uniform cell.
    gamma: f64,
}

impl GridReports {
    /// Returns the lower one of the two levels around a number, counted from 0, and the probability
    /// of rounding up.
    fn round_down(&self, number: f64) -> (u32, f64) {
        let place = 0.5 * (number + 1.0) * f64::from(self.steps);
        let low = place.floor().min(f64::from(self.steps - 1));
        (low as u32, place - low)
    }

    /// Returns the variance of one report's estimate, if the person has this number.
    fn variance(&self, number: f64) -> f64 {
        let (r, kept) = (f64::from(self.steps), 1.0 - self.gamma);
        let (_, up) = self.round_down(number);
        let rounding = (2.0 / r).powi(2) * up * (1.0 - up);
        // The mean square of the levels is (r + 2)/(3r).
        let uniform = self.gamma * (r + 2.0) / (3.0 * r);
        let square = kept * (number * number + rounding) + uniform;
        self.lift * square / (kept * kept) - number * number
    }

    fn worst_variance(&self) -> f64 {
        worst_number(|number| self.variance(number)).1
    }

    /// Draws the reports of `people` people who all have `number`, and returns the error of the mean.
    fn draw_error(&self, people: u64, number: f64, rng: &mut ChaCha8Rng) -> f64 {
        let (low, up) = self.round_down(number);
        let level = |index: u32| 2.0 * f64::from(index) / f64::from(self.steps) - 1.0;
        let drawn = draw_binomial(people, 1.0 / self.lift, rng);
        let mut uniform = draw_binomial(drawn, self.gamma, rng);
        let own = drawn - uniform;
        let rounded_up = draw_binomial(own, up, rng);
        let mut sum = rounded_up as f64 * level(low + 1) + (own - rounded_up) as f64 * level(low);
        // Each uniform cell has each of the remaining levels with the same probability.
        for index in 0..=self.steps {
            let left = f64::from(self.steps + 1 - index);
            let here = draw_binomial(uniform, 1.0 / left, rng);
            sum += here as f64 * level(index);
            uniform -= here;
        }
        self.lift * sum / (1.0 - self.gamma) / people as f64 - number
    }
}
