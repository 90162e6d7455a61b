//! A question as people write it: what is left out is chosen.

use alloc::string::String;
use alloc::vec::Vec;

use super::budget::Budget;
use super::cross::CrossDraft;
use super::differs::{same, same_if_said};
use super::mechanism::{MechanismDraft, offers};
use super::number::NumberDraft;
use super::objective::Objective;
use super::population::{PEOPLE, Population};
use super::search::{Candidate, Search};
use super::{together, window};
use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::task::local::question::check_asked;
use crate::task::{Items, Kind, Numbers, Prefixes, Question, QuestionParts, Together};

/// A [`Question`] whose mechanism may lack parameters, or be missing altogether, and
/// whose sparsity, weight or scale may be left to hushbin.
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
/// assert_eq!(draft.resolve().unwrap().questions().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionDraft {
    /// As in [`QuestionParts`].
    pub name: String,
    /// What is asked.
    pub asked: Asked,
    /// As in [`QuestionParts`]; may be missing where `entries` are given, to be chosen by them.
    pub sparsity: Option<u32>,
    /// How many people have 0, 1, 2, … entries, as far as that is known: by it
    /// the bias of leaving entries out is weighed against the noise.
    pub entries: Option<Vec<u64>>,
    /// Number of items that two people have in common on average, beside `entries`: the sum
    /// over items of the squared share of people who have it, or of ratings the squared mean.
    /// The larger, the more bias is expected. If it is missing, a middling one is assumed.
    pub overlap: Option<f64>,
    /// As in [`QuestionParts`]; else chosen.
    pub weight: Option<u32>,
    /// A mechanism's name, or its name with any of its parameters.
    pub mechanism: MechanismDraft,
}

/// What a draft asks for.
///
/// ```
/// use hushbin::Items;
/// use hushbin::choose::Asked;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{
///     "id": "t", "epsilon": 1.0,
///     "questions": [{ "name": "theme", "kind": "choice", "options": 3 }]
/// }"#).unwrap();
/// assert_eq!(draft.questions[0].asked, Asked::Choice(Items::Count(3)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Ratings of items.
    Ratings(Items, ValueKind),
    /// Which of these are there.
    Set(Items),
    /// Exactly one of these.
    Choice(Items),
    /// No or yes.
    Flag,
    /// A number, whose scale may be left open.
    Number(NumberDraft),
    /// Several numbers, with their names.
    Numbers(Items, Numbers),
    /// A row and a column at once.
    Cross(CrossDraft),
    /// A text, of which prefixes are asked for.
    Text(Prefixes),
    /// An option of each of these parts, all at once.
    Together(Together),
}

/// What a draft comes to, beside what it could have come to.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let choice = draft.choose().unwrap().remove(0);
/// assert_eq!(choice.question.mechanism(), &choice.picked.mechanism);
/// assert!(choice.others.is_sorted_by(|a, b| a.error <= b.error));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The complete question.
    pub question: Question,
    /// The question's mechanism and sparsity.
    pub picked: Candidate,
    /// Every other mechanism at its best that protects as much, by increasing error.
    pub others: Vec<Candidate>,
    /// How many people the errors are predicted for.
    pub people: f64,
}

impl QuestionDraft {
    /// Checks all that is said, without choosing the rest: whatever it accepts
    /// may still prove impossible together.
    ///
    /// # Errors
    /// As [`Question::new`].
    pub fn validate(&self, epsilon: f64, people: Option<u64>) -> Result<(), Error> {
        let check = || {
            self.population(people)?;
            self.mechanism.check(&self.check_said(epsilon)?)
        };
        check().map_err(|error| self.blame(error))
    }

    /// The domain, with a sparsity of 1 where it is left open.
    fn check_said(&self, epsilon: f64) -> Result<Domain, Error> {
        let (kind, items) = self.kind(epsilon)?;
        let sparsity = self.sparsity.unwrap_or(1);
        if let Some(weight) = self.weight {
            bounds::WEIGHT.check(f64::from(weight))?;
        }
        check_asked(&kind, &items, sparsity, epsilon)
    }

    /// What is asked at local ε, with its items.
    fn kind(&self, epsilon: f64) -> Result<(Kind, Items), Error> {
        let (kind, items) = match &self.asked {
            Asked::Ratings(items, value) => (Kind::Ratings(*value), Some(items)),
            Asked::Set(items) => (Kind::Set, Some(items)),
            Asked::Choice(items) => (Kind::Choice, Some(items)),
            Asked::Flag => (Kind::Flag, None),
            Asked::Number(number) => (Kind::Number(number.scale()?), None),
            Asked::Numbers(items, numbers) => (Kind::Numbers(numbers.clone()), Some(items)),
            Asked::Cross(cross) => (Kind::Cross(cross.cross(epsilon)?), None),
            Asked::Text(prefixes) => (Kind::Text(prefixes.clone()), None),
            Asked::Together(together) => (Kind::Together(together.clone()), None),
        };
        let items = kind.own_items().or_else(|| items.cloned());
        Ok((
            kind,
            items.expect("a kind without items of its own lists them"),
        ))
    }

    /// Chooses what is left open, by predicted variance, and validates; of what is not
    /// said of its weight, 1.
    ///
    /// The choice is made of integers and of floating point without
    /// platform-dependent functions: the same everywhere for one release. A
    /// later release may choose better, so what runs is the [`Question`], and a task in use is
    /// held against its draft by [`TaskDraft::agrees_with`](super::TaskDraft::agrees_with).
    ///
    /// # Errors
    /// As [`Question::new`].
    pub fn resolve(&self, epsilon: f64, people: Option<u64>) -> Result<Question, Error> {
        let resolve = || {
            let population = self.population(people)?;
            let search = self.search(&population, epsilon, f64::INFINITY)?;
            let best = self.mechanism_draft(epsilon)?.best(&search)?;
            self.question_with(epsilon, &best)
        };
        resolve().map_err(|error| self.blame(error))
    }

    /// What [`QuestionDraft::resolve`] comes to, and what else there is, of mechanisms
    /// and parameters whose [α](super::alpha) is at most `alpha`; `None` where there are
    /// none. At level `event` only those are among them that protect whole inputs.
    ///
    /// # Errors
    /// As [`Question::new`], and [`Error::Combination`] when the mechanism that is
    /// asked for cannot keep to it.
    pub fn choose_hiding(
        &self,
        epsilon: f64,
        people: Option<u64>,
        alpha: f64,
    ) -> Result<Option<Choice>, Error> {
        let choose = || self.choose_any(epsilon, people, alpha);
        choose().map_err(|error| self.blame(error))
    }

    fn choose_any(
        &self,
        epsilon: f64,
        people: Option<u64>,
        alpha: f64,
    ) -> Result<Option<Choice>, Error> {
        let population = self.population(people)?;
        let search = self.search(&population, epsilon, alpha)?;
        let asked = self.mechanism_draft(epsilon)?;
        let (mut picked, mut others) = match &asked {
            MechanismDraft::Auto(auto) => {
                let mut all = offers(&search, auto.level.name())?;
                if all.is_empty() {
                    return Ok(None);
                }
                (all.remove(0), all)
            }
            _ => {
                let picked = asked.best(&search)?;
                // What is asked for may protect single entries only. What is there or
                // not is for one mechanism, and so are numbers.
                let others = if search.domain.is_rated() && !search.domain.is_dense() {
                    offers(&search, picked.mechanism.level())?
                } else {
                    Vec::new()
                };
                (picked, others)
            }
        };
        if let Asked::Together(together) = &self.asked {
            together::predict(together, epsilon, population.people(), &mut picked);
        }
        others.retain(|other| {
            (&other.mechanism, other.sparsity) != (&picked.mechanism, picked.sparsity)
        });
        Ok(Some(Choice {
            question: self.question_with(epsilon, &picked)?,
            picked,
            others,
            people: population.people(),
        }))
    }

    fn question_with(&self, epsilon: f64, candidate: &Candidate) -> Result<Question, Error> {
        let (kind, items) = self.kind(epsilon)?;
        Question::new(QuestionParts {
            name: self.name.clone(),
            kind,
            items,
            sparsity: candidate.sparsity,
            weight: self.weight.unwrap_or(1),
            epsilon,
            mechanism: candidate.mechanism.clone(),
        })
    }

    /// The mechanism as it is asked for, or as the kind needs it.
    fn mechanism_draft(&self, epsilon: f64) -> Result<MechanismDraft, Error> {
        match &self.asked {
            Asked::Number(number) if self.is_open() => Ok(number.mechanism()),
            Asked::Cross(cross) if self.is_open() => cross.mechanism(epsilon),
            Asked::Numbers(..) if self.is_open() => {
                Ok(MechanismDraft::Window(window::Draft::default()))
            }
            Asked::Ratings(..) => Ok(self.mechanism.clone()),
            _ if self.is_open() => Ok(MechanismDraft::default()),
            _ => Ok(self.mechanism.clone()),
        }
    }

    /// Whether no parameter of the mechanism is said, nor which it is.
    fn is_open(&self) -> bool {
        matches!(self.mechanism, MechanismDraft::Auto(_))
            || self.mechanism == MechanismDraft::default()
    }

    /// The people planned for, where a task says how many.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Combination`] where what is said of them
    /// is not possible, or nothing is.
    pub fn population(&self, people: Option<u64>) -> Result<Population, Error> {
        let people = people.map(|people| people as f64);
        if let Some(people) = people {
            bounds::PEOPLE.check(people)?;
        }
        if let Some(overlap) = self.overlap {
            bounds::OVERLAP.check(overlap)?;
        }
        match (&self.entries, self.sparsity) {
            (Some(entries), _) => {
                let mut population = Population::from_counts(entries)?;
                population.overlap = self.overlap;
                let count = match &self.asked {
                    Asked::Ratings(items, _) | Asked::Set(items) => items.count(),
                    Asked::Choice(_)
                    | Asked::Flag
                    | Asked::Number(_)
                    | Asked::Cross(_)
                    | Asked::Text(_) => Some(1),
                    Asked::Numbers(..) | Asked::Together(_) => {
                        return Err(Error::Combination {
                            reason: "everybody has all \"numbers\", and all that is asked \"together\": \
                                     there are no \"entries\" to count",
                        });
                    }
                };
                if count.is_some_and(|items| population.most_entries() > items) {
                    return Err(Error::Combination {
                        reason: "\"entries\" counts people with more entries than there are items",
                    });
                }
                let people = people.unwrap_or(population.people());
                Ok(population.with_people(people))
            }
            (None, _) if self.overlap.is_some() => Err(Error::Combination {
                reason: "\"overlap\" goes with \"entries\"",
            }),
            (None, Some(sparsity)) => Ok(Population::even(people.unwrap_or(PEOPLE), sparsity)),
            (None, None) => Err(Error::Combination {
                reason: "a task needs a \"sparsity\", or \"entries\" to choose it by",
            }),
        }
    }

    fn search<'a>(
        &'a self,
        population: &'a Population,
        epsilon: f64,
        alpha: f64,
    ) -> Result<Search<'a>, Error> {
        // Nothing is searched for what is refused anyway.
        let domain = self.check_said(epsilon)?;
        self.mechanism.check(&domain)?;
        let objective = match &self.mechanism {
            MechanismDraft::Auto(auto) => auto.objective.objective()?,
            _ => Objective::MEAN,
        };
        Ok(Search {
            domain,
            sparsity: self.sparsity,
            budget: Budget { epsilon, alpha },
            population,
            // What is there or not has no mean beside its frequency.
            objective: if domain.is_rated() {
                objective
            } else {
                Objective::FREQUENCY
            },
            parts: match &self.asked {
                Asked::Together(together) => together.parts(),
                _ => &[],
            },
        })
    }

    fn blame(&self, error: Error) -> Error {
        error.of_question(&self.name)
    }

    /// Whether all that this draft says, for so many people, holds of a question in use;
    /// what it leaves open may be anything.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(crate) fn agrees_with(
        &self,
        question: &Question,
        people: Option<u64>,
    ) -> Result<(), Error> {
        let agrees = || {
            same("name", &self.name.as_str(), &question.name())?;
            match (&self.asked, question.kind()) {
                (Asked::Number(number), Kind::Number(scale)) => number.agrees_with(scale)?,
                (Asked::Numbers(_, own), Kind::Numbers(used))
                    if own.is_alone() && used.is_alone() =>
                {
                    own[0].agrees_with(&used[0])?;
                }
                (Asked::Numbers(_, own), Kind::Number(_)) if own.is_alone() => {
                    same("for its mean", &true, &false)?;
                }
                (Asked::Number(_), Kind::Numbers(used)) if used.is_alone() => {
                    same("for its mean", &false, &true)?;
                }
                (Asked::Cross(draft), Kind::Cross(cross)) => draft.agrees_with(cross)?,
                _ => {
                    let (kind, items) = self.kind(question.epsilon())?;
                    same("kind", &kind.name(), &question.kind().name())?;
                    same("items", &&items, &question.items())?;
                    match kind {
                        Kind::Numbers(_) | Kind::Together(_) => {
                            same("of", &&kind, &question.kind())?;
                        }
                        Kind::Text(_) => same("prefixes", &&kind, &question.kind())?,
                        _ => {}
                    }
                    same("value", &kind.value(), &question.value())?;
                }
            }
            same_if_said("sparsity", &self.sparsity, question.sparsity())?;
            same_if_said("weight", &self.weight, question.weight())?;
            self.population(people)?;
            let asked = match &self.asked {
                Asked::Number(_) | Asked::Numbers(..) => {
                    &self.mechanism_draft(question.epsilon())?
                }
                _ => &self.mechanism,
            };
            asked.agrees_with(question.mechanism())
        };
        agrees().map_err(|error| self.blame(error))
    }
}
