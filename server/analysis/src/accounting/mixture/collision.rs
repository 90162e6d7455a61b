//! Mixture of reports of Collision, for accounting.

use hushbin::Error;
use hushbin::bounds::SPARSITY;
use hushbin::domain::Domain;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, Rule};

use super::alpha::Mixture;
use super::contract::{AccountedMechanism, AccountingError};
use super::direct_encoding::has_one_element_per_cell;

impl AccountedMechanism for Collision {
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountingError> {
        Ok(Mixture::collision(self, sparsity, epsilon)?)
    }

    fn attains_reduction(&self, domain: &Domain) -> bool {
        let as_many = match self.rule() {
            Rule::Occupied => true,
            Rule::Heaviest { favoured } => self.hashes() == 1 && favoured == domain.sparsity(),
        };
        as_many && has_one_element_per_cell(self.hashing(), domain.element_count(), self.buckets())
    }
}

impl Mixture {
    /// Returns the mixture of reports of Collision. The sparsity matters only under the rule
    /// `occupied`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε or the sparsity is out of range. [`Error::Combination`] if there
    /// are at most `sparsity` buckets under the rule `occupied`.
    pub fn collision(collision: &Collision, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        let t = collision.total_buckets();
        match collision.rule() {
            Rule::Heaviest { favoured } => Ok(Self {
                independent: collision.hashing() == HashFamily::Independent,
                ..Self::from_bucket_counts(epsilon, favoured.into(), (t - favoured).into())?
            }),
            Rule::Occupied => {
                SPARSITY.check(f64::from(sparsity))?;
                if t <= sparsity {
                    return Err(Error::Combination {
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
                    rest: (of_s.rest - slack * (epsilon.exp() + 1.0)).max(0.0),
                    ..of_s
                })
            }
        }
    }
}
