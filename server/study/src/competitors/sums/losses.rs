//! What one coordinate's shuffled messages give away at most, for any number of levels:
//! the losses of the independent counts, rounded up to a grid and added.

use super::negative_binomial::shifted;
use super::noise::CoordinateNoise;

/// Steps of the grid that ε is divided into.
const STEPS: f64 = 32_768.0;
/// Probability of a count that is taken for certain to tell.
const NOTHING: f64 = 1e-28;
/// What truncating all laws may have left out.
const TRUNCATED: f64 = 1e-16;

impl CoordinateNoise {
    /// δ at ε₀ `epsilon` of one coordinate whose person has the value `from` and not `to`, both
    /// from −L to L, from above: each count's loss is rounded up by at most ε/32,768, and 10⁻¹⁶ is
    /// added for what is not listed. As [`delta_at`](Self::delta_at), for any L.
    ///
    /// # Panics
    /// If a value is not from −L to L.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::{CoordinateBudget, CoordinateNoise};
    ///
    /// let noise = CoordinateNoise::new(4, &CoordinateBudget::of(1.0, 1e-6)?)?;
    /// assert!(noise.delta_above(1.0, 4, -4) < 1e-15);
    /// assert!(noise.delta_above(0.7, 4, -4) > 1e-3);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn delta_above(&self, epsilon: f64, from: i32, to: i32) -> f64 {
        let step = epsilon / STEPS;
        let outer = self.copies().skip(1).fold(Losses::none(step), |sum, own| {
            let (y, law) = own;
            match self.tuples().shift(y, from, to, 0) {
                0 => sum,
                shift => sum.plus(&Losses::new(&law.probabilities(), shift, step)),
            }
        });
        let beside = self.pairs_beside();
        let (mut delta, mut last) = (TRUNCATED, None);
        for (u, own, other) in self.differences(from, to) {
            let shift = self.tuples().shift(1, from, to, u);
            if !matches!(&last, Some((of, _)) if *of == shift) {
                last = Some((shift, outer.plus(&Losses::new(&beside, shift, step))));
            }
            if let Some((_, losses)) = &last {
                delta += own * losses.delta_at(epsilon - (own / other).ln());
            }
        }
        delta
    }
}

/// Probabilities of losses on a grid.
#[derive(Debug)]
struct Losses {
    step: f64,
    /// The least loss, in steps.
    first: i64,
    masses: Vec<f64>,
    /// P(loss infinite).
    certain: f64,
}

impl Losses {
    /// Of what tells nothing.
    fn none(step: f64) -> Self {
        Self {
            step,
            first: 0,
            masses: vec![1.0],
            certain: 0.0,
        }
    }

    /// Of a count that is `shift` more, against the count.
    fn new(law: &[f64], shift: i32, step: f64) -> Self {
        if shift == 0 {
            return Self::none(step);
        }
        let (mut found, mut certain) = (Vec::new(), 0.0);
        for (p, q) in shifted(law, shift) {
            if q == 0.0 || p < NOTHING {
                certain += p;
            } else {
                found.push((((p / q).ln() / step).ceil() as i64, p));
            }
        }
        let places = || found.iter().map(|&(place, _)| place);
        let first = places().min().unwrap_or(0);
        let last = places().max().unwrap_or(0);
        let mut masses = vec![0.0; (last - first + 1) as usize];
        for (place, p) in found {
            masses[(place - first) as usize] += p;
        }
        Self {
            step,
            first,
            masses,
            certain,
        }
    }

    /// Of both, independent.
    fn plus(&self, other: &Self) -> Self {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (i, a) in other.masses.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            for (sum, b) in masses[i..].iter_mut().zip(&self.masses) {
                *sum += a * b;
            }
        }
        Self {
            step: self.step,
            first: self.first + other.first,
            masses,
            certain: self.certain + other.certain,
        }
    }

    /// δ at ε, which may be negative.
    fn delta_at(&self, epsilon: f64) -> f64 {
        let losses = (self.first..).map(|place| place as f64 * self.step);
        let excess = |(loss, p): (f64, &f64)| p * -(epsilon - loss).min(0.0).exp_m1();
        self.certain + losses.zip(&self.masses).map(excess).sum::<f64>()
    }
}
