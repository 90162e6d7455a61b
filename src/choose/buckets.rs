//! Drafts of the mechanisms that draw one bucket.

use serde::Deserialize;

use super::budget::Limit;
use super::contract::Choose;
use super::differs::same_if_said;
use super::objective::Goal;
use super::predict::Predict;
use super::printed::Source;
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
    /// Where the rest comes from.
    #[serde(default)]
    pub parameters: Source,
}

impl<RuleName> Default for BucketsDraft<RuleName> {
    fn default() -> Self {
        Self {
            rule: None,
            favoured: None,
            hashing: None,
            buckets: None,
            hashes: None,
            parameters: Source::Chosen,
        }
    }
}

impl<Name: Copy + PartialEq + core::fmt::Debug> BucketsDraft<Name> {
    /// With the rule and the hashing of the paper where these are asked for.
    ///
    /// # Errors
    /// [`Error::Combination`] for a rule that is not the paper's.
    pub(super) fn with_rule<R: NamedRule<Name = Name>>(&self) -> Result<Self, Error> {
        if self.parameters == Source::Chosen {
            return Ok(self.clone());
        }
        let rule = self.rule.unwrap_or(paper::<R>().name());
        if rule != paper::<R>().name() {
            return Err(Error::Combination {
                reason: "\"parameters\" are printed of the rules \"occupied\" and \"overwrite\"",
            });
        }
        Ok(Self {
            rule: Some(rule),
            hashing: self.hashing.or(Some(Hashing::Independent)),
            ..self.clone()
        })
    }

    /// With the paper's number of buckets too, if one is printed.
    ///
    /// # Errors
    /// As [`BucketsDraft::with_rule`]; [`Error::OutOfRange`] where it is too large.
    pub(super) fn in_numbers<R: ChooseBuckets<Name = Name>>(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let mut draft = self.with_rule::<R>()?;
        if self.parameters == Source::AsPrinted && draft.buckets.is_none() {
            let printed = R::printed_buckets(f64::from(domain.sparsity()), libm::exp(epsilon));
            if let Some(buckets) = printed {
                bounds::BUCKETS.check(buckets)?;
                draft.buckets = Some(buckets as u32);
            }
        }
        draft.parameters = Source::Chosen;
        Ok(draft)
    }

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
        same_if_said("rule", self.rule.as_ref(), Some(&in_use.rule_name()))?;
        same_if_said(
            "favoured",
            self.favoured.as_ref(),
            in_use.favoured().as_ref(),
        )?;
        same_if_said("hashing", self.hashing.as_ref(), Some(&in_use.hashing()))?;
        same_if_said("buckets", self.buckets.as_ref(), Some(&in_use.buckets()))?;
        same_if_said("hashes", self.hashes.as_ref(), Some(&in_use.hashes()))
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

    /// The total variance of what is estimated under that rule with c = `favoured`,
    /// whatever the subset's, from the sums over the c strongest; infinite where
    /// nothing tells. It is that of the mechanism's own estimates, unless the goal is of
    /// others too.
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

    /// t as the paper prints it, by s and exp(ε); `None` where it has no formula.
    fn printed_buckets(sparsity: f64, e: f64) -> Option<f64>;

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
