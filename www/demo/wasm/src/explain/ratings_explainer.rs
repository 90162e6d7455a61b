//! Explainer of the reports of one task with ratings.

use hushbin::domain::SignedItem;
use hushbin::mechanism::NeighbouringInputs;
use hushbin::{Mechanism, Question, Report, Task};
use hushbin_analysis::estimate::{Estimand, estimands};
use hushbin_analysis::likelihood::exact_probabilities;

use super::answer_placement::AnswerPlacement;
use super::error::{ExplainError, MAX_COMPLETION_COUNT, MAX_EXPLAINED_SPARSITY};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

/// Inputs that a report's ε protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum EpsilonScope {
    /// The whole input: all answers of a person together.
    Input,
    /// One entry, against an observer who knows all other entries.
    Entry,
}

/// Explainer of the reports of one task with ratings.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin_demo::explain::{EpsilonScope, Explainer};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let explainer = Explainer::new(&draft.resolve_task().unwrap()).unwrap();
/// assert_eq!(explainer.epsilon_scope(), EpsilonScope::Input);
/// ```
#[derive(Debug, Clone)]
pub struct Explainer {
    pub(super) task: Task,
    pub(super) only_question: Question,
}

impl Explainer {
    /// Creates the explainer of reports for `task`.
    ///
    /// # Errors
    /// [`ExplainError::NotRatings`] unless the task is a single question of ratings.
    /// [`ExplainError::TaskTooLarge`] for an open task, a sparsity above 12, or more than 16,384
    /// replacements of missing answers.
    pub fn new(task: &Task) -> Result<Self, ExplainError> {
        let question = match task.only_question() {
            Some(sole) if sole.domain().is_rated() => sole,
            _ => return Err(ExplainError::NotRatings),
        };
        let completions =
            exact_probabilities(question).map_or(Some(1), |own| (own.count_padding_choices)(0));
        let few = completions.is_some_and(|completions| completions <= MAX_COMPLETION_COUNT);
        let open = question.items().item_count().is_none();
        if open || question.max_entries_per_report() > MAX_EXPLAINED_SPARSITY || !few {
            return Err(ExplainError::TaskTooLarge);
        }
        Ok(Self {
            task: task.clone(),
            only_question: question.clone(),
        })
    }

    fn domain_and_epsilon(&self) -> DomainAndEpsilon {
        DomainAndEpsilon {
            domain: self.only_question.domain(),
            epsilon: self.only_question.epsilon(),
        }
    }

    /// Returns the inputs that ε protects.
    #[must_use]
    pub fn epsilon_scope(&self) -> EpsilonScope {
        match self.only_question.mechanism().neighbours() {
            NeighbouringInputs::AnyTwoInputs => EpsilonScope::Input,
            NeighbouringInputs::DifferInOneItem | NeighbouringInputs::WithinDistance(_) => {
                EpsilonScope::Entry
            }
        }
    }

    /// Returns the quantities that can be estimated for an item.
    #[must_use]
    pub fn estimands(&self) -> Vec<Estimand> {
        estimands(&self.only_question).to_vec()
    }

    /// Returns two inputs whose reports differ most. The first says yes to the first items, up to
    /// the sparsity. The second says no to the same items. If ε protects only one entry, only the
    /// first item is answered.
    #[must_use]
    pub fn extreme_inputs(&self) -> [Vec<SignedItem>; 2] {
        let entries = match self.epsilon_scope() {
            EpsilonScope::Input => self.only_question.max_entries_per_report(),
            EpsilonScope::Entry => 1,
        };
        let items = self.only_question.items().item_count().unwrap_or(entries);
        [false, true].map(|negative| {
            let signed = |item| SignedItem {
                item: u64::from(item),
                is_negative: negative,
            };
            (0..entries.min(items)).map(signed).collect()
        })
    }

    /// Returns the index of an item by its name.
    ///
    /// # Errors
    /// [`ExplainError::NoItem`] if the task has no such item.
    pub fn item_index(&self, name: &str) -> Result<u64, ExplainError> {
        let found = self.only_question.items().find_item(name);
        found.ok_or_else(|| ExplainError::NoItem(name.to_owned()))
    }

    /// Converts answers to signed items, in the task's order. `named` has the name of each item,
    /// with 1 for yes or −1 for no.
    ///
    /// # Errors
    /// [`ExplainError::NoItem`] for an unknown name, [`ExplainError::TooManyAnsweredItems`] for more answers
    /// than the sparsity.
    pub fn signed_answers<'a>(
        &self,
        named: impl IntoIterator<Item = (&'a str, i8)>,
    ) -> Result<Vec<SignedItem>, ExplainError> {
        let signed = |(name, sign)| {
            let item = self.item_index(name)?;
            let negative = sign < 0;
            Ok(SignedItem {
                item,
                is_negative: negative,
            })
        };
        let named = named.into_iter().map(signed);
        let mut answers = named.collect::<Result<Vec<SignedItem>, ExplainError>>()?;
        answers.sort_unstable_by_key(|signed| signed.item);
        let (given, most) = (answers.len(), self.only_question.max_entries_per_report());
        if given > most as usize {
            return Err(ExplainError::TooManyAnsweredItems { given, most });
        }
        Ok(answers)
    }
}

macro_rules! impl_mechanism_dispatch {
    ($($module:ident: $Name:ident,)+) => {
        /// Decodes the randomised part of a report of this mechanism.
        pub(super) fn reported(mechanism: &Mechanism, report: &Report) -> Result<Reported, ExplainError> {
            match (mechanism, report) {
                $((Mechanism::$Name(own), Report::$Name(report)) => Ok(own.decode_randomised_part(report)),)+
                _ => Err(ExplainError::ReportOfOtherMechanism),
            }
        }

        impl Explainer {
            /// Decodes the randomised part of a report.
            ///
            /// # Errors
            /// [`ExplainError::ReportOfOtherMechanism`] for a report of another mechanism.
            pub fn reported(&self, report: &Report) -> Result<Reported, ExplainError> {
                reported(self.only_question.mechanism(), report)
            }

            /// Returns the positions of the answers and the paddings under the seed of `report`,
            /// and the probability of each outcome. If there are more answers than the sparsity,
            /// probabilities are averaged over uniformly random selections.
            ///
            /// # Errors
            /// Errors of [`Explainer::reported`].
            pub fn place(
                &self,
                answers: &[SignedItem],
                report: &Report,
            ) -> Result<AnswerPlacement, ExplainError> {
                match (self.only_question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.place_answers(&self.domain_and_epsilon(), answers, report))
                    })+
                    _ => Err(ExplainError::ReportOfOtherMechanism),
                }
            }

            /// Returns the log-likelihood of a report: ln P(response | seed, answers). For noisy
            /// bins, the cut-off of extreme noise is ignored.
            ///
            /// # Errors
            /// Errors of [`Explainer::reported`].
            pub fn log_likelihood(
                &self,
                answers: &[SignedItem],
                report: &Report,
            ) -> Result<f64, ExplainError> {
                match (self.only_question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.log_likelihood(&self.domain_and_epsilon(), answers, report))
                    })+
                    _ => Err(ExplainError::ReportOfOtherMechanism),
                }
            }

            /// Returns a score that is higher if the report supports the first of `inputs` more
            /// than the second.
            pub(super) fn score(
                &self,
                inputs: &[Vec<SignedItem>; 2],
                report: &Report,
            ) -> Result<f64, ExplainError> {
                match (self.only_question.mechanism(), report) {
                    $((Mechanism::$Name(own), Report::$Name(report)) => {
                        Ok(own.audit_score(&self.domain_and_epsilon(), inputs, report))
                    })+
                    _ => Err(ExplainError::ReportOfOtherMechanism),
                }
            }

            /// Returns the scale of the noise on bins, in units of one answer. Returns `None` if
            /// reports have no bins.
            #[must_use]
            pub fn noise_scale(&self) -> Option<f64> {
                match self.only_question.mechanism() {
                    $(Mechanism::$Name(own) => own.noise_scale(&self.domain_and_epsilon()),)+
                }
            }
        }
    };
}

hushbin::mechanisms!(impl_mechanism_dispatch);
