//! Accounting of the toy, as any randomizer of its ε.

use hushbin::mechanism::toy::Toy;

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for Toy {
    fn report_mixture(&self, _: u32, epsilon: f64) -> Result<ReportMixture, AccountingError> {
        Ok(ReportMixture::for_any_randomizer(epsilon)?)
    }
}
