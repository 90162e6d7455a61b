//! α of the grid.

use hushbin::Error;
use hushbin::domain::Domain;
use hushbin::mechanism::grid::Grid;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Grid {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::grid(self, epsilon)?)
    }

    /// Where there are three inputs that become different cells whatever attributes are
    /// drawn. With a level between the ends these are all at one of three levels; else as of
    /// the cube, for which see there.
    fn attains_reduction(&self, domain: &Domain) -> bool {
        let of_cube = domain.items().is_some_and(|d| d + 2 <= 2 * self.drawn());
        self.steps() > 1 || of_cube
    }
}

impl Mixture {
    /// The mixture of the grid: given the attributes that its seed draws, a report of a cell
    /// favours one of M, α = 1/(e + M − 1), and of any other input it is drawn from a
    /// mixture of such reports.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub(crate) fn grid(grid: &Grid, epsilon: f64) -> Result<Self, Error> {
        Self::weighted(epsilon, 1.0, f64::from(grid.cells() - 1))
    }
}
