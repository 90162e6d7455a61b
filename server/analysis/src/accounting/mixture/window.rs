//! Mixture parameter α of the window.

use hushbin::Error;
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Window {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::window(self, epsilon)?)
    }

    /// Returns true if a cell favours only itself, and three inputs become different cells for
    /// every draw of attributes.
    ///
    /// With three levels, these inputs have all attributes at one level each. With two levels they
    /// are a corner, its opposite, and a third. The third differs from the first in m − 1
    /// attributes and from the other in d − m + 1 < m.
    fn attains_reduction(&self, domain: &Domain) -> bool {
        // d − m + 1 < m
        let corners = domain.items().is_some_and(|d| d + 2 <= 2 * self.drawn());
        self.favoured() == 1 && (self.levels() > 2 || corners)
    }
}

impl Mixture {
    /// Returns the mixture of the window.
    ///
    /// Given the attributes that its seed draws, a report favours kᵐ of tᵐ cells. A report of any
    /// other input is drawn from a mixture of such reports.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn window(window: &Window, epsilon: f64) -> Result<Self, Error> {
        let favoured = window.favoured_cells();
        let others = window.cells() - favoured;
        Self::weighted(epsilon, f64::from(favoured), f64::from(others))
    }
}
