//! Mixture of reports of hash-bin, for accounting.

use hushbin::mechanism::hash_bin::{HashBin, Level};

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for HashBin {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        match self.level() {
            Level::User { .. } => Ok(Mixture::generic(epsilon)?),
            Level::Event | Level::Neighbouring { .. } => Err(AccountError::Neighbours),
        }
    }
}
