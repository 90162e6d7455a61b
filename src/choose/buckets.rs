//! Drafts of the mechanisms that draw one bucket.

use serde::Deserialize;

use super::budget::Limit;
use super::contract::Choose;
use super::differs::same_if_said;
use super::objective::Goal;
use super::predict::Predict;
use super::search::{Candidate, Search};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::contract::Parameters;
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::mechanism::{BucketReport, NamedRule, Rule, Subset, most_hashes};
use crate::sample::ExpLowerBound;

/// A mechanism of buckets with parameters left open.
///
/// ```
/// use hushbin::choose::collision::Draft;
///
/// let draft: Draft = serde_json::from_str(r#"{ "rule": "heaviest", "buckets": 16 }"#).unwrap();
/// assert_eq!((draft.buckets, draft.favoured), (Some(16), None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketsDraft<RuleName> {
    /// By default `heaviest` or `strongest`.
    pub rule: Option<RuleName>,
    /// c of those rules.
    pub favoured: Option<u32>,
    /// By default balanced in closed domains, independent in open ones; of one answer with windows
    /// where nothing else is said.
    pub hashing: Option<Hashing>,
    /// t.
    pub buckets: Option<u32>,
    /// R. Where it is left open it is 1 if c is not.
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
    /// What is asked for, or else the hashing that suits the domain best.
    pub(super) fn hashing_over(&self, domain: &Domain) -> Hashing {
        Hashing::default_for(self.hashing, domain)
    }

    /// The rule, or else the one with a count.
    pub(super) fn rule_or_default<R: NamedRule<Name = Name>>(&self) -> Name {
        self.rule.unwrap_or(R::strongest(1).name())
    }

    /// Parameters that say what the draft says, with a c of 1 where it is left open;
    /// `None` where the number of buckets is.
    ///
    /// # Errors
    /// As [`Subset::new`], of what is said.
    pub(super) fn complete<R: NamedRule<Name = Name>>(
        &self,
        domain: &Domain,
    ) -> Result<Option<Subset<R>>, Error> {
        let rule = self.rule_or_default::<R>();
        if let Some(buckets) = self.buckets {
            let one = (rule != paper::<R>().name()).then_some(1);
            let rule = Subset::<R>::rule_from(rule, self.favoured.or(one))?;
            let (hashing, hashes) = (self.hashing_over(domain), self.hashes.unwrap_or(1));
            return Subset::with_hashes(rule, hashing, buckets, hashes).map(Some);
        }
        if let Some(hashes) = self.hashes {
            if hashes > 1 && rule == paper::<R>().name() {
                return Err(Error::Combination {
                    reason: R::ONE_HASH,
                });
            }
            most_hashes(domain.sparsity()).check(f64::from(hashes))?;
        }
        if let Some(favoured) = self.favoured {
            Subset::<R>::rule_from(rule, Some(favoured))?;
            let most = R::most_favoured(bounds::BUCKETS.max as u32);
            bounds::FAVOURED
                .at_most(f64::from(most))
                .check(f64::from(favoured))?;
        }
        Ok(None)
    }

    /// The check that a task in use has what is said.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(super) fn agrees_with<R: NamedRule<Name = Name>>(
        &self,
        in_use: &Subset<R>,
    ) -> Result<(), Error> {
        same_if_said("rule", &self.rule, in_use.rule_name())?;
        same_if_said("favoured", &self.favoured, in_use.favoured())?;
        same_if_said("hashing", &self.hashing, in_use.hashing())?;
        same_if_said("buckets", &self.buckets, in_use.buckets())?;
        same_if_said("hashes", &self.hashes, in_use.hashes())
    }
}

/// Returns the paper's rule.
pub(super) fn paper<R: Rule>() -> R {
    R::paper().expect("builds that choose are complete")
}

/// A variance with the parameters it is of.
pub(super) type Rated<R> = (f64, Subset<R>);

/// A rule whose parameters can be chosen.
pub(super) trait ChooseBuckets: NamedRule {
    /// What the other rule favours the strongest of.
    const STRENGTH: Strength;

    /// The total variance of what is estimated under that rule with c = `favoured`, whatever the
    /// subset's, from the sums over the c strongest; infinite where nothing tells. It is that of
    /// the mechanism's own estimates, unless the goal is of others too.
    fn variance(
        subset: &Subset<Self>,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
        goal: &Goal<'_>,
    ) -> f64;

    /// The same under the paper's rule.
    fn paper_variance(subset: &Subset<Self>, domain: &Domain, epsilon: f64, goal: &Goal<'_>)
    -> f64;

    /// Returns the best with windows that agree with a draft, or the `other` where it is as good and less
    /// work; the other where there are none.
    fn windows(
        _domain: &Domain,
        _limit: &Limit,
        _draft: &BucketsDraft<Self::Name>,
        _goal: &Goal<'_>,
        other: Option<Rated<Self>>,
    ) -> Option<Rated<Self>> {
        other
    }

    /// The best parameters where nothing is said.
    ///
    /// # Errors
    /// As [`Choose::best`].
    fn offer(search: &Search<'_>) -> Result<Candidate, Error>
    where
        Subset<Self>: Predict + Parameters<Report = BucketReport>,
    {
        Subset::<Self>::best(search, &BucketsDraft::default())
    }
}
