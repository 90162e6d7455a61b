//! Accounting of the toy, as any randomizer of its ε.

use hushbin::mechanism::toy::Toy;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Toy {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::generic(epsilon)?)
    }
}
