//! Mixture of reports of CoCo, for accounting.

use hushbin::Error;
use hushbin::bounds::SPARSITY;
use hushbin::domain::Domain;
use hushbin::mechanism::coco::{Coco, Rule};

use super::alpha::Mixture;
use super::contract::{AccountedMechanism, AccountingError};
use super::direct_encoding::has_one_element_per_cell;

impl AccountedMechanism for Coco {
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountingError> {
        Ok(Mixture::coco(self, sparsity, epsilon)?)
    }

    fn attains_reduction(&self, domain: &Domain) -> bool {
        let as_many = match self.rule() {
            Rule::Overwrite => true,
            Rule::Strongest { favoured } => self.hashes() == 1 && favoured == domain.sparsity(),
        };
        as_many
            && has_one_element_per_cell(self.hashing(), self.elements(domain), self.buckets() / 2)
    }
}

impl Mixture {
    /// Returns the mixture of reports of CoCo. The sparsity matters only under the rule
    /// `overwrite`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε or the sparsity s is out of range. [`Error::Combination`] if
    /// there are fewer than 2s + 2 sides under the rule `overwrite`.
    pub fn coco(coco: &Coco, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        match coco.rule() {
            Rule::Strongest { favoured } => {
                let others = coco.total_buckets() - favoured;
                Self::from_bucket_counts(epsilon, favoured.into(), others.into())
            }
            Rule::Overwrite => {
                SPARSITY.check(f64::from(sparsity))?;
                if coco.buckets() < 2 * sparsity + 2 {
                    return Err(Error::Combination {
                        reason: "rule \"overwrite\" needs at least 2s + 2 buckets t",
                    });
                }
                // In each of s pairs, one side is favoured and the opposite side is not.
                let others = coco.buckets() - sparsity;
                Self::from_bucket_counts(epsilon, sparsity.into(), others.into())
            }
        }
    }
}
