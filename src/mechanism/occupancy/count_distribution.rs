//! Distributions of counts, and products and powers of their generating functions, which are
//! polynomials.

use alloc::vec;
use alloc::vec::Vec;

/// Bound on negligible probabilities: a smaller term does not change the last place of a sum.
pub(super) const NEGLIGIBLE_PROBABILITY: f64 = 1e-18;
/// Probability mass that may be dropped at the ends of a distribution. It is small enough that no
/// term above [`NEGLIGIBLE_PROBABILITY`] changes.
pub(super) const MAX_DROPPED_MASS: f64 = NEGLIGIBLE_PROBABILITY * 1e-4;
/// Ratio to a polynomial's greatest coefficient. Coefficients at the end with at most this ratio
/// are dropped.
const DROPPED_COEFFICIENT_RATIO: f64 = 1e-40;

/// Distribution of a count: the probabilities of `first`, `first` + 1 and so on.
#[derive(Debug, Clone)]
pub(super) struct CountDistribution {
    first_value: usize,
    probabilities: Vec<f64>,
}

impl CountDistribution {
    /// Creates a distribution over the values from `first` on. The probabilities are proportional
    /// to `weights`.
    pub(super) fn new(first: usize, weights: Vec<f64>) -> Self {
        let total: f64 = weights.iter().sum();
        let mut law = Self {
            first_value: first,
            probabilities: weights,
        };
        law.probabilities.iter_mut().for_each(|p| *p /= total);
        law
    }

    /// Computes the distribution of the sum of `exponent` independent copies of the count, by
    /// repeated squaring. `exponent` is at least 1.
    pub(super) fn convolution_power(&self, exponent: u32) -> Self {
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

    /// Computes the distribution of the sum of two independent counts.
    fn convolve(&self, other: &Self) -> Self {
        let degree = self.probabilities.len() + other.probabilities.len();
        let sum = polynomial_product(&self.probabilities, &other.probabilities, degree);
        // Drop negligible ends, so that repeated sums stay short.
        let heavy = |p: &f64| *p > MAX_DROPPED_MASS;
        let begin = sum.iter().position(heavy).unwrap_or(0);
        let end = sum.iter().rposition(heavy).map_or(sum.len(), |i| i + 1);
        Self {
            first_value: self.first_value + other.first_value + begin,
            probabilities: sum[begin..end].to_vec(),
        }
    }

    /// Returns P(K ≥ j) for j = 0, 1, …, where K has this distribution. The list ends at the first
    /// probability of 0 or at j = `most`, but always includes j = 1.
    pub(super) fn tail_probabilities(&self, most: usize) -> Vec<f64> {
        let end = self.first_value + self.probabilities.len();
        let mut tails = vec![0.0; end.max(1) + 1];
        let mut tail = 0.0;
        for (at_least, p) in tails[self.first_value..end]
            .iter_mut()
            .zip(&self.probabilities)
            .rev()
        {
            tail += p;
            *at_least = tail;
        }
        tails[..self.first_value].fill(tail);
        tails.truncate(most.max(1) + 1);
        tails
    }
}

/// Computes terms 0 to `most` of a unimodal sequence, relative to the greatest term. The greatest
/// term has the index `mode`. `ratio(k)` is term k + 1 divided by term k. The computation starts at
/// the mode, so that every term is at most 1.
pub(super) fn terms_relative_to_mode(
    mode: usize,
    most: usize,
    ratio: impl Fn(usize) -> f64,
) -> Vec<f64> {
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

/// Drops negligible coefficients at the end of a polynomial.
pub(super) fn trim_polynomial(polynomial: &mut Vec<f64>) {
    let greatest = polynomial.iter().copied().fold(0.0, f64::max);
    while polynomial.len() > 1
        && polynomial[polynomial.len() - 1] <= greatest * DROPPED_COEFFICIENT_RATIO
    {
        polynomial.pop();
    }
}

/// Computes the product a·b of two polynomials, up to the term of x^degree.
pub(super) fn polynomial_product(a: &[f64], b: &[f64], degree: usize) -> Vec<f64> {
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

/// Computes the power a^exponent of a polynomial up to the term of x^degree, by repeated squaring.
pub(super) fn polynomial_power(a: &[f64], mut exponent: usize, degree: usize) -> Vec<f64> {
    let mut result = vec![1.0];
    let mut square = a.to_vec();
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = polynomial_product(&result, &square, degree);
        }
        exponent >>= 1;
        if exponent > 0 {
            square = polynomial_product(&square, &square, degree);
        }
    }
    result
}

/// Computes the coefficient of x^degree in the product a·b of two polynomials.
pub(super) fn product_coefficient(a: &[f64], b: &[f64], degree: usize) -> f64 {
    let first = (degree + 1).saturating_sub(b.len());
    a.iter()
        .enumerate()
        .skip(first)
        .take_while(|(i, _)| *i <= degree)
        .map(|(i, &x)| x * b[degree - i])
        .sum()
}
