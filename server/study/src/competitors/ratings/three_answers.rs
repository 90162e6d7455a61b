//! PrivKV as P1 describes it: reports one of three answers about one random item.

use hushbin::sample::draw_below;
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::sign_value;
use crate::competitors::choice::{RandomizedResponse, SupportProbabilities};
use crate::competitors::numbers::randomly_rounds_up;

/// PrivKV as in P1's figures. A report draws one item uniformly and names it openly. The answer is
/// "absent", + or −. Generalised randomised response keeps it with probability p = e/(e + 2), and
/// replaces it by a given other answer with probability q = 1/(e + 2), where e = exp(ε).
///
/// ```
/// use hushbin_study::competitors::ratings::{RatingOracle, PrivKv, OracleSetting, PrivKvThreeAnswers};
///
/// let setting = OracleSetting { item_count: 256, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let three = PrivKvThreeAnswers::new(&setting)?.report_estimate_moments().mean_variances_by_presence();
/// let published = PrivKv::with_published_budget_split(&setting)?.report_estimate_moments().mean_variances_by_presence();
/// assert!(three[1] < 0.2 * published[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivKvThreeAnswers {
    item_count: u32,
    randomized_response: RandomizedResponse,
}

/// Number that encodes the answer "absent". The answer + is encoded by 0, and − by 1.
const ABSENT_ANSWER_CODE: u32 = 2;

impl PrivKvThreeAnswers {
    /// Creates the mechanism for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            item_count: setting.item_count,
            randomized_response: RandomizedResponse::new(3, &setting.budget_ignoring_delta()?)?,
        })
    }

    /// Returns the probability p of reporting the true answer, and the probability q of reporting a
    /// given other answer. They are exact for the rounded threshold.
    #[must_use]
    pub fn response_probabilities(&self) -> SupportProbabilities {
        self.randomized_response.support_probabilities()
    }
}

impl RatingOracle for PrivKvThreeAnswers {
    fn privacy_loss(&self) -> f64 {
        self.randomized_response.privacy_loss()
    }

    fn report_bits(&self) -> f64 {
        f64::from(self.item_count).log2().ceil() + 2.0
    }

    /// A report about the item estimates the frequencies of + and of − as d·(\[the answer is this
    /// sign\] − q)/(p − q), where \[…\] is 1 or 0. The estimate F of the non-missing frequency is
    /// the sum of these two estimates. The estimate M of the mean is their difference.
    fn linear_estimator(&self) -> LinearEstimator {
        let SupportProbabilities {
            own_answer_probability: p,
            other_answer_probability: q,
        } = self.response_probabilities();
        let scale = f64::from(self.item_count) / (p - q);
        LinearEstimator {
            mean_factor: scale,
            presence_factor_and_offset: Some([scale, 0.0]),
        }
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        let SupportProbabilities {
            own_answer_probability: p,
            other_answer_probability: q,
        } = self.response_probabilities();
        let square = f64::from(self.item_count) / (p - q).powi(2);
        // [answered ±] is 1 if the answer is a sign, otherwise 0. So [answered ±] − 2q is 1 − 2q or
        // −2q.
        let presence = |answered: f64| {
            let missing = 1.0 - answered;
            square * (answered * (1.0 - 2.0 * q).powi(2) + missing * (2.0 * q).powi(2))
        };
        EstimateMoments {
            mean_square: [square * (p + q), square * 2.0 * q],
            presence_moments: Some(PresenceMoments {
                frequency_estimate_variances: [presence(p + q) - 1.0, presence(2.0 * q)],
                // Only + and − contribute to E[F·M]; both have [answered ±] − 2q = 1 − 2q.
                frequency_mean_cross_moment: square * (p - q) * (1.0 - 2.0 * q),
            }),
        }
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let drawn = draw_below(rng, self.item_count) as usize;
        let own = entries.iter().find(|entry| entry.item == drawn as u64);
        let truth = own.map_or(ABSENT_ANSWER_CODE, |entry| {
            u32::from(!randomly_rounds_up(entry.value, rng))
        });
        let answer =
            (self.randomized_response.randomize(truth, rng)).expect("it is one of three answers");
        sums.report_count += 1;
        // Subtracts the expected number of signs from a person without the item, so that the offset
        // of the estimator is 0.
        sums.presence_counts[drawn] -= 2.0 * self.response_probabilities().other_answer_probability;
        if answer != ABSENT_ANSWER_CODE {
            sums.presence_counts[drawn] += 1.0;
            sums.sign_sums[drawn] += sign_value(answer == 0);
        }
    }
}
