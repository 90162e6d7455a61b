//! Memoised answers: a memo stays in the browser, and each report is made from it with a new seed.
//!
//! The memo is one of N slots: the answer's own slot with weight e₁ = exp(ε_total), or any other
//! slot with weight 1. A report is then made from the memo as if it were the answer, with weight e₂
//! for each bucket that holds the memo. Each report supports M of the N slots.
//!
//! e₂ is chosen so that one report, averaged over the memo, has the distribution of a report that
//! is made from the answer at the task's ε. This holds under every seed, because each bucket holds
//! equally many slots. So estimates and decoders need not know about memos.
//!
//! Sources: Erlingsson, Pihur, Korolova, "RAPPOR" (2014); Arcolezi et al., "Frequency Estimation of
//! Evolving Data Under Local Differential Privacy" (arXiv 2210.00262). The second stage by seed and
//! bucket is hushbin's own.

use rand_core::CryptoRng;

use super::mechanism_dispatch::{Mechanism, PreparedRandomizer};
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::sample::{ExpLowerBound, Threshold, draw_below};

/// Relative reduction of e₂ − 1, so that one report never loses more than the task's ε. Computing
/// e₂ in doubles has a relative error of at most 3·10⁻¹¹: exp(ε) − 1 is at least 10⁻³, and
/// [`MIN_MEMO_LOSS_MARGIN`] bounds the effect of cancellation.
const EXP_EPSILON_ROUNDING_MARGIN: f64 = 1e-10;
/// Minimum of e₁ − 1 − M(e − 1), as a share of e₁ − 1. At 0, a report would have to reveal the
/// memo with certainty.
const MIN_MEMO_LOSS_MARGIN: f64 = 0.01;

/// Maximum of e₂, which is exp(12). With a larger one, a report would nearly name the memo.
const MAX_REPORT_EXP_EPSILON: f64 = 162_754.0;

/// Thresholds of the two stages of a question whose answers are memoised.
///
/// ```
/// let task: hushbin::Task = serde_json::from_str(r#"{
///     "id": "theme", "epsilon": 1.0, "budget": { "memo": { "epsilon": 2.0, "days": 365 } },
///     "questions": [{ "name": "dark", "kind": "flag", "mechanism": {
///         "name": "collision", "rule": "heaviest", "favoured": 1,
///         "hashing": "balanced", "buckets": 2
///     } }]
/// }"#).unwrap();
/// let stages = task.memo_thresholds().unwrap();
/// assert_eq!((stages.slot_count, stages.slots_supported_per_report), (2, 1));
/// assert!(stages.own_slot_probability.probability() < stages.memo_supported_probability.probability() + 0.1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoAndReportThresholds {
    /// Number N of slots. An option's slot is its index. There may be more slots than options.
    pub slot_count: u32,
    /// Number M of slots that a report supports.
    pub slots_supported_per_report: u32,
    /// Probability that the memo is the answer's own slot.
    pub own_slot_probability: Threshold,
    /// Probability that a report supports the memo.
    pub memo_supported_probability: Threshold,
}

impl MemoAndReportThresholds {
    /// Computes the thresholds for reports with loss `epsilon` from a memo with loss
    /// `memo_epsilon`.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the mechanism is not Collision with equally many slots in each
    /// bucket, or if no second stage has this loss.
    pub(crate) fn new(
        mechanism: &Mechanism,
        domain: &Domain,
        epsilon: f64,
        memo_epsilon: f64,
    ) -> Result<Self, Error> {
        let Some([slots, favoured, buckets]) = mechanism.memo_slot_and_bucket_counts(domain) else {
            return Err(error!(InvalidCombination {
                reason: "a \"memo\" needs the mechanism collision with rule \"heaviest\" and \"hashing\": \"balanced\", 1 of the buckets favoured, or \"balanced-windows\"",
            }));
        };
        let [total, one] = [memo_epsilon, epsilon].map(ExpLowerBound::new);
        let [n, c, t] = [slots, favoured, buckets].map(f64::from);
        let m = n * c / t;
        let [first, excess] = [total, one].map(|bound| bound.to_f64() - 1.0);
        let remainder = first - m * excess;
        let weight = 1.0 + (1.0 - EXP_EPSILON_ROUNDING_MARGIN) * excess * (first + n) / remainder;
        if remainder < MIN_MEMO_LOSS_MARGIN * first || weight > MAX_REPORT_EXP_EPSILON {
            return Err(error!(InvalidCombination {
                reason: "the memo's \"epsilon\" is too small for this mechanism and this \"epsilon\" of a report: take fewer \"favoured\" buckets, or more \"buckets\"",
            }));
        }
        Ok(Self {
            slot_count: slots,
            slots_supported_per_report: slots / buckets * favoured,
            own_slot_probability: Threshold(total.favoured_probability(1, 1, u64::from(slots) - 1)),
            memo_supported_probability: Threshold::from_probability(
                c * weight / (c * weight + t - c),
            ),
        })
    }

    /// Creates the randomizer of the second stage. Its inputs are slots.
    pub(crate) fn report_randomizer(
        &self,
        mechanism: &Mechanism,
        domain: &Domain,
        epsilon: f64,
    ) -> PreparedRandomizer {
        let mut prepared = mechanism.randomizer(domain, epsilon);
        prepared.set_favoured_threshold(self.memo_supported_probability);
        prepared
    }

    /// Draws the memo of an answer, whose slot is `own`. The result is the number of a slot.
    ///
    /// Draws a word that decides whether the memo is the own slot (64 bits) and, if not, one of the
    /// other slots.
    pub(crate) fn draw_memo<R: CryptoRng + ?Sized>(&self, own: u32, rng: &mut R) -> u32 {
        if self.own_slot_probability.draw_bool(rng) {
            return own;
        }
        let other = draw_below(rng, self.slot_count - 1);
        other + u32::from(other >= own)
    }
}
