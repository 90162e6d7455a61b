//! Negative binomial counts: noise that many people can each add a share of.
//!
//! NB(r, p) has P(k) = Γ(k + r)/(Γ(r)·k!)·(1 − p)^r·p^k for any r > 0; the sum of n of NB(r/n, p)
//! is one of NB(r, p), and NB(1, p) is geometric. It is a Poisson number N of logarithmic counts, N
//! of mean −r·ln(1 − p), P(k) ∝ p^k/k: which is how it is drawn, for a share is nearly always 0.

use hushbin::Error;
use hushbin::bounds::Bound;
use rand_core::Rng;

use crate::competitors::budget::hockey_stick;

/// Shape r.
const SHAPE: Bound = Bound {
    name: "shape",
    min: 1e-12,
    max: 1e6,
};
/// p.
const CONTINUES: Bound = Bound {
    name: "p",
    min: 1e-12,
    max: 1.0 - 1e-7,
};

/// A negative binomial law NB(r, p).
///
/// ```
/// use hushbin_study::competitors::sums::NegativeBinomial;
///
/// let noise = NegativeBinomial::new(44.4465, 0.951_229)?;
/// assert!((noise.mean() - 866.9).abs() < 0.1);
/// assert!((noise.share(1000).mean() - 0.867).abs() < 1e-3);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    r: f64,
    p: f64,
}

impl NegativeBinomial {
    /// The law of shape r, from 10⁻¹² to 10⁶, and p, from 10⁻¹² to 1 − 10⁻⁷.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where either is out of its range.
    pub fn new(r: f64, p: f64) -> Result<Self, Error> {
        SHAPE.check(r)?;
        CONTINUES.check(p)?;
        Ok(Self { r, p })
    }

    /// r.
    #[must_use]
    pub const fn r(&self) -> f64 {
        self.r
    }

    /// p.
    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }

    /// The mean, r·p/(1 − p).
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.r * self.p / (1.0 - self.p)
    }

    /// The variance, r·p/(1 − p)².
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.mean() / (1.0 - self.p)
    }

    /// What each of n people adds so that the sum is of this law: NB(r/n, p).
    #[must_use]
    pub fn share(&self, people: u32) -> Self {
        Self {
            r: self.r / f64::from(people.max(1)),
            p: self.p,
        }
    }

    /// Probabilities of 0, 1, 2 and so on, up to where less than about 10⁻²⁰ of the
    /// greatest is left; their sum is 1. Each to about one part in 10¹² near the middle.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let mode = ((self.r - 1.0) * self.p / (1.0 - self.p)).max(0.0).floor();
        let up = |k: f64| self.p * (k + self.r) / (k + 1.0);
        from_mode(mode, up, 1e-20 * (1.0 - self.p))
    }

    /// δ at ε of this noise on a count that two inputs move by k: the greater
    /// divergence of the two directions.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::NegativeBinomial;
    ///
    /// // One geometric count hides 1 at ε = −ln p, but for the outcome 0.
    /// let geometric = NegativeBinomial::new(1.0, 0.5)?;
    /// assert!((geometric.delta_of_shift(1, 2.0_f64.ln()) - 0.5).abs() < 1e-15);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn delta_of_shift(&self, shift: u32, epsilon: f64) -> f64 {
        delta_of_shift(&self.probabilities(), shift, epsilon)
    }

    /// A count, in floating point: for simulations and comparisons, not for what people
    /// send, of which the law would have to be exact to the last bit.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let log = (-self.p).ln_1p();
        let groups = poisson(-self.r * log, rng);
        (0..groups).map(|_| logarithmic(self.p, log, rng)).sum()
    }
}

/// Probabilities of 0, 1, 2 and so on, from the greatest, at `mode`, by the ratio of each
/// to the one before, up to where they are `nothing` of the greatest; their sum is 1.
pub(super) fn from_mode(mode: f64, up: impl Fn(f64) -> f64, nothing: f64) -> Vec<f64> {
    let mut all = vec![0.0; mode as usize];
    let (mut term, mut k) = (1.0, mode);
    while term > nothing {
        all.push(term);
        term *= up(k);
        k += 1.0;
    }
    let (mut term, mut k) = (1.0, mode);
    while k > 0.0 && term > 0.0 {
        k -= 1.0;
        term /= up(k);
        all[k as usize] = term;
    }
    let sum: f64 = all.iter().sum();
    all.iter_mut().for_each(|p| *p /= sum);
    all
}

/// δ at ε of a count of these probabilities against the same and `shift`, in the worse direction.
pub(super) fn delta_of_shift(law: &[f64], shift: u32, epsilon: f64) -> f64 {
    let by = shift as i32;
    let of = |shift| hockey_stick(shifted(law, shift), epsilon);
    of(by).max(of(-by))
}

/// Probabilities of a count that is `shift` more, beside those of the count itself.
pub(super) fn shifted(law: &[f64], shift: i32) -> Vec<(f64, f64)> {
    let by = shift.unsigned_abs() as usize;
    let at = |k: Option<usize>| k.and_then(|k| law.get(k)).copied().unwrap_or(0.0);
    let pair = |k: usize| {
        let (more, less) = (at(k.checked_sub(by)), at(Some(k)));
        if shift >= 0 {
            (more, less)
        } else {
            (less, more)
        }
    };
    (0..law.len() + by).map(pair).collect()
}

/// A number in (0, 1).
pub(super) fn unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Arrivals before the exponential waits add up to the mean, of at most 32 at a time, so
/// that no product underflows.
fn poisson<R: Rng + ?Sized>(mean: f64, rng: &mut R) -> u64 {
    const MOST: f64 = 32.0;
    let (mut left, mut count) = (mean, 0);
    while left > 0.0 {
        let limit = (-left.min(MOST)).exp();
        let mut product = unit(rng);
        while product > limit {
            count += 1;
            product *= unit(rng);
        }
        left -= MOST;
    }
    count
}

/// P(k) = p^k/(−k·`log`), k ≥ 1, `log` = ln(1 − p): geometric with parameter
/// 1 − exp(`log`·u) for u uniform (Kemp 1981).
fn logarithmic<R: Rng + ?Sized>(p: f64, log: f64, rng: &mut R) -> u64 {
    let tail = unit(rng);
    if tail >= p {
        return 1;
    }
    let continues = -(log * unit(rng)).exp_m1();
    // Truncated: P(k > j) = continues^j.
    1 + (tail.ln() / continues.ln()) as u64
}
