//! Mixture parameter α of the pattern.

use hushbin::mechanism::pattern::Pattern;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Pattern {
    /// Returns the mixture of a cell that favours c of L outputs, any c.
    ///
    /// The sets of two cells may overlap. A batch then hides more than the account states.
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        let favoured = self.favoured().len() as f64;
        let others = f64::from(self.outputs()) - favoured;
        Ok(Mixture::weighted(epsilon, favoured, others)?)
    }
}
