//! Privacy of memoised answers: a permanent randomised answer (the memo) stays in the browser, and
//! each report is made from it with a new seed.
//!
//! The memo is one of N slots. It is the slot of the answer with the weight e₁ = exp(ε_total), and
//! any other slot with the weight 1. A report supports M slots. It supports the memo with the
//! weight e₂, relative to reports that do not.
//!
//! Averaged over the memo, one report is subset selection of M of N slots at ε_one, so estimates
//! from one window are as exact as those from fresh reports at ε_one. The losses of several reports
//! do not add up: they approach ε_total, and never exceed it.
//!
//! Sources: Erlingsson, Pihur, Korolova, "RAPPOR" (2014); Arcolezi et al., "Frequency Estimation of
//! Evolving Data Under Local Differential Privacy" (arXiv 2210.00262). The exact losses of reports
//! that name a seed and a bucket are hushbin's own.

use hushbin::bounds::{EPSILON_RANGE, ParameterRange};
use hushbin::{Error, Task};

use super::batch_privacy::BatchPrivacy;
use super::composition::{ComposedPrivacy, PersonExposure, compute_composed_privacy};
use super::mixture::alpha::ReportMixture;
use super::ranges::DELTA_RANGE;

/// Relative increase that covers the rounding of a loss that is computed in doubles.
const ROUNDING_MARGIN: f64 = 1e-12;

/// Number of reports above which the loss is taken to be that of the memo.
const MAX_REPORTS_FOR_EXACT_LOSS: u32 = 4096;

/// Memo and reports of one question whose answers are memoised.
///
/// ```
/// use hushbin_analysis::accounting::MemoisedAnswers;
///
/// // A flag with a total of ε = 2 and ε = 1 for each report.
/// let flag = MemoisedAnswers::new(2, 1, 2.0, 1.0)?;
/// let year: Vec<f64> = [1, 2, 3, 12].map(|reports| flag.epsilon_of_reports(reports)).to_vec();
/// assert!(year[0] <= 1.0 + 1e-9 && year[1] < 1.65 && year[2] < 1.9 && year[3] <= 2.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoisedAnswers {
    slot_count: u32,
    supported_slot_count: u32,
    total_epsilon: f64,
    single_report_epsilon: f64,
    report_epsilon_about_memo: f64,
}

impl MemoisedAnswers {
    /// Creates the description of a question with `slots` slots, at least 2. Each report supports
    /// `supported` of them, from 1 to `slots` − 1. `total_epsilon` is the limit on the loss of all
    /// reports, and `report_epsilon` the loss of one report.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a parameter is out of range, or if `report_epsilon` is so large
    /// that no second stage has this loss: exp(ε_one) must be below 1 + (exp(ε_total) − 1)/M.
    pub fn new(
        slots: u32,
        supported: u32,
        total_epsilon: f64,
        report_epsilon: f64,
    ) -> Result<Self, Error> {
        let in_range =
            |name, min, max, value| ParameterRange { name, min, max }.check_in_range(value);
        in_range("slots", 2.0, f64::from(u32::MAX), f64::from(slots))?;
        in_range(
            "supported",
            1.0,
            f64::from(slots) - 1.0,
            f64::from(supported),
        )?;
        EPSILON_RANGE.check_in_range(total_epsilon)?;
        let [n, m] = [slots, supported].map(f64::from);
        let [first, one] = [total_epsilon, report_epsilon].map(f64::exp_m1);
        // At ln(1 + (e₁ − 1)/M), a report would have to reveal the memo with certainty.
        let most = (first / m).ln_1p() * (1.0 - ROUNDING_MARGIN);
        in_range("report_epsilon", EPSILON_RANGE.min, most, report_epsilon)?;
        let second = one * (first + n) / m.mul_add(-one, first);
        Ok(Self {
            slot_count: slots,
            supported_slot_count: supported,
            total_epsilon,
            single_report_epsilon: report_epsilon,
            report_epsilon_about_memo: second.ln_1p(),
        })
    }

    /// Creates the description of a task, or returns `None` if the task's budget has no memo.
    ///
    /// # Panics
    /// Never: a task with a memo has a second stage.
    #[must_use]
    pub fn for_task(task: &Task) -> Option<Self> {
        let (stages, memo) = (task.memo_thresholds()?, task.report_budget().memo()?);
        let answers = Self::new(
            stages.slot_count,
            stages.slots_supported_per_report,
            memo.epsilon,
            task.epsilon(),
        );
        Some(answers.expect("the core has checked that there is a second stage"))
    }

    /// Returns ε₂ = ln e₂, the loss of one report about the memo.
    #[must_use]
    pub const fn report_epsilon_about_memo(&self) -> f64 {
        self.report_epsilon_about_memo
    }

    /// Returns the loss of `reports` reports that are made from one memo, rounded up: the maximum
    /// over all seeds, all reports and all pairs of answers.
    #[must_use]
    pub fn epsilon_of_reports(&self, reports: u32) -> f64 {
        if reports > MAX_REPORTS_FOR_EXACT_LOSS {
            return self.total_epsilon;
        }
        // By symmetry, the worst reports all support the first answer's slot, and j of them the
        // second answer's slot. The other slots should then be supported as evenly as possible.
        let most = if self.supported_slot_count == 1 {
            0
        } else {
            reports
        };
        let loss = (0..=most).filter_map(|shared| self.log_likelihood_ratio(reports, shared));
        let worst = loss.fold(0.0, f64::max) * (1.0 + ROUNDING_MARGIN);
        worst.min(self.total_epsilon)
    }

    /// Returns the log-likelihood ratio of T = `reports` reports that all support one answer's
    /// slot, `shared` of them also the other answer's slot. `None` if no such reports exist.
    fn log_likelihood_ratio(&self, reports: u32, shared: u32) -> Option<f64> {
        let others = u64::from(self.slot_count) - 2;
        let support = u64::from(reports) * u64::from(self.supported_slot_count - 1);
        let support = support.checked_sub(shared.into())?;
        // Weights are divided by e₂^T, so that none of them overflows.
        let weight = |supporting: u64| {
            let missing = u64::from(reports).checked_sub(supporting)?;
            Some((-self.report_epsilon_about_memo * missing as f64).exp())
        };
        let rest = match support.checked_div(others) {
            None => (support == 0).then_some(0.0)?,
            Some(each) => {
                let more = support % others;
                let larger = if more == 0 { 0.0 } else { weight(each + 1)? };
                more as f64 * larger + (others - more) as f64 * weight(each)?
            }
        };
        let first = self.total_epsilon.exp();
        let [all, some] = [1.0, weight(shared.into())?];
        Some(((first * all + some + rest) / (first * some + all + rest)).ln())
    }

    /// Returns the central ε of shuffled batches, if each batch has one report of a person, and if
    /// reports about the memos are (`composed_epsilon`, δ)-private in all batches together. The
    /// central δ is λδ, where λ is [`MemoisedAnswers::true_slot_weight`].
    ///
    /// The memo hides the answer further, by joint convexity of the divergence.
    #[must_use]
    pub fn central_epsilon(&self, composed_epsilon: f64) -> f64 {
        let mixed = (self.true_slot_weight() * composed_epsilon.exp_m1()).ln_1p();
        (mixed * (1.0 + ROUNDING_MARGIN)).min(self.total_epsilon)
    }

    /// Returns the weight λ of the answer's own slot, if the memo's distribution is a mixture of
    /// that slot and the uniform distribution over all slots.
    #[must_use]
    pub fn true_slot_weight(&self) -> f64 {
        let first = self.total_epsilon.exp_m1();
        first / (first + f64::from(self.slot_count))
    }

    /// Returns the central privacy of a person's reports in several batches, if they are made from
    /// one memo. A batch has `reports` reports, of which a fraction `honest_fraction` is honest.
    /// `mixture_at(ε)` returns the mixture of the task's mechanism at a local ε.
    ///
    /// The attacker is given the memos: the reports are then independent with loss ε₂, and
    /// [`MemoisedAnswers::central_epsilon`] adds the protection of the memo. For one report of a
    /// person in one batch, the account of a fresh report proves less loss.
    ///
    /// # Errors
    /// The errors of [`compute_composed_privacy`] and of `mixture_at`.
    pub fn compute_privacy<E: From<Error>>(
        &self,
        mixture_at: impl Fn(f64) -> Result<ReportMixture, E>,
        reports: u64,
        honest_fraction: f64,
        delta: f64,
        exposure: PersonExposure,
    ) -> Result<ComposedPrivacy, E> {
        let account = |epsilon, delta| {
            let mixture = mixture_at(epsilon)?;
            let composed =
                compute_composed_privacy(&mixture, reports, honest_fraction, delta, exposure);
            composed.map_err(E::from)
        };
        DELTA_RANGE.check_in_range(delta)?;
        // The memo multiplies δ by λ, so the reports may have a larger δ.
        let larger = (delta / self.true_slot_weight()).min(DELTA_RANGE.max);
        let given_memo = account(self.report_epsilon_about_memo, larger)?;
        let behind_memo = |epsilon| self.central_epsilon(epsilon);
        Ok(ComposedPrivacy {
            account: BatchPrivacy {
                central_epsilon: behind_memo(given_memo.account.central_epsilon),
                // No lower bound is known behind a memo.
                reduction_lower_epsilon: 0.0,
                reduction_attained: false,
                delta,
                ..given_memo.account
            },
            one_batch_epsilon: behind_memo(given_memo.one_batch_epsilon),
            basic_epsilon: behind_memo(given_memo.basic_epsilon),
            advanced_epsilon: behind_memo(given_memo.advanced_epsilon),
            ..given_memo
        })
    }

    /// Returns the share of the variance of one report that is the variance of the memo, as the
    /// maximum over people with and without the estimated answer. Over k windows of the same
    /// people, errors are up to √(1 + (k − 1)·share) times those of independent reports.
    #[must_use]
    pub fn memo_share_of_variance(&self) -> f64 {
        let share = |present| {
            let memo = contribution_variance(1, self.slot_count, self.total_epsilon, present);
            memo / contribution_variance(
                self.supported_slot_count,
                self.slot_count,
                self.single_report_epsilon,
                present,
            )
        };
        share(false).max(share(true))
    }

    /// Returns the variance of one person's contribution to the estimated share of an answer that
    /// the person does not have, for the average over `windows` windows. It does not fall below the
    /// variance of the memo alone.
    #[must_use]
    pub fn variance_over_windows(&self, windows: u32) -> f64 {
        let memo = contribution_variance(1, self.slot_count, self.total_epsilon, false);
        let one = contribution_variance(
            self.supported_slot_count,
            self.slot_count,
            self.single_report_epsilon,
            false,
        );
        memo + (one - memo) / f64::from(windows)
    }
}

/// Returns the variance of one person's contribution to an answer's share, for subset selection of
/// `supported` of `slots` slots at `epsilon`: q(1 − q)/(p − q)² if the person does not have the
/// answer, and p(1 − p)/(p − q)² if it is `present`.
fn contribution_variance(supported: u32, slots: u32, epsilon: f64, present: bool) -> f64 {
    let [m, n] = [supported, slots].map(f64::from);
    let favoured = m * epsilon.exp();
    let p = favoured / (favoured + n - m);
    let q = (m - p) / (n - 1.0);
    let hit = if present { p } else { q };
    hit * (1.0 - hit) / (p - q).powi(2)
}
