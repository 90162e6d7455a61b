//! Mixture of reports of a pattern, for accounting.

use hushbin::mechanism::pattern::Pattern;

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for Pattern {
    /// Returns the mixture for a pattern in which each bin favours c of L outputs. The mixture is
    /// the same for any sets of c outputs.
    ///
    /// The favoured sets of two bins may overlap. Then a batch is more private than its account
    /// states.
    fn report_mixture(&self, _: u32, epsilon: f64) -> Result<ReportMixture, AccountingError> {
        let favoured = self.favoured_outputs().len() as f64;
        let others = f64::from(self.output_count()) - favoured;
        Ok(ReportMixture::from_bucket_counts(
            epsilon, favoured, others,
        )?)
    }
}
