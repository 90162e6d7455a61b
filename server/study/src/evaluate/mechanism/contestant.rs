//! Mechanisms that an experiment on rated items compares, and the estimates from reports. The
//! mechanisms of hushbin and of P1 to P3 are run as tasks. Mechanisms of other papers are run as
//! oracles.

use crate::competitors::ratings::{
    OracleSetting, PUBLISHED_RATING_ORACLES, RatingOracle, ReportSums,
};
use hushbin::choose::Population;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    Estimand, PointEstimate, ShrinkageRefusal, Totals, point_estimates, shrink_estimates,
};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::evaluate::measure::experiment::StudyError;

/// Question about rated items that a crowd answers, with the privacy budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionSetting {
    /// Number of people n.
    pub(crate) people_count: u64,
    /// Number of items d.
    pub(crate) item_count: u32,
    /// Sparsity s: maximum number of items that a person rates.
    pub(crate) sparsity: u32,
    /// ε of one report.
    pub(crate) epsilon: f64,
    /// δ of one report, for mechanisms that need a δ.
    pub(crate) delta: f64,
    /// Distance L if ε protects inputs that are at most L apart; otherwise 0.
    pub(crate) protected_distance: f64,
    /// True if all values are −1 or 1.
    pub(crate) has_sign_values: bool,
}

/// Number of reports over which the length of a report is averaged, since the length may vary.
const MEASURED_REPORT_COUNT: u32 = 64;

/// Mechanism that an experiment compares, with its parameters.
pub(crate) struct ComparedRatingMechanism {
    /// Name in figures.
    pub(crate) name: String,
    kind: RatingMechanismKind,
}

enum RatingMechanismKind {
    Task(Box<Task>),
    PublishedMechanism(Box<dyn RatingOracle>),
}

/// Mechanism, with the sums over all reports that it has drawn so far.
pub(crate) struct ReportAccumulator<'a> {
    rating_mechanism: &'a ComparedRatingMechanism,
    sums: AccumulatedSums,
}

enum AccumulatedSums {
    Task(Box<(Randomizer, Totals)>),
    PublishedMechanism(ReportSums),
}

/// Estimates for all items, computed from the reports of one mechanism.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ItemEstimates {
    pub(crate) means: Vec<f64>,
    /// Estimated frequencies of positive and of negative values; `None` if the mechanism does not
    /// estimate them.
    pub(crate) sign_frequencies: Option<[Vec<f64>; 2]>,
    /// Standard error of each estimated mean.
    standard_errors_of_means: Vec<f64>,
}

/// Expected squared errors of the estimates from one report, averaged over items. The people have s
/// entries of ±1 each, where s is the sparsity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PerReportSquaredErrors {
    /// Expected squared error of the estimated means. `None` if the estimates are biased, because
    /// the bias depends on the true means and does not decrease with the number of people.
    pub(crate) mean_error: Option<f64>,
    /// Expected squared error of the estimated frequencies, averaged over both signs. `None` if the
    /// mechanism does not estimate frequencies.
    pub(crate) frequency_error: Option<f64>,
}

impl ComparedRatingMechanism {
    /// Creates a contestant that runs as a task. The task asks the question with the mechanism of
    /// the JSON draft `mechanism`.
    ///
    /// # Errors
    /// [`StudyError::InvalidDraft`] if the draft is refused.
    pub(crate) fn from_task_draft(
        name: &str,
        setting: &QuestionSetting,
        mechanism: &Value,
    ) -> Result<Self, StudyError> {
        let draft = json!({
            "id": "study", "items": setting.item_count, "sparsity": setting.sparsity,
            "epsilon": setting.epsilon, "people": setting.people_count,
            "value": if setting.has_sign_values { "sign" } else { "real" },
            "mechanism": mechanism,
        });
        let draft: TaskDraft = serde_json::from_value(draft)
            .map_err(|error| StudyError::invalid_draft(name, &error))?;
        let task = draft
            .resolve_task()
            .map_err(|error| StudyError::invalid_draft(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            kind: RatingMechanismKind::Task(Box::new(task)),
        })
    }

    /// Creates a contestant that runs as an oracle: the published mechanism with this name, for the
    /// question.
    ///
    /// # Errors
    /// [`StudyError::InvalidDraft`] if no oracle has this name; [`StudyError::RefusedParameters`] if the oracle does
    /// not accept the parameters.
    pub(crate) fn from_oracle_name(
        name: &str,
        setting: &QuestionSetting,
    ) -> Result<Self, StudyError> {
        let mut named = PUBLISHED_RATING_ORACLES
            .iter()
            .filter(|named| named.name == name);
        let named = named
            .next()
            .ok_or_else(|| StudyError::invalid_draft(name, &"there is no such mechanism"))?;
        let oracle_setting = OracleSetting {
            item_count: setting.item_count,
            sparsity: setting.sparsity,
            epsilon: setting.epsilon,
            delta: setting.delta,
            protected_distance: setting.protected_distance,
        };
        Ok(Self {
            name: name.to_owned(),
            kind: RatingMechanismKind::PublishedMechanism((named.build)(&oracle_setting)?),
        })
    }

    /// Creates an accumulator that has no reports yet.
    pub(crate) fn accumulator(&self, items: u32) -> ReportAccumulator<'_> {
        ReportAccumulator {
            rating_mechanism: self,
            sums: match &self.kind {
                RatingMechanismKind::Task(task) => {
                    AccumulatedSums::Task(Box::new((Randomizer::new(task), Totals::new(task))))
                }
                RatingMechanismKind::PublishedMechanism(_) => {
                    AccumulatedSums::PublishedMechanism(ReportSums::new(items))
                }
            },
        }
    }

    /// Returns the expected squared errors of this mechanism's estimates from one report.
    pub(crate) fn squared_errors_per_report(
        &self,
        setting: &QuestionSetting,
    ) -> PerReportSquaredErrors {
        let (d, s) = (f64::from(setting.item_count), f64::from(setting.sparsity));
        match &self.kind {
            RatingMechanismKind::Task(task) => {
                let question = &task.questions()[0];
                let people = setting.people_count as f64;
                let population = Population::with_equal_entries(people, setting.sparsity);
                let mechanism = question.mechanism();
                let errors =
                    mechanism.predict_errors(&question.domain(), task.epsilon(), &population);
                let unbiased = errors
                    .mean_error
                    .filter(|error| error.worst_case_squared_bias == 0.0);
                // The predicted variance is for the whole crowd. Multiplied by n, it is the
                // variance of one report.
                PerReportSquaredErrors {
                    mean_error: unbiased.map(|error| error.variance * people),
                    frequency_error: errors.frequency_error.map(|error| error.variance * people),
                }
            }
            RatingMechanismKind::PublishedMechanism(oracle) => {
                let moments = oracle.report_estimate_moments();
                let [own, other] = moments.mean_variances_by_presence();
                // Averages over the s items that a person has and the d − s remaining ones.
                let frequency =
                    moments
                        .frequency_variances_by_sign()
                        .map(|[own, opposite, none]| {
                            (s * (own + opposite) + 2.0 * (d - s) * none) / (2.0 * d)
                        });
                PerReportSquaredErrors {
                    mean_error: Some((s * own + (d - s) * other) / d),
                    frequency_error: frequency,
                }
            }
        }
    }

    /// Returns the length in bytes of a report by a person with these entries. For a task, it is
    /// the average over [`MEASURED_REPORT_COUNT`] reports.
    ///
    /// # Errors
    /// [`StudyError::RefusedParameters`] if the person has entries that do not fit the question.
    pub(crate) fn report_bytes(&self, entries: &[Entry]) -> Result<f64, StudyError> {
        let task = match &self.kind {
            RatingMechanismKind::Task(task) => task,
            RatingMechanismKind::PublishedMechanism(oracle) => {
                return Ok((oracle.report_bits() / 8.0).ceil());
            }
        };
        let (mut randomizer, mut bytes) = (Randomizer::new(task), Vec::new());
        // A fixed seed makes the measured length repeatable.
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..MEASURED_REPORT_COUNT {
            randomizer.randomize_and_encode(&[entries], &mut rng, &mut bytes)?;
        }
        Ok(bytes.len() as f64 / f64::from(MEASURED_REPORT_COUNT))
    }
}

impl ReportAccumulator<'_> {
    /// Draws the reports of these people and adds them to the sums.
    ///
    /// # Errors
    /// [`StudyError::RefusedParameters`] if a person has entries that do not fit the question.
    pub(crate) fn draw_and_add_reports(
        &mut self,
        people: &[&[Entry]],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), StudyError> {
        match (&self.rating_mechanism.kind, &mut self.sums) {
            (
                RatingMechanismKind::PublishedMechanism(oracle),
                AccumulatedSums::PublishedMechanism(sums),
            ) => {
                oracle.draw_and_add_reports(people, sums, rng);
            }
            (_, AccumulatedSums::Task(both)) => {
                let (randomizer, totals) = &mut **both;
                for entries in people {
                    totals.add_report(&randomizer.randomize(entries, rng)?.report);
                }
            }
            _ => unreachable!("sums are of the contestant"),
        }
        Ok(())
    }

    /// Draws each person's report separately and adds it to the sums, as a collector does.
    ///
    /// # Errors
    /// Same errors as [`ReportAccumulator::draw_and_add_reports`].
    pub(crate) fn draw_reports_one_by_one(
        &mut self,
        people: &[&[Entry]],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), StudyError> {
        if let (
            RatingMechanismKind::PublishedMechanism(oracle),
            AccumulatedSums::PublishedMechanism(sums),
        ) = (&self.rating_mechanism.kind, &mut self.sums)
        {
            for entries in people {
                oracle.draw_and_add_report(entries, sums, rng);
            }
            return Ok(());
        }
        self.draw_and_add_reports(people, rng)
    }

    /// Returns the estimates from all reports so far.
    pub(crate) fn estimates(&self) -> ItemEstimates {
        match (&self.rating_mechanism.kind, &self.sums) {
            (
                RatingMechanismKind::PublishedMechanism(oracle),
                AccumulatedSums::PublishedMechanism(sums),
            ) => {
                let linear = oracle.linear_estimator();
                let means = linear.means(sums);
                // Uses the variance for a rare item. The variance for a frequent item is of the
                // same order.
                let variance = oracle
                    .report_estimate_moments()
                    .mean_variances_by_presence()[1]
                    / sums.report_count as f64;
                ItemEstimates {
                    standard_errors_of_means: vec![variance.sqrt(); means.len()],
                    means,
                    sign_frequencies: linear.sign_frequencies(sums),
                }
            }
            (RatingMechanismKind::Task(task), AccumulatedSums::Task(both)) => {
                task_estimates(task, &both.1)
            }
            _ => unreachable!("sums are of the contestant"),
        }
    }
}

fn task_estimates(task: &Task, totals: &Totals) -> ItemEstimates {
    let items = task.questions()[0].items().item_count().unwrap_or(0);
    let all: Vec<u64> = (0..u64::from(items)).collect();
    let points = point_estimates(task, totals, &all);
    let of = |estimand| -> Option<Vec<f64>> {
        let each = points.iter().map(|own| own.get(estimand));
        each.map(|point| point.map(|point| point.estimate))
            .collect()
    };
    let means = points.iter().filter_map(|own| own.mean);
    let signs = [Estimand::Plus, Estimand::Minus].map(of);
    ItemEstimates {
        means: of(Estimand::Mean).unwrap_or_default(),
        sign_frequencies: match signs {
            [Some(plus), Some(minus)] => Some([plus, minus]),
            _ => None,
        },
        standard_errors_of_means: means.map(|own| own.standard_error).collect(),
    }
}

impl ItemEstimates {
    /// Returns the means shrunken towards each other by empirical Bayes: the expectation of each
    /// mean, given all estimates. Returns zeros if shrinkage is refused because zeros are expected
    /// to be better. Returns the means unchanged if shrinkage is refused for another reason.
    pub(crate) fn shrunken_means(&self) -> Vec<f64> {
        let both = self.means.iter().zip(&self.standard_errors_of_means);
        let item = |(&estimate, &standard_error): (&f64, &f64)| {
            let point = PointEstimate {
                estimate,
                standard_error,
            };
            (point, standard_error)
        };
        match shrink_estimates(&both.map(item).collect::<Vec<_>>()) {
            Ok((shrunken, _)) => shrunken.iter().map(|item| item.estimate).collect(),
            Err(ShrinkageRefusal::NoBetterThanZero) => vec![0.0; self.means.len()],
            Err(ShrinkageRefusal::WorseThanRaw | ShrinkageRefusal::FewItems) => self.means.clone(),
        }
    }
}
