//! Mixture of reports of the window mechanism, for accounting.

use hushbin::Error;
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;

use super::alpha::ReportMixture;
use super::contract::{AccountedMechanism, AccountingError};

impl AccountedMechanism for Window {
    fn report_mixture(&self, _: u32, epsilon: f64) -> Result<ReportMixture, AccountingError> {
        Ok(ReportMixture::for_window(self, epsilon)?)
    }

    /// Returns true if each cell favours only itself, and there are three inputs that become three
    /// different cells for every draw of m out of d attributes.
    ///
    /// With three or more levels, each of these inputs has all attributes at one level. With two
    /// levels, they are a corner, the opposite corner, and a third one. The third one agrees with
    /// the first corner in m − 1 attributes, and with the opposite corner in d − m + 1 < m
    /// attributes. So no draw of m attributes makes it equal to either.
    fn attains_reduction(&self, domain: &Domain) -> bool {
        // Equivalent to d − m + 1 < m.
        let corners = domain
            .item_count()
            .is_some_and(|d| d + 2 <= 2 * self.drawn_attribute_count());
        self.favoured_atom_count() == 1 && (self.level_count() > 2 || corners)
    }
}

impl ReportMixture {
    /// Returns the mixture of reports of the window mechanism.
    ///
    /// A report describes m attributes, which its seed selects. If all of their numbers are at
    /// levels, the report favours kᵐ of tᵐ cells, where k of the t levels are favoured. If numbers
    /// are between levels, the distribution of the report is a mixture of such distributions.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is out of range.
    pub fn for_window(window: &Window, epsilon: f64) -> Result<Self, Error> {
        let favoured = window.favoured_cell_count();
        let others = window.atom_combination_count() - favoured;
        Self::from_bucket_counts(epsilon, f64::from(favoured), f64::from(others))
    }
}
