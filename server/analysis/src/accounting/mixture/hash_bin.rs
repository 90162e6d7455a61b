//! Mixture of reports of hash-bin, for accounting.

use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel};

use super::alpha::Mixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for HashBin {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountingError> {
        match self.privacy_level() {
            PrivacyLevel::User { .. } => Ok(Mixture::for_any_randomizer(epsilon)?),
            PrivacyLevel::Event | PrivacyLevel::Neighbouring { .. } => {
                Err(AccountingError::Neighbours)
            }
        }
    }
}
