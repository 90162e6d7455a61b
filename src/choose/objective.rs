//! What a mechanism is to be chosen for, and what a task file says of that.

use serde::Deserialize;

use super::differs::same;
use super::population::Population;
use super::predict::{Predicted, SquaredError};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::hash_bin::LevelName;
use crate::mechanism::{Mechanism, Neighbours};
use crate::task::Part;

/// The purpose of estimates: weights, from 0, of their squared errors.
///
/// ```
/// use hushbin::choose::{Objective, Predicted, SquaredError};
///
/// let mean = SquaredError { variance: 0.003, rare_variance: 0.002, ..SquaredError::default() };
/// let predicted = Predicted { mean: Some(mean), frequency: None, nonmissing: None };
/// assert_eq!(Objective::MEAN.weigh(&predicted), Some(mean));
/// assert_eq!(Objective::FREQUENCY.weigh(&predicted), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// Of means.
    pub mean: f64,
    /// Of the frequencies of an item with either sign.
    pub frequency: f64,
    /// Of non-missing frequencies: of an item with any sign. What is estimated is the sum
    /// of the frequencies of both signs, with their covariance.
    pub nonmissing: f64,
}

impl Objective {
    /// Means alone.
    pub const MEAN: Self = Self {
        mean: 1.0,
        frequency: 0.0,
        nonmissing: 0.0,
    };
    /// Frequencies alone.
    pub const FREQUENCY: Self = Self {
        mean: 0.0,
        frequency: 1.0,
        nonmissing: 0.0,
    };
    /// Non-missing frequencies alone.
    pub const NONMISSING: Self = Self {
        mean: 0.0,
        frequency: 0.0,
        nonmissing: 1.0,
    };

    /// Of all weights.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.mean + self.frequency + self.nonmissing
    }

    /// The weighed average of the errors; `None` where something that weighs is not estimated.
    #[must_use]
    pub fn weigh(&self, predicted: &Predicted) -> Option<SquaredError> {
        let mut average = SquaredError::default();
        for (weight, error) in [
            (self.mean, predicted.mean),
            (self.frequency, predicted.frequency),
            (self.nonmissing, predicted.nonmissing),
        ] {
            if weight > 0.0 {
                let (part, error) = (weight / self.sum(), error?);
                average.variance += part * error.variance;
                average.rare_variance += part * error.rare_variance;
                average.squared_bias += part * error.squared_bias;
                average.likely_squared_bias += part * error.likely_squared_bias;
            }
        }
        Some(average)
    }

    /// The variance that parameters are chosen by where non-missing frequencies weigh:
    /// the average of what is `predicted` for a person with s entries; infinite where
    /// something that weighs is not estimated. `None` for other objectives: what is
    /// chosen for a mechanism's own estimates serves these as well.
    pub(super) fn variance(
        &self,
        domain: &Domain,
        predicted: impl Fn(&Population) -> Predicted,
    ) -> Option<f64> {
        let variance = || {
            let person = Population::even(1.0, domain.sparsity());
            let error = self.weigh(&predicted(&person));
            error.map_or(f64::INFINITY, |error| error.variance)
        };
        (self.nonmissing > 0.0).then(variance)
    }
}

/// What parameters are chosen by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) objective: Objective,
    /// Where one option of each of these is given, whose shares are then what is estimated.
    pub(super) parts: &'a [Part],
}

impl From<Objective> for Goal<'_> {
    fn from(objective: Objective) -> Self {
        let parts = &[];
        Self { objective, parts }
    }
}

/// What a mechanism is to be chosen for.
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
    /// By default the means.
    #[serde(default)]
    pub objective: ObjectiveDraft,
    /// What a report is to protect at least, by default `user`: a person's whole
    /// input. At level `event` it protects single entries.
    #[serde(default)]
    pub level: AutoLevel,
}

/// A level of protection that a mechanism can be chosen for.
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
    /// Inputs that differ in the value of one item.
    Event,
    /// Any two inputs.
    #[default]
    User,
}

/// An [`Objective`] in a task file: `"mean"`, `"frequency"`, `"nonmissing"`, or an
/// object with the weight of each.
///
/// ```
/// use hushbin::choose::{Objective, ObjectiveDraft};
///
/// let named: ObjectiveDraft = serde_json::from_str(r#""mean""#).unwrap();
/// assert_eq!(named.objective(), Ok(Objective::MEAN));
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
    /// One of them.
    Name(ObjectiveName),
    /// Several.
    Weights {
        /// Weight of the squared error of means, from 0.
        mean: f64,
        /// Weight of the squared error of frequencies, from 0.
        frequency: f64,
        /// Weight of the squared error of non-missing frequencies, from 0; by default 0.
        #[serde(default)]
        nonmissing: f64,
    },
}

/// The one thing that estimates are wanted for.
///
/// ```
/// use hushbin::choose::{Objective, ObjectiveDraft, ObjectiveName};
///
/// let draft = ObjectiveDraft::Name(ObjectiveName::Frequency);
/// assert_eq!(draft.objective(), Ok(Objective::FREQUENCY));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// Means.
    Mean,
    /// Frequencies of items with either sign.
    Frequency,
    /// Non-missing frequencies: of items with any sign.
    Nonmissing,
}

impl Default for ObjectiveDraft {
    fn default() -> Self {
        Self::Name(ObjectiveName::Mean)
    }
}

impl ObjectiveDraft {
    /// What it weighs.
    ///
    /// # Errors
    /// [`Error::Combination`] for weights that are negative or all 0.
    pub fn objective(self) -> Result<Objective, Error> {
        match self {
            Self::Name(ObjectiveName::Mean) => Ok(Objective::MEAN),
            Self::Name(ObjectiveName::Frequency) => Ok(Objective::FREQUENCY),
            Self::Name(ObjectiveName::Nonmissing) => Ok(Objective::NONMISSING),
            Self::Weights {
                mean,
                frequency,
                nonmissing,
            } => {
                let objective = Objective {
                    mean,
                    frequency,
                    nonmissing,
                };
                let is_weight = |value: &f64| value.is_finite() && *value >= 0.0;
                let all = [mean, frequency, nonmissing].iter().all(is_weight);
                if all && objective.sum() > 0.0 {
                    Ok(objective)
                } else {
                    Err(Error::Combination {
                        reason: "the weights of an \"objective\" are to be 0 or more, and one of them more",
                    })
                }
            }
        }
    }
}

impl AutoDraft {
    /// Whichever was picked, for an objective that tasks do not hold, if it protects as much.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] where it protects less.
    pub(super) fn agrees_with(&self, in_use: &Mechanism) -> Result<(), Error> {
        let protects = match (self.level, in_use.neighbours()) {
            (_, Neighbours::Any) | (AutoLevel::Event, Neighbours::OneItem) => true,
            // One value can change by 2.
            (AutoLevel::Event, Neighbours::Within(distance)) => {
                distance >= 2.0 && in_use.delta() == 0.0
            }
            (AutoLevel::User, _) => false,
        };
        if protects {
            Ok(())
        } else {
            same("level", &self.level.name(), &in_use.level())
        }
    }
}

impl AutoLevel {
    pub(super) const fn name(self) -> LevelName {
        match self {
            Self::Event => LevelName::Event,
            Self::User => LevelName::User,
        }
    }
}
