//! Objectives for which mechanisms are chosen, as values and in task files.

use serde::Deserialize;

use super::draft_agreement::check_equal;
use super::population::Population;
use super::predict::{PredictedErrors, PredictedSquaredError};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::{Mechanism, NeighbouringInputs};
use crate::task::QuestionPart;

/// Weights of the squared errors of means, frequencies and non-missing frequencies. Each weight is
/// 0 or more.
///
/// ```
/// use hushbin::choose::{Objective, PredictedErrors, PredictedSquaredError};
///
/// let mean = PredictedSquaredError { variance: 0.003, rare_item_variance: 0.002, ..PredictedSquaredError::default() };
/// let predicted = PredictedErrors { mean_error: Some(mean), frequency_error: None, nonmissing_error: None };
/// assert_eq!(Objective::MEAN_ONLY.weighted_average_error(&predicted), Some(mean));
/// assert_eq!(Objective::FREQUENCY_ONLY.weighted_average_error(&predicted), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// Weight of means.
    pub mean_weight: f64,
    /// Weight of frequencies, the shares of people who have an item with a given sign.
    pub frequency_weight: f64,
    /// Weight of non-missing frequencies, the shares of people who have an item with either sign.
    /// The estimate is the sum of the frequencies of both signs, whose covariance is taken into
    /// account.
    pub nonmissing_weight: f64,
}

impl Objective {
    /// Objective that gives weight only to means.
    pub const MEAN_ONLY: Self = Self {
        mean_weight: 1.0,
        frequency_weight: 0.0,
        nonmissing_weight: 0.0,
    };
    /// Objective that gives weight only to frequencies.
    pub const FREQUENCY_ONLY: Self = Self {
        mean_weight: 0.0,
        frequency_weight: 1.0,
        nonmissing_weight: 0.0,
    };
    /// Objective that gives weight only to non-missing frequencies.
    pub const NONMISSING_ONLY: Self = Self {
        mean_weight: 0.0,
        frequency_weight: 0.0,
        nonmissing_weight: 1.0,
    };

    /// Returns the sum of the weights.
    #[must_use]
    pub fn weight_sum(&self) -> f64 {
        self.mean_weight + self.frequency_weight + self.nonmissing_weight
    }

    /// Returns the weighted average of the errors, or `None` if an estimate with a positive weight
    /// is missing.
    #[must_use]
    pub fn weighted_average_error(
        &self,
        predicted: &PredictedErrors,
    ) -> Option<PredictedSquaredError> {
        let mut average = PredictedSquaredError::default();
        for (weight, error) in [
            (self.mean_weight, predicted.mean_error),
            (self.frequency_weight, predicted.frequency_error),
            (self.nonmissing_weight, predicted.nonmissing_error),
        ] {
            if weight > 0.0 {
                let (part, error) = (weight / self.weight_sum(), error?);
                average.variance += part * error.variance;
                average.rare_item_variance += part * error.rare_item_variance;
                average.worst_case_squared_bias += part * error.worst_case_squared_bias;
                average.likely_squared_bias += part * error.likely_squared_bias;
            }
        }
        Some(average)
    }

    /// Returns the variance that the choice of parameters minimises, for an objective with a weight
    /// for non-missing frequencies. The variance is a weighted average over the estimates. Each
    /// estimate has the variance that `predicted` returns for one person with s entries, where s is
    /// the sparsity. The average is infinite if an estimate with a weight is missing.
    ///
    /// Returns `None` for other objectives. For these, parameters are chosen by the variance of the
    /// estimates that the mechanism is made for, which serves the objective as well.
    pub(super) fn variance_to_minimise(
        &self,
        domain: &Domain,
        predicted: impl Fn(&Population) -> PredictedErrors,
    ) -> Option<f64> {
        let variance = || {
            let person = Population::with_equal_entries(1.0, domain.sparsity());
            let error = self.weighted_average_error(&predicted(&person));
            error.map_or(f64::INFINITY, |error| error.variance)
        };
        (self.nonmissing_weight > 0.0).then(variance)
    }
}

/// Goal for which parameters are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParameterSearchGoal<'a> {
    pub(super) objective: Objective,
    /// Parts of a question of kind `together`, each with one answer. If there are any parts, the
    /// estimates are the shares of the parts' options.
    pub(super) together_parts: &'a [QuestionPart],
}

impl From<Objective> for ParameterSearchGoal<'_> {
    fn from(objective: Objective) -> Self {
        let parts = &[];
        Self {
            objective,
            together_parts: parts,
        }
    }
}

/// Objective and protection for which a mechanism is chosen.
///
/// ```
/// use hushbin::choose::{AutoDraft, AutoLevel};
///
/// let auto: AutoDraft = serde_json::from_str(r#"{ "objective": "frequency" }"#).unwrap();
/// assert_eq!(auto.level, AutoLevel::User);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoDraft {
    /// Objective (default the means).
    #[serde(default)]
    pub objective: ObjectiveDraft,
    /// Minimum protection (default `user`, a person's whole input). Level `event` protects single
    /// entries.
    #[serde(default)]
    pub level: AutoLevel,
}

/// Level of protection for which a mechanism can be chosen.
///
/// ```
/// use hushbin::choose::AutoLevel;
///
/// assert_eq!(serde_json::from_str::<AutoLevel>(r#""event""#).unwrap(), AutoLevel::Event);
/// assert_eq!(AutoLevel::default(), AutoLevel::User);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AutoLevel {
    /// Protects inputs that differ in the value of one item.
    Event,
    /// Protects any two inputs.
    #[default]
    User,
}

/// [`Objective`] in a task file: `"mean"`, `"frequency"`, `"nonmissing"`, or an object with a
/// weight for each of these.
///
/// ```
/// use hushbin::choose::{Objective, ObjectiveDraft};
///
/// let named: ObjectiveDraft = serde_json::from_str(r#""mean""#).unwrap();
/// assert_eq!(named.objective(), Ok(Objective::MEAN_ONLY));
/// let none = r#"{ "mean": 0, "frequency": 0 }"#;
/// assert!(serde_json::from_str::<ObjectiveDraft>(none).unwrap().objective().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected an objective: \"mean\", \"frequency\", \"nonmissing\", or an object with the weights \"mean\", \"frequency\" and perhaps \"nonmissing\""
)]
pub enum ObjectiveDraft {
    /// Single objective.
    Name(ObjectiveName),
    /// Weights of several objectives.
    Weights {
        /// Weight of the squared error of means, 0 or more.
        mean: f64,
        /// Weight of the squared error of frequencies, 0 or more.
        frequency: f64,
        /// Weight of the squared error of non-missing frequencies, 0 or more (default 0).
        #[serde(default)]
        nonmissing: f64,
    },
}

/// Name of a single objective.
///
/// ```
/// use hushbin::choose::{Objective, ObjectiveDraft, ObjectiveName};
///
/// let draft = ObjectiveDraft::Name(ObjectiveName::Frequency);
/// assert_eq!(draft.objective(), Ok(Objective::FREQUENCY_ONLY));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// Means.
    Mean,
    /// Frequencies, the shares of people who have an item with a given sign.
    Frequency,
    /// Non-missing frequencies, the shares of people who have an item with either sign.
    Nonmissing,
}

impl Default for ObjectiveDraft {
    fn default() -> Self {
        Self::Name(ObjectiveName::Mean)
    }
}

impl ObjectiveDraft {
    /// Returns the objective that this draft describes.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for weights that are negative or all 0.
    pub fn objective(self) -> Result<Objective, Error> {
        match self {
            Self::Name(ObjectiveName::Mean) => Ok(Objective::MEAN_ONLY),
            Self::Name(ObjectiveName::Frequency) => Ok(Objective::FREQUENCY_ONLY),
            Self::Name(ObjectiveName::Nonmissing) => Ok(Objective::NONMISSING_ONLY),
            Self::Weights {
                mean,
                frequency,
                nonmissing,
            } => {
                let objective = Objective {
                    mean_weight: mean,
                    frequency_weight: frequency,
                    nonmissing_weight: nonmissing,
                };
                let is_weight = |value: &f64| value.is_finite() && *value >= 0.0;
                let all = [mean, frequency, nonmissing].iter().all(is_weight);
                if all && objective.weight_sum() > 0.0 {
                    Ok(objective)
                } else {
                    Err(Error::InvalidCombination {
                        reason: "the weights of an \"objective\" must be 0 or more, and at least \
                                 one above 0",
                    })
                }
            }
        }
    }
}

impl AutoDraft {
    /// Checks that the mechanism in use protects at least as much as the draft's level. The
    /// objective cannot be checked, because tasks do not contain it.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] if the mechanism protects less.
    pub(super) fn check_protection_level(&self, in_use: &Mechanism) -> Result<(), Error> {
        let protects = match (self.level, in_use.neighbours()) {
            (_, NeighbouringInputs::AnyTwoInputs)
            | (AutoLevel::Event, NeighbouringInputs::DifferInOneItem) => true,
            // A value in [−1, 1] can change by 2.
            (AutoLevel::Event, NeighbouringInputs::WithinDistance(distance)) => {
                distance >= 2.0 && in_use.delta() == 0.0
            }
            (AutoLevel::User, _) => false,
        };
        if protects {
            Ok(())
        } else {
            check_equal("level", &self.level.name(), &in_use.protection_level())
        }
    }
}

impl AutoLevel {
    pub(super) const fn name(self) -> PrivacyLevelName {
        match self {
            Self::Event => PrivacyLevelName::Event,
            Self::User => PrivacyLevelName::User,
        }
    }
}
