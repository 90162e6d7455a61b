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

use super::connect_dots::{BoundSide, DeltaBoundsOnGrid, PrivacyLossMeasure};

/// Maximum number of grid points above 0. A measure with more is moved to a coarser grid.
const MAX_GRID_POINTS: usize = 4096;

/// Measure over the privacy losses i·h, where h is `step` and i runs from −m to m. The length of
/// `mass` is 2m + 1. The mass at −ℓ is exp(−ℓ) times the mass at ℓ, because exchanging the two
/// inputs does not change the distribution.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct PrivacyLossDistribution {
    bound_side: BoundSide,
    grid_step: f64,
    /// Mass at loss i·h, for i from −m to m.
    loss_masses: Vec<f64>,
    /// Mass at infinite loss: the probability that the output identifies the input. In a lower
    /// bound, this mass is 0.
    infinite_loss_mass: f64,
}

impl PrivacyLossDistribution {
    /// Creates the distribution that has these masses, and the mirrored masses below 0.
    pub(in crate::accounting) fn from_masses(masses: &PrivacyLossMeasure) -> Self {
        Self::new(
            masses.bound_side,
            masses.grid_step,
            &masses.nonnegative_loss_masses,
            masses.infinite_loss_mass,
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
            bound_side: side,
            grid_step: step,
            loss_masses: mass,
            infinite_loss_mass: infinite,
        }
    }

    /// Returns the largest loss index m. Losses run from −m to m steps.
    fn largest_loss_index(&self) -> usize {
        self.loss_masses.len() / 2
    }

    /// Returns the distribution of the sum of two batches' losses.
    ///
    /// Exchanging the inputs changes neither batch, so it does not change the sum. Therefore only
    /// losses that are not negative are computed.
    fn convolve(&self, other: &Self) -> Self {
        let reversed: Vec<f64> = other.loss_masses.iter().rev().copied().collect();
        let (a, b) = (self.largest_loss_index(), other.largest_loss_index());
        let half: Vec<f64> = (0..=a + b)
            .map(|k| {
                // Loss i of `self` is at index a + i. Loss k − i of `other` is at index b − k + i
                // of `reversed`.
                let (from, to) = ((a + k).saturating_sub(b), (2 * a).min(a + k + b));
                let (first, start) = (&self.loss_masses[from..=to], b + from - a - k);
                let sum = dot_product(first, &reversed[start..start + first.len()]);
                self.bound_side
                    .shift_outward(sum, f64::EPSILON * first.len() as f64)
            })
            .collect();
        let total = |loss: &Self| loss.loss_masses.iter().sum::<f64>() + loss.infinite_loss_mass;
        let infinite =
            self.infinite_loss_mass * total(other) + other.infinite_loss_mass * total(self);
        Self::new(
            self.bound_side,
            self.grid_step,
            &half,
            infinite * (1.0 + 1e-9),
        )
    }

    /// Removes the outermost grid points in pairs, one at a negative and one at the opposite
    /// positive loss. The removed mass is at most `most`.
    fn trim_tails(&mut self, most: f64) {
        let (mut cut, mut moved) = (0, 0.0);
        while cut < self.largest_loss_index() {
            let next =
                moved + self.loss_masses[cut] + self.loss_masses[self.loss_masses.len() - 1 - cut];
            if next > most {
                break;
            }
            (cut, moved) = (cut + 1, next);
        }
        self.loss_masses.truncate(self.loss_masses.len() - cut);
        self.loss_masses.drain(..cut);
        // An upper bound counts the removed mass as infinite loss. A lower bound drops it.
        if self.bound_side == BoundSide::Above {
            self.infinite_loss_mass += moved * (1.0 + 1e-9);
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
            while sum.largest_loss_index() > MAX_GRID_POINTS {
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
                    deltas.get(2 * i).unwrap_or(&self.infinite_loss_mass),
                    self.delta_relative_error(),
                );
                (delta * (1.0 - slack), delta * (1.0 + slack))
            })
            .unzip();
        let curve = DeltaBoundsOnGrid::new(2.0 * self.grid_step, lower, upper);
        Self::from_masses(&match self.bound_side {
            BoundSide::Above => curve.upper_loss_measure(),
            BoundSide::Below => curve.lower_loss_measure(),
        })
    }

    /// Returns the relative error of [`PrivacyLossDistribution::deltas_on_grid`]. Each δ is a sum of one
    /// term per grid point, and each term is rounded a few times.
    fn delta_relative_error(&self) -> f64 {
        8.0 * f64::EPSILON * (self.largest_loss_index() + 4) as f64
    }

    /// Returns δ(ε) at ε = 0, h, ..., m·h.
    ///
    /// From ε = ℓ down to ℓ − h, δ increases by (1 − exp(−h))·E[exp(ℓ − L); L ≥ ℓ], where L is the
    /// loss.
    fn deltas_on_grid(&self) -> Vec<f64> {
        let (less, share) = ((-self.grid_step).exp(), -(-self.grid_step).exp_m1());
        let (mut delta, mut weight) = (self.infinite_loss_mass, 0.0);
        let mut deltas = vec![delta];
        for mass in self.loss_masses[self.largest_loss_index() + 1..]
            .iter()
            .rev()
        {
            weight = mass + less * weight;
            delta += share * weight;
            deltas.push(delta);
        }
        deltas.reverse();
        deltas
    }

    /// Returns δ at `epsilon`. The result is rounded up if this measure is an upper bound, and down
    /// if it is a lower bound.
    pub(in crate::accounting) fn delta_at_epsilon(&self, epsilon: f64) -> f64 {
        let (deltas, before) = (self.deltas_on_grid(), (epsilon / self.grid_step) as usize);
        // Between two grid points, δ is linear in exp(ε). After the last one, only infinite loss is
        // left.
        let Some(&[from, to]) = deltas.get(before..before.saturating_add(2)) else {
            return self
                .bound_side
                .shift_outward(self.infinite_loss_mass, self.delta_relative_error());
        };
        let beyond = epsilon - before as f64 * self.grid_step;
        let part = (beyond.exp_m1() / self.grid_step.exp_m1()).clamp(0.0, 1.0);
        let near = from * (1.0 - part) + to * part;
        // The distance from the previous grid point has a rounding error that is relative to ε.
        let moved = (from - to) * 8.0 * f64::EPSILON * (before + 2) as f64;
        match self.bound_side {
            BoundSide::Above => self
                .bound_side
                .shift_outward(near + moved, self.delta_relative_error()),
            BoundSide::Below => self
                .bound_side
                .shift_outward((near - moved).max(0.0), self.delta_relative_error()),
        }
    }

    /// Returns the ε at which δ(ε) is `delta`. The result is rounded up if this measure is an upper
    /// bound, and down if it is a lower bound. Returns infinity if there is no such ε.
    pub(in crate::accounting) fn epsilon_at_delta(&self, delta: f64) -> f64 {
        let nearer = 4.0 * f64::EPSILON;
        let (delta, nearer) = match self.bound_side {
            BoundSide::Above => (delta * (1.0 - self.delta_relative_error()), nearer),
            BoundSide::Below => (delta * (1.0 + self.delta_relative_error()), -nearer),
        };
        if self.infinite_loss_mass >= delta {
            return f64::INFINITY;
        }
        let deltas = self.deltas_on_grid();
        // δ decreases with ε, and is linear in exp(ε) between two grid points.
        let after = deltas.partition_point(|&at| at > delta);
        if after == 0 {
            return 0.0;
        }
        let part = (delta - deltas[after]) / (deltas[after - 1] - deltas[after]);
        let down = -(part * (-self.grid_step).exp_m1()).ln_1p();
        let end = after as f64 * self.grid_step;
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
        let curve = DeltaBoundsOnGrid::new(0.05, at.clone(), at);
        let [above, below] = [curve.upper_loss_measure(), curve.lower_loss_measure()]
            .map(|side| PrivacyLossDistribution::from_masses(&side));
        assert_eq!(
            above
                .clone()
                .self_composed(1, 0.0)
                .epsilon_at_delta(9.99e-4),
            f64::INFINITY
        );
        let twice = above.clone().self_composed(2, 0.0);
        assert_eq!(twice.epsilon_at_delta(1.998e-3), f64::INFINITY);
        assert!(twice.epsilon_at_delta(2.1e-3) < 0.7);
        // At grid points, the δ of the measure is exact.
        for central in [0.0, 0.1, 0.3] {
            let least = above
                .clone()
                .self_composed(1, 0.0)
                .epsilon_at_delta(delta(central) * (1.0 + 1e-9));
            assert!((least - central).abs() < 1e-8, "{central}: {least}");
            assert!(
                below
                    .clone()
                    .self_composed(1, 0.0)
                    .epsilon_at_delta(delta(central))
                    <= central
            );
        }
    }
}
