//! Privacy-loss distributions on a grid, and how they add up.
//!
//! A distribution is a measure p over losses ℓ = i·h, and a mass at infinity. Of
//! K batches with the same measure,
//!
//! δ_K(ε) = E[max(0, 1 − exp(ε − ℓ₁ − … − ℓ_K))],
//!
//! which grows with p, and with every loss. So a measure that is at least another
//! everywhere, or the other with its losses moved up, bounds δ_K from above, and
//! the opposite from below. Sums are of numbers that are not negative: the
//! relative error of one of m terms is below m·2⁻⁵², and is added or taken off.

use super::connect_dots::{Curve, Masses, Side};

/// Points of a measure above 0; a grid is made coarser beyond.
const POINTS: usize = 4096;

/// A measure over losses from −m·h to m·h, whose mass at −ℓ is exp(−ℓ) times that
/// at ℓ: the pair of distributions it belongs to is its own mirror image.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct Loss {
    side: Side,
    step: f64,
    /// By i, from −m.
    mass: Vec<f64>,
    /// What is told by the batch outright; none in a measure from below.
    infinite: f64,
}

impl Loss {
    /// Mirrored.
    pub(in crate::accounting) fn from_masses(masses: &Masses) -> Self {
        Self::new(masses.side, masses.step, &masses.half, masses.infinite)
    }

    /// From the masses at 0, h, 2h, ...
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
        // Masses that underflow are below 10⁻³⁰⁰ each.
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

    /// m.
    fn reach(&self) -> usize {
        self.mass.len() / 2
    }

    /// The losses of two batches added.
    ///
    /// Where both are mirror images of themselves so is the sum: only losses from 0 are summed up.
    fn add(&self, other: &Self) -> Self {
        let reversed: Vec<f64> = other.mass.iter().rev().copied().collect();
        let (a, b) = (self.reach(), other.reach());
        let half: Vec<f64> = (0..=a + b)
            .map(|k| {
                // Its i is at a + i, and of the other's, reversed, k − i at b − k + i.
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

    /// Takes off what is lost or won least, as long as no more than `most` is.
    fn trim(&mut self, most: f64) {
        let (mut cut, mut moved) = (0, 0.0);
        while cut < self.reach() {
            let next = moved + self.mass[cut] + self.mass[self.mass.len() - 1 - cut];
            if next > most {
                break;
            }
            (cut, moved) = (cut + 1, next);
        }
        self.mass.truncate(self.mass.len() - cut);
        self.mass.drain(..cut);
        if self.side == Side::Above {
            self.infinite += moved * (1.0 + 1e-9);
        }
    }

    /// The losses of `batches` batches added, where `spare` of δ may be given away.
    pub(in crate::accounting) fn times(mut self, batches: u32, spare: f64) -> Self {
        // What is cut off a sum of k batches comes up batches/k times.
        let stages = 2.0 * f64::from(batches).log2() + 2.0;
        let spare = spare / (stages * f64::from(batches));
        self.trim(spare);
        let (mut sum, mut done) = (self.clone(), 1);
        for bit in (0..batches.ilog2()).rev() {
            done *= 2;
            sum = sum.add(&sum);
            sum.trim(spare * f64::from(done));
            if batches >> bit & 1 == 1 {
                done += 1;
                sum = sum.add(&self);
                sum.trim(spare * f64::from(done));
            }
            while sum.reach() > POINTS {
                sum = sum.coarser();
                self = self.coarser();
            }
        }
        sum
    }

    /// On a grid of steps of 2h.
    fn coarser(&self) -> Self {
        let deltas = self.deltas();
        let (lower, upper) = (0..=self.reach().div_ceil(2))
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

    /// Relative error of what [`Loss::deltas`] gives: as many terms, each rounded a few times.
    fn slack(&self) -> f64 {
        8.0 * f64::EPSILON * (self.reach() + 4) as f64
    }

    /// δ at 0, h, ..., m·h.
    ///
    /// From ℓ down to ℓ − h it rises by (1 − exp(−h))·E[exp(ℓ − L); L ≥ ℓ], L being the loss.
    fn deltas(&self) -> Vec<f64> {
        let (less, share) = ((-self.step).exp(), -(-self.step).exp_m1());
        let (mut delta, mut weight) = (self.infinite, 0.0);
        let mut deltas = vec![delta];
        for mass in self.mass[self.reach() + 1..].iter().rev() {
            weight = mass + less * weight;
            delta += share * weight;
            deltas.push(delta);
        }
        deltas.reverse();
        deltas
    }

    /// δ(`epsilon`), kept to this measure's side.
    pub(in crate::accounting) fn delta(&self, epsilon: f64) -> f64 {
        let (deltas, before) = (self.deltas(), (epsilon / self.step) as usize);
        // From one point to the next δ is linear in exp(ε). What is beyond the last
        // is told outright.
        let Some(&[from, to]) = deltas.get(before..before.saturating_add(2)) else {
            return self.side.push(self.infinite, self.slack());
        };
        let beyond = epsilon - before as f64 * self.step;
        let part = (beyond.exp_m1() / self.step.exp_m1()).clamp(0.0, 1.0);
        let near = from * (1.0 - part) + to * part;
        // How far beyond is rounded with ε.
        let moved = (from - to) * 8.0 * f64::EPSILON * (before + 2) as f64;
        match self.side {
            Side::Above => self.side.push(near + moved, self.slack()),
            Side::Below => self.side.push((near - moved).max(0.0), self.slack()),
        }
    }

    /// The ε where δ(ε) = `delta`, kept to this measure's side; infinite where there is none.
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

/// Σ x·y: eight sums at a time, none of which has more terms than all.
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

    /// δ of one loss of 0.35, told with probability 0.3 when there is one, and
    /// outright with 1/1000.
    #[test]
    fn what_is_beyond_the_grid_counts() {
        let delta = |central: f64| 1e-3 + 0.3 * (1.0 - (central - 0.35).exp()).max(0.0);
        let at: Vec<f64> = (0..=20).map(|i| delta(f64::from(i) * 0.05)).collect();
        let curve = Curve::new(0.05, at.clone(), at);
        let [above, below] = [curve.above(), curve.below()].map(|side| Loss::from_masses(&side));
        assert_eq!(above.clone().times(1, 0.0).epsilon(9.99e-4), f64::INFINITY);
        let twice = above.clone().times(2, 0.0);
        assert_eq!(twice.epsilon(1.998e-3), f64::INFINITY);
        assert!(twice.epsilon(2.1e-3) < 0.7);
        // On the grid the measure is exact.
        for central in [0.0, 0.1, 0.3] {
            let least = above
                .clone()
                .times(1, 0.0)
                .epsilon(delta(central) * (1.0 + 1e-9));
            assert!((least - central).abs() < 1e-8, "{central}: {least}");
            assert!(below.clone().times(1, 0.0).epsilon(delta(central)) <= central);
        }
    }
}
