//! T, how many reports of a batch tell anything of the person looked at.

use crate::numeric::binomial::exponent;
use crate::numeric::roots::{bisect, whole};

/// The distribution of T, cut off where hardly any of it is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Telling {
    /// Reports of the batch, n.
    pub(super) n: f64,
    /// The probability that another's report tells anything, and that it does not.
    pub(super) p: [f64; 2],
    /// The least T that is summed over.
    pub(super) first: f64,
    /// The greatest.
    pub(super) last: f64,
    /// P(T is not from `first` to `last`) is below it.
    pub(super) outside: f64,
}

impl Telling {
    /// Leaves out no more than exp(−`far`) on either side.
    ///
    /// T is C or C + 1, C ~ Binomial(n − 1, p): out of the window, C is below its
    /// start or at least at its end, which Chernoff's bound says how often.
    pub(super) fn new(n: f64, p: [f64; 2], far: f64) -> Self {
        let others = n - 1.0;
        let beyond = |x: f64| exponent(x, others, p) >= far;
        let mean = (others * p[0]).floor();
        let first = furthest(mean, 0.0, beyond);
        let last = furthest(mean.max(1.0).min(others), others, beyond);
        let tail = |x: f64, end: f64| {
            if x == end {
                0.0
            } else {
                (-exponent(x, others, p)).exp()
            }
        };
        Self {
            n,
            p,
            first: first.max(1.0),
            last: if last == others { n } else { last },
            outside: (tail(first, 0.0) + tail(last, others)) * (1.0 + 1e-9),
        }
    }

    /// How many T are summed over.
    pub(super) fn width(&self) -> f64 {
        self.last - self.first + 1.0
    }

    /// E[T], nearly.
    pub(super) fn mean(&self) -> f64 {
        self.n * self.p[0]
    }
}

/// The whole number nearest to `mean`, on the way to `end`, that is `beyond`; `end` if none is.
fn furthest(mean: f64, end: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    if !beyond(end) {
        return end;
    }
    let (far, _) = bisect(end as u64, mean as u64, whole, |x| beyond(x as f64));
    far as f64
}
