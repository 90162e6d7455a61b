//! Subset selection: reports a set of answers. Sets that contain the person's own answer are
//! likelier than other sets.

use hushbin::Error;
use hushbin::sample::{Threshold, draw_below};
use rand_core::CryptoRng;

use super::rates::{SupportProbabilities, check_options};
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::threshold_rounded_down;

/// Subset selection over k answers (Ye and Barg, "Optimal Schemes for Discrete Distribution
/// Estimation Under Locally Differential Privacy", 2018). A report is a set of c answers. Each set
/// that contains the person's answer is exp(ε) times as likely as each set that does not. The δ of
/// a budget is ignored.
///
/// ```
/// use hushbin_study::competitors::{Budget, SubsetSelection};
///
/// let subset = SubsetSelection::new(10, &Budget::new(0.5, 0.0)?)?;
/// assert_eq!(subset.set_size(), 4);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsetSelection {
    option_count: u32,
    set_size: u32,
    support_probabilities: SupportProbabilities,
}

impl SubsetSelection {
    /// Returns the mechanism for k `options`. Its set size c minimises the variance averaged over
    /// all answers.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE).
    pub fn new(options: u32, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        let (k, e) = (f64::from(options), budget.epsilon().exp());
        let of = |chosen: u32| {
            let c = f64::from(chosen);
            // All sets with the person's answer together weigh e·C(k − 1, c − 1), where e = exp(ε).
            // The sets without this answer weigh C(k − 1, c). Both are divided by C(k − 1, c − 1)/c
            // here.
            let all = c * e + k - c;
            let rates = SupportProbabilities {
                own_answer_probability: c * e / all,
                other_answer_probability: c * (e * (c - 1.0) + k - c) / ((k - 1.0) * all),
            };
            Self {
                option_count: options,
                set_size: chosen,
                support_probabilities: rates,
            }
        };
        let total = |own: &Self| {
            own.support_probabilities.single_report_variance(true)
                + (k - 1.0) * own.support_probabilities.single_report_variance(false)
        };
        // The best c is one of the two integers next to k/(e + 1).
        let near = (k / (e + 1.0)) as u32;
        let all = [near, near + 1].map(|chosen| of(chosen.clamp(1, options - 1)));
        let best = all.into_iter().min_by(|a, b| total(a).total_cmp(&total(b)));
        Ok(best.expect("there are two"))
    }

    /// Number of options, k.
    #[must_use]
    pub const fn option_count(&self) -> u32 {
        self.option_count
    }

    /// Number of options in a report, c.
    #[must_use]
    pub const fn set_size(&self) -> u32 {
        self.set_size
    }

    /// Returns two probabilities: that a report contains the person's answer, and that a report
    /// contains a given different answer.
    #[must_use]
    pub const fn support_probabilities(&self) -> SupportProbabilities {
        self.support_probabilities
    }

    /// Returns k/(k − 1) times the variance of one report's estimate of a share, if the k options
    /// are equally frequent.
    ///
    /// A weighted sum of estimated shares has this variance times Σ (weight − mean weight)².
    pub(in crate::competitors) fn unit_contrast_variance(&self) -> f64 {
        let (k, c) = (f64::from(self.option_count), f64::from(self.set_size));
        let SupportProbabilities {
            own_answer_probability: p,
            other_answer_probability: q,
        } = self.support_probabilities;
        c * (k - c) / (k * (k - 1.0)) / (p - q).powi(2)
    }

    /// Probability that a report contains the person's answer, as a threshold.
    pub(in crate::competitors) fn own_answer_threshold(&self) -> Threshold {
        // The computation of p took three roundings.
        threshold_rounded_down(self.support_probabilities.own_answer_probability, 3)
    }

    /// Draws a report for an answer below k, and increments the count of each option in the report.
    ///
    /// # Panics
    /// If there are fewer counts than options.
    pub fn draw_report_into_counts<R: CryptoRng + ?Sized>(
        &self,
        answer: u32,
        rng: &mut R,
        counts: &mut [u64],
    ) {
        let mut left = self.set_size;
        if self.own_answer_threshold().draw_bool(rng) {
            counts[answer as usize] += 1;
            left -= 1;
        }
        // Floyd's algorithm: all sets of `left` options are equally likely.
        let others = self.option_count - 1;
        let mut drawn = Vec::with_capacity(left as usize);
        for last in others - left..others {
            let own = draw_below(rng, last + 1);
            let own = if drawn.contains(&own) { last } else { own };
            drawn.push(own);
            counts[(own + u32::from(own >= answer)) as usize] += 1;
        }
    }
}
