//! Drafts of the mechanisms that report one bucket.

use serde::Deserialize;

use super::budget::PreparedBudget;
use super::contract::ChooseParameters;
use super::draft_agreement::check_equal_if_stated;
use super::objective::ParameterSearchGoal;
use super::predict::PredictErrors;
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::HashFamily;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::occupancy::{StrengthMeasure, StrongestCellSums};
use crate::mechanism::{
    BucketFavouringRule, BucketReport, HashedSubsetSelection, NamedRule, hash_count_range,
};
use crate::sample::ExpLowerBound;

/// Mechanism that reports one bucket, with parameters that may be unset.
///
/// ```
/// use hushbin::choose::collision::ParametersDraft;
///
/// let draft: ParametersDraft = serde_json::from_str(r#"{ "rule": "heaviest", "buckets": 16 }"#).unwrap();
/// assert_eq!((draft.buckets, draft.favoured), (Some(16), None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketsDraft<RuleName> {
    /// Rule that selects the favoured buckets (default `heaviest` for Collision, `strongest` for
    /// CoCo).
    pub rule: Option<RuleName>,
    /// Number of favoured buckets c, for rules `heaviest` and `strongest`.
    pub favoured: Option<u32>,
    /// Family of hash functions (default balanced in closed domains, independent in open domains).
    /// If it is unset, `balanced-items` may be chosen for means. If `favoured`, `buckets` and
    /// `hashes` are unset too, `balanced-windows` may be chosen for one answer from a list.
    pub hashing: Option<HashFamily>,
    /// Number of buckets t of each hash function.
    pub buckets: Option<u32>,
    /// Number of hash functions R. If R is unset and c is stated, R is 1.
    pub hashes: Option<u32>,
}

impl<RuleName> Default for BucketsDraft<RuleName> {
    fn default() -> Self {
        Self {
            rule: None,
            favoured: None,
            hashing: None,
            buckets: None,
            hashes: None,
        }
    }
}

impl<Name: Copy + PartialEq + core::fmt::Debug> BucketsDraft<Name> {
    /// Returns the stated hash family, or the domain's default if none is stated.
    pub(super) fn hash_family_or_default(&self, domain: &Domain) -> HashFamily {
        HashFamily::requested_or_default_family(self.hashing, domain)
    }

    /// Returns the stated rule. If none is stated, returns the project's own rule, `heaviest` or
    /// `strongest`.
    pub(super) fn rule_or_default<R: NamedRule<Name = Name>>(&self) -> Name {
        self.rule.unwrap_or(R::strongest_rule(1).rule_name())
    }

    /// Returns the mechanism with the draft's parameters. An unset number of favoured buckets c
    /// becomes 1. Returns `None` if the number of buckets is unset.
    ///
    /// # Errors
    /// As [`HashedSubsetSelection::new`], for the stated parameters.
    pub(super) fn parameters_if_buckets_stated<R: NamedRule<Name = Name>>(
        &self,
        domain: &Domain,
    ) -> Result<Option<HashedSubsetSelection<R>>, Error> {
        let rule = self.rule_or_default::<R>();
        if let Some(buckets) = self.buckets {
            let one = (rule != paper_rule::<R>().rule_name()).then_some(1);
            let rule = HashedSubsetSelection::<R>::rule_from_name(rule, self.favoured.or(one))?;
            let (hashing, hashes) = (
                self.hash_family_or_default(domain),
                self.hashes.unwrap_or(1),
            );
            return HashedSubsetSelection::new_with_hash_count(rule, hashing, buckets, hashes)
                .map(Some);
        }
        if let Some(hashes) = self.hashes {
            if hashes > 1 && rule == paper_rule::<R>().rule_name() {
                return Err(Error::InvalidCombination {
                    reason: R::MULTIPLE_HASHES_REASON,
                });
            }
            hash_count_range(domain.sparsity()).check_in_range(f64::from(hashes))?;
        }
        if let Some(favoured) = self.favoured {
            HashedSubsetSelection::<R>::rule_from_name(rule, Some(favoured))?;
            let most = R::max_favoured(bounds::BUCKET_COUNT_RANGE.max as u32);
            bounds::FAVOURED_BUCKET_COUNT_RANGE
                .with_max(f64::from(most))
                .check_in_range(f64::from(favoured))?;
        }
        Ok(None)
    }

    /// Checks that the mechanism in use has the stated parameters.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(super) fn check_agrees_with<R: NamedRule<Name = Name>>(
        &self,
        in_use: &HashedSubsetSelection<R>,
    ) -> Result<(), Error> {
        check_equal_if_stated("rule", &self.rule, in_use.rule_name())?;
        check_equal_if_stated("favoured", &self.favoured, in_use.favoured_count())?;
        check_equal_if_stated("hashing", &self.hashing, in_use.hash_family())?;
        check_equal_if_stated("buckets", &self.buckets, in_use.buckets_per_hash())?;
        check_equal_if_stated("hashes", &self.hashes, in_use.hash_count())
    }
}

/// Returns the rule from the mechanism's paper: `occupied` (Collision) or `overwrite` (CoCo).
pub(super) fn paper_rule<R: BucketFavouringRule>() -> R {
    R::paper_rule().expect("builds that choose are complete")
}

/// Variance of the estimates, followed by the parameters that lead to this variance.
pub(super) type ParametersWithVariance<R> = (f64, HashedSubsetSelection<R>);

/// Rule of a mechanism that reports one bucket. The mechanism's parameters can be chosen.
pub(super) trait SearchableRule: NamedRule {
    /// Measure of a cell's strength. The project's own rule favours the strongest cells.
    const STRENGTH_MEASURE: StrengthMeasure;

    /// Returns the total variance of the goal's estimates under the project's own rule with c =
    /// `favoured`. The c in `subset` is ignored. `top` contains the expected sums over the c
    /// strongest cells. The variance is infinite if reports reveal nothing.
    ///
    /// The goal's estimates are the means for CoCo and the frequencies for Collision, unless the
    /// goal has parts or a weight for non-missing frequencies.
    fn strongest_rule_variance(
        subset: &HashedSubsetSelection<Self>,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &StrongestCellSums,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64;

    /// Returns the total variance of the goal's estimates under the rule from the mechanism's
    /// paper, see [`paper_rule`].
    fn paper_rule_variance(
        subset: &HashedSubsetSelection<Self>,
        domain: &Domain,
        epsilon: f64,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64;

    /// Returns the best parameters that a draft allows, under the hash family `balanced-windows`.
    /// `other` contains the best parameters without windows. Returns `other` if windows are
    /// impossible, or if `other` is as good and its reports take less work to decode.
    fn best_with_balanced_windows(
        _domain: &Domain,
        _limit: &PreparedBudget,
        _draft: &BucketsDraft<Self::Name>,
        _goal: &ParameterSearchGoal<'_>,
        other: Option<ParametersWithVariance<Self>>,
    ) -> Option<ParametersWithVariance<Self>> {
        other
    }

    /// Returns the best parameters for a draft that states no parameters.
    ///
    /// # Errors
    /// As [`ChooseParameters::best_candidate`].
    fn best_for_empty_draft(search: &ParameterSearch<'_>) -> Result<Candidate, Error>
    where
        HashedSubsetSelection<Self>: PredictErrors + MechanismParameters<Report = BucketReport>,
    {
        HashedSubsetSelection::<Self>::best_candidate(search, &BucketsDraft::default())
    }
}
