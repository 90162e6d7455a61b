//! Unary encoding: one bit for each possible answer, each randomised separately (PRR, SPRR, OUE).
//!
//! The bit of the person's answer is set with probability p, every other bit with q. Two answers
//! differ in two bits, with four outcomes. Only one outcome contributes to δ: the first answer's
//! bit is set, and the second answer's bit is not. So, with e = exp(ε), δ(ε) = p(1 − q) −
//! exp(ε)·q(1 − p).

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::rates::{SupportProbabilities, check_answer, check_options};
use crate::competitors::budget::{Budget, hockey_stick_divergence};
use crate::competitors::favoured_set::{nearest_threshold, threshold_rounded_down};
use crate::roots::bisect;

/// Allowed range of q, the probability of setting a bit of an answer that the person did not give.
const OTHER_BIT_PROBABILITY_RANGE: ParameterRange = ParameterRange {
    name: "q",
    min: 1e-9,
    max: 1.0 - 1e-9,
};

/// Randomised response on the bits of a one-hot vector.
///
/// ```
/// use hushbin_study::competitors::{Budget, UnaryEncoding};
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let oue = UnaryEncoding::optimized_encoding(10, &budget)?.support_probabilities();
/// assert!((oue.own_answer_probability - 0.5).abs() < 1e-9 && (oue.other_answer_probability - 1.0 / (1.0_f64.exp() + 1.0)).abs() < 1e-9);
/// let sprr = UnaryEncoding::symmetric_encoding(10, &budget)?.support_probabilities();
/// assert!((sprr.own_answer_probability + sprr.other_answer_probability - 1.0).abs() < 1e-9);
/// assert!(oue.single_report_variance(false) < sprr.single_report_variance(false));
/// assert!(UnaryEncoding::new(10, 1.0, &budget).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnaryEncoding {
    option_count: u32,
    /// Probability p that the bit of the person's answer is set, rounded down to a threshold.
    own_bit_threshold: Threshold,
    /// Probability q that any other bit is set, as a threshold.
    other_bit_threshold: Threshold,
}

impl UnaryEncoding {
    /// Returns PRR of the paper, for a given probability q of setting the bit of an answer that is
    /// not the person's own. The bit of the own answer is set with probability p = (q·e + δ)/(1 − q
    /// + q·e), where e = exp(ε).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE) or q is outside
    /// 10⁻⁹ to 1 − 10⁻⁹. [`Error::InvalidCombination`] if δ > 1 − q.
    pub fn new(options: u32, q: f64, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        OTHER_BIT_PROBABILITY_RANGE.check_in_range(q)?;
        // The bound on p depends on the realised q, not on the requested one.
        let other = nearest_threshold(q);
        let (q, rest) = (other.probability(), other.false_probability());
        if budget.delta() > rest {
            return Err(Error::InvalidCombination {
                reason: "unary encoding needs \"delta\" of at most 1 - q",
            });
        }
        let p = (q * budget.exp_epsilon() + budget.delta()) / (rest + q * budget.exp_epsilon());
        Ok(Self {
            option_count: options,
            own_bit_threshold: threshold_rounded_down(p, 0),
            other_bit_threshold: other,
        })
    }

    /// Returns SPRR of the paper. The bit of the own answer is set with probability p, any other
    /// bit with probability q = 1 − p. With e = exp(ε) and R = √(e(1 − δ) + δ), q is (R − 1)/(e −
    /// 1) = (1 − δ)/(R + 1).
    ///
    /// # Errors
    /// Same errors as [`UnaryEncoding::new`].
    pub fn symmetric_encoding(options: u32, budget: &Budget) -> Result<Self, Error> {
        let delta = budget.delta();
        let root = (budget.exp_epsilon() * (1.0 - delta) + delta).sqrt();
        // This form of q does not cancel at small ε.
        Self::new(options, (1.0 - delta) / (root + 1.0), budget)
    }

    /// Returns optimised unary encoding (OUE; T. Wang et al., USENIX Security 2017) under (ε, δ). A
    /// bit that is not the own answer's is set with probability q. This q is a local minimum of the
    /// variance of an answer's estimated share, from the report of a person with a different
    /// answer. It is near 1/(e + 1), with e = exp(ε), and equal to it for δ = 0.
    ///
    /// If δ > 0, the variance also falls to 0 as q falls to 0. Near q = 0, the own bit is set with
    /// probability δ only, so one report in 1/δ is informative. The variance from the report of a
    /// person who has the answer is then 1/δ.
    ///
    /// # Errors
    /// Same errors as [`UnaryEncoding::new`]. [`Error::InvalidCombination`] if δ is so large that the
    /// variance has no local minimum.
    pub fn optimized_encoding(options: u32, budget: &Budget) -> Result<Self, Error> {
        let q = best_other_bit_probability(budget).ok_or(Error::InvalidCombination {
            reason: "\"delta\" is too large for optimized unary encoding: no q is best",
        })?;
        Self::new(options, q, budget)
    }

    /// Number of options, k.
    #[must_use]
    pub const fn option_count(&self) -> u32 {
        self.option_count
    }

    /// Returns the probability p of setting the own answer's bit, and the probability q of setting
    /// any other bit. They are exact for the rounded thresholds.
    #[must_use]
    pub fn support_probabilities(&self) -> SupportProbabilities {
        SupportProbabilities {
            own_answer_probability: self.own_bit_threshold.probability(),
            other_answer_probability: self.other_bit_threshold.probability(),
        }
    }

    /// Returns the δ of a report at ε. It is the same for all pairs of different answers.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let [own, other] = [self.own_bit_threshold, self.other_bit_threshold]
            .map(|bit| [bit.false_probability(), bit.probability()]);
        let two_bits = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let outcome = |(a, b): (usize, usize)| (own[a] * other[b], other[a] * own[b]);
        hockey_stick_divergence(two_bits.map(outcome), epsilon)
    }

    /// Draws a report for an answer from 0 to k − 1. The report has k bits; bit i is true if the
    /// report supports answer i.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if `answer` is not below k.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        answer: u32,
        rng: &mut R,
    ) -> Result<Vec<bool>, Error> {
        check_answer(answer, self.option_count)?;
        let mut bit = |option| {
            let set = if option == answer {
                self.own_bit_threshold
            } else {
                self.other_bit_threshold
            };
            set.draw_bool(rng)
        };
        Ok((0..self.option_count).map(&mut bit).collect())
    }
}

/// Returns the probability q of setting a bit that is not the own answer's. At this q the variance
/// q(1 − q)/(p − q)² has a local minimum, where p is the probability for the own bit. Returns
/// `None` if there is no local minimum.
fn best_other_bit_probability(budget: &Budget) -> Option<f64> {
    let (a, delta) = (budget.exp_m1_epsilon(), budget.delta());
    let one = -a + (3.0 * a - 2.0) * delta;
    let two = a * (a + 3.0 - 4.0 * delta);
    let three = -a * (a + 2.0);
    // With a = e − 1, the derivative of ln(q(1 − q)/(p − q)²) has the sign of h(q) = δ − (a − (3a −
    // 2)δ)q + (a² + 3a − 4aδ)q² − (a² + 2a)q³. h is positive at 1/2, and at 0 unless δ = 0. A
    // minimum of the variance exists if h is negative somewhere between. The minimum lies above the
    // q at which h is least.
    let h = |q: f64| delta + q * (one + q * (two + q * three));
    // h is least at the smaller root of its derivative, 0 = one + 2·two·q + 3·three·q².
    let square = two * two - 3.0 * one * three;
    if one >= 0.0 || square < 0.0 {
        return None;
    }
    let least = -one / (two + square.sqrt());
    (least < 0.5 && h(least) < 0.0).then(|| bisect(0.5, least, 1e-15, |q| h(q) >= 0.0))
}
