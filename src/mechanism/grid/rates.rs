//! What levels are worth: scale and variance of the estimates.

use super::parameters::Grid;
use crate::domain::Domain;

/// Scale and variance of the estimates that a report's levels give, of the threshold that
/// is really sampled.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::grid::Grid;
///
/// // One of four attributes, on three levels at odds of e.
/// let rates = Grid::new(1, 2).unwrap().rates(&Domain::dense(4), 1.0);
/// let e = 1.0_f64.exp();
/// assert!((rates.kept - (e - 1.0) / (e + 2.0)).abs() < 1e-12);
/// assert_eq!((rates.share, rates.uniform_square()), (0.25, 2.0 / 3.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// k/d, the part of reports that is about an attribute.
    pub share: f64,
    /// 1 − γ: what a level is on average of a value of 1, given that it is drawn.
    pub kept: f64,
    /// r.
    pub steps: u32,
}

impl Grid {
    /// The rates over `domain` at local budget ε.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let (k, d) = (self.drawn(), domain.items().unwrap_or(self.drawn()));
        let [own, other] = self.thresholds(epsilon).levels();
        Rates {
            share: f64::from(k) / f64::from(d),
            kept: own - other,
            steps: self.steps(),
        }
    }
}

impl Rates {
    /// (d/k)/(1 − γ), what a level's value is multiplied by.
    #[must_use]
    pub fn scale(&self) -> f64 {
        1.0 / (self.share * self.kept)
    }

    /// (r + 2)/(3r), the mean square of a uniform level.
    #[must_use]
    pub fn uniform_square(&self) -> f64 {
        f64::from(self.steps + 2) / f64::from(3 * self.steps)
    }

    /// x² + ρ(x), the mean square of the level that a value becomes: linear between levels,
    /// where it is their square.
    #[must_use]
    pub fn rounded_square(&self, value: f64) -> f64 {
        let r = f64::from(self.steps);
        let place = 0.5 * r * (value + 1.0);
        let part = place - libm::floor(place);
        value * value + 4.0 / (r * r) * part * (1.0 - part)
    }

    /// The mean square of one report's estimate, of people the mean square of whose levels
    /// is this before they are drawn from.
    #[must_use]
    pub fn mean_square(&self, levels: f64) -> f64 {
        let kept = self.kept * levels + (1.0 - self.kept) * self.uniform_square();
        self.scale() / self.kept * kept
    }

    /// The variance of one report's estimate, of a person with this value.
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        self.mean_square(self.rounded_square(value)) - value * value
    }

    /// The greatest variance of one report's estimate over all values.
    ///
    /// Between two levels whose middle is m it has the slope 2·scale·m − 2x: it is greatest
    /// where that is 0, or at the level above.
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        let half = 1.0 / f64::from(self.steps);
        let beyond = |below: u32| {
            let middle = f64::from(2 * below + 1) * half - 1.0;
            self.variance((self.scale() * middle).clamp(middle - half, middle + half))
        };
        // The rest is its mirror image.
        (self.steps / 2..self.steps).map(beyond).fold(0.0, f64::max)
    }
}
