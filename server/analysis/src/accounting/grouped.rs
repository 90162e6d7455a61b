//! The blanket's sum where it is long: over groups of z, how many reports tell nothing.
//!
//! δ(ε_c) is the expectation of a convex function of z, so any distribution greater in convex order
//! bounds it from above. Two do in turn. One for all T from a T₀ on: z given T, by a Binomial(T −
//! T₀, q), is less than Z₀ ~ Binomial(n − T₀, q), and so it is below Z₀ − (T − T₀)q, which adds
//! noise and keeps the mean. And one on few values: what lies between two of them is moved to both
//! such that the mean stays. For each value a* is linear in T, and at least T/2, as q/(1 − 2α)
//! weighed by v is at most 1: the sum over T is a [hockey-stick divergence](super::hockey_stick),
//! as the reduction's is.
//!
//! A variance larger by a part makes what the blanket adds to the reduction larger
//! by about as much, which in the batches that are long is little itself: with ε
//! from 0.1 to 8, c/t from 5/7 to 1/10000, δ of 10⁻⁴ and 10⁻¹⁰ and n from 3,000 to
//! 300,000, ε_c was at most 9.4·10⁻⁵ of itself above that of the whole sum.

use super::hockey_stick;
use super::mixture::Mixture;
use super::privacy_blanket::{Batch, PrivacyBlanket, ROUNDINGS, Rest, beyond};
use super::telling::Telling;
use crate::numeric::binomial::probability;

/// Steps between which probabilities are computed anew.
const BLOCK: f64 = 1024.0;
/// How much denser groups are about the mean than at both ends: cosh of this.
const DENSER: f64 = 3.0;
/// How many times fewer groups do where T rarely is.
const RARELY: f64 = 4.0;
/// By how many standard deviations T is below its mean where T₀ is set anew: from
/// there on T is mostly, and less noise is added.
const MOSTLY: f64 = 2.0;

/// Of so many values sums are taken side by side.
const LANES: usize = 4;

/// What stands for z, in two parts of the window of T.
#[derive(Debug, Clone)]
pub(super) struct Grouped([Part; 2]);

/// Of these T, rests y = v·z as functions of T, with their probabilities.
#[derive(Debug, Clone)]
struct Part {
    telling: Telling,
    values: Vec<(Rest, f64)>,
}

impl Grouped {
    /// About so many `groups`, which leave out no more than exp(−`far`) on either side.
    pub(super) fn new(blanket: &PrivacyBlanket, telling: &Telling, far: f64, groups: f64) -> Self {
        let below = MOSTLY * (telling.mean() * telling.p[1]).sqrt();
        let middle = (telling.mean() - below).floor();
        let middle = middle.clamp(telling.first, telling.last);
        let rarely = Telling {
            last: middle - 1.0,
            ..*telling
        };
        let mostly = Telling {
            first: middle,
            ..*telling
        };
        Self([
            Part::new(blanket, rarely, far, groups / RARELY),
            Part::new(blanket, mostly, far, groups),
        ])
    }

    /// δ(ε_c) over the window of T, rounded up.
    pub(super) fn sum(&self, mixture: &Mixture, batch: &Batch, far: f64) -> f64 {
        let sum: f64 = self.0.iter().map(|part| part.sum(mixture, batch)).sum();
        sum * (1.0 + ROUNDINGS) + beyond(batch, far)
    }
}

impl Part {
    fn new(blanket: &PrivacyBlanket, telling: Telling, far: f64, groups: f64) -> Self {
        let (first, q) = (telling.first, blanket.q);
        let trials = telling.n - first;
        let ends = ends(trials * q[0], blanket.reach(trials, far), groups);
        let mut probabilities = vec![0.0; ends.len()];
        for (group, end) in ends.windows(2).enumerate() {
            let [stays, moves] = split([end[0], end[1]], trials, q);
            probabilities[group] += stays;
            probabilities[group + 1] += moves;
        }
        let rest = |z: f64| Rest {
            at_none: blanket.weight * (z + first * q[0]),
            fall: blanket.weight * q[0],
        };
        Self {
            telling,
            values: ends.into_iter().map(rest).zip(probabilities).collect(),
        }
    }

    fn sum(&self, mixture: &Mixture, batch: &Batch) -> f64 {
        let several = self.values.chunks(LANES).map(|values| {
            // The last again, where there are less.
            let at = |lane| values[values.len().min(lane + 1) - 1].0;
            let rests: [Rest; LANES] = std::array::from_fn(at);
            let found = hockey_stick::sums(mixture, &self.telling, batch, &rests);
            let bounds = found.iter().zip(values).map(|(found, (_, probability))| {
                probability * (found.delta + found.error).max(0.0)
            });
            bounds.sum::<f64>()
        });
        several.sum()
    }
}

/// Where groups end, whole numbers from below `reach` to its end: the closer to the
/// `mean` the denser, by a hyperbolic sine.
fn ends(mean: f64, [low, high]: [f64; 2], groups: f64) -> Vec<f64> {
    let half = (0.5 * groups).ceil();
    let sides = [(mean - low).max(0.0), (high - mean).max(0.0)];
    let at = |step: f64| {
        let part = (DENSER * step / half).sinh() / DENSER.sinh();
        let away = part * sides[usize::from(step > 0.0)];
        (mean + away).round().clamp(low, high)
    };
    let mut ends: Vec<f64> = (0..=2 * half as i64).map(|i| at(i as f64 - half)).collect();
    // A group is of the values above its lower end.
    ends.insert(0, low - 1.0);
    ends.dedup();
    ends
}

/// P(z is above the first end and up to the last), z ~ Binomial(`trials`, q), split
/// between both ends by how near they are.
fn split([low, high]: [f64; 2], trials: f64, q: [f64; 2]) -> [f64; 2] {
    let odds = q[0] / q[1].max(1e-300);
    let (mut stays, mut moves, mut z) = (0.0, 0.0, low + 1.0);
    while z <= high {
        // Computed anew now and then, so that rounding cannot add up.
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
