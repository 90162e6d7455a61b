//! Rates, estimates and moments that both variants of PCKV share.

use crate::competitors::ratings::heard::Linear;
use crate::competitors::ratings::oracle::{Moments, Presence};

/// Response probabilities of the realised thresholds.
///
/// ```
/// use hushbin_study::competitors::ratings::{PckvUe, Setting};
///
/// let setting = Setting { items: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let rates = PckvUe::new(&setting)?.rates();
/// let e = 1.0_f64.exp();
/// assert_eq!(rates.a, 0.5);
/// assert!((rates.b - 2.0 / (e + 3.0)).abs() < 1e-14);
/// assert!((rates.p - e / (e + 1.0)).abs() < 1e-14);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PckvRates {
    /// Probability a that the drawn item is reported, with either sign.
    pub a: f64,
    /// Probability b that any other item is reported, with a fair sign.
    pub b: f64,
    /// Probability p that a reported drawn item has its own sign.
    pub p: f64,
    /// Difference 2p − 1, computed from the threshold without cancellation.
    pub lean: f64,
}

impl PckvRates {
    /// Returns the probabilities of + and − for an item that is one of s entries, with value 1.
    #[must_use]
    pub fn member(&self, sparsity: u32) -> [f64; 2] {
        let drawn = 1.0 / f64::from(sparsity);
        let [own, other] = [1.0 + self.lean, 1.0 - self.lean].map(|twice| self.a * twice / 2.0);
        [own, other].map(|told| drawn * told + (1.0 - drawn) * self.b / 2.0)
    }

    /// Returns the coefficients: F is s·(\[reported\] − b)/(a − b), and M is s times the sign over
    /// a(2p − 1).
    pub(super) fn linear(&self, sparsity: u32) -> Linear {
        let s = f64::from(sparsity);
        Linear {
            mean: s / (self.a * self.lean),
            presence: Some([s / (self.a - self.b), self.b]),
        }
    }

    /// Returns the second moments of one report's estimates.
    pub(super) fn moments(&self, sparsity: u32) -> Moments {
        let s = f64::from(sparsity);
        let (f, m) = (s / (self.a - self.b), s / (self.a * self.lean));
        let [plus, minus] = self.member(sparsity);
        let square = |told: f64| {
            let missing = 1.0 - told;
            f * f * (told * (1.0 - self.b).powi(2) + missing * self.b.powi(2))
        };
        let told = plus + minus;
        Moments {
            mean_square: [m * m * told, m * m * self.b],
            presence: Some(Presence {
                variance: [square(told) - 1.0, square(self.b)],
                product: f * m * (1.0 - self.b) * (plus - minus),
            }),
        }
    }
}
