//! Mixture of reports of Collision, for accounting.

use hushbin::Error;
use hushbin::bounds::SPARSITY_RANGE;
use hushbin::domain::Domain;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};
use super::direct_encoding::has_one_element_per_cell;

impl AccountedMechanism for Collision {
    fn report_mixture(
        &self,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<ReportMixture, AccountingError> {
        Ok(ReportMixture::for_collision(self, sparsity, epsilon)?)
    }

    fn attains_reduction(&self, domain: &Domain) -> bool {
        let as_many = match self.favouring_rule() {
            FavouredBucketRule::Occupied => true,
            FavouredBucketRule::Heaviest { favoured } => {
                self.hash_count() == 1 && favoured == domain.sparsity()
            }
        };
        as_many
            && has_one_element_per_cell(
                self.hash_family(),
                domain.element_count(),
                self.buckets_per_hash(),
            )
    }
}

impl ReportMixture {
    /// Returns the mixture of reports of Collision. The sparsity matters only under the rule
    /// `occupied`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε or the sparsity is out of range. [`Error::InvalidCombination`] if there
    /// are at most `sparsity` buckets under the rule `occupied`.
    pub fn for_collision(
        collision: &Collision,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let t = collision.total_buckets();
        match collision.favouring_rule() {
            FavouredBucketRule::Heaviest { favoured } => Ok(Self {
                elements_hash_independently: collision.hash_family() == HashFamily::Independent,
                ..Self::from_bucket_counts(epsilon, favoured.into(), (t - favoured).into())?
            }),
            FavouredBucketRule::Occupied => {
                SPARSITY_RANGE.check_in_range(f64::from(sparsity))?;
                if t <= sparsity {
                    return Err(Error::InvalidCombination {
                        reason: "rule \"occupied\" needs more buckets t than the sparsity s",
                    });
                }
                let of_s =
                    Self::from_bucket_counts(epsilon, sparsity.into(), (t - sparsity).into())?;
                // Each number of occupied buckets has its own sampling threshold, which is rounded.
                // This changes the total variation α(e − 1) between two inputs by up to 2⁻⁶³.
                let slack = 0.5_f64.powi(63) / epsilon.exp_m1();
                Ok(Self {
                    alpha: (of_s.alpha + slack).min(1.0 / (epsilon.exp() + 1.0)),
                    uninformative_probability: (of_s.uninformative_probability
                        - slack * (epsilon.exp() + 1.0))
                        .max(0.0),
                    ..of_s
                })
            }
        }
    }
}
