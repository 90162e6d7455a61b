//! Mixture of reports of CoCo, for accounting.

use hushbin::Error;
use hushbin::bounds::SPARSITY_RANGE;
use hushbin::domain::Domain;
use hushbin::mechanism::coco::{Coco, FavouredSideRule};

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};
use super::direct_encoding::has_one_element_per_cell;

impl AccountedMechanism for Coco {
    fn report_mixture(
        &self,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<ReportMixture, AccountingError> {
        Ok(ReportMixture::for_coco(self, sparsity, epsilon)?)
    }

    fn attains_reduction(&self, domain: &Domain) -> bool {
        let as_many = match self.favouring_rule() {
            FavouredSideRule::RandomEntryDecides => true,
            FavouredSideRule::Strongest { favoured } => {
                self.hash_count() == 1 && favoured == domain.sparsity()
            }
        };
        as_many
            && has_one_element_per_cell(
                self.hash_family(),
                self.domain_element_count(domain),
                self.buckets_per_hash() / 2,
            )
    }
}

impl ReportMixture {
    /// Returns the mixture of reports of CoCo. The sparsity matters only under the rule
    /// `overwrite`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε or the sparsity s is out of range. [`Error::InvalidCombination`] if
    /// there are fewer than 2s + 2 sides under the rule `overwrite`.
    pub fn for_coco(coco: &Coco, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        match coco.favouring_rule() {
            FavouredSideRule::Strongest { favoured } => {
                let others = coco.total_buckets() - favoured;
                Self::from_bucket_counts(epsilon, favoured.into(), others.into())
            }
            FavouredSideRule::RandomEntryDecides => {
                SPARSITY_RANGE.check_in_range(f64::from(sparsity))?;
                if coco.buckets_per_hash() < 2 * sparsity + 2 {
                    return Err(Error::InvalidCombination {
                        reason: "rule \"overwrite\" needs at least 2s + 2 buckets t",
                    });
                }
                // In each of s pairs, one side is favoured and the opposite side is not.
                let others = coco.buckets_per_hash() - sparsity;
                Self::from_bucket_counts(epsilon, sparsity.into(), others.into())
            }
        }
    }
}
