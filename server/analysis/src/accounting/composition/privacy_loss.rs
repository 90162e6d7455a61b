//! Privacy loss distributions on a grid, and the distribution of sums of losses.
//!
//! A distribution is a measure p over losses ℓ = i·h, where h is the grid step, plus a mass at
//! infinite loss. For K batches that have the same measure,
//!
//! δ_K(ε) = E[max(0, 1 − exp(ε − ℓ₁ − … − ℓ_K))].
//!
//! The value δ_K increases with p and with every loss. So a measure bounds δ_K from above if it is
//! at least the true measure everywhere, or if its losses are larger. The opposite changes bound
//! δ_K from below. All terms of the sums are non-negative. So the relative error of a sum of m
//! terms is below m·2⁻⁵². This error is added to upper bounds and subtracted from lower bounds.

use super::connect_dots::{BoundSide, DeltaCurve, LossMeasure};

/// Maximum number of grid points above 0. A measure with more is moved to a coarser grid.
const POINTS: usize = 4096;

/// Measure over the privacy losses i·h, where h is `step` and i runs from −m to m. The length of
/// `mass` is 2m + 1. The mass at −ℓ is exp(−ℓ) times the mass at ℓ, because exchanging the two
/// inputs does not change the distribution.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct LossDistribution {
    side: BoundSide,
    step: f64,
    /// Mass at loss i·h, for i from −m to m.
    mass: Vec<f64>,
    /// Mass at infinite loss: the probability that the output identifies the input. In a lower
    /// bound, this mass is 0.
    infinite: f64,
}

impl LossDistribution {
    /// Creates the distribution that has these masses, and the mirrored masses below 0.
    pub(in crate::accounting) fn from_masses(masses: &LossMeasure) -> Self {
        Self::new(
            masses.side,
            masses.step,
            &masses.nonnegative,
            masses.infinite,
        )
    }

    /// Creates the distribution with the masses `half` at the losses 0, h, 2h, ..., the mirrored
    /// masses at negative losses, and the mass `infinite` at infinite loss.
    fn new(side: BoundSide, step: f64, half: &[f64], infinite: f64) -> Self {
        let mut mass: Vec<f64> = half
            .iter()
            .enumerate()
            .skip(1)
            .rev()
            .map(|(i, &mass)| {
                let loss = i as f64 * step;
                side.shift_outward(mass * (-loss).exp(), f64::EPSILON * (4.0 + loss))
            })
            .collect();
        mass.extend_from_slice(half);
        // This covers masses that underflow. Each is below 10⁻³⁰⁰.
        let infinite = match side {
            BoundSide::Above => infinite + 1e-290,
            BoundSide::Below => 0.0,
        };
        Self {
            side,
            step,
            mass,
            infinite,
        }
    }

    /// Returns the largest loss index m. Losses run from −m to m steps.
    fn largest_loss_index(&self) -> usize {
        self.mass.len() / 2
    }

    /// Returns the distribution of the sum of two batches' losses.
    ///
    /// Exchanging the inputs changes neither batch, so it does not change the sum. Therefore only
    /// losses that are not negative are computed.
    fn convolve(&self, other: &Self) -> Self {
        let reversed: Vec<f64> = other.mass.iter().rev().copied().collect();
        let (a, b) = (self.largest_loss_index(), other.largest_loss_index());
        let half: Vec<f64> = (0..=a + b)
            .map(|k| {
                // Loss i of `self` is at index a + i. Loss k − i of `other` is at index b − k + i
                // of `reversed`.
                let (from, to) = ((a + k).saturating_sub(b), (2 * a).min(a + k + b));
                let (first, start) = (&self.mass[from..=to], b + from - a - k);
                let sum = dot_product(first, &reversed[start..start + first.len()]);
                self.side
                    .shift_outward(sum, f64::EPSILON * first.len() as f64)
            })
            .collect();
        let total = |loss: &Self| loss.mass.iter().sum::<f64>() + loss.infinite;
        let infinite = self.infinite * total(other) + other.infinite * total(self);
        Self::new(self.side, self.step, &half, infinite * (1.0 + 1e-9))
    }

    /// Removes the outermost grid points in pairs, one at a negative and one at the opposite
    /// positive loss. The removed mass is at most `most`.
    fn trim_tails(&mut self, most: f64) {
        let (mut cut, mut moved) = (0, 0.0);
        while cut < self.largest_loss_index() {
            let next = moved + self.mass[cut] + self.mass[self.mass.len() - 1 - cut];
            if next > most {
                break;
            }
            (cut, moved) = (cut + 1, next);
        }
        self.mass.truncate(self.mass.len() - cut);
        self.mass.drain(..cut);
        // An upper bound counts the removed mass as infinite loss. A lower bound drops it.
        if self.side == BoundSide::Above {
            self.infinite += moved * (1.0 + 1e-9);
        }
    }

    /// Returns the distribution of the total loss of `batches` batches. Truncation may change δ by
    /// `spare`.
    pub(in crate::accounting) fn self_composed(mut self, batches: u32, spare: f64) -> Self {
        // Mass that is removed from a sum of k batches counts batches/k times in the result.
        let stages = 2.0 * f64::from(batches).log2() + 2.0;
        let spare = spare / (stages * f64::from(batches));
        self.trim_tails(spare);
        let (mut sum, mut done) = (self.clone(), 1);
        // Exponentiation by squaring: double the number of batches for each bit, and add one batch
        // if the bit is set.
        for bit in (0..batches.ilog2()).rev() {
            done *= 2;
            sum = sum.convolve(&sum);
            sum.trim_tails(spare * f64::from(done));
            if batches >> bit & 1 == 1 {
                done += 1;
                sum = sum.convolve(&self);
                sum.trim_tails(spare * f64::from(done));
            }
            while sum.largest_loss_index() > POINTS {
                sum = sum.on_coarser_grid();
                self = self.on_coarser_grid();
            }
        }
        sum
    }

    /// Returns this distribution on a grid with steps of 2h. An upper bound remains an upper bound,
    /// and a lower bound remains a lower bound.
    fn on_coarser_grid(&self) -> Self {
        let deltas = self.deltas_on_grid();
        let (lower, upper) = (0..=self.largest_loss_index().div_ceil(2))
            .map(|i| {
                let (delta, slack) = (
                    deltas.get(2 * i).unwrap_or(&self.infinite),
                    self.relative_error(),
                );
                (delta * (1.0 - slack), delta * (1.0 + slack))
            })
            .unzip();
        let curve = DeltaCurve::new(2.0 * self.step, lower, upper);
        Self::from_masses(&match self.side {
            BoundSide::Above => curve.upper_measure(),
            BoundSide::Below => curve.lower_measure(),
        })
    }

    /// Returns the relative error of [`LossDistribution::deltas_on_grid`]. Each δ is a sum of one
    /// term per grid point, and each term is rounded a few times.
    fn relative_error(&self) -> f64 {
        8.0 * f64::EPSILON * (self.largest_loss_index() + 4) as f64
    }

    /// Returns δ(ε) at ε = 0, h, ..., m·h.
    ///
    /// From ε = ℓ down to ℓ − h, δ increases by (1 − exp(−h))·E[exp(ℓ − L); L ≥ ℓ], where L is the
    /// loss.
    fn deltas_on_grid(&self) -> Vec<f64> {
        let (less, share) = ((-self.step).exp(), -(-self.step).exp_m1());
        let (mut delta, mut weight) = (self.infinite, 0.0);
        let mut deltas = vec![delta];
        for mass in self.mass[self.largest_loss_index() + 1..].iter().rev() {
            weight = mass + less * weight;
            delta += share * weight;
            deltas.push(delta);
        }
        deltas.reverse();
        deltas
    }

    /// Returns δ at `epsilon`. The result is rounded up if this measure is an upper bound, and down
    /// if it is a lower bound.
    pub(in crate::accounting) fn delta(&self, epsilon: f64) -> f64 {
        let (deltas, before) = (self.deltas_on_grid(), (epsilon / self.step) as usize);
        // Between two grid points, δ is linear in exp(ε). After the last one, only infinite loss is
        // left.
        let Some(&[from, to]) = deltas.get(before..before.saturating_add(2)) else {
            return self
                .side
                .shift_outward(self.infinite, self.relative_error());
        };
        let beyond = epsilon - before as f64 * self.step;
        let part = (beyond.exp_m1() / self.step.exp_m1()).clamp(0.0, 1.0);
        let near = from * (1.0 - part) + to * part;
        // The distance from the previous grid point has a rounding error that is relative to ε.
        let moved = (from - to) * 8.0 * f64::EPSILON * (before + 2) as f64;
        match self.side {
            BoundSide::Above => self.side.shift_outward(near + moved, self.relative_error()),
            BoundSide::Below => self
                .side
                .shift_outward((near - moved).max(0.0), self.relative_error()),
        }
    }

    /// Returns the ε at which δ(ε) is `delta`. The result is rounded up if this measure is an upper
    /// bound, and down if it is a lower bound. Returns infinity if there is no such ε.
    pub(in crate::accounting) fn epsilon(&self, delta: f64) -> f64 {
        let nearer = 4.0 * f64::EPSILON;
        let (delta, nearer) = match self.side {
            BoundSide::Above => (delta * (1.0 - self.relative_error()), nearer),
            BoundSide::Below => (delta * (1.0 + self.relative_error()), -nearer),
        };
        if self.infinite >= delta {
            return f64::INFINITY;
        }
        let deltas = self.deltas_on_grid();
        // δ decreases with ε, and is linear in exp(ε) between two grid points.
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

/// Returns the dot product Σ x·y. Eight partial sums are computed in parallel, each with fewer
/// roundings than a single sum.
fn dot_product(x: &[f64], y: &[f64]) -> f64 {
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

    /// Losses beyond the grid are counted. The example has a finite loss of 0.35 with probability
    /// 0.3, and an infinite loss with probability 1/1000.
    #[test]
    fn what_is_beyond_the_grid_counts() {
        let delta = |central: f64| 1e-3 + 0.3 * (1.0 - (central - 0.35).exp()).max(0.0);
        let at: Vec<f64> = (0..=20).map(|i| delta(f64::from(i) * 0.05)).collect();
        let curve = DeltaCurve::new(0.05, at.clone(), at);
        let [above, below] = [curve.upper_measure(), curve.lower_measure()]
            .map(|side| LossDistribution::from_masses(&side));
        assert_eq!(
            above.clone().self_composed(1, 0.0).epsilon(9.99e-4),
            f64::INFINITY
        );
        let twice = above.clone().self_composed(2, 0.0);
        assert_eq!(twice.epsilon(1.998e-3), f64::INFINITY);
        assert!(twice.epsilon(2.1e-3) < 0.7);
        // At grid points, the δ of the measure is exact.
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
