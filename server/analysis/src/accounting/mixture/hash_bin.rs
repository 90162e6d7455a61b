//! Mixture of reports of hash-bin, for accounting.

use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel};

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for HashBin {
    fn report_mixture(&self, _: u32, epsilon: f64) -> Result<ReportMixture, AccountingError> {
        match self.privacy_level() {
            PrivacyLevel::User { .. } => Ok(ReportMixture::for_any_randomizer(epsilon)?),
            PrivacyLevel::Event | PrivacyLevel::Neighbouring { .. } => {
                Err(AccountingError::NotAtUserLevel)
            }
        }
    }
}
