//! What one coordinate's shuffled messages give away, exactly.
//!
//! Z⁺ and Z⁻, geometric, are D⁺ + g and D⁻ + g: D discrete Laplace of parameter p_c, g
//! geometric of p_c², independent. With e_x = Σ c_y(x)·s_y + x·e₊₁ the histogram of a
//! person's x and of the noise is therefore
//!
//! U·e₊₁ + (g + Z₁ + c₁(x) + max(U, x) − U)·s₁ + Σ_{|y| ≥ 2} (Z_y + c_y(x))·s_y,
//!
//! U = D + x. The tuples and e₊₁ are linearly independent, so whoever sees the histogram
//! sees these counts and nothing else: their divergence is the histogram's. Given U they
//! are independent, and log-concave, so the test of the last of them is a threshold.

use hushbin::Error;

use super::negative_binomial::{NegativeBinomial, shifted};
use super::noise::CoordinateNoise;

/// The most pairs of likelihoods that are listed.
const MOST: usize = 1 << 22;

impl CoordinateNoise {
    /// δ at ε₀ `epsilon` of one coordinate whose person has the value `from` and not
    /// `to`, both from −L to L: the hockey-stick divergence of the histograms, by a sum
    /// over U and all Z_y that differ, to about 10⁻¹⁴.
    ///
    /// # Errors
    /// [`Error::Combination`] where the Z_y with |y| ≥ 2 have more than 2²² outcomes
    /// together: beyond L = 2 in most cases, for which there is
    /// [`delta_above`](Self::delta_above).
    ///
    /// # Panics
    /// If a value is not from −L to L.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::CoordinateNoise;
    ///
    /// let noise = CoordinateNoise::with_parameters(2, 4.0, 0.6, |_| 0.6)?;
    /// assert!((noise.delta_at(1.5, 1, -1)? - 0.023_420_8).abs() < 1e-6);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    pub fn delta_at(&self, epsilon: f64, from: i32, to: i32) -> Result<f64, Error> {
        let outer = self.outer(from, to)?;
        let beside = self.pairs_beside();
        let k = epsilon.exp();
        let (mut delta, mut last) = (0.0, None);
        for (u, own, other) in self.differences(from, to) {
            let shift = self.tuples().shift(1, from, to, u);
            if !matches!(&last, Some((of, _)) if *of == shift) {
                last = Some((shift, Test::new(&beside, shift)));
            }
            let Some((_, test)) = &last else { continue };
            let excess = |&(a, b): &(f64, f64)| test.excess(own * a, k * other * b);
            delta += outer.iter().map(excess).sum::<f64>();
        }
        Ok(delta)
    }

    /// The greatest [`delta_at`](Self::delta_at) of any two values.
    ///
    /// # Errors
    /// As [`CoordinateNoise::delta_at`].
    pub fn worst_delta(&self, epsilon: f64) -> Result<f64, Error> {
        let l = self.tuples().levels() as i32;
        let mut worst = 0.0_f64;
        for (from, to) in (-l..=l).flat_map(|from| (-l..=l).map(move |to| (from, to))) {
            worst = worst.max(self.delta_at(epsilon, from, to)?);
        }
        Ok(worst)
    }

    /// Probabilities of all outcomes of the Z_y with |y| ≥ 2 that differ, under either value.
    fn outer(&self, from: i32, to: i32) -> Result<Vec<(f64, f64)>, Error> {
        let mut all = vec![(1.0, 1.0)];
        for (y, law) in self.copies().skip(1) {
            let shift = self.tuples().shift(y, from, to, 0);
            if shift == 0 {
                continue;
            }
            let own = shifted(&law.probabilities(), shift);
            if all.len() * own.len() > MOST {
                return Err(Error::Combination {
                    reason: "the tuples have too many outcomes to list",
                });
            }
            let times = |&(a, b): &(f64, f64)| own.iter().map(move |(p, q)| (a * p, b * q));
            all = all.iter().flat_map(times).collect();
        }
        Ok(all)
    }

    /// Every U but those of less than 10⁻²⁰, with its probability under either value.
    pub(super) fn differences(&self, from: i32, to: i32) -> impl Iterator<Item = (i32, f64, f64)> {
        let p = self.units().p();
        let reach = (1e-20_f64.ln() / p.ln()).ceil() as i32;
        let laplace = move |d: i32| (1.0 - p) / (1.0 + p) * p.powi(d.abs());
        let all = from.min(to) - reach..=from.max(to) + reach;
        all.map(move |u| (u, laplace(u - from), laplace(u - to)))
    }

    /// Probabilities of g + Z₁.
    pub(super) fn pairs_beside(&self) -> Vec<f64> {
        let p = self.units().p();
        let g = NegativeBinomial::new(1.0, p * p).map_or(vec![1.0], |law| law.probabilities());
        let z = self.copies[0].probabilities();
        let mut sum = vec![0.0; g.len() + z.len() - 1];
        for (i, a) in g.iter().enumerate() {
            for (total, b) in sum[i..].iter_mut().zip(&z) {
                *total += a * b;
            }
        }
        sum
    }
}

/// Threshold tests of a log-concave count against the same shifted.
#[derive(Debug)]
struct Test {
    /// P/Q, which rises.
    ratios: Vec<f64>,
    /// P and Q of what is at or after a place.
    tails: Vec<(f64, f64)>,
}

impl Test {
    fn new(law: &[f64], shift: i32) -> Self {
        let mut pairs = shifted(law, shift);
        if shift < 0 {
            pairs.reverse();
        }
        let ratios = pairs.iter().map(|(p, q)| p / q).collect();
        let mut tails = vec![(0.0, 0.0)];
        for (p, q) in pairs.iter().rev() {
            let (more, less) = tails[tails.len() - 1];
            tails.push((more + p, less + q));
        }
        tails.reverse();
        Self { ratios, tails }
    }

    /// Σ (a·P − b·Q)₊.
    fn excess(&self, a: f64, b: f64) -> f64 {
        let from = self.ratios.partition_point(|ratio| a * ratio <= b);
        let (p, q) = self.tails[from];
        (a * p - b * q).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A threshold is the best test: nothing of what is log-concave is lost by it.
    #[test]
    fn thresholds_sum_up_what_all_outcomes_do() {
        let law = NegativeBinomial::new(3.7, 0.8).unwrap().probabilities();
        for shift in [-3, -1, 0, 1, 4] {
            let test = Test::new(&law, shift);
            for (a, b) in [(1.0, 1.0), (0.3, 0.4), (1.0, 2.7), (2.7, 1.0)] {
                let all = shifted(&law, shift);
                let sum: f64 = all.iter().map(|(p, q)| (a * p - b * q).max(0.0)).sum();
                assert!((test.excess(a, b) - sum).abs() < 1e-14, "{shift}: {sum}");
            }
        }
    }
}
