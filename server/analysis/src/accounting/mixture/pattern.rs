//! α of the pattern.

use hushbin::mechanism::pattern::Pattern;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Pattern {
    /// A cell favours c of L outputs, whichever they are. Those of two cells may overlap, and
    /// a batch then hides more than is said.
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        let favoured = self.favoured().len() as f64;
        let others = f64::from(self.outputs()) - favoured;
        Ok(Mixture::weighted(epsilon, favoured, others)?)
    }
}
