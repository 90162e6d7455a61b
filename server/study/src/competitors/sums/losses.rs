//! Upper bound on the privacy loss of the shuffled messages of one coordinate, for any number of
//! levels. The privacy losses of independent counts are rounded up to a grid, and their
//! distributions are convolved.

use super::negative_binomial::shifted_probability_pairs;
use super::noise::CoordinateNoise;

/// Number of grid steps of the privacy loss from 0 to ε.
const STEPS: f64 = 32_768.0;
/// Outcomes with a probability below this limit count as having an infinite privacy loss.
const NEGLIGIBLE: f64 = 1e-28;
/// Upper bound on the total probability that truncating the distributions omits.
const TRUNCATED: f64 = 1e-16;

impl CoordinateNoise {
    /// Returns an upper bound on [`delta_at`](Self::delta_at), for any number L of levels. It
    /// bounds δ at ε₀ = `epsilon` for one coordinate if a person's value is `from` instead of `to`.
    /// Both values are from −L to L.
    ///
    /// The privacy loss of each count is rounded up, by at most ε/32,768. The bound includes 10⁻¹⁶
    /// for outcomes that are not listed.
    ///
    /// # Panics
    /// If a value is not from −L to L.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::{CoordinateBudget, CoordinateNoise};
    ///
    /// let noise = CoordinateNoise::new(4, &CoordinateBudget::from_epsilon_and_delta(1.0, 1e-6)?)?;
    /// assert!(noise.delta_upper_bound(1.0, 4, -4) < 1e-15);
    /// assert!(noise.delta_upper_bound(0.7, 4, -4) > 1e-3);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn delta_upper_bound(&self, epsilon: f64, from: i32, to: i32) -> f64 {
        let step = epsilon / STEPS;
        let outer = self.tuple_count_distributions().skip(1).fold(
            LossDistribution::zero(step),
            |sum, own| {
                let (y, law) = own;
                match self.tuples().count_shift(y, from, to, 0) {
                    0 => sum,
                    shift => {
                        sum.convolve(&LossDistribution::new(&law.probabilities(), shift, step))
                    }
                }
            },
        );
        let beside = self.unit_pair_probabilities();
        let (mut delta, mut last) = (TRUNCATED, None);
        for (u, own, other) in self.unit_difference_outcomes(from, to) {
            let shift = self.tuples().count_shift(1, from, to, u);
            if !matches!(&last, Some((of, _)) if *of == shift) {
                last = Some((
                    shift,
                    outer.convolve(&LossDistribution::new(&beside, shift, step)),
                ));
            }
            if let Some((_, losses)) = &last {
                // Given U, the losses of the counts add to the loss of U.
                delta += own * losses.delta_at(epsilon - (own / other).ln());
            }
        }
        delta
    }
}

/// Privacy loss distribution, with losses rounded up to multiples of a step.
#[derive(Debug)]
struct LossDistribution {
    /// Step of the grid to which losses are rounded.
    step: f64,
    /// Smallest loss, as a number of steps.
    first: i64,
    /// Probabilities of the losses, one for each step from the smallest loss on.
    masses: Vec<f64>,
    /// Probability of an infinite loss.
    certain: f64,
}

impl LossDistribution {
    /// Returns the loss distribution of an uninformative output: the loss is always 0.
    fn zero(step: f64) -> Self {
        Self {
            step,
            first: 0,
            masses: vec![1.0],
            certain: 0.0,
        }
    }

    /// Returns the loss distribution of a count plus `shift`, compared with the count itself. `law`
    /// has the probabilities of the count from 0 on.
    fn new(law: &[f64], shift: i32, step: f64) -> Self {
        if shift == 0 {
            return Self::zero(step);
        }
        let (mut found, mut certain) = (Vec::new(), 0.0);
        for (p, q) in shifted_probability_pairs(law, shift) {
            if q == 0.0 || p < NEGLIGIBLE {
                certain += p;
            } else {
                // Rounded up, so that δ is bounded from above.
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

    /// Returns the distribution of the sum of two independent losses.
    fn convolve(&self, other: &Self) -> Self {
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
            // Union bound on the probability that either loss is infinite.
            certain: self.certain + other.certain,
        }
    }

    /// Returns the δ of this distribution at ε. ε may be negative.
    fn delta_at(&self, epsilon: f64) -> f64 {
        let losses = (self.first..).map(|place| place as f64 * self.step);
        // 1 − exp(ε − loss) if the loss is above ε, otherwise 0.
        let excess = |(loss, p): (f64, &f64)| p * -(epsilon - loss).min(0.0).exp_m1();
        self.certain + losses.zip(&self.masses).map(excess).sum::<f64>()
    }
}
