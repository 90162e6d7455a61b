//! Distributions of small whole numbers, and the products of polynomials behind them.

use alloc::vec;
use alloc::vec::Vec;

/// Probability below which a term does not change a sum in its last place.
pub(super) const NEGLIGIBLE: f64 = 1e-18;
/// Probability mass that can be dropped in total: it changes nothing that is not [`NEGLIGIBLE`].
pub(super) const DROPPED_MASS: f64 = NEGLIGIBLE * 1e-4;
/// Coefficient, relative to the greatest, below which terms are dropped.
const DROPPED: f64 = 1e-40;

/// Distribution of a whole number: probabilities from its least value on.
#[derive(Debug, Clone)]
pub(super) struct CountDistribution {
    first: usize,
    probabilities: Vec<f64>,
}

impl CountDistribution {
    /// Creates a distribution in proportion to weights, from `first` on.
    pub(super) fn new(first: usize, weights: Vec<f64>) -> Self {
        let total: f64 = weights.iter().sum();
        let mut law = Self {
            first,
            probabilities: weights,
        };
        law.probabilities.iter_mut().for_each(|p| *p /= total);
        law
    }

    /// Distribution of the sum of `exponent` independent copies, at least one.
    ///
    pub(super) fn power(&self, exponent: u32) -> Self {
        let mut power = self.clone();
        let bits = exponent.ilog2();
        for bit in (0..bits).rev() {
            power = power.convolve(&power);
            if (exponent >> bit) & 1 == 1 {
                power = power.convolve(self);
            }
        }
        power
    }

    /// Distribution of the sum of two independent numbers.
    fn convolve(&self, other: &Self) -> Self {
        let degree = self.probabilities.len() + other.probabilities.len();
        let sum = product(&self.probabilities, &other.probabilities, degree);
        // Drop negligible ends, so that repeated sums stay short.
        let heavy = |p: &f64| *p > DROPPED_MASS;
        let begin = sum.iter().position(heavy).unwrap_or(0);
        let end = sum.iter().rposition(heavy).map_or(sum.len(), |i| i + 1);
        Self {
            first: self.first + other.first + begin,
            probabilities: sum[begin..end].to_vec(),
        }
    }

    /// P(K ≥ j) for j from 0 to at least 1. The list ends where the probability is 0, or at `most`.
    pub(super) fn tails(&self, most: usize) -> Vec<f64> {
        let end = self.first + self.probabilities.len();
        let mut tails = vec![0.0; end.max(1) + 1];
        let mut tail = 0.0;
        for (at_least, p) in tails[self.first..end]
            .iter_mut()
            .zip(&self.probabilities)
            .rev()
        {
            tail += p;
            *at_least = tail;
        }
        tails[..self.first].fill(tail);
        tails.truncate(most.max(1) + 1);
        tails
    }
}

/// Computes terms 0 to `most` of a sequence with one peak, from the ratio of each term to the one
/// before. It walks from the mode, which keeps every product at most 1.
pub(super) fn from_mode(mode: usize, most: usize, ratio: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut terms = vec![0.0; most + 1];
    terms[mode] = 1.0;
    for k in mode..most {
        terms[k + 1] = terms[k] * ratio(k);
    }
    for k in (0..mode).rev() {
        terms[k] = terms[k + 1] / ratio(k);
    }
    terms
}

/// Drops negligible coefficients at the end.
pub(super) fn trim(polynomial: &mut Vec<f64>) {
    let greatest = polynomial.iter().copied().fold(0.0, f64::max);
    while polynomial.len() > 1 && polynomial[polynomial.len() - 1] <= greatest * DROPPED {
        polynomial.pop();
    }
}

/// Product a·b up to x^degree.
pub(super) fn product(a: &[f64], b: &[f64], degree: usize) -> Vec<f64> {
    let len = (a.len() + b.len() - 1).min(degree + 1);
    let mut result = vec![0.0; len];
    for (i, &x) in a.iter().enumerate().take(len) {
        if x != 0.0 {
            for (r, &y) in result[i..].iter_mut().zip(b) {
                *r += x * y;
            }
        }
    }
    result
}

/// Power a^exponent up to x^degree, by squaring.
pub(super) fn power(a: &[f64], mut exponent: usize, degree: usize) -> Vec<f64> {
    let mut result = vec![1.0];
    let mut square = a.to_vec();
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &square, degree);
        }
        exponent >>= 1;
        if exponent > 0 {
            square = product(&square, &square, degree);
        }
    }
    result
}

/// Coefficient of x^degree in a·b.
pub(super) fn coefficient(a: &[f64], b: &[f64], degree: usize) -> f64 {
    let first = (degree + 1).saturating_sub(b.len());
    a.iter()
        .enumerate()
        .skip(first)
        .take_while(|(i, _)| *i <= degree)
        .map(|(i, &x)| x * b[degree - i])
        .sum()
}
