//! Accounting of the toy, as any randomizer of its ε.

use hushbin::mechanism::toy::Toy;

use super::alpha::Mixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for Toy {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountingError> {
        Ok(Mixture::for_any_randomizer(epsilon)?)
    }
}
