//! What signs are worth: scale and variance of the estimates.

use super::parameters::{Cube, at_least};
use crate::domain::Domain;

/// Scale and variance of the estimates that a report's signs give, of the threshold that
/// is really sampled.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::cube::Cube;
///
/// // One of four attributes, at odds of e.
/// let rates = Cube::new(1, 1).unwrap().rates(&Domain::dense(4), 1.0);
/// let e = 1.0_f64.exp();
/// assert!((rates.gap - (e - 1.0) / (e + 1.0)).abs() < 1e-12);
/// assert_eq!(rates.share, 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// k/d, the part of reports that is about an attribute.
    pub share: f64,
    /// 1/B: what a sign is on average of a value of 1, given that it is drawn.
    pub gap: f64,
}

impl Cube {
    /// The rates over `domain` at local budget ε.
    ///
    /// Given that V has plus somewhere, C(k − 1, κ − 1) more favoured corners have plus
    /// there than minus, so that the sign is C(k − 1, κ − 1)·(p₊ − p₋) on average, p±
    /// being the probabilities of a favoured corner and of another.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let (k, d) = (self.drawn(), domain.items().unwrap_or(self.drawn()));
        let others = |agreements| at_least(agreements, k - 1);
        let more = others(self.agreements() - 1) - others(self.agreements());
        let [favoured, other] = self.thresholds(epsilon).levels();
        Rates {
            share: f64::from(k) / f64::from(d),
            gap: more as f64 * (favoured - other),
        }
    }
}

impl Rates {
    /// (d/k)·B, what a sign is multiplied by.
    #[must_use]
    pub fn scale(&self) -> f64 {
        1.0 / (self.share * self.gap)
    }

    /// (d/k)·B², the mean square of one report's estimate, whatever the value: its
    /// variance is this less the value's square.
    #[must_use]
    pub fn mean_square(&self) -> f64 {
        self.scale() / self.gap
    }
}
