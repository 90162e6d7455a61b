//! One bit for each answer, each randomised alone: PRR, SPRR, OUE.
//!
//! The own answer's bit is set with probability p, each other with q. Two answers
//! differ in two bits, of whose four outcomes one counts against (ε, δ), that the one
//! answer's bit is set and the other's is not: δ(ε) = p(1 − q) − exp(ε)·q(1 − p).

use hushbin::Error;
use hushbin::bounds::Bound;
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::rates::{Rates, check_answer, check_options};
use crate::competitors::budget::{Budget, hockey_stick};
use crate::competitors::favoured::{rounded_down, truncated};
use crate::roots::bisect;

/// q of the paper's PRR.
const Q: Bound = Bound {
    name: "q",
    min: 1e-9,
    max: 1.0 - 1e-9,
};

/// Randomised response on the bits of a one-hot vector.
///
/// ```
/// use hushbin_study::competitors::{Budget, Unary};
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let oue = Unary::optimized(10, &budget)?.rates();
/// assert!((oue.p - 0.5).abs() < 1e-9 && (oue.q - 1.0 / (1.0_f64.exp() + 1.0)).abs() < 1e-9);
/// let sprr = Unary::symmetric(10, &budget)?.rates();
/// assert!((sprr.p + sprr.q - 1.0).abs() < 1e-9);
/// assert!(oue.variance(false) < sprr.variance(false));
/// assert!(Unary::new(10, 1.0, &budget).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unary {
    options: u32,
    own: Threshold,
    other: Threshold,
}

impl Unary {
    /// PRR of the paper: q is free, p = (q·e + δ)/(1 − q + q·e).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where k is outside [`OPTIONS`](hushbin::bounds::OPTIONS)
    /// or q outside 10⁻⁹ to 1 − 10⁻⁹; [`Error::Combination`] where δ > 1 − q.
    pub fn new(options: u32, q: f64, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        Q.check(q)?;
        // What is drawn with decides about p.
        let other = truncated(q);
        let (q, rest) = (other.probability(), other.complement());
        if budget.delta() > rest {
            return Err(Error::Combination {
                reason: "unary encoding needs \"delta\" of at most 1 - q",
            });
        }
        let p = (q * budget.e() + budget.delta()) / (rest + q * budget.e());
        Ok(Self {
            options,
            own: rounded_down(p, 0),
            other,
        })
    }

    /// SPRR of the paper, p + q = 1: q = (R − 1)/(e − 1) = (1 − δ)/(R + 1), where
    /// R = √(e(1 − δ) + δ).
    ///
    /// # Errors
    /// As [`Unary::new`].
    pub fn symmetric(options: u32, budget: &Budget) -> Result<Self, Error> {
        let delta = budget.delta();
        let root = (budget.e() * (1.0 - delta) + delta).sqrt();
        Self::new(options, (1.0 - delta) / (root + 1.0), budget)
    }

    /// OUE (T. Wang et al., USENIX Security 2017) under (ε, δ): the q at which the variance of
    /// other answers has its least value beside 1/(e + 1), where δ = 0 has it.
    ///
    /// That is a local minimum. With δ > 0 the variance falls to 0 with q, where p is δ and no
    /// report but one in 1/δ says anything: then the variance of the own answer is 1/δ.
    ///
    /// # Errors
    /// As [`Unary::new`]; [`Error::Combination`] where δ is so large that the variance
    /// rises in q throughout.
    pub fn optimized(options: u32, budget: &Budget) -> Result<Self, Error> {
        let q = best_q(budget).ok_or(Error::Combination {
            reason: "\"delta\" is too large for optimized unary encoding: no q is best",
        })?;
        Self::new(options, q, budget)
    }

    /// k.
    #[must_use]
    pub const fn options(&self) -> u32 {
        self.options
    }

    /// Probabilities of the realised thresholds.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates {
            p: self.own.probability(),
            q: self.other.probability(),
        }
    }

    /// δ at an ε, of the worst pair of answers; all pairs are alike.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let [own, other] = [self.own, self.other].map(|bit| [bit.complement(), bit.probability()]);
        let two_bits = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let outcome = |(a, b): (usize, usize)| (own[a] * other[b], other[a] * own[b]);
        hockey_stick(two_bits.map(outcome), epsilon)
    }

    /// A report of an answer, 0 to k − 1: k bits, of which those set support answers.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] where there is no such answer.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        answer: u32,
        rng: &mut R,
    ) -> Result<Vec<bool>, Error> {
        check_answer(answer, self.options)?;
        let mut bit = |option| {
            let set = if option == answer {
                self.own
            } else {
                self.other
            };
            set.sample(rng)
        };
        Ok((0..self.options).map(&mut bit).collect())
    }
}

/// Where the derivative of ln(q(1 − q)/(p − q)²) rises through 0.
///
/// With a = e − 1 it has the sign of h(q) = δ − (a − (3a − 2)δ)q + (a² + 3a − 4aδ)q² − (a² + 2a)q³,
/// which is above 0 at 0 (unless δ = 0) and at 1/2. Between, it is below 0 where a minimum of the
/// variance exists, on the left of which it is.
fn best_q(budget: &Budget) -> Option<f64> {
    let (a, delta) = (budget.e_minus_1(), budget.delta());
    let one = -a + (3.0 * a - 2.0) * delta;
    let two = a * (a + 3.0 - 4.0 * delta);
    let three = -a * (a + 2.0);
    let h = |q: f64| delta + q * (one + q * (two + q * three));
    // The least value of h: 0 = one + 2·two·q + 3·three·q², the smaller root.
    let square = two * two - 3.0 * one * three;
    if one >= 0.0 || square < 0.0 {
        return None;
    }
    let least = -one / (two + square.sqrt());
    (least < 0.5 && h(least) < 0.0).then(|| bisect(0.5, least, 1e-15, |q| h(q) >= 0.0))
}
