//! Mixture parameter α of CoCo.

use hushbin::Error;
use hushbin::bounds::SPARSITY;
use hushbin::domain::Domain;
use hushbin::mechanism::coco::{Coco, Rule};

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};
use super::direct::has_one_element_per_cell;

impl Accounted for Coco {
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError> {
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
    /// Returns the mixture of CoCo. Only rule `overwrite` uses the sparsity.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], or [`Error::Combination`] when rule `overwrite` has fewer than 2s + 2
    /// sides.
    pub fn coco(coco: &Coco, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        match coco.rule() {
            Rule::Strongest { favoured } => {
                let others = coco.outcomes() - favoured;
                Self::weighted(epsilon, favoured.into(), others.into())
            }
            Rule::Overwrite => {
                SPARSITY.check(f64::from(sparsity))?;
                if coco.buckets() < 2 * sparsity + 2 {
                    return Err(Error::Combination {
                        reason: "rule \"overwrite\" needs at least 2s + 2 buckets t",
                    });
                }
                // One side of each of s pairs is favoured, and its opposite side is not.
                let others = coco.buckets() - sparsity;
                Self::weighted(epsilon, sparsity.into(), others.into())
            }
        }
    }
}
