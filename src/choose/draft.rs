//! A task file as people write it: what is left out is chosen.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

use super::budget::Budget;
use super::differs::{same, same_if_said};
use super::objective::Objective;
use super::population::{PEOPLE, Population};
use super::search::{Candidate, Search};
use super::{MechanismDraft, offers};
use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::task::{Items, Task, TaskParts, check_question};

/// A [`Task`] whose mechanism may lack parameters, or be missing altogether, and
/// whose sparsity may be left to hushbin.
///
/// ```
/// use hushbin::TaskDraft;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "settings",
///     "items": ["dark-mode", "autoplay", "captions"],
///     "sparsity": 2,
///     "epsilon": 2.0,
///     "value": "sign"
/// }"#).unwrap();
/// let task = draft.resolve().unwrap();
/// assert!(draft.agrees_with(&task).is_ok());
///
/// // Of 10,000 people 6,000 have one entry and 1,000 have three.
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "ratings",
///     "items": 1000,
///     "entries": [2000, 6000, 1000, 1000],
///     "epsilon": 1.0,
///     "value": "real",
///     "mechanism": "auto"
/// }"#).unwrap();
/// let task = draft.resolve().unwrap();
/// assert_eq!((task.mechanism().name(), task.sparsity()), ("hash-bin", 2));
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskDraft {
    /// As in [`TaskParts`].
    pub id: String,
    /// As in [`TaskParts`].
    pub items: Items,
    /// As in [`TaskParts`]; may be missing where `entries` are given, to be
    /// chosen by them.
    #[serde(default)]
    pub sparsity: Option<u32>,
    /// How many people have 0, 1, 2, … entries, as far as that is known: by it
    /// the bias of leaving entries out is weighed against the noise.
    #[serde(default)]
    pub entries: Option<Vec<u64>>,
    /// How many people will report, about; by default as many as `entries`
    /// count, or else [`PEOPLE`].
    #[serde(default)]
    pub people: Option<u64>,
    /// As in [`TaskParts`].
    pub epsilon: f64,
    /// As in [`TaskParts`].
    pub value: ValueKind,
    /// A mechanism's name, or its name with any of its parameters.
    #[serde(default)]
    pub mechanism: MechanismDraft,
}

/// What a draft comes to, beside what it could have come to.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let choice = draft.choose().unwrap();
/// assert_eq!(choice.task.mechanism(), &choice.picked.mechanism);
/// assert!(choice.others.is_sorted_by(|a, b| a.error <= b.error));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The complete task.
    pub task: Task,
    /// The task's mechanism and sparsity.
    pub picked: Candidate,
    /// Every other mechanism at its best that protects as much, by increasing
    /// error.
    pub others: Vec<Candidate>,
    /// How many people the errors are predicted for.
    pub people: f64,
}

impl TaskDraft {
    /// Checks all that is said, without choosing the rest: whatever it accepts
    /// may still prove impossible together.
    ///
    /// # Errors
    /// As [`Task::new`].
    pub fn validate(&self) -> Result<(), Error> {
        self.population()?;
        self.mechanism.check(&self.check_said()?)
    }

    /// The domain, with a sparsity of 1 where it is left open.
    fn check_said(&self) -> Result<Domain, Error> {
        let sparsity = self.sparsity.unwrap_or(1);
        check_question(&self.id, &self.items, sparsity, self.epsilon)
    }

    /// Chooses what is left open, by predicted variance, and validates.
    ///
    /// The choice is made of integers and of floating point without
    /// platform-dependent functions: the same everywhere for one release. A
    /// later release may choose better, so what runs is the [`Task`], and a
    /// draft is held against it by [`TaskDraft::agrees_with`].
    ///
    /// # Errors
    /// As [`Task::new`].
    pub fn resolve(&self) -> Result<Task, Error> {
        let population = self.population()?;
        let search = self.search(&population, f64::INFINITY)?;
        self.task_with(&self.mechanism.best(&search)?)
    }

    /// What [`TaskDraft::resolve`] comes to, and what else there is.
    ///
    /// # Errors
    /// As [`Task::new`].
    pub fn choose(&self) -> Result<Choice, Error> {
        let choice = self.choose_hiding(f64::INFINITY)?;
        Ok(choice.expect("without a limit every mechanism may be taken"))
    }

    /// The same, of mechanisms and parameters whose [α](super::alpha)
    /// is at most `alpha`; `None` where there are none. At level `event` only
    /// those are among them that protect whole inputs.
    ///
    /// # Errors
    /// As [`Task::new`], and [`Error::Combination`] when the mechanism that is
    /// asked for cannot keep to it.
    pub fn choose_hiding(&self, alpha: f64) -> Result<Option<Choice>, Error> {
        let population = self.population()?;
        let search = self.search(&population, alpha)?;
        let (picked, mut others) = match &self.mechanism {
            MechanismDraft::Auto(auto) => {
                let mut all = offers(&search, auto.level.name())?;
                if all.is_empty() {
                    return Ok(None);
                }
                (all.remove(0), all)
            }
            asked => {
                let picked = asked.best(&search)?;
                // What is asked for may protect single entries only.
                let others = offers(&search, picked.mechanism.level())?;
                (picked, others)
            }
        };
        others.retain(|other| {
            (&other.mechanism, other.sparsity) != (&picked.mechanism, picked.sparsity)
        });
        Ok(Some(Choice {
            task: self.task_with(&picked)?,
            picked,
            others,
            people: population.people(),
        }))
    }

    fn task_with(&self, candidate: &Candidate) -> Result<Task, Error> {
        Task::new(TaskParts {
            id: self.id.clone(),
            items: self.items.clone(),
            sparsity: candidate.sparsity,
            epsilon: self.epsilon,
            value: self.value,
            mechanism: candidate.mechanism.clone(),
        })
    }

    /// The people planned for.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] and [`Error::Combination`] where what is said of them
    /// is not possible, or nothing is.
    pub fn population(&self) -> Result<Population, Error> {
        let people = self.people.map(|people| people as f64);
        if let Some(people) = people {
            bounds::PEOPLE.check(people)?;
        }
        match (&self.entries, self.sparsity) {
            (Some(entries), _) => {
                let population = Population::from_counts(entries)?;
                if self
                    .items
                    .count()
                    .is_some_and(|items| population.most_entries() > items)
                {
                    return Err(Error::Combination {
                        reason: "\"entries\" counts people with more entries than there are items",
                    });
                }
                Ok(match people {
                    Some(people) => population.with_people(people),
                    None => population,
                })
            }
            (None, Some(sparsity)) => Ok(Population::even(people.unwrap_or(PEOPLE), sparsity)),
            (None, None) => Err(Error::Combination {
                reason: "a task needs a \"sparsity\", or \"entries\" to choose it by",
            }),
        }
    }

    fn search<'a>(&self, population: &'a Population, alpha: f64) -> Result<Search<'a>, Error> {
        let objective = match &self.mechanism {
            MechanismDraft::Auto(auto) => auto.objective.objective()?,
            _ => Objective::MEAN,
        };
        // Nothing is searched for what is refused anyway.
        self.mechanism.check(&self.check_said()?)?;
        Ok(Search {
            items: self.items.count(),
            sparsity: self.sparsity,
            budget: Budget {
                epsilon: self.epsilon,
                alpha,
            },
            population,
            objective,
        })
    }

    /// Whether all that this draft says holds of `task`; what it leaves open
    /// may be anything.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub fn agrees_with(&self, task: &Task) -> Result<(), Error> {
        same("id", &self.id.as_str(), &task.id())?;
        same("items", &&self.items, &task.items())?;
        same_if_said("sparsity", self.sparsity.as_ref(), Some(&task.sparsity()))?;
        same("epsilon", &self.epsilon, &task.epsilon())?;
        same("value", &self.value, &task.value())?;
        self.mechanism.agrees_with(task.mechanism())
    }
}
