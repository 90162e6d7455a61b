//! Negative binomial counts: noise that many people can generate together. Each person adds an
//! independent part.
//!
//! The count k has the probability P(k) = Γ(k + r)/(Γ(r)·k!)·(1 − p)^r·p^k under NB(r, p), for any
//! r > 0. The sum of n independent counts from NB(r/n, p) has the distribution NB(r, p). NB(1, p)
//! is geometric.
//!
//! A count is also the sum of N logarithmic counts with P(k) ∝ p^k/k, where N is Poisson with mean
//! −r·ln(1 − p). [`NegativeBinomial::draw_count`] uses this form, because one person's part is nearly
//! always 0.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use rand_core::Rng;

use crate::competitors::budget::hockey_stick_divergence;

/// Allowed range of the shape r of NB(r, p).
const SHAPE_RANGE: ParameterRange = ParameterRange {
    name: "shape",
    min: 1e-12,
    max: 1e6,
};
/// Allowed range of the parameter p of NB(r, p).
const CONTINUE_PROBABILITY_RANGE: ParameterRange = ParameterRange {
    name: "p",
    min: 1e-12,
    max: 1.0 - 1e-7,
};

/// Negative binomial distribution NB(r, p).
///
/// ```
/// use hushbin_study::competitors::sums::NegativeBinomial;
///
/// let noise = NegativeBinomial::new(44.4465, 0.951_229)?;
/// assert!((noise.mean() - 866.9).abs() < 0.1);
/// assert!((noise.per_person_distribution(1000).mean() - 0.867).abs() < 1e-3);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    shape: f64,
    continue_probability: f64,
}

impl NegativeBinomial {
    /// Creates the distribution NB(r, p), with r from 10⁻¹² to 10⁶ and p from 10⁻¹² to 1 − 10⁻⁷.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if r or p is out of its range.
    pub fn new(r: f64, p: f64) -> Result<Self, Error> {
        SHAPE_RANGE.check_in_range(r)?;
        CONTINUE_PROBABILITY_RANGE.check_in_range(p)?;
        Ok(Self {
            shape: r,
            continue_probability: p,
        })
    }

    /// Shape r of NB(r, p).
    #[must_use]
    pub const fn shape(&self) -> f64 {
        self.shape
    }

    /// Parameter p of NB(r, p), in (0, 1). For r = 1, it is the probability that a count of at
    /// least k is also at least k + 1.
    #[must_use]
    pub const fn continue_probability(&self) -> f64 {
        self.continue_probability
    }

    /// Mean r·p/(1 − p) of the count.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.shape * self.continue_probability / (1.0 - self.continue_probability)
    }

    /// Variance r·p/(1 − p)² of the count.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.mean() / (1.0 - self.continue_probability)
    }

    /// Returns the distribution NB(r/n, p) of one person's part of the noise, if n = `people`
    /// people generate it together. The sum of the n parts has the distribution `self`.
    #[must_use]
    pub fn per_person_distribution(&self, people: u32) -> Self {
        Self {
            shape: self.shape / f64::from(people.max(1)),
            continue_probability: self.continue_probability,
        }
    }

    /// Returns the probabilities of the counts 0, 1, 2 and so on, normalised to the sum 1. The list
    /// ends where the rest of the tail is less than about 10⁻²⁰ times the greatest probability.
    /// Near the mode, each probability is accurate to about one part in 10¹².
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        // For r < 1 the probabilities fall from 0 on, so the mode is 0.
        let mode = ((self.shape - 1.0) * self.continue_probability
            / (1.0 - self.continue_probability))
            .max(0.0)
            .floor();
        let up = |k: f64| self.continue_probability * (k + self.shape) / (k + 1.0);
        // In the far tail, each term is about p times the previous term. The sum of the tail is
        // therefore about 1/(1 − p) times its first term.
        probabilities_from_mode(mode, up, 1e-20 * (1.0 - self.continue_probability))
    }

    /// Returns the δ at ε of a count with this noise, if the counts of two inputs differ by
    /// `shift`. The result is the maximum over the two orders of the inputs.
    ///
    /// ```
    /// use hushbin_study::competitors::sums::NegativeBinomial;
    ///
    /// // One geometric count hides 1 at ε = −ln p, except for the outcome 0.
    /// let geometric = NegativeBinomial::new(1.0, 0.5)?;
    /// assert!((geometric.delta_of_shift(1, 2.0_f64.ln()) - 0.5).abs() < 1e-15);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn delta_of_shift(&self, shift: u32, epsilon: f64) -> f64 {
        delta_of_shift(&self.probabilities(), shift, epsilon)
    }

    /// Draws a count in floating point, for simulations and comparisons only. Noise that people
    /// send would have to follow its distribution exactly, to the last bit.
    pub fn draw_count<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let log = (-self.continue_probability).ln_1p();
        let groups = draw_poisson(-self.shape * log, rng);
        (0..groups)
            .map(|_| draw_logarithmic(self.continue_probability, log, rng))
            .sum()
    }
}

/// Returns the probabilities of the counts 0, 1, 2 and so on, normalised to the sum 1.
///
/// The computation starts at the most likely count, `mode`. `up(k)` is the ratio of the probability
/// of k + 1 to the probability of k. The list ends before the first term above the mode that is at
/// most `nothing` times the greatest term.
pub(super) fn probabilities_from_mode(
    mode: f64,
    up: impl Fn(f64) -> f64,
    nothing: f64,
) -> Vec<f64> {
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

/// Returns the δ at ε between the distributions of a count and of the same count plus `shift`. The
/// result is the maximum over the two orders of the distributions. `law` has the probabilities of
/// the count from 0 on.
pub(super) fn delta_of_shift(law: &[f64], shift: u32, epsilon: f64) -> f64 {
    let by = shift as i32;
    let of = |shift| hockey_stick_divergence(shifted_probability_pairs(law, shift), epsilon);
    of(by).max(of(-by))
}

/// Returns two probabilities for each outcome: its probability under the count plus `shift`, and
/// its probability under the count itself. For a negative `shift`, −`shift` is added to the second
/// count instead.
pub(super) fn shifted_probability_pairs(law: &[f64], shift: i32) -> Vec<(f64, f64)> {
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

/// Draws a uniform number in (0, 1).
pub(super) fn draw_open_unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    // 53 random bits, centred within the interval so that 0 and 1 are impossible.
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Draws a Poisson number: the number of arrivals, with exponential waiting times of mean 1, in a
/// time of length `mean`. This time is split into parts of at most 32, so that no product
/// underflows.
fn draw_poisson<R: Rng + ?Sized>(mean: f64, rng: &mut R) -> u64 {
    const MAX_POISSON_MEAN_PART: f64 = 32.0;
    let (mut left, mut count) = (mean, 0);
    while left > 0.0 {
        let limit = (-left.min(MAX_POISSON_MEAN_PART)).exp();
        let mut product = draw_open_unit(rng);
        while product > limit {
            count += 1;
            product *= draw_open_unit(rng);
        }
        left -= MAX_POISSON_MEAN_PART;
    }
    count
}

/// Draws a count k ≥ 1 from the logarithmic distribution P(k) = p^k/(−k·`log`), where `log` is ln(1
/// − p). Given a uniform u, the count is geometric with parameter 1 − exp(`log`·u) (Kemp 1981).
fn draw_logarithmic<R: Rng + ?Sized>(p: f64, log: f64, rng: &mut R) -> u64 {
    let tail = draw_open_unit(rng);
    // `continues` is below p, so such a tail yields 1 for every u.
    if tail >= p {
        return 1;
    }
    let continues = -(log * draw_open_unit(rng)).exp_m1();
    // Truncated: P(k > j) = continues^j.
    1 + (tail.ln() / continues.ln()) as u64
}
