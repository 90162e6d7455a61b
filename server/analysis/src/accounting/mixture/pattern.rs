//! Mixture of reports of a pattern, for accounting.

use hushbin::mechanism::pattern::Pattern;

use super::alpha::Mixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for Pattern {
    /// Returns the mixture for a pattern in which each bin favours c of L outputs. The mixture is
    /// the same for any sets of c outputs.
    ///
    /// The favoured sets of two bins may overlap. Then a batch is more private than its account
    /// states.
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountingError> {
        let favoured = self.favoured_outputs().len() as f64;
        let others = f64::from(self.outputs()) - favoured;
        Ok(Mixture::from_bucket_counts(epsilon, favoured, others)?)
    }
}
