//! Mechanisms whose parameters may be unset.

use alloc::vec::Vec;
use core::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::contract::ChooseParameters;
use super::draft_agreement::check_equal;
use super::objective::AutoDraft;
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::{self, Mechanism};

macro_rules! define_mechanism_draft {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        /// Mechanism whose parameters may be unset, to be chosen later.
        ///
        /// In a task file, the mechanism is a name such as `"collision"`, or an object with the
        /// name and some of the parameters.
        ///
        /// ```
        /// use hushbin::choose::MechanismDraft;
        ///
        /// let auto: MechanismDraft = serde_json::from_str(r#""auto""#).unwrap();
        /// assert!(matches!(auto, MechanismDraft::Auto(_)));
        /// let some = r#"{ "name": "coco", "buckets": 16 }"#;
        /// let coco: MechanismDraft = serde_json::from_str(some).unwrap();
        /// assert!(matches!(coco, MechanismDraft::Coco(draft) if draft.buckets == Some(16)));
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum MechanismDraft {
            $(
                #[doc = concat!("See [`", stringify!($module), "`](super::", stringify!($module), ").")]
                $Name(super::$module::ParametersDraft),
            )+
            /// Mechanism that hushbin chooses, by minimum predicted error.
            Auto(AutoDraft),
        }

        /// Object form of the draft in a task file.
        #[derive(Deserialize)]
        #[serde(remote = "MechanismDraft", tag = "name", rename_all = "kebab-case")]
        enum Named {
            $($Name(super::$module::ParametersDraft),)+
            Auto(AutoDraft),
        }

        impl MechanismDraft {
            /// Checks the stated parameters, without choosing the unset ones.
            ///
            /// # Errors
            /// The errors of the stated parameters.
            pub(super) fn check(&self, domain: &Domain) -> Result<(), Error> {
                match self {
                    $(Self::$Name(draft) => mechanism::$module::$Name::check_draft(draft, domain),)+
                    Self::Auto(auto) => auto.objective.objective().map(|_| ()),
                }
            }

            /// Returns the mechanism whose unset parameters are chosen for minimum predicted error.
            ///
            /// # Errors
            /// The errors of the mechanism's `best`.
            pub(super) fn best_candidate(&self, search: &ParameterSearch<'_>) -> Result<Candidate, Error> {
                match self {
                    $(Self::$Name(draft) => mechanism::$module::$Name::best_candidate(search, draft),)+
                    // Only a search without a limit on α gets here, so there is at least one
                    // candidate.
                    Self::Auto(auto) => Ok(all_candidates(search, auto.level.name())?.swap_remove(0)),
                }
            }

            /// Checks that a mechanism in use agrees with the draft.
            ///
            /// # Errors
            /// [`Error::TaskDiffers`] with the first difference.
            pub(super) fn check_agrees_with(&self, in_use: &Mechanism) -> Result<(), Error> {
                match (self, in_use) {
                    $((Self::$Name(draft), Mechanism::$Name(own)) => own.check_agrees_with(draft),)+
                    (Self::Auto(auto), in_use) => auto.check_protection_level(in_use),
                    $((Self::$Name(_), in_use) => {
                        let asked = <mechanism::$module::$Name as MechanismParameters>::NAME;
                        check_equal("mechanism", &asked, &in_use.name())
                    })+
                }
            }
        }

        /// Returns every mechanism that protects at least as much as `level`, with its best
        /// parameters, in order of increasing error.
        ///
        /// If the sparsity is unset, bias is accepted and weighed against the noise. A stated
        /// sparsity s guarantees unbiased estimates for people with at most s entries.
        ///
        /// The list is empty if no mechanism stays within the budget's limit on α.
        ///
        /// # Errors
        /// As the `candidates` function of each mechanism.
        pub(super) fn all_candidates(search: &ParameterSearch<'_>, level: PrivacyLevelName) -> Result<Vec<Candidate>, Error> {
            let mut candidates = Vec::new();
            $(candidates.extend(mechanism::$module::$Name::best_candidate_per_variant(search, level)?);)+
            // The sort is stable: among equal errors, the first mechanism in the registry wins.
            candidates.sort_by(|a, b| a.objective_error.total_cmp(&b.objective_error));
            Ok(candidates)
        }
    };
}

crate::mechanisms!([define_mechanism_draft]);

impl Default for MechanismDraft {
    fn default() -> Self {
        Self::Collision(super::collision::ParametersDraft::default())
    }
}

impl<'de> Deserialize<'de> for MechanismDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrParametersVisitor;

        impl<'de> Visitor<'de> for NameOrParametersVisitor {
            type Value = MechanismDraft;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mechanism's name, or an object with its name and parameters")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<MechanismDraft, E> {
                Named::deserialize(MapDeserializer::new(core::iter::once(("name", name))))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MechanismDraft, A::Error> {
                Named::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_any(NameOrParametersVisitor)
    }
}
