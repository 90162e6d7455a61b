//! Inputs of one entry: the set that tells most, exactly.

use super::told::Told;
use crate::numeric::roots::{bisect, whole};

/// A domain of inputs with one entry, s = 1.
///
/// A set of such inputs has k₁ items with one of their signs and k₂ with both. At the same number
/// of inputs k₁ + 2k₂ what it tells, weighed, is linear in k₁, so that k₁ is as large as can be or
/// as small: 0 or 1. In each of the four families the square root of what is told is a concave
/// function over an increasing affine one, which rises to its greatest value and falls from there.
pub(super) struct OneEntry {
    items: u32,
    /// e − 1.
    excess: f64,
}

/// The last k of a family, and its set at k: k₁ and k₂.
type Family<'a> = (u32, &'a dyn Fn(u32) -> [u32; 2]);

impl OneEntry {
    pub(super) const fn new(items: u32, excess: f64) -> Self {
        Self { items, excess }
    }

    fn told(&self, [one_sign, both]: [u32; 2]) -> Told {
        let [d, k1, k2] = [self.items, one_sign, both].map(f64::from);
        let inputs = k1 + 2.0 * k2;
        let scale = (self.excess / (2.0 * d + self.excess * inputs)).powi(2);
        Told {
            sign: scale * k1,
            presence: scale * (k1 + 4.0 * k2 - inputs * inputs / d),
        }
    }

    pub(super) fn most(&self, weights: [f64; 2]) -> Told {
        let d = self.items;
        let families: [Family; 4] = [
            (d, &|k| [k, 0]),
            (d, &|k| [0, k]),
            (d - 1, &|k| [1, k]),
            (d, &|k| [d - k, k]),
        ];
        let best = families.map(|(last, set)| {
            let told = |k: u64| self.told(set(k as u32));
            let falls = |k: u64| {
                k == u64::from(last) || told(k + 1).weighed(weights) <= told(k).weighed(weights)
            };
            let peak = if falls(0) {
                0
            } else {
                bisect(u64::from(last), 0, whole, falls).0
            };
            told(peak)
        });
        best.into_iter()
            .fold(Told::NOTHING, |a, b| a.or(b, weights))
    }
}
