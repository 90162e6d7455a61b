//! α of the sampled cube.

use hushbin::Error;
use hushbin::domain::Domain;
use hushbin::mechanism::cube::Cube;

use super::alpha::Mixture;
use super::contract::{AccountError, Accounted};

impl Accounted for Cube {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::cube(self, epsilon)?)
    }

    /// Where a corner favours itself alone, and there are three of which no k attributes
    /// are the same: one, its opposite, and one that differs from the first in k − 1 and
    /// from the other in d − k + 1 < k.
    fn attains_reduction(&self, domain: &Domain) -> bool {
        let alone = self.agreements() == self.drawn();
        alone && domain.items().is_some_and(|d| d + 2 <= 2 * self.drawn())
    }
}

impl Mixture {
    /// The mixture of the sampled cube: given the attributes that its seed draws, a
    /// report of a corner favours N₊ of 2ᵏ, and of any other input it is drawn from a
    /// mixture of such reports.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn cube(cube: &Cube, epsilon: f64) -> Result<Self, Error> {
        Self::weighted(epsilon, cube.favoured() as f64, cube.others() as f64)
    }
}
