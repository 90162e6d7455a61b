//! Noise messages that are cut, so that every upload has room for as many.
//!
//! A person draws Binomial(2Dw, q) noise messages of all coordinates and signs, and draws them all
//! anew where they are more than B. What is sent then has the law of noise given T ≤ B, which is
//! P(T > B) = t from that of noise in total variation, and noise of n_h people, independent, at
//! most n_h·t. The messages of a batch are a function of the noise and the inputs, so that for any
//! two neighbouring inputs and any set S of what may be seen, with ′ for noise that is cut,
//!
//! P′(S) ≤ P(S) + n_h·t ≤ exp(ε)·Q(S) + δ + n_h·t ≤ exp(ε)·Q′(S) + δ + n_h·t·(1 + exp(ε)).
//!
//! The reverse bounds δ from below by as much less. What others than the n_h send does
//! not matter, cut or not: it is added afterwards. B says nothing of a person's own
//! messages, of which there are as many as their values say.

use super::noise::SCALE;
use crate::numeric::binomial::{error, exponent, probability};
use crate::numeric::roots::{bisect, whole};

/// Which part of δ cutting may cost. Noise has to make do with the rest, which takes less
/// than another millionth of its variance, and t falls so fast with B that a thousand
/// times more would save a message or two. A part and nothing absolute: 2⁻⁶⁰ is a
/// thousandth of the least δ, and far less than need be of others.
pub(super) const SHARE: f64 = 1e-6;

/// What cutting costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truncation {
    /// 2Dw.
    trials: u64,
    /// q and 1 − q.
    p: [f64; 2],
    honest_people: f64,
}

impl Truncation {
    pub(super) fn new(trials: u64, threshold: u64, honest_people: u64) -> Self {
        Self {
            trials,
            p: [threshold, threshold.wrapping_neg()].map(|part| part as f64 / SCALE),
            honest_people: honest_people as f64,
        }
    }

    /// n_h·t·(1 + exp(ε)), and somewhat more.
    pub(super) fn delta(&self, most: u64, epsilon: f64) -> f64 {
        if most >= self.trials {
            return 0.0;
        }
        let apart = (self.honest_people * self.tail(most)).min(1.0);
        apart * (1.0 + epsilon.exp()) * (1.0 + 1e-12)
    }

    /// The least B that costs no more than `delta`.
    pub(super) fn least(&self, epsilon: f64, delta: f64) -> u64 {
        // Below the mean t is no small number.
        let mean = (self.trials as f64 * self.p[0]) as u64;
        let enough = |most: u64| self.delta(most, epsilon) <= delta;
        bisect(self.trials, mean, whole, enough).0
    }

    /// P(T > `most`), and somewhat more.
    fn tail(&self, most: u64) -> f64 {
        let trials = self.trials as f64;
        let mean = trials * self.p[0];
        let mut at = most as f64 + 1.0;
        if at <= mean {
            return 1.0;
        }
        if exponent(at, trials, self.p) > 700.0 {
            return 1e-300;
        }
        let mut term = probability(at, trials, self.p);
        let odds = self.p[0] / self.p[1];
        let (mut sum, mut terms) = (term, 1.0);
        let relative = error(term) + 8.0 * f64::EPSILON * (at - mean + 64.0);
        while at < trials {
            let ratio = (trials - at) / (at + 1.0) * odds;
            term *= ratio;
            (at, terms) = (at + 1.0, terms + 1.0);
            sum += term;
            // Ratios fall, so that what is left is below a geometric series.
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

    /// P(T > most), by the whole sum.
    fn direct(trials: u64, q: f64, most: u64) -> f64 {
        (most + 1..=trials)
            .map(|x| probability(x as f64, trials as f64, [q, 1.0 - q]))
            .sum()
    }

    #[test]
    fn tails_are_whole_sums() {
        for (trials, q) in [(2, 0.5), (32, 0.25), (32, 0.5), (2048, 0.0625), (300, 0.5)] {
            let cut = Truncation::new(trials, (q * SCALE) as u64, 1000);
            for most in 0..trials {
                let (found, whole) = (cut.tail(most), direct(trials, q, most));
                let above = (most as f64 + 1.0) <= trials as f64 * q;
                assert!(
                    found >= whole * (1.0 - 1e-15),
                    "{trials}, {q}, {most}: {found}, {whole}"
                );
                let near = above || whole < 1e-290 || found <= whole * (1.0 + 1e-9);
                assert!(near, "{trials}, {q}, {most}: {found}, {whole}");
            }
            assert_eq!(cut.delta(trials, 1.0), 0.0);
        }
    }

    #[test]
    fn the_least_cut_is_the_least() {
        for (trials, q) in [(32, 0.25), (2048, 0.0625), (2048, 0.5)] {
            let cut = Truncation::new(trials, (q * SCALE) as u64, 90_000);
            for delta in [1e-9, 1e-12, 1e-21] {
                let least = cut.least(1.0, delta);
                assert!(cut.delta(least, 1.0) <= delta);
                assert!(cut.delta(least - 1, 1.0) > delta);
                let t = 90_000.0 * (1.0 + 1_f64.exp()) * direct(trials, q, least);
                assert!(t <= delta, "{trials}, {q}, {delta}: {least}");
            }
        }
    }
}
