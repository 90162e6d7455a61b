//! A task file as people write it: what is left out is chosen.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::auto::{AutoDraft, AutoLevel};
use super::{Items, Task, TaskParts, ValueKind, check_question};
use crate::bounds;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::coco::{self, Coco};
use crate::mechanism::collision::{self, Collision};
use crate::mechanism::hash_bin::{HashBin, HashBinDraft, LevelName};
use crate::mechanism::{
    Budget, Candidate, Crowd, Mechanism, Neighbours, Objective, PEOPLE, Search,
};

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
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
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

/// A mechanism with parameters left open.
///
/// In a task file: a name such as `"collision"`, or an object with the name and
/// some of the parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MechanismDraft {
    /// [`Collision`].
    Collision(CollisionDraft),
    /// [`Coco`].
    Coco(CocoDraft),
    /// [`HashBin`].
    HashBin(HashBinDraft),
    /// Whichever has the least predicted error.
    Auto(AutoDraft),
}

impl Default for MechanismDraft {
    fn default() -> Self {
        Self::Collision(CollisionDraft::default())
    }
}

/// A mechanism of buckets with parameters left open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketsDraft<RuleName> {
    /// By default `heaviest` or `strongest`.
    pub rule: Option<RuleName>,
    /// c of those rules.
    pub favoured: Option<u32>,
    /// By default balanced in closed domains, independent in open ones.
    pub hashing: Option<Hashing>,
    /// t.
    pub buckets: Option<u32>,
}

/// [`Collision`] with parameters left open.
pub type CollisionDraft = BucketsDraft<collision::RuleName>;
/// [`Coco`] with parameters left open.
pub type CocoDraft = BucketsDraft<coco::RuleName>;

impl<RuleName> Default for BucketsDraft<RuleName> {
    fn default() -> Self {
        Self {
            rule: None,
            favoured: None,
            hashing: None,
            buckets: None,
        }
    }
}

impl<'de> Deserialize<'de> for MechanismDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        enum Parameters {
            Collision(CollisionDraft),
            Coco(CocoDraft),
            HashBin(HashBinDraft),
            Auto(AutoDraft),
        }

        const NAMES: &[&str] = &["collision", "coco", "hash-bin", "auto"];

        struct NameOrParameters;

        impl<'de> Visitor<'de> for NameOrParameters {
            type Value = MechanismDraft;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mechanism's name, or an object with its name and parameters")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<MechanismDraft, E> {
                match name {
                    "collision" => Ok(MechanismDraft::Collision(CollisionDraft::default())),
                    "coco" => Ok(MechanismDraft::Coco(CocoDraft::default())),
                    "hash-bin" => Ok(MechanismDraft::HashBin(HashBinDraft::default())),
                    "auto" => Ok(MechanismDraft::Auto(AutoDraft::default())),
                    _ => Err(E::unknown_variant(name, NAMES)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MechanismDraft, A::Error> {
                match Parameters::deserialize(MapAccessDeserializer::new(map))? {
                    Parameters::Collision(draft) => Ok(MechanismDraft::Collision(draft)),
                    Parameters::Coco(draft) => Ok(MechanismDraft::Coco(draft)),
                    Parameters::HashBin(draft) => Ok(MechanismDraft::HashBin(draft)),
                    Parameters::Auto(draft) => Ok(MechanismDraft::Auto(draft)),
                }
            }
        }

        deserializer.deserialize_any(NameOrParameters)
    }
}

impl TaskDraft {
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
        let crowd = self.crowd()?;
        self.task_of(&self.choose(&self.search(&crowd, f64::INFINITY)?)?)
    }

    /// What [`TaskDraft::resolve`] comes to, and what else there is.
    ///
    /// # Errors
    /// As [`Task::new`].
    pub fn plan(&self) -> Result<Plan, Error> {
        let plan = self.plan_hiding(f64::INFINITY)?;
        Ok(plan.expect("without a limit every mechanism may be taken"))
    }

    /// The same, of mechanisms and parameters whose [α](crate::mechanism::alpha)
    /// is at most `alpha`; `None` where there are none. At level `event` only
    /// those are among them that protect whole inputs.
    ///
    /// # Errors
    /// As [`Task::new`], and [`Error::Combination`] when the mechanism that is
    /// asked for cannot keep to it.
    pub fn plan_hiding(&self, alpha: f64) -> Result<Option<Plan>, Error> {
        let crowd = self.crowd()?;
        let search = self.search(&crowd, alpha)?;
        let (picked, mut others) = match &self.mechanism {
            MechanismDraft::Auto(auto) => {
                let mut all = search.all(auto.level.name())?;
                if all.is_empty() {
                    return Ok(None);
                }
                (all.remove(0), all)
            }
            MechanismDraft::Collision(_) | MechanismDraft::Coco(_) | MechanismDraft::HashBin(_) => {
                let picked = self.choose(&search)?;
                let level = match &picked.mechanism {
                    // What is asked for may protect single entries only.
                    Mechanism::HashBin(hash_bin) => hash_bin.level().name(),
                    Mechanism::Collision(_) | Mechanism::Coco(_) => LevelName::User,
                };
                (picked, search.all(level)?)
            }
        };
        others.retain(|other| {
            (&other.mechanism, other.sparsity) != (&picked.mechanism, picked.sparsity)
        });
        Ok(Some(Plan {
            task: self.task_of(&picked)?,
            picked,
            others,
            people: crowd.people(),
        }))
    }

    fn choose(&self, search: &Search<'_>) -> Result<Candidate, Error> {
        match &self.mechanism {
            MechanismDraft::Collision(draft) => search.best(|domain, budget| {
                let rule = draft.rule.unwrap_or(collision::RuleName::Heaviest);
                let hashing = Hashing::default_for(draft.hashing, domain);
                Collision::choose(domain, budget, rule, draft.favoured, hashing, draft.buckets)
                    .map(Mechanism::Collision)
            }),
            MechanismDraft::Coco(draft) => search.best(|domain, budget| {
                let rule = draft.rule.unwrap_or(coco::RuleName::Strongest);
                let hashing = Hashing::default_for(draft.hashing, domain);
                Coco::choose(domain, budget, rule, draft.favoured, hashing, draft.buckets)
                    .map(Mechanism::Coco)
            }),
            MechanismDraft::HashBin(draft) => search.best_hash_bin(draft),
            MechanismDraft::Auto(auto) => Ok(search.all(auto.level.name())?.swap_remove(0)),
        }
    }

    fn task_of(&self, candidate: &Candidate) -> Result<Task, Error> {
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
    pub fn crowd(&self) -> Result<Crowd, Error> {
        let people = self.people.map(|people| people as f64);
        if let Some(people) = people {
            bounds::PEOPLE.check(people)?;
        }
        match (&self.entries, self.sparsity) {
            (Some(entries), _) => {
                let crowd = Crowd::from_counts(entries)?;
                if self.items.count().is_some_and(|items| crowd.most() > items) {
                    return Err(Error::Combination {
                        reason: "\"entries\" counts people with more entries than there are items",
                    });
                }
                Ok(match people {
                    Some(people) => crowd.of(people),
                    None => crowd,
                })
            }
            (None, Some(sparsity)) => Ok(Crowd::even(people.unwrap_or(PEOPLE), sparsity)),
            (None, None) => Err(Error::Combination {
                reason: "a task needs a \"sparsity\", or \"entries\" to choose it by",
            }),
        }
    }

    fn search<'a>(&self, crowd: &'a Crowd, alpha: f64) -> Result<Search<'a>, Error> {
        let objective = match &self.mechanism {
            MechanismDraft::Auto(auto) => auto.objective.objective()?,
            MechanismDraft::Collision(_) | MechanismDraft::Coco(_) | MechanismDraft::HashBin(_) => {
                Objective::MEAN
            }
        };
        // What a search does not look at is checked before it begins.
        let sparsity = self.sparsity.unwrap_or(1);
        check_question(&self.id, &self.items, sparsity, self.epsilon)?;
        Ok(Search {
            items: self.items.count(),
            sparsity: self.sparsity,
            budget: Budget {
                epsilon: self.epsilon,
                alpha,
            },
            crowd,
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
        match (&self.mechanism, task.mechanism()) {
            (MechanismDraft::Collision(draft), Mechanism::Collision(collision)) => draft
                .agrees_with(&BucketsDraft {
                    rule: Some(collision.rule_name()),
                    favoured: collision.favoured(),
                    hashing: Some(collision.hashing()),
                    buckets: Some(collision.buckets()),
                }),
            (MechanismDraft::Coco(draft), Mechanism::Coco(coco)) => {
                draft.agrees_with(&BucketsDraft {
                    rule: Some(coco.rule_name()),
                    favoured: coco.favoured(),
                    hashing: Some(coco.hashing()),
                    buckets: Some(coco.buckets()),
                })
            }
            (MechanismDraft::HashBin(draft), Mechanism::HashBin(hash_bin)) => {
                draft.agrees_with(hash_bin)
            }
            // Whichever was picked, for an objective that tasks do not hold, if it
            // protects as much.
            (MechanismDraft::Auto(auto), in_use) => {
                let protects = match (auto.level, in_use.neighbours()) {
                    (_, Neighbours::Any) | (AutoLevel::Event, Neighbours::OneItem) => true,
                    // One value can change by 2.
                    (AutoLevel::Event, Neighbours::Within(distance)) => {
                        distance >= 2.0 && in_use.delta() == 0.0
                    }
                    (AutoLevel::User, _) => false,
                };
                match in_use {
                    Mechanism::HashBin(hash_bin) if !protects => {
                        same("level", &auto.level.name(), &hash_bin.level().name())
                    }
                    _ => Ok(()),
                }
            }
            (MechanismDraft::Collision(_), in_use) => {
                same("mechanism", &"collision", &in_use.name())
            }
            (MechanismDraft::Coco(_), in_use) => same("mechanism", &"coco", &in_use.name()),
            (MechanismDraft::HashBin(_), in_use) => same("mechanism", &"hash-bin", &in_use.name()),
        }
    }
}

impl HashBinDraft {
    fn agrees_with(&self, in_use: &HashBin) -> Result<(), Error> {
        let level = in_use.level();
        same_if_said("level", self.level.as_ref(), Some(&level.name()))?;
        same_if_said(
            "distance",
            self.distance.as_ref(),
            level.distance().as_ref(),
        )?;
        same_if_said("delta", self.delta.as_ref(), level.delta().as_ref())?;
        same_if_said("clip", self.clip.as_ref(), level.clip().as_ref())?;
        same_if_said("noise", self.noise.as_ref(), level.noise().as_ref())?;
        same_if_said("hashing", self.hashing.as_ref(), Some(&in_use.hashing()))?;
        same_if_said("bins", self.bins.as_ref(), Some(&in_use.bins()))?;
        same_if_said("grid", self.grid.as_ref(), Some(&in_use.grid()))
    }
}

impl<RuleName: PartialEq + fmt::Debug> BucketsDraft<RuleName> {
    fn agrees_with(&self, in_use: &Self) -> Result<(), Error> {
        same_if_said("rule", self.rule.as_ref(), in_use.rule.as_ref())?;
        same_if_said("favoured", self.favoured.as_ref(), in_use.favoured.as_ref())?;
        same_if_said("hashing", self.hashing.as_ref(), in_use.hashing.as_ref())?;
        same_if_said("buckets", self.buckets.as_ref(), in_use.buckets.as_ref())
    }
}

fn same<T: PartialEq + fmt::Debug>(
    field: &'static str,
    given: &T,
    in_use: &T,
) -> Result<(), Error> {
    if given == in_use {
        return Ok(());
    }
    Err(Error::TaskDiffers {
        field,
        given: format!("{given:?}"),
        in_use: format!("{in_use:?}"),
    })
}

fn same_if_said<T: PartialEq + fmt::Debug>(
    field: &'static str,
    given: Option<&T>,
    in_use: Option<&T>,
) -> Result<(), Error> {
    match (given, in_use) {
        (None, _) => Ok(()),
        (Some(given), Some(in_use)) => same(field, given, in_use),
        (Some(given), None) => Err(Error::TaskDiffers {
            field,
            given: format!("{given:?}"),
            in_use: String::from("none"),
        }),
    }
}
