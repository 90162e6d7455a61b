//! k-subset selection over buckets: the common part of Collision and CoCo.
//!
//! There are R hash functions with t buckets each, so R·t buckets in all. A report is a seed and
//! one of these buckets. The seed selects the hash functions, and each hash function maps the
//! elements of an input to its own buckets. A rule favours c of all buckets. Each favoured bucket
//! is drawn with a weight of e = exp(ε), each other bucket with a weight of 1.
//!
//! A bucket is strong if it holds elements, or, in CoCo, if the net push to it is positive. If R is
//! large, the number of strong buckets hardly depends on the seed. Then the c favoured buckets are
//! exactly the strong ones, and the variance falls towards the best possible. Only the client bears
//! the cost: it computes R·s hashes for s elements.
//!
//! If each bucket holds one element, this is the k-subset mechanism with k = c (Wang et al.,
//! "Mutual Information Optimally Local Private Discrete Distribution Estimation", 2016; Ye and
//! Barg, "Optimal Schemes for Discrete Distribution Estimation Under Locally Differential
//! Privacy", 2018).

mod cell_strengths;
#[cfg(feature = "analysis")]
mod exact_probabilities;
mod favoured_set;
#[cfg(feature = "collector")]
mod for_collectors;
pub(super) mod parameters;
mod randomize;
mod report;
mod thresholds;

#[cfg(feature = "collector")]
pub use for_collectors::NamedRule;
pub use parameters::{BucketFavouringRule, HashedSubsetSelection};
pub(super) use randomize::Randomizer;
#[cfg(feature = "analysis")]
pub(super) use randomize::opposite_side;
pub use report::BucketReport;
pub use thresholds::Thresholds;
#[cfg(feature = "analysis")]
pub(super) use thresholds::compute_favoured_threshold;

use super::contract::MechanismParameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::HashFamily;

impl<R: BucketFavouringRule> MechanismParameters for HashedSubsetSelection<R> {
    const NAME: &'static str = R::MECHANISM_NAME;
    type Report = BucketReport;
    type Randomizer = Randomizer<R>;

    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error> {
        self.hash_family.check_domain(domain)?;
        if R::SIDES_PER_CELL > 1 {
            domain.check_rated_and_not_dense()?;
        }
        domain.check_is_not_dense()?;
        if self.favoured_count().is_none() && self.cells_per_hash() <= domain.sparsity() {
            return Err(error!(InvalidCombination {
                reason: R::TOO_FEW_CELLS_REASON,
            }));
        }
        parameters::hash_count_range(domain.sparsity()).check_in_range(f64::from(self.hash_count))
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        // c is at least 1, so 0 can stand for the paper's rule.
        let rule = match reader.read_u32() {
            0 => R::paper_rule()?,
            favoured => R::strongest_rule(favoured),
        };
        let number = reader.read_u64();
        // One number encodes the hash family and R − 1.
        let hashing = reader.unwrap_or_mark_malformed(HashFamily::from_canonical_code(
            number % HashFamily::FAMILY_COUNT,
        ))?;
        let hashes = u32::try_from(number / HashFamily::FAMILY_COUNT + 1).ok();
        let hashes = reader.unwrap_or_mark_malformed(hashes)?;
        // Saturated, because that many cells are out of range in any case.
        let buckets = reader.read_u32().saturating_mul(R::SIDES_PER_CELL);
        Self::new_with_hash_count(rule, hashing, buckets, hashes)
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer<R> {
        Randomizer::new(self, domain, epsilon)
    }

    fn memo_slot_and_bucket_counts(&self, domain: &Domain) -> Option<[u32; 3]> {
        // Otherwise some favoured buckets are drawn again for each report.
        let favoured = self.favoured_count()?;
        let is_fixed = favoured == self.buckets_per_element();
        let per_bucket = self.element_to_cell_hash(domain).slots_per_bucket()?;
        let is_single =
            R::SIDES_PER_CELL == 1 && self.hash_count == 1 && domain.is_choice_from_list();
        let slots = per_bucket * self.buckets_per_hash;
        (is_fixed && is_single).then_some([slots, favoured, self.buckets_per_hash])
    }
}
