//! An explainer of the reports of one task.

use hushbin::domain::Signed;
use hushbin::mechanism::Neighbours;
use hushbin::{Mechanism, Question, Report, Task};
use hushbin_analysis::estimate::{Estimand, estimands};
use hushbin_analysis::likelihood::enumerable;

use super::contract::{Explained, Reported, Setting};
use super::error::{ExplainError, MOST_COMPLETIONS, MOST_ELEMENTS};
use super::placement::Placement;

/// What the ε of a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// Whatever is learnt about the whole input.
    Input,
    /// What is learnt about one entry by somebody who knows the others.
    Entry,
}

/// The reports of one task, explained.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin_demo::explain::{Covers, Explainer};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let explainer = Explainer::new(&draft.resolve().unwrap()).unwrap();
/// assert_eq!(explainer.covers(), Covers::Input);
/// ```
#[derive(Debug, Clone)]
pub struct Explainer {
    pub(super) task: Task,
    pub(super) question: Question,
}

impl Explainer {
    /// The explainer of reports made for `task`.
    ///
    /// # Errors
    /// [`ExplainError::NotRatings`] where anything but ratings is asked;
    /// [`ExplainError::TooLarge`] for open tasks, those of a greater sparsity than 12,
    /// and those whose missing answers are made up for in more than 16,384 ways.
    pub fn new(task: &Task) -> Result<Self, ExplainError> {
        let question = match task.sole() {
            Some(sole) if sole.domain().is_rated() => sole,
            _ => return Err(ExplainError::NotRatings),
        };
        let completions = enumerable(question).map_or(Some(1), |own| (own.completions)(0));
        let few = completions.is_some_and(|completions| completions <= MOST_COMPLETIONS);
        let open = question.items().count().is_none();
        if open || question.sparsity() > MOST_ELEMENTS || !few {
            return Err(ExplainError::TooLarge);
        }
        Ok(Self {
            task: task.clone(),
            question: question.clone(),
        })
    }

    fn setting(&self) -> Setting {
        Setting {
            domain: self.question.domain(),
            epsilon: self.question.epsilon(),
        }
    }

    /// What ε is about.
    #[must_use]
    pub fn covers(&self) -> Covers {
        match self.question.mechanism().neighbours() {
            Neighbours::Any => Covers::Input,
            Neighbours::OneItem | Neighbours::Within(_) => Covers::Entry,
        }
    }

    /// What reports tell of an item.
    #[must_use]
    pub fn estimands(&self) -> Vec<Estimand> {
        estimands(&self.question).to_vec()
    }

    /// Two inputs that reports are to tell apart as badly as ε promises: yes to
    /// as many of the first items as a report holds, and no to the same; to the
    /// first alone where ε is about one entry.
    #[must_use]
    pub fn extremes(&self) -> [Vec<Signed>; 2] {
        let entries = match self.covers() {
            Covers::Input => self.question.sparsity(),
            Covers::Entry => 1,
        };
        let items = self.question.items().count().unwrap_or(entries);
        [false, true].map(|negative| {
            let signed = |item| Signed {
                item: u64::from(item),
                negative,
            };
            (0..entries.min(items)).map(signed).collect()
        })
    }

    /// An item of the task, by its name.
    ///
    /// # Errors
    /// [`ExplainError::NoItem`].
    pub fn item(&self, name: &str) -> Result<u64, ExplainError> {
        let found = self.question.items().resolve(name);
        found.ok_or_else(|| ExplainError::NoItem(name.to_owned()))
    }

    /// Signed items by their names, in the task's order.
    ///
    /// # Errors
    /// [`ExplainError::NoItem`] and [`ExplainError::TooMany`].
    pub fn answers<'a>(
        &self,
        named: impl IntoIterator<Item = (&'a str, i8)>,
    ) -> Result<Vec<Signed>, ExplainError> {
        let signed = |(name, sign)| {
            let item = self.item(name)?;
            let negative = sign < 0;
            Ok(Signed { item, negative })
        };
        let named = named.into_iter().map(signed);
        let mut answers = named.collect::<Result<Vec<Signed>, ExplainError>>()?;
        answers.sort_unstable_by_key(|signed| signed.item);
        let (given, most) = (answers.len(), self.question.sparsity());
        if given > most as usize {
            return Err(ExplainError::TooMany { given, most });
        }
        Ok(answers)
    }
}

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        /// What the randomised part of a mechanism's report says.
        pub(super) fn reported(mechanism: &Mechanism, report: &Report) -> Result<Reported, ExplainError> {
            match (mechanism, report) {
                $((Mechanism::$Name(own), Report::$Name(report)) => Ok(own.reported(report)),)+
                _ => Err(ExplainError::Foreign),
            }
        }

        impl Explainer {
            /// What the randomised part of a report says.
            ///
            /// # Errors
            /// [`ExplainError::Foreign`], as of all that is asked about a report.
            pub fn reported(&self, report: &Report) -> Result<Reported, ExplainError> {
                reported(self.question.mechanism(), report)
            }

            /// Where answers and paddings fall under the seed of `report`, as the
            /// core decodes its support. Of more answers than a report holds a
            /// uniformly random selection counts.
            ///
            /// # Errors
            /// As [`Explainer::reported`].
            pub fn place(
                &self,
                answers: &[Signed],
                report: &Report,
            ) -> Result<Placement, ExplainError> {
                match (self.question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.place(&self.setting(), answers, report))
                    })+
                    _ => Err(ExplainError::Foreign),
                }
            }

            /// ln P(response | seed, answers): of noise on bins as if none were cut
            /// off.
            ///
            /// # Errors
            /// As [`Explainer::reported`].
            pub fn log_likelihood(
                &self,
                answers: &[Signed],
                report: &Report,
            ) -> Result<f64, ExplainError> {
                match (self.question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.log_likelihood(&self.setting(), answers, report))
                    })+
                    _ => Err(ExplainError::Foreign),
                }
            }

            /// How much more a report looks like the first of
            /// [`Explainer::extremes`] than the second, by what it supports.
            pub(super) fn score(
                &self,
                inputs: &[Vec<Signed>; 2],
                report: &Report,
            ) -> Result<f64, ExplainError> {
                match (self.question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.score(&self.setting(), inputs, report))
                    })+
                    _ => Err(ExplainError::Foreign),
                }
            }

            /// The scale of the noise on bins, in units of a value of 1; `None`
            /// where reports have none.
            #[must_use]
            pub fn noise_scale(&self) -> Option<f64> {
                match self.question.mechanism() {
                    $(Mechanism::$Name(own) => own.noise_scale(&self.setting()),)+
                }
            }
        }
    };
}

hushbin::mechanisms!(register);
