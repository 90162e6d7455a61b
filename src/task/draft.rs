//! A task file as people write it: what is left out is chosen.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Items, Task, TaskParts, ValueKind, check_question};
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::Mechanism;
use crate::mechanism::coco::{self, Coco};
use crate::mechanism::collision::{self, Collision};

/// A [`Task`] whose mechanism may lack parameters, or be missing altogether.
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
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskDraft {
    /// As in [`TaskParts`].
    pub id: String,
    /// As in [`TaskParts`].
    pub items: Items,
    /// As in [`TaskParts`].
    pub sparsity: u32,
    /// As in [`TaskParts`].
    pub epsilon: f64,
    /// As in [`TaskParts`].
    pub value: ValueKind,
    /// A mechanism's name, or its name with any of its parameters.
    #[serde(default)]
    pub mechanism: MechanismDraft,
}

/// A mechanism with parameters left open.
///
/// In a task file: a name such as `"collision"`, or an object with the name and
/// some of the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MechanismDraft {
    /// [`Collision`].
    Collision(CollisionDraft),
    /// [`Coco`].
    Coco(CocoDraft),
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
        }

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
                    _ => Err(E::unknown_variant(name, &["collision", "coco"])),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MechanismDraft, A::Error> {
                match Parameters::deserialize(MapAccessDeserializer::new(map))? {
                    Parameters::Collision(draft) => Ok(MechanismDraft::Collision(draft)),
                    Parameters::Coco(draft) => Ok(MechanismDraft::Coco(draft)),
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
        let domain = check_question(&self.id, &self.items, self.sparsity, self.epsilon)?;
        let mechanism = match &self.mechanism {
            MechanismDraft::Collision(draft) => Mechanism::Collision(Collision::choose(
                &domain,
                self.epsilon,
                draft.rule.unwrap_or(collision::RuleName::Heaviest),
                draft.favoured,
                draft.hashing(&domain),
                draft.buckets,
            )?),
            MechanismDraft::Coco(draft) => Mechanism::Coco(Coco::choose(
                &domain,
                self.epsilon,
                draft.rule.unwrap_or(coco::RuleName::Strongest),
                draft.favoured,
                draft.hashing(&domain),
                draft.buckets,
            )?),
        };
        Task::new(TaskParts {
            id: self.id.clone(),
            items: self.items.clone(),
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            value: self.value,
            mechanism,
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
        same("sparsity", &self.sparsity, &task.sparsity())?;
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
            (MechanismDraft::Collision(_), in_use) => {
                same("mechanism", &"collision", &in_use.name())
            }
            (MechanismDraft::Coco(_), in_use) => same("mechanism", &"coco", &in_use.name()),
        }
    }
}

impl<RuleName: PartialEq + fmt::Debug> BucketsDraft<RuleName> {
    fn hashing(&self, domain: &Domain) -> Hashing {
        self.hashing.unwrap_or(match domain.items() {
            Some(_) => Hashing::Balanced,
            None => Hashing::Independent,
        })
    }

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
