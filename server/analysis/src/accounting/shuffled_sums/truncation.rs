//! Truncated noise: the number of noise messages is capped, so that all uploads have equal size.
//!
//! A person draws T ~ Binomial(2Dw, q) noise messages of all coordinates and signs, and draws all
//! of them again if T > B. So the distribution of the noise is conditioned on T ≤ B. Its total
//! variation distance from that of untruncated noise is t = P(T > B). For the independent noise of
//! n_h people, the distance is at most n_h·t. The messages of the batch are a function of noise and
//! inputs. So for any two neighbouring inputs, with outcome distributions P and Q, and any set S of
//! outcomes,
//!
//! P′(S) ≤ P(S) + n_h·t ≤ exp(ε)·Q(S) + δ + n_h·t ≤ exp(ε)·Q′(S) + δ + n_h·t·(1 + exp(ε)).
//!
//! where ′ denotes truncated noise. In the same way, δ decreases by at most n_h·t·(1 + exp(ε)). The
//! messages of people who are not among the n_h do not matter, whether truncated or not, because
//! they are independent additions. B does not limit the messages that carry a person's values,
//! whose number depends on these values.

use super::noise::TWO_POW_64;
use crate::numeric::binomial::{
    binomial_probability, chernoff_exponent, probability_relative_error_bound,
};
use crate::numeric::roots::{bisect, integer_midpoint};

/// Fraction of δ that is reserved for truncation.
///
/// The noise uses the remainder, which increases its variance by less than a millionth. The
/// probability t decreases fast as B increases. A fraction a thousand times larger would save only
/// one or two messages. An absolute value would not be suitable: 2⁻⁶⁰ is a thousandth of the
/// smallest δ, and needlessly small for larger ones.
pub(super) const TRUNCATION_SHARE: f64 = 1e-6;

/// Addition to δ that is caused by truncating noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoiseTruncation {
    /// Number of noise trials of one person, over all coordinates and signs.
    trials_per_person: u64,
    /// Probabilities q and 1 − q.
    probability_and_complement: [f64; 2],
    honest_people: f64,
}

impl NoiseTruncation {
    pub(super) fn new(trials: u64, threshold: u64, honest_people: u64) -> Self {
        Self {
            trials_per_person: trials,
            probability_and_complement: [threshold, threshold.wrapping_neg()]
                .map(|part| part as f64 / TWO_POW_64),
            honest_people: honest_people as f64,
        }
    }

    /// Returns a tight upper bound on the addition to δ if noise is truncated at B = `most`. The
    /// addition is n_h·t·(1 + exp(ε)), where n_h is the number of honest people and t the
    /// probability that one person's noise exceeds B.
    pub(super) fn added_delta(&self, most: u64, epsilon: f64) -> f64 {
        if most >= self.trials_per_person {
            return 0.0;
        }
        let apart = (self.honest_people * self.cap_exceeded_probability(most)).min(1.0);
        apart * (1.0 + epsilon.exp()) * (1.0 + 1e-12)
    }

    /// Returns the smallest cap B on one person's noise messages at which truncation adds at most
    /// `delta` to δ.
    pub(super) fn smallest_cap(&self, epsilon: f64, delta: f64) -> u64 {
        // If B is below the mean, t is not small, so the search starts at the mean.
        let mean = (self.trials_per_person as f64 * self.probability_and_complement[0]) as u64;
        let enough = |most: u64| self.added_delta(most, epsilon) <= delta;
        bisect(self.trials_per_person, mean, integer_midpoint, enough).0
    }

    /// Returns a tight upper bound on t = P(T > `most`), where T is the number of noise messages of
    /// one person.
    fn cap_exceeded_probability(&self, most: u64) -> f64 {
        let trials = self.trials_per_person as f64;
        let mean = trials * self.probability_and_complement[0];
        let mut at = most as f64 + 1.0;
        if at <= mean {
            return 1.0;
        }
        // By Chernoff's bound the result is at most exp(−700), which is below 10⁻³⁰⁰.
        if chernoff_exponent(at, trials, self.probability_and_complement) > 700.0 {
            return 1e-300;
        }
        let mut term = binomial_probability(at, trials, self.probability_and_complement);
        let odds = self.probability_and_complement[0] / self.probability_and_complement[1];
        let (mut sum, mut terms) = (term, 1.0);
        let relative =
            probability_relative_error_bound(term) + 8.0 * f64::EPSILON * (at - mean + 64.0);
        while at < trials {
            let ratio = (trials - at) / (at + 1.0) * odds;
            term *= ratio;
            (at, terms) = (at + 1.0, terms + 1.0);
            sum += term;
            // The ratios of successive terms decrease, so the remainder is below a geometric
            // series.
            if term * ratio <= 1e-15 * sum * (1.0 - ratio) {
                sum += 1e-15 * sum;
                break;
            }
        }
        (sum * (1.0 + relative + 8.0 * f64::EPSILON * terms)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns P(T > `most`), computed by summing all terms.
    fn direct(trials: u64, q: f64, most: u64) -> f64 {
        (most + 1..=trials)
            .map(|x| binomial_probability(x as f64, trials as f64, [q, 1.0 - q]))
            .sum()
    }

    #[test]
    fn tails_are_whole_sums() {
        for (trials, q) in [(2, 0.5), (32, 0.25), (32, 0.5), (2048, 0.0625), (300, 0.5)] {
            let cut = NoiseTruncation::new(trials, (q * TWO_POW_64) as u64, 1000);
            for most in 0..trials {
                let (found, whole) = (cut.cap_exceeded_probability(most), direct(trials, q, most));
                let above = (most as f64 + 1.0) <= trials as f64 * q;
                assert!(
                    found >= whole * (1.0 - 1e-15),
                    "{trials}, {q}, {most}: {found}, {whole}"
                );
                let near = above || whole < 1e-290 || found <= whole * (1.0 + 1e-9);
                assert!(near, "{trials}, {q}, {most}: {found}, {whole}");
            }
            assert_eq!(cut.added_delta(trials, 1.0), 0.0);
        }
    }

    #[test]
    fn the_least_cut_is_the_least() {
        for (trials, q) in [(32, 0.25), (2048, 0.0625), (2048, 0.5)] {
            let cut = NoiseTruncation::new(trials, (q * TWO_POW_64) as u64, 90_000);
            for delta in [1e-9, 1e-12, 1e-21] {
                let least = cut.smallest_cap(1.0, delta);
                assert!(cut.added_delta(least, 1.0) <= delta);
                assert!(cut.added_delta(least - 1, 1.0) > delta);
                let t = 90_000.0 * (1.0 + 1_f64.exp()) * direct(trials, q, least);
                assert!(t <= delta, "{trials}, {q}, {delta}: {least}");
            }
        }
    }
}
