//! Mixture of reports of hash-bin, for accounting.

use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel};

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for HashBin {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        match self.privacy_level() {
            PrivacyLevel::User { .. } => Ok(Mixture::generic(epsilon)?),
            PrivacyLevel::Event | PrivacyLevel::Neighbouring { .. } => {
                Err(AccountError::Neighbours)
            }
        }
    }
}
