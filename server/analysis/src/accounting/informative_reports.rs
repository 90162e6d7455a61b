//! Distribution of T, the number of informative reports in a batch of n.
//!
//! A report is informative if it points to one of two inputs of the person in question: its
//! likelihood differs between them.

use crate::numeric::binomial::{binomial_probability, chernoff_exponent};
use crate::numeric::roots::{bisect, integer_midpoint};

/// Distribution of T, the number of informative reports in a batch. The distribution is restricted
/// to a range that contains nearly all of the probability.
#[derive(Debug, Clone, Copy)]
pub(super) struct InformativeCountDistribution {
    /// Number of reports n in the batch.
    pub(super) report_count: f64,
    /// Probabilities that another person's report is informative, and that it is not.
    pub(super) informative_probability_pair: [f64; 2],
    /// Smallest T in the range.
    pub(super) min_informative_count: f64,
    /// Largest T in the range.
    pub(super) max_informative_count: f64,
    /// Strict upper bound on the probability that T is outside the range `first..=last`.
    pub(super) outside_range_probability_bound: f64,
}

impl InformativeCountDistribution {
    /// Returns the probability that T is `count`.
    pub(super) fn count_probability(&self, count: f64) -> f64 {
        binomial_probability(count, self.report_count, self.informative_probability_pair)
    }

    /// Creates the distribution. The probability below its range and the probability above it are
    /// each at most exp(−`far`).
    ///
    /// T, the number of informative reports, is C or C + 1. C ~ Binomial(n − 1, p) is the number of
    /// other people's informative reports.
    pub(super) fn new(n: f64, p: [f64; 2], far: f64) -> Self {
        let others = n - 1.0;
        // If T is outside the range, C is below its start or at least at its end. Chernoff's bound
        // limits both probabilities.
        let beyond = |x: f64| chernoff_exponent(x, others, p) >= far;
        let mean = (others * p[0]).floor();
        let first = nearest_integer_satisfying(mean, 0.0, beyond);
        let last = nearest_integer_satisfying(mean.max(1.0).min(others), others, beyond);
        let tail = |x: f64, end: f64| {
            if x == end {
                0.0
            } else {
                (-chernoff_exponent(x, others, p)).exp()
            }
        };
        Self {
            report_count: n,
            informative_probability_pair: p,
            min_informative_count: first.max(1.0),
            max_informative_count: if last == others { n } else { last },
            outside_range_probability_bound: (tail(first, 0.0) + tail(last, others)) * (1.0 + 1e-9),
        }
    }

    /// Returns the number of values in the range of T, the number of informative reports.
    pub(super) fn value_count(&self) -> f64 {
        self.max_informative_count - self.min_informative_count + 1.0
    }

    /// Returns the approximate mean n·p of T, the number of informative reports. It counts n other
    /// reports instead of n − 1.
    pub(super) fn approximate_mean(&self) -> f64 {
        self.report_count * self.informative_probability_pair[0]
    }
}

/// Returns the integer between `mean` and `end` that satisfies `beyond` and is nearest to `mean`.
/// Returns `end` if none satisfies it.
fn nearest_integer_satisfying(mean: f64, end: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    if !beyond(end) {
        return end;
    }
    let (far, _) = bisect(end as u64, mean as u64, integer_midpoint, |x| {
        beyond(x as f64)
    });
    far as f64
}
