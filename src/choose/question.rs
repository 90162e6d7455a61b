//! Draft of a question, as people write it. hushbin chooses missing parameters.

use alloc::string::String;
use alloc::vec::Vec;

use super::budget::PrivacyBudget;
use super::cross::CrossDraft;
use super::draft_agreement::{check_equal, check_equal_if_stated};
use super::mechanism_draft::{MechanismDraft, all_candidates};
use super::memo::best_memo_compatible_candidate;
use super::number::NumberDraft;
use super::objective::Objective;
use super::population::{DEFAULT_PEOPLE_COUNT, Population};
use super::sparsity_search::{Candidate, ParameterSearch};
use super::{together, window};
use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::task::local::question::checked_question_domain;
use crate::task::{
    Items, MemoParameters, Numbers, PrefixLengths, Question, QuestionFields, QuestionKind, Together,
};

/// [`Question`] whose mechanism may lack parameters or be missing, and whose sparsity, weight or
/// scale may be left to hushbin.
///
/// ```
/// use hushbin::TaskDraft;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "settings", "epsilon": 1.0,
///     "questions": [
///         { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
///         { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" }
///     ]
/// }"#).unwrap();
/// assert_eq!(draft.questions[0].name, "theme");
/// assert_eq!(draft.resolve_task().unwrap().questions().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionDraft {
    /// Name, as in [`QuestionFields`].
    pub name: String,
    /// Kind of the question, with its items.
    pub kind: KindDraft,
    /// Sparsity, as in [`QuestionFields`]. If it is missing, it is chosen for the population that
    /// `entries` describes.
    pub sparsity: Option<u32>,
    /// Numbers of people with 0, 1, 2, … entries, if known. hushbin needs these numbers to weigh
    /// the bias of omitting entries against the noise.
    pub people_count_by_entry_count: Option<Vec<u64>>,
    /// Average number of items that two people have in common, for use with `entries`. For each
    /// item, the share of people who have the item is squared. The overlap is the sum of these
    /// squares. For ratings, the overlap is the sum of the squared means. A larger overlap means
    /// more bias. If the overlap is missing, a medium overlap is assumed.
    pub mean_item_overlap: Option<f64>,
    /// Weight, as in [`QuestionFields`]. If no question states a weight, all weights are chosen.
    /// Otherwise a missing weight is 1.
    pub sampling_weight: Option<u32>,
    /// Mechanism, with any of its parameters.
    pub mechanism: MechanismDraft,
}

/// Kind of question in a draft, with its items.
///
/// ```
/// use hushbin::Items;
/// use hushbin::choose::KindDraft;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{
///     "id": "t", "epsilon": 1.0,
///     "questions": [{ "name": "theme", "kind": "choice", "options": 3 }]
/// }"#).unwrap();
/// assert_eq!(draft.questions[0].kind, KindDraft::Choice(Items::Count(3)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum KindDraft {
    /// Ratings of items.
    Ratings(Items, ValueKind),
    /// Any number of these items, without values.
    Set(Items),
    /// Exactly one of these options.
    Choice(Items),
    /// Flag, no or yes.
    Flag,
    /// Number, whose scale may have unset parameters.
    Number(NumberDraft),
    /// Names and limits of several numbers.
    Numbers(Items, Numbers),
    /// Rows and columns of a cross table.
    Cross(CrossDraft),
    /// Text, with the lengths of its prefixes.
    Text(PrefixLengths),
    /// One option in each of these parts, reported together.
    Together(Together),
}

/// Completed draft of a question, with alternatives to the chosen mechanism.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let choice = draft.choices_per_question().unwrap().remove(0);
/// assert_eq!(choice.question.mechanism(), &choice.chosen.mechanism);
/// assert!(choice.alternatives.is_sorted_by(|a, b| a.objective_error <= b.objective_error));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenQuestion {
    /// Complete question.
    pub question: Question,
    /// Mechanism and sparsity of the question.
    pub chosen: Candidate,
    /// Mechanisms other than the chosen one with at least the same protection, each with its best
    /// parameters, in order of increasing error.
    pub alternatives: Vec<Candidate>,
    /// Number of people for which errors are predicted.
    pub people_count: f64,
}

impl QuestionDraft {
    /// Checks the stated parameters without choosing the unset ones. A draft that passes this check
    /// may still have no valid completion.
    ///
    /// # Errors
    /// As [`Question::new`].
    pub fn validate(&self, epsilon: f64, people: Option<u64>) -> Result<(), Error> {
        let check = || {
            self.population(people)?;
            self.mechanism.check(&self.checked_stated_domain(epsilon)?)
        };
        check().map_err(|error| self.add_question_to_error(error))
    }

    /// Checks the stated fields and returns the domain. If the sparsity is unset, the domain's
    /// sparsity is 1.
    fn checked_stated_domain(&self, epsilon: f64) -> Result<Domain, Error> {
        let (kind, items) = self.complete_kind(epsilon)?;
        let sparsity = self.sparsity.unwrap_or(1);
        if let Some(weight) = self.sampling_weight {
            bounds::QUESTION_WEIGHT_RANGE.check_in_range(f64::from(weight))?;
        }
        checked_question_domain(&kind, &items, sparsity, epsilon)
    }

    /// Completes the kind of question for a local ε. Returns the kind and its items.
    fn complete_kind(&self, epsilon: f64) -> Result<(QuestionKind, Items), Error> {
        let (kind, items) = match &self.kind {
            KindDraft::Ratings(items, value) => (QuestionKind::Ratings(*value), Some(items)),
            KindDraft::Set(items) => (QuestionKind::Set, Some(items)),
            KindDraft::Choice(items) => (QuestionKind::Choice, Some(items)),
            KindDraft::Flag => (QuestionKind::Flag, None),
            KindDraft::Number(number) => {
                (QuestionKind::Number(number.scale_with_defaults()?), None)
            }
            KindDraft::Numbers(items, numbers) => {
                (QuestionKind::Numbers(numbers.clone()), Some(items))
            }
            KindDraft::Cross(cross) => (
                QuestionKind::CrossTabulation(cross.complete_cross(epsilon)?),
                None,
            ),
            KindDraft::Text(prefixes) => (QuestionKind::Text(prefixes.clone()), None),
            KindDraft::Together(together) => (QuestionKind::JointChoices(together.clone()), None),
        };
        let items = kind.implied_items().or_else(|| items.cloned());
        Ok((
            kind,
            items.expect("a kind without items of its own lists them"),
        ))
    }

    /// Chooses the unset parameters by predicted variance, and validates the question. An unset
    /// weight becomes 1.
    ///
    /// The choice uses integers, and floating point without platform-dependent functions. Within
    /// one release, the choice is therefore the same on every platform. A later release may choose
    /// better parameters, so a deployment uses the resolved [`Question`].
    /// [`TaskDraft::check_agrees_with`](super::TaskDraft::check_agrees_with) compares a task in use
    /// with its draft.
    ///
    /// If the budget has a `memo`, only parameters are chosen with which reports can be made from it.
    ///
    /// # Errors
    /// As [`Question::new`].
    pub fn resolve_question(
        &self,
        epsilon: f64,
        people: Option<u64>,
        memo: Option<MemoParameters>,
    ) -> Result<Question, Error> {
        let resolve = || {
            let population = self.population(people)?;
            let search = self.prepare_search(&population, epsilon, f64::INFINITY)?;
            let best = self.mechanism_draft(epsilon)?.best_candidate(&search)?;
            let best = self.fit_candidate_to_memo(&search, memo, best)?;
            self.question_from_candidate(epsilon, &best)
        };
        resolve().map_err(|error| self.add_question_to_error(error))
    }

    /// Returns the choice of [`QuestionDraft::resolve_question`] and its alternatives. Only parameters whose
    /// [α](super::mixture_alpha) is at most `alpha` are considered. Returns `None` if the draft's
    /// mechanism is `auto` and no mechanism has such parameters. With a finite `alpha`, mechanisms
    /// that protect only single entries are excluded.
    ///
    /// # Errors
    /// As [`Question::new`]; [`Error::InvalidCombination`] if the parameters of a stated mechanism cannot
    /// have an α of at most `alpha`.
    pub fn choose_within_alpha(
        &self,
        epsilon: f64,
        people: Option<u64>,
        alpha: f64,
        memo: Option<MemoParameters>,
    ) -> Result<Option<ChosenQuestion>, Error> {
        let choose = || self.choose_with_alternatives(epsilon, people, alpha, memo);
        choose().map_err(|error| self.add_question_to_error(error))
    }

    fn choose_with_alternatives(
        &self,
        epsilon: f64,
        people: Option<u64>,
        alpha: f64,
        memo: Option<MemoParameters>,
    ) -> Result<Option<ChosenQuestion>, Error> {
        let population = self.population(people)?;
        let search = self.prepare_search(&population, epsilon, alpha)?;
        let asked = self.mechanism_draft(epsilon)?;
        let (mut chosen, mut alternatives) = match &asked {
            MechanismDraft::Auto(auto) => {
                let mut all = all_candidates(&search, auto.level.name())?;
                if all.is_empty() {
                    return Ok(None);
                }
                (all.remove(0), all)
            }
            _ => {
                let chosen = asked.best_candidate(&search)?;
                // Alternatives protect as much as the stated mechanism, which may protect single
                // entries only. Questions without signs and dense numbers have only one mechanism.
                let alternatives = if search.domain.is_rated() && !search.domain.is_dense() {
                    all_candidates(&search, chosen.mechanism.protection_level())?
                } else {
                    Vec::new()
                };
                (chosen, alternatives)
            }
        };
        chosen = self.fit_candidate_to_memo(&search, memo, chosen)?;
        if let KindDraft::Together(together) = &self.kind {
            together::replace_predicted_error(
                together,
                epsilon,
                population.people_count(),
                &mut chosen,
            );
        }
        // The chosen mechanism is no alternative to itself.
        alternatives.retain(|other| {
            (&other.mechanism, other.sparsity) != (&chosen.mechanism, chosen.sparsity)
        });
        Ok(Some(ChosenQuestion {
            question: self.question_from_candidate(epsilon, &chosen)?,
            chosen,
            alternatives,
            people_count: population.people_count(),
        }))
    }

    /// Returns the chosen parameters. If reports cannot be made from the memo with them, returns the
    /// best parameters that allow memos. Stated parameters are kept: the task is then refused.
    fn fit_candidate_to_memo(
        &self,
        search: &ParameterSearch<'_>,
        memo: Option<MemoParameters>,
        chosen: Candidate,
    ) -> Result<Candidate, Error> {
        match memo {
            Some(memo) if self.is_mechanism_unstated() && search.domain.is_choice_from_list() => {
                best_memo_compatible_candidate(search, memo, chosen)
            }
            _ => Ok(chosen),
        }
    }

    fn question_from_candidate(
        &self,
        epsilon: f64,
        candidate: &Candidate,
    ) -> Result<Question, Error> {
        let (kind, items) = self.complete_kind(epsilon)?;
        Question::new(QuestionFields {
            name: self.name.clone(),
            kind,
            items,
            max_entries_per_report: candidate.sparsity,
            weight: self.sampling_weight.unwrap_or(1),
            epsilon,
            mechanism: candidate.mechanism.clone(),
        })
    }

    /// Returns the stated mechanism, or the one that the kind requires.
    fn mechanism_draft(&self, epsilon: f64) -> Result<MechanismDraft, Error> {
        match &self.kind {
            // For these kinds, an unset mechanism (by default Collision) means the kind's best
            // mechanism.
            KindDraft::Number(number) if self.is_mechanism_unstated() => {
                Ok(number.mechanism_draft())
            }
            KindDraft::Cross(cross) if self.is_mechanism_unstated() => {
                cross.mechanism_draft(epsilon)
            }
            KindDraft::Numbers(..) if self.is_mechanism_unstated() => {
                Ok(MechanismDraft::Window(window::ParametersDraft::default()))
            }
            KindDraft::Ratings(..) => Ok(self.mechanism.clone()),
            _ if self.is_mechanism_unstated() => Ok(MechanismDraft::default()),
            _ => Ok(self.mechanism.clone()),
        }
    }

    /// Returns whether neither the mechanism nor any of its parameters is stated.
    fn is_mechanism_unstated(&self) -> bool {
        matches!(self.mechanism, MechanismDraft::Auto(_))
            || self.mechanism == MechanismDraft::default()
    }

    /// Returns the population for which the question is planned. `people` is the number of people
    /// that the task states, if any.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::InvalidCombination`] if the stated population is impossible, or
    /// if neither `entries` nor a sparsity is stated.
    pub fn population(&self, people: Option<u64>) -> Result<Population, Error> {
        let people = people.map(|people| people as f64);
        if let Some(people) = people {
            bounds::PEOPLE_COUNT_RANGE.check_in_range(people)?;
        }
        if let Some(overlap) = self.mean_item_overlap {
            bounds::MEAN_ITEM_OVERLAP_RANGE.check_in_range(overlap)?;
        }
        match (&self.people_count_by_entry_count, self.sparsity) {
            (Some(entries), _) => {
                let mut population = Population::from_people_by_entry_count(entries)?;
                population.mean_shared_item_count = self.mean_item_overlap;
                let count = match &self.kind {
                    KindDraft::Ratings(items, _) | KindDraft::Set(items) => items.item_count(),
                    KindDraft::Choice(_)
                    | KindDraft::Flag
                    | KindDraft::Number(_)
                    | KindDraft::Cross(_)
                    | KindDraft::Text(_) => Some(1),
                    KindDraft::Numbers(..) | KindDraft::Together(_) => {
                        return Err(Error::InvalidCombination {
                            reason: "\"numbers\" and \"together\" take no \"entries\": each \
                                     person answers every part",
                        });
                    }
                };
                if count.is_some_and(|items| population.max_entries() > items) {
                    return Err(Error::InvalidCombination {
                        reason: "\"entries\" lists people with more entries than a person can have",
                    });
                }
                let people = people.unwrap_or(population.people_count());
                Ok(population.with_people_count(people))
            }
            (None, _) if self.mean_item_overlap.is_some() => Err(Error::InvalidCombination {
                reason: "\"overlap\" needs \"entries\"",
            }),
            (None, Some(sparsity)) => Ok(Population::with_equal_entries(
                people.unwrap_or(DEFAULT_PEOPLE_COUNT),
                sparsity,
            )),
            (None, None) => Err(Error::InvalidCombination {
                reason: "a task needs a \"sparsity\", or \"entries\" from which it is chosen",
            }),
        }
    }

    fn prepare_search<'a>(
        &'a self,
        population: &'a Population,
        epsilon: f64,
        alpha: f64,
    ) -> Result<ParameterSearch<'a>, Error> {
        // Invalid drafts are rejected before the search, which takes time.
        let domain = self.checked_stated_domain(epsilon)?;
        self.mechanism.check(&domain)?;
        let objective = match &self.mechanism {
            MechanismDraft::Auto(auto) => auto.objective.objective()?,
            _ => Objective::MEAN_ONLY,
        };
        Ok(ParameterSearch {
            domain,
            sparsity: self.sparsity,
            budget: PrivacyBudget {
                epsilon,
                max_alpha: alpha,
            },
            population,
            // Items without signs have frequencies and no separate means.
            objective: if domain.is_rated() {
                objective
            } else {
                Objective::FREQUENCY_ONLY
            },
            together_parts: match &self.kind {
                KindDraft::Together(together) => together.parts(),
                _ => &[],
            },
        })
    }

    fn add_question_to_error(&self, error: Error) -> Error {
        error.with_question_if_named(&self.name)
    }

    /// Checks that a question in use agrees with everything that this draft states. Unset
    /// parameters may have any value.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub(crate) fn check_agrees_with(
        &self,
        question: &Question,
        people: Option<u64>,
    ) -> Result<(), Error> {
        let agrees = || {
            check_equal("name", &self.name.as_str(), &question.name())?;
            match (&self.kind, question.kind()) {
                (KindDraft::Number(number), QuestionKind::Number(scale)) => {
                    number.check_agrees_with(scale)?;
                }
                (KindDraft::Numbers(_, own), QuestionKind::Numbers(used))
                    if own.is_single() && used.is_single() =>
                {
                    own[0].check_equals_limits(&used[0])?;
                }
                // Both are called "number" in files: one is for a mean, the other has bins.
                (KindDraft::Numbers(_, own), QuestionKind::Number(_)) if own.is_single() => {
                    check_equal("for its mean", &true, &false)?;
                }
                (KindDraft::Number(_), QuestionKind::Numbers(used)) if used.is_single() => {
                    check_equal("for its mean", &false, &true)?;
                }
                (KindDraft::Cross(draft), QuestionKind::CrossTabulation(cross)) => {
                    draft.check_agrees_with(cross)?;
                }
                _ => {
                    let (kind, items) = self.complete_kind(question.epsilon())?;
                    check_equal("kind", &kind.name(), &question.kind().name())?;
                    check_equal("items", &&items, &question.items())?;
                    match kind {
                        QuestionKind::Numbers(_) | QuestionKind::JointChoices(_) => {
                            check_equal("of", &&kind, &question.kind())?;
                        }
                        QuestionKind::Text(_) => check_equal("prefixes", &&kind, &question.kind())?,
                        _ => {}
                    }
                    check_equal(
                        "value",
                        &kind.coded_value_kind(),
                        &question.coded_value_kind(),
                    )?;
                }
            }
            check_equal_if_stated(
                "sparsity",
                &self.sparsity,
                question.max_entries_per_report(),
            )?;
            check_equal_if_stated("weight", &self.sampling_weight, question.weight())?;
            self.population(people)?;
            let asked = match &self.kind {
                KindDraft::Number(_) | KindDraft::Numbers(..) => {
                    &self.mechanism_draft(question.epsilon())?
                }
                _ => &self.mechanism,
            };
            asked.check_agrees_with(question.mechanism())
        };
        agrees().map_err(|error| self.add_question_to_error(error))
    }
}
