//! Upper bound on the privacy loss of the shuffled messages of one coordinate, for any number of
//! levels. The privacy losses of independent counts are rounded up to a grid, and their
//! distributions are convolved.

use super::negative_binomial::shifted_probability_pairs;
use super::noise::CoordinateNoise;

/// Number of grid steps of the privacy loss from 0 to ε.
const LOSS_GRID_STEP_COUNT: f64 = 32_768.0;
/// Outcomes with a probability below this limit count as having an infinite privacy loss.
const MIN_FINITE_LOSS_PROBABILITY: f64 = 1e-28;
/// Upper bound on the total probability that truncating the distributions omits.
const TRUNCATED_PROBABILITY: f64 = 1e-16;

impl CoordinateNoise {
    /// Returns an upper bound on [`delta_between_values`](Self::delta_between_values), for any number L of levels. It
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
    /// let noise = CoordinateNoise::new(4, &CoordinateBudget::with_epsilon_and_delta(1.0, 1e-6)?)?;
    /// assert!(noise.delta_upper_bound(1.0, 4, -4) < 1e-15);
    /// assert!(noise.delta_upper_bound(0.7, 4, -4) > 1e-3);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn delta_upper_bound(&self, epsilon: f64, from: i32, to: i32) -> f64 {
        let step = epsilon / LOSS_GRID_STEP_COUNT;
        let outer = self.tuple_count_distributions().skip(1).fold(
            PrivacyLossDistribution::zero_loss(step),
            |sum, own| {
                let (y, law) = own;
                match self.tuples().tuple_count_shift(y, from, to, 0) {
                    0 => sum,
                    shift => sum.convolve(&PrivacyLossDistribution::new(
                        &law.probabilities(),
                        shift,
                        step,
                    )),
                }
            },
        );
        let beside = self.cancelling_pair_count_pmf();
        let (mut delta, mut last) = (TRUNCATED_PROBABILITY, None);
        for (u, own, other) in self.unit_difference_outcomes(from, to) {
            let shift = self.tuples().tuple_count_shift(1, from, to, u);
            if !matches!(&last, Some((of, _)) if *of == shift) {
                last = Some((
                    shift,
                    outer.convolve(&PrivacyLossDistribution::new(&beside, shift, step)),
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
struct PrivacyLossDistribution {
    /// Step of the grid to which losses are rounded.
    loss_step: f64,
    /// Smallest loss, as a number of steps.
    smallest_loss_step: i64,
    /// Probabilities of the losses, one for each step from the smallest loss on.
    loss_probabilities: Vec<f64>,
    /// Probability of an infinite loss.
    infinite_loss_probability: f64,
}

impl PrivacyLossDistribution {
    /// Returns the loss distribution of an uninformative output: the loss is always 0.
    fn zero_loss(step: f64) -> Self {
        Self {
            loss_step: step,
            smallest_loss_step: 0,
            loss_probabilities: vec![1.0],
            infinite_loss_probability: 0.0,
        }
    }

    /// Returns the loss distribution of a count plus `shift`, compared with the count itself. `law`
    /// has the probabilities of the count from 0 on.
    fn new(law: &[f64], shift: i32, step: f64) -> Self {
        if shift == 0 {
            return Self::zero_loss(step);
        }
        let (mut found, mut certain) = (Vec::new(), 0.0);
        for (p, q) in shifted_probability_pairs(law, shift) {
            if q == 0.0 || p < MIN_FINITE_LOSS_PROBABILITY {
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
            loss_step: step,
            smallest_loss_step: first,
            loss_probabilities: masses,
            infinite_loss_probability: certain,
        }
    }

    /// Returns the distribution of the sum of two independent losses.
    fn convolve(&self, other: &Self) -> Self {
        let mut masses =
            vec![0.0; self.loss_probabilities.len() + other.loss_probabilities.len() - 1];
        for (i, a) in other
            .loss_probabilities
            .iter()
            .enumerate()
            .filter(|(_, a)| **a > 0.0)
        {
            for (sum, b) in masses[i..].iter_mut().zip(&self.loss_probabilities) {
                *sum += a * b;
            }
        }
        Self {
            loss_step: self.loss_step,
            smallest_loss_step: self.smallest_loss_step + other.smallest_loss_step,
            loss_probabilities: masses,
            // Union bound on the probability that either loss is infinite.
            infinite_loss_probability: self.infinite_loss_probability
                + other.infinite_loss_probability,
        }
    }

    /// Returns the δ of this distribution at ε. ε may be negative.
    fn delta_at(&self, epsilon: f64) -> f64 {
        let losses = (self.smallest_loss_step..).map(|place| place as f64 * self.loss_step);
        // 1 − exp(ε − loss) if the loss is above ε, otherwise 0.
        let excess = |(loss, p): (f64, &f64)| p * -(epsilon - loss).min(0.0).exp_m1();
        self.infinite_loss_probability
            + losses
                .zip(&self.loss_probabilities)
                .map(excess)
                .sum::<f64>()
    }
}
