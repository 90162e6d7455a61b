//! Histograms: the share of people who choose an option, by every protocol.

use hushbin::Error;
use hushbin::sample::{DiscreteLaplace, draw_below};
use hushbin::sums::{MessageParameters, SumTask};
use hushbin_analysis::estimate::ConfidenceLevel;
use hushbin_analysis::sums::{
    SumPlan, central_gaussian_error, central_geometric_error, estimate_cells, estimate_flags,
    resolve_sum_draft,
};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::measured_error::{MeasuredError, mean_squared_error};
use super::one_by_one::randomize_one_by_one;
use super::protocol_row::{
    DELTA, HONEST_FRACTION, LOCAL_EPSILON_METRIC, MESSAGES_METRIC, NOISE_MESSAGES_METRIC,
    ONE_BY_ONE_PEOPLE, PEOPLE, ProtocolRow, TrialCounts, honest_people, measurement_point,
    refused_to_none, upload_bytes,
};
use crate::competitors::shuffled_counts::{CappedCoins, ShufflerDummies};
use crate::competitors::sums::grid_cell_reports;
use crate::competitors::{Budget, GaussianMechanism, RandomizedResponse};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{Measurement, StudyError};
use crate::evaluate::measure::measurement::REPORT_BYTES_METRIC;
use crate::evaluate::mechanism::choice_protocol::{
    ChoiceProtocol, ChoiceProtocolName, draw_binomial,
};

pub(super) const ESTIMAND: &str = "share";
/// True shares of the option whose error is measured. The first option is one that nobody has.
const SHARES: [f64; 3] = [0.0, 0.1, 0.5];
/// Denominator of ε in the sampler of geometric noise.
const EPSILON_DENOMINATOR: u64 = 1_000_000;

/// Question and central ε for which all protocols are compared.
pub(super) struct HistogramCell {
    /// Number of options k, or 1 for a flag.
    pub(super) options: u32,
    pub(super) epsilon: f64,
}

/// Returns a question's name in figures.
pub(super) fn options_in_words(options: u32) -> String {
    match options {
        1 => "flag".to_owned(),
        _ => format!("k = {options}"),
    }
}

/// Returns a person's answer. Half of the people choose the first option, and half the second.
fn choose_one_of_two(person: u64) -> Vec<f64> {
    vec![(person % 2) as f64]
}

/// Returns the true share of an option if [`choose_one_of_two`] answers.
const fn share_of_option(option: usize) -> f64 {
    if option < 2 { 0.5 } else { 0.0 }
}

impl HistogramCell {
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
        let local = self.local_errors(trials, &mut next_stream())?;
        for people in PEOPLE {
            let for_all_shares = [
                self.hushbin_row(people, trials, &mut next_stream()),
                self.coins_row(people, trials, &mut next_stream()),
                self.dummies_row(people, trials, &mut next_stream()),
                self.central_geometric_row(people, trials, &mut next_stream()),
                self.central_gaussian_row(people, trials, &mut next_stream()),
            ];
            for row in for_all_shares {
                if let Some(row) = refused_to_none(row)? {
                    all.extend(
                        SHARES
                            .iter()
                            .flat_map(|&share| self.rows(people, share, &row)),
                    );
                }
            }
            let single = refused_to_none(self.single_message(people))?;
            for (share, one_by_one) in SHARES.into_iter().zip(&local) {
                if let Some((epsilon, protocol)) = &single {
                    let rng = &mut next_stream();
                    let errors = errors_of_reports(protocol, people, share, trials.at_once, rng)?;
                    let row = self.single_message_row(*epsilon, errors);
                    all.extend(self.rows(people, share, &row));
                }
                // Reports are independent, so variances are in inverse proportion to people.
                let fewer = (ONE_BY_ONE_PEOPLE as f64 / people as f64).sqrt();
                let row = ProtocolRow {
                    mechanism: "local reports",
                    standard_error: fewer * one_by_one.0,
                    measured: one_by_one.1,
                    costs: vec![(MESSAGES_METRIC, 1.0), (LOCAL_EPSILON_METRIC, self.epsilon)],
                };
                all.extend(self.rows(people, share, &row));
            }
        }
        Ok(all)
    }

    fn rows<'a>(
        &self,
        people: u64,
        share: f64,
        row: &'a ProtocolRow,
    ) -> impl Iterator<Item = Measurement> + use<'a> {
        row.measurements(
            measurement_point(people, self.options, self.epsilon, share),
            ESTIMAND,
        )
    }

    const fn is_flag(&self) -> bool {
        self.options == 1
    }

    /// Returns the number K of cells.
    fn cell_count(&self) -> u32 {
        self.options.max(2)
    }

    /// Returns the number of counts that a trusted party publishes.
    const fn published_counts(&self) -> u32 {
        self.options
    }

    /// Returns the number of published counts that one person changes.
    const fn changed_counts(&self) -> u32 {
        if self.is_flag() { 1 } else { 2 }
    }

    fn budget(&self) -> Result<Budget, Error> {
        Budget::new(self.epsilon, DELTA)
    }

    /// Returns the number of trials in which the noise in all cells is drawn at once. Every trial
    /// of a histogram has the errors of K cells.
    fn at_once_trials(&self, trials: TrialCounts) -> u32 {
        let most = trials.at_once;
        (4 * most / self.cell_count()).clamp(most / 20, most)
    }

    /// Returns hushbin's task for the question.
    fn task(&self, people: u64) -> Result<SumTask, Error> {
        let question = if self.is_flag() {
            json!({ "name": "question", "kind": "flag" })
        } else {
            json!({ "name": "question", "kind": "choice", "options": self.options })
        };
        let draft = json!({
            "id": "study", "trust": "shuffler", "epsilon": self.epsilon, "delta": DELTA,
            "people": people, "honest_fraction": HONEST_FRACTION, "questions": [question],
        });
        let draft = serde_json::from_value(draft).expect("a draft is written as it is read");
        resolve_sum_draft(&draft)
    }

    /// hushbin's row: the plan of the task, which `hushbin plan` prints.
    fn hushbin_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let plan = SumPlan::new(self.task(people)?)?;
        let standard_error = plan.errors[0].standard_error;
        let squares = if people == ONE_BY_ONE_PEOPLE {
            (0..trials.one_by_one)
                .map(|_| randomize_one_by_one(&plan.task, choose_one_of_two, share_of_option, rng))
                .collect::<Result<Vec<_>, _>>()?
        } else {
            let MessageParameters::Lottery(lottery) = *plan.task.message_parameters() else {
                unreachable!("questions have a lottery")
            };
            let draws = people * u64::from(lottery.draws());
            self.trials_of_noise(people, trials, || {
                // Every person's draws that send a message are about uniform cells.
                let mut noise = vec![0; self.cell_count() as usize];
                for _ in 0..draw_binomial(draws, lottery.probability(), rng) {
                    noise[draw_below(rng, self.cell_count()) as usize] += 1;
                }
                noise
            })?
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

    /// Coins and cap. The cap is exceeded so rarely that no draw of a study sees it.
    fn coins_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let cells = self.cell_count();
        let coins = CappedCoins::calibrate(cells, people, HONEST_FRACTION, &self.budget()?)?;
        let standard_error = coins.share_error(people);
        let squares = self.trials_of_noise(people, trials, || {
            let trials = coins.trials_of_people(people);
            let mut noise = || draw_binomial(trials, coins.noise_probability(), rng);
            (0..cells).map(|_| noise()).collect()
        })?;
        let messages = f64::from(coins.max_messages());
        Ok(ProtocolRow {
            mechanism: "coins and cap",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: vec![
                (MESSAGES_METRIC, messages),
                (NOISE_MESSAGES_METRIC, coins.mean_noise_messages()),
                (REPORT_BYTES_METRIC, upload_bytes(messages, cells.into())),
            ],
        })
    }

    /// Dummies of the shuffler.
    fn dummies_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let cells = self.cell_count();
        let dummies = ShufflerDummies::calibrate(&self.budget()?)?;
        let standard_error = dummies.share_error(cells, people);
        let squares = self.trials_of_noise(people, trials, || {
            (0..cells).map(|_| dummies.draw_count(rng)).collect()
        })?;
        Ok(ProtocolRow {
            mechanism: "dummies of the shuffler",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: vec![
                (MESSAGES_METRIC, 1.0),
                (NOISE_MESSAGES_METRIC, 0.0),
                (REPORT_BYTES_METRIC, upload_bytes(1.0, cells.into())),
            ],
        })
    }

    /// Returns the mean squared error of each trial. `draw_noise` returns the number of noise
    /// messages about each cell. The estimator is hushbin's, which knows the total of the noise.
    fn trials_of_noise(
        &self,
        people: u64,
        trials: TrialCounts,
        mut draw_noise: impl FnMut() -> Vec<u64>,
    ) -> Result<Vec<f64>, StudyError> {
        let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft(ESTIMAND, error);
        let level = ConfidenceLevel::new(0.95, 1).map_err(|error| refused(&error))?;
        let trial = |_| {
            let mut counts = draw_noise();
            counts[0] += people / 2;
            counts[1] += people - people / 2;
            let found = if self.is_flag() {
                estimate_flags(&[[counts[0], counts[1]]], people, 0, &level)
            } else {
                estimate_cells(&counts, people, 1, 0, &level)
            };
            let found = found.map_err(|error| refused(&error))?;
            let errors = found
                .iter()
                .enumerate()
                .map(|(option, own)| own.estimate / people as f64 - share_of_option(option));
            Ok(mean_squared_error(errors))
        };
        (0..self.at_once_trials(trials)).map(trial).collect()
    }

    /// Two-sided geometric noise of a trusted server on each count.
    fn central_geometric_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let changes = self.changed_counts();
        let standard_error = central_geometric_error(changes, self.epsilon, people as f64);
        let numerator = (self.epsilon * EPSILON_DENOMINATOR as f64).round() as u64;
        let noise = DiscreteLaplace::new(numerator, EPSILON_DENOMINATOR * u64::from(changes));
        let trial = |_| {
            let errors = (0..self.published_counts()).map(|_| noise.sample(rng));
            mean_squared_error(errors.map(|own| own as f64 / people as f64))
        };
        let squares: Vec<f64> = (0..self.at_once_trials(trials)).map(trial).collect();
        Ok(ProtocolRow {
            mechanism: "central geometric noise",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: Vec::new(),
        })
    }

    /// Gaussian noise of a trusted server on each count.
    fn central_gaussian_row(
        &self,
        people: u64,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<ProtocolRow, StudyError> {
        let changes = self.changed_counts();
        let standard_error = central_gaussian_error(changes, self.epsilon, DELTA, people as f64);
        // The sensitivity is √changes, and this noise is for √2.
        let noise = GaussianMechanism::for_one_hot_vectors(&self.budget()?)?;
        let scale = (0.5 * f64::from(changes)).sqrt() / people as f64;
        let zeros = vec![0.0; self.published_counts() as usize];
        let trial = |_| {
            let errors = noise.add_noise(&zeros, rng);
            mean_squared_error(errors.into_iter().map(|own| scale * own))
        };
        let squares: Vec<f64> = (0..self.at_once_trials(trials)).map(trial).collect();
        Ok(ProtocolRow {
            mechanism: "central Gaussian noise",
            standard_error,
            measured: MeasuredError::from_squared_errors(&squares, standard_error),
            costs: Vec::new(),
        })
    }

    /// Returns the largest local ε for which shuffled messages of generalised randomised response are
    /// proven to be private, and the protocol.
    fn single_message(&self, people: u64) -> Result<(f64, ChoiceProtocol), StudyError> {
        let (cells, honest) = (self.cell_count(), honest_people(people));
        let gamma = grid_cell_reports::least_uniform_probability(cells, honest, &self.budget()?)?;
        let epsilon = grid_cell_reports::local_epsilon(cells, gamma);
        let rates = RandomizedResponse::new(cells, &Budget::new(epsilon, 0.0)?)?;
        // The number of reports of one option is a sum of two binomial counts.
        let protocol = ChoiceProtocol::IndependentSupports(rates.support_probabilities());
        Ok((epsilon, protocol))
    }

    fn single_message_row(
        &self,
        local_epsilon: f64,
        (standard_error, measured): (f64, MeasuredError),
    ) -> ProtocolRow {
        ProtocolRow {
            mechanism: "single message",
            standard_error,
            measured,
            costs: vec![
                (MESSAGES_METRIC, 1.0),
                (NOISE_MESSAGES_METRIC, 0.0),
                (
                    REPORT_BYTES_METRIC,
                    upload_bytes(1.0, self.cell_count().into()),
                ),
                (LOCAL_EPSILON_METRIC, local_epsilon),
            ],
        }
    }

    /// Returns the predicted and the measured error of hushbin's local reports, for each share and
    /// [`ONE_BY_ONE_PEOPLE`] people. Each person runs the randomiser.
    fn local_errors(
        &self,
        trials: TrialCounts,
        rng: &mut ChaCha8Rng,
    ) -> Result<[(f64, MeasuredError); SHARES.len()], StudyError> {
        let budget = self.budget()?;
        let protocol = ChoiceProtocolName::HushbinChoice.build(self.cell_count(), &budget)?;
        let mut all = Vec::new();
        for share in SHARES {
            let trials = trials.one_by_one;
            all.push(errors_of_reports(
                &protocol,
                ONE_BY_ONE_PEOPLE,
                share,
                trials,
                rng,
            )?);
        }
        Ok(all.try_into().expect("there is one for each share"))
    }
}

/// Returns the predicted and the measured error of an option's share. The fraction `share` of the
/// people chooses the option, and all others choose the same other one.
fn errors_of_reports(
    protocol: &ChoiceProtocol,
    people: u64,
    share: f64,
    trials: u32,
    rng: &mut ChaCha8Rng,
) -> Result<(f64, MeasuredError), StudyError> {
    let [own, other] = [true, false].map(|own| protocol.single_report_variance(own));
    let standard_error = ((share * own + (1.0 - share) * other) / people as f64).sqrt();
    let choosing = (share * people as f64).round() as u64;
    let counts = [choosing, people - choosing];
    let trial = |_| {
        let estimate = protocol.simulate_estimated_shares(&counts, rng)?[0];
        Ok((estimate - share).powi(2))
    };
    let squares = (0..trials).map(trial).collect::<Result<Vec<_>, Error>>()?;
    let measured = MeasuredError::from_squared_errors(&squares, standard_error);
    Ok((standard_error, measured))
}
