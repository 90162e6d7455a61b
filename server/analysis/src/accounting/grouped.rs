//! Blanket's sum where it is long: over groups of z, the number of uninformative reports.
//!
//! δ(ε_c) is the expectation of a convex function of z, so any distribution greater in convex order
//! bounds it from above. Two such replacements are made in turn:
//!
//! 1. One distribution for all T from a T₀ on. Given T, z plus an independent Binomial(T − T₀, q)
//!    is Z₀ ~ Binomial(n − T₀, q). So Z₀ − (T − T₀)q is z plus noise of mean 0, and is greater in
//!    convex order.
//! 2. A distribution on few values. The mass between two of them is moved to both, such that the
//!    mean stays.
//!
//! For each value a* is linear in T, and at least T/2, since v·q is at most 1. So the sum over T is
//! a [hockey-stick divergence](super::hockey_stick), as in the reduction.
//!
//! A relative increase of the variance increases the blanket's addition to the reduction by about
//! as much. In long batches this addition is small. For ε from 0.1 to 8, c/t from 5/7 to 1/10000, δ
//! of 10⁻⁴ and 10⁻¹⁰ and n from 3,000 to 300,000, ε_c exceeded that of the ungrouped sum by at most
//! a fraction 9.4·10⁻⁵.

use super::hockey_stick;
use super::mixture::Mixture;
use super::privacy_blanket::{
    BatchAtEpsilon, PrivacyBlanket, ROUNDINGS, UninformativeWeight, tail_bound,
};
use super::telling::InformativeReports;
use crate::numeric::binomial::probability;

/// Number of steps after which probabilities are recomputed.
const BLOCK: f64 = 1024.0;
/// Density of groups: at the mean they are cosh of this times as dense as at both ends.
const DENSER: f64 = 3.0;
/// Factor by which fewer groups suffice where T is rare.
const RARE_REDUCTION: f64 = 4.0;
/// Number of standard deviations below the mean of T where T₀ is reset. Most T lie above, so there
/// less noise is added.
const RESET_DEVIATIONS: f64 = 2.0;

/// Number of values whose sums are computed side by side.
const LANES: usize = 4;

/// Values that replace z, in two parts of the window of T.
#[derive(Debug, Clone)]
pub(super) struct Grouped([WindowPart; 2]);

/// Part of the window of T, with the rests y = v·z as functions of T, and a probability each.
#[derive(Debug, Clone)]
struct WindowPart {
    telling: InformativeReports,
    values: Vec<(UninformativeWeight, f64)>,
}

impl Grouped {
    /// Returns about `groups` groups, which leave out at most exp(−`far`) on either side.
    pub(super) fn new(
        blanket: &PrivacyBlanket,
        telling: &InformativeReports,
        far: f64,
        groups: f64,
    ) -> Self {
        let below = RESET_DEVIATIONS * (telling.mean() * telling.p[1]).sqrt();
        let middle = (telling.mean() - below).floor();
        let middle = middle.clamp(telling.first, telling.last);
        let rarely = InformativeReports {
            last: middle - 1.0,
            ..*telling
        };
        let mostly = InformativeReports {
            first: middle,
            ..*telling
        };
        Self([
            WindowPart::new(blanket, rarely, far, groups / RARE_REDUCTION),
            WindowPart::new(blanket, mostly, far, groups),
        ])
    }

    /// Returns δ(ε_c) over the window of T, rounded up.
    pub(super) fn sum(&self, mixture: &Mixture, batch: &BatchAtEpsilon, far: f64) -> f64 {
        let sum: f64 = self.0.iter().map(|part| part.sum(mixture, batch)).sum();
        sum * (1.0 + ROUNDINGS) + tail_bound(batch, far)
    }
}

impl WindowPart {
    fn new(blanket: &PrivacyBlanket, telling: InformativeReports, far: f64, groups: f64) -> Self {
        let (first, q) = (telling.first, blanket.q);
        let trials = telling.n - first;
        let ends = ends(trials * q[0], blanket.window(trials, far), groups);
        let mut probabilities = vec![0.0; ends.len()];
        for (group, end) in ends.windows(2).enumerate() {
            let [stays, moves] = split([end[0], end[1]], trials, q);
            probabilities[group] += stays;
            probabilities[group + 1] += moves;
        }
        let rest = |z: f64| UninformativeWeight {
            intercept: blanket.weight * (z + first * q[0]),
            fall: blanket.weight * q[0],
        };
        Self {
            telling,
            values: ends.into_iter().map(rest).zip(probabilities).collect(),
        }
    }

    fn sum(&self, mixture: &Mixture, batch: &BatchAtEpsilon) -> f64 {
        let several = self.values.chunks(LANES).map(|values| {
            // Surplus lanes repeat the last value. These results are not used.
            let at = |lane| values[values.len().min(lane + 1) - 1].0;
            let rests: [UninformativeWeight; LANES] = std::array::from_fn(at);
            let found = hockey_stick::sums(mixture, &self.telling, batch, &rests);
            let bounds = found.iter().zip(values).map(|(found, (_, probability))| {
                probability * (found.delta + found.error).max(0.0)
            });
            bounds.sum::<f64>()
        });
        several.sum()
    }
}

/// Returns the ends of groups: whole numbers from one below the range of z to its upper end.
///
/// They are denser near the `mean`, by a hyperbolic sine.
fn ends(mean: f64, [low, high]: [f64; 2], groups: f64) -> Vec<f64> {
    let half = (0.5 * groups).ceil();
    let sides = [(mean - low).max(0.0), (high - mean).max(0.0)];
    let at = |step: f64| {
        let part = (DENSER * step / half).sinh() / DENSER.sinh();
        let away = part * sides[usize::from(step > 0.0)];
        (mean + away).round().clamp(low, high)
    };
    let mut ends: Vec<f64> = (0..=2 * half as i64).map(|i| at(i as f64 - half)).collect();
    // A group excludes its lower end, so the first one starts at `low` − 1.
    ends.insert(0, low - 1.0);
    ends.dedup();
    ends
}

/// Splits P(low < z ≤ high), z ~ Binomial(`trials`, q), between both ends in proportion to
/// nearness.
fn split([low, high]: [f64; 2], trials: f64, q: [f64; 2]) -> [f64; 2] {
    let odds = q[0] / q[1].max(1e-300);
    let (mut stays, mut moves, mut z) = (0.0, 0.0, low + 1.0);
    while z <= high {
        // Recomputed now and then, so that rounding errors cannot accumulate.
        let mut weight = probability(z, trials, q);
        let end = high.min(z + BLOCK - 1.0);
        while z <= end {
            let part = (z - low) / (high - low);
            stays += weight * (1.0 - part);
            moves += weight * part;
            weight *= (trials - z) / (z + 1.0) * odds;
            z += 1.0;
        }
    }
    [stays, moves]
}
