//! Exact search for the most informative set of inputs, for inputs with one entry.

use super::information::Information;
use crate::numeric::roots::{bisect, integer_midpoint};

/// Search over sets of inputs with one entry (s = 1).
///
/// A set of such inputs contains k₁ items with one sign and k₂ items with both signs. For a fixed
/// number k₁ + 2k₂ of inputs, the weighted information is linear in k₁. So in the best set, k₁ is
/// as large as possible, or as small as possible (0 or 1). This leaves four families of sets. In
/// each, the square root of the information is a concave function divided by an increasing affine
/// one. So it increases up to its maximum and then decreases.
pub(super) struct OneEntrySearch {
    items: u32,
    /// e − 1, where e = exp(ε).
    exp_m1_epsilon: f64,
}

/// Family of sets with a parameter k: the largest k, and a function from k to the number k₁ of
/// items with one sign and the number k₂ of items with both signs.
type ParameterisedSetFamily<'a> = (u32, &'a dyn Fn(u32) -> [u32; 2]);

impl OneEntrySearch {
    pub(super) const fn new(items: u32, excess: f64) -> Self {
        Self {
            items,
            exp_m1_epsilon: excess,
        }
    }

    fn set_information(&self, [one_sign, both]: [u32; 2]) -> Information {
        let [d, k1, k2] = [self.items, one_sign, both].map(f64::from);
        let inputs = k1 + 2.0 * k2;
        let scale = (self.exp_m1_epsilon / (2.0 * d + self.exp_m1_epsilon * inputs)).powi(2);
        Information {
            sign_information: scale * k1,
            presence_information: scale * (k1 + 4.0 * k2 - inputs * inputs / d),
        }
    }

    pub(super) fn max_information(&self, weights: [f64; 2]) -> Information {
        let d = self.items;
        let families: [ParameterisedSetFamily; 4] = [
            (d, &|k| [k, 0]),
            (d, &|k| [0, k]),
            (d - 1, &|k| [1, k]),
            (d, &|k| [d - k, k]),
        ];
        let best = families.map(|(last, set)| {
            let told = |k: u64| self.set_information(set(k as u32));
            // Each family has a single maximum, which is at the first k after which the information
            // decreases.
            let falls = |k: u64| {
                k == u64::from(last)
                    || told(k + 1).weighted_component_sum(weights)
                        <= told(k).weighted_component_sum(weights)
            };
            let peak = if falls(0) {
                0
            } else {
                bisect(u64::from(last), 0, integer_midpoint, falls).0
            };
            told(peak)
        });
        best.into_iter()
            .fold(Information::ZERO, |a, b| a.max_by_weight(b, weights))
    }
}
