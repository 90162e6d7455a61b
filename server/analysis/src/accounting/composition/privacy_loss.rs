//! Privacy loss distributions on a grid, and sums of losses.
//!
//! A distribution is a measure p over losses ℓ = i·h, and a mass at infinity. For K batches with
//! the same measure,
//!
//! δ_K(ε) = E[max(0, 1 − exp(ε − ℓ₁ − … − ℓ_K))].
//!
//! This grows with p, and with every loss. So a measure bounds δ_K from above if it is at least the
//! true measure everywhere, or if its losses are larger. The opposite changes bound δ_K from below.
//! All terms of the sums are non-negative. The relative error of a sum of m terms is below m·2⁻⁵²,
//! and is added or subtracted.

use super::connect_dots::{Curve, LossMeasure, Side};

/// Maximum number of grid points above 0. Larger measures are moved to a coarser grid.
const POINTS: usize = 4096;

/// Measure over losses from −m·h to m·h. The mass at −ℓ is exp(−ℓ) times that at ℓ: the pair of
/// distributions is its own mirror image.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct LossDistribution {
    side: Side,
    step: f64,
    /// Mass at loss i·h, for i from −m to m.
    mass: Vec<f64>,
    /// Mass at infinity: the output identifies the input. 0 in a lower bound.
    infinite: f64,
}

impl LossDistribution {
    /// Returns the distribution with these masses and the mirrored masses below 0.
    pub(in crate::accounting) fn from_masses(masses: &LossMeasure) -> Self {
        Self::new(
            masses.side,
            masses.step,
            &masses.nonnegative,
            masses.infinite,
        )
    }

    /// Returns the distribution with masses `half` at 0, h, 2h, ...
    fn new(side: Side, step: f64, half: &[f64], infinite: f64) -> Self {
        let mut mass: Vec<f64> = half
            .iter()
            .enumerate()
            .skip(1)
            .rev()
            .map(|(i, &mass)| {
                let loss = i as f64 * step;
                side.push(mass * (-loss).exp(), f64::EPSILON * (4.0 + loss))
            })
            .collect();
        mass.extend_from_slice(half);
        // Each underflowing mass is below 10⁻³⁰⁰.
        let infinite = match side {
            Side::Above => infinite + 1e-290,
            Side::Below => 0.0,
        };
        Self {
            side,
            step,
            mass,
            infinite,
        }
    }

    /// Returns the largest loss index m. Losses run from −m to m steps.
    fn largest_index(&self) -> usize {
        self.mass.len() / 2
    }

    /// Returns the distribution of the sum of two batches' losses.
    ///
    /// Both are mirror images of themselves, and so is the sum. Only losses from 0 on are computed.
    fn add(&self, other: &Self) -> Self {
        let reversed: Vec<f64> = other.mass.iter().rev().copied().collect();
        let (a, b) = (self.largest_index(), other.largest_index());
        let half: Vec<f64> = (0..=a + b)
            .map(|k| {
                // Loss i of `self` is at index a + i. Loss k − i of `other` is at index b − k + i
                // of `reversed`.
                let (from, to) = ((a + k).saturating_sub(b), (2 * a).min(a + k + b));
                let (first, start) = (&self.mass[from..=to], b + from - a - k);
                let sum = dot(first, &reversed[start..start + first.len()]);
                self.side.push(sum, f64::EPSILON * first.len() as f64)
            })
            .collect();
        let total = |loss: &Self| loss.mass.iter().sum::<f64>() + loss.infinite;
        let infinite = self.infinite * total(other) + other.infinite * total(self);
        Self::new(self.side, self.step, &half, infinite * (1.0 + 1e-9))
    }

    /// Removes the masses at both ends, as long as no more than `most` is removed in total.
    fn trim(&mut self, most: f64) {
        let (mut cut, mut moved) = (0, 0.0);
        while cut < self.largest_index() {
            let next = moved + self.mass[cut] + self.mass[self.mass.len() - 1 - cut];
            if next > most {
                break;
            }
            (cut, moved) = (cut + 1, next);
        }
        self.mass.truncate(self.mass.len() - cut);
        self.mass.drain(..cut);
        // An upper bound counts removed masses as infinite losses, a lower bound drops them.
        if self.side == Side::Above {
            self.infinite += moved * (1.0 + 1e-9);
        }
    }

    /// Returns the distribution of the sum of `batches` batches' losses. Truncation may cost
    /// `spare` of δ.
    pub(in crate::accounting) fn self_composed(mut self, batches: u32, spare: f64) -> Self {
        // A mass cut off a sum of k batches counts batches/k times.
        let stages = 2.0 * f64::from(batches).log2() + 2.0;
        let spare = spare / (stages * f64::from(batches));
        self.trim(spare);
        let (mut sum, mut done) = (self.clone(), 1);
        // Binary exponentiation: square for each bit, and add one batch if the bit is set.
        for bit in (0..batches.ilog2()).rev() {
            done *= 2;
            sum = sum.add(&sum);
            sum.trim(spare * f64::from(done));
            if batches >> bit & 1 == 1 {
                done += 1;
                sum = sum.add(&self);
                sum.trim(spare * f64::from(done));
            }
            while sum.largest_index() > POINTS {
                sum = sum.coarser();
                self = self.coarser();
            }
        }
        sum
    }

    /// Returns the distribution on a grid of steps of 2h.
    fn coarser(&self) -> Self {
        let deltas = self.deltas();
        let (lower, upper) = (0..=self.largest_index().div_ceil(2))
            .map(|i| {
                let (delta, slack) = (deltas.get(2 * i).unwrap_or(&self.infinite), self.slack());
                (delta * (1.0 - slack), delta * (1.0 + slack))
            })
            .unzip();
        let curve = Curve::new(2.0 * self.step, lower, upper);
        Self::from_masses(&match self.side {
            Side::Above => curve.above(),
            Side::Below => curve.below(),
        })
    }

    /// Returns the relative error of [`Loss::deltas`]: one term for each grid point, each rounded a
    /// few times.
    fn slack(&self) -> f64 {
        8.0 * f64::EPSILON * (self.largest_index() + 4) as f64
    }

    /// Returns δ at 0, h, ..., m·h.
    ///
    /// From ℓ down to ℓ − h it rises by (1 − exp(−h))·E[exp(ℓ − L); L ≥ ℓ], with L the loss.
    fn deltas(&self) -> Vec<f64> {
        let (less, share) = ((-self.step).exp(), -(-self.step).exp_m1());
        let (mut delta, mut weight) = (self.infinite, 0.0);
        let mut deltas = vec![delta];
        for mass in self.mass[self.largest_index() + 1..].iter().rev() {
            weight = mass + less * weight;
            delta += share * weight;
            deltas.push(delta);
        }
        deltas.reverse();
        deltas
    }

    /// Returns δ(`epsilon`), rounded to this measure's side.
    pub(in crate::accounting) fn delta(&self, epsilon: f64) -> f64 {
        let (deltas, before) = (self.deltas(), (epsilon / self.step) as usize);
        // Between two points δ is linear in exp(ε). After the last only the infinite loss is left.
        let Some(&[from, to]) = deltas.get(before..before.saturating_add(2)) else {
            return self.side.push(self.infinite, self.slack());
        };
        let beyond = epsilon - before as f64 * self.step;
        let part = (beyond.exp_m1() / self.step.exp_m1()).clamp(0.0, 1.0);
        let near = from * (1.0 - part) + to * part;
        // The distance from the last point is rounded relative to ε.
        let moved = (from - to) * 8.0 * f64::EPSILON * (before + 2) as f64;
        match self.side {
            Side::Above => self.side.push(near + moved, self.slack()),
            Side::Below => self.side.push((near - moved).max(0.0), self.slack()),
        }
    }

    /// Returns the ε where δ(ε) = `delta`, rounded to this measure's side; infinite if there is
    /// none.
    pub(in crate::accounting) fn epsilon(&self, delta: f64) -> f64 {
        let nearer = 4.0 * f64::EPSILON;
        let (delta, nearer) = match self.side {
            Side::Above => (delta * (1.0 - self.slack()), nearer),
            Side::Below => (delta * (1.0 + self.slack()), -nearer),
        };
        if self.infinite >= delta {
            return f64::INFINITY;
        }
        let deltas = self.deltas();
        // δ falls, and is linear in exp(ε) between two points.
        let after = deltas.partition_point(|&at| at > delta);
        if after == 0 {
            return 0.0;
        }
        let part = (delta - deltas[after]) / (deltas[after - 1] - deltas[after]);
        let down = -(part * (-self.step).exp_m1()).ln_1p();
        let end = after as f64 * self.step;
        (end * (1.0 + nearer) - down * (1.0 - nearer)).max(0.0)
    }
}

/// Returns Σ x·y. Eight partial sums run side by side; each has at most as many terms as the whole.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = x.remainder().iter().zip(y.remainder()).map(|(x, y)| x * y);
    let rest: f64 = rest.sum();
    for (x, y) in x.zip(y) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pair with one finite loss of 0.35, of probability 0.3, and an infinite loss of probability
    /// 1/1000.
    #[test]
    fn what_is_beyond_the_grid_counts() {
        let delta = |central: f64| 1e-3 + 0.3 * (1.0 - (central - 0.35).exp()).max(0.0);
        let at: Vec<f64> = (0..=20).map(|i| delta(f64::from(i) * 0.05)).collect();
        let curve = Curve::new(0.05, at.clone(), at);
        let [above, below] =
            [curve.above(), curve.below()].map(|side| LossDistribution::from_masses(&side));
        assert_eq!(
            above.clone().self_composed(1, 0.0).epsilon(9.99e-4),
            f64::INFINITY
        );
        let twice = above.clone().self_composed(2, 0.0);
        assert_eq!(twice.epsilon(1.998e-3), f64::INFINITY);
        assert!(twice.epsilon(2.1e-3) < 0.7);
        // On the grid the measure is exact.
        for central in [0.0, 0.1, 0.3] {
            let least = above
                .clone()
                .self_composed(1, 0.0)
                .epsilon(delta(central) * (1.0 + 1e-9));
            assert!((least - central).abs() < 1e-8, "{central}: {least}");
            assert!(below.clone().self_composed(1, 0.0).epsilon(delta(central)) <= central);
        }
    }
}
