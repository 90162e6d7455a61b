//! Privacy statements in words: what ε protects, against which attacker, and how much a person
//! spends in a year.
//!
//! Servers, programs and pages show these statements, so each is worded in one place. The local ε
//! is valid against every attacker. The central ε is valid only against an attacker who cannot link
//! reports to people.

use hushbin::mechanism::{Mechanism, NeighbouringInputs};
use hushbin::sums::SumTask;
use hushbin::task::{MemoParameters, NumberScale, QuestionKind, ReportBudget};
use hushbin::{Question, Task};
use serde::Serialize;

use crate::accounting::{BatchPrivacy, MemoisedAnswers, PersonExposure};
pub use crate::numeric::certainty::attacker_certainty_text;
pub use crate::numeric::digits::round_up_to_three_digits;

/// Attackers against whom the local ε protects, in words.
const LOCAL_EPSILON_ATTACKERS: &str = "against everyone, including the operator of the collector";
/// Attacker against whom the central ε protects, in words.
const CENTRAL_EPSILON_ATTACKER: &str = "someone who sees the shuffled batch but nothing that links a \
                                report to a person (no order or time of arrival, no address, no \
                                stable id)";

/// Local privacy of each report of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportPrivacy {
    /// Local ε that the task states, in nats.
    pub epsilon: f64,
    /// Effective local ε of the sampler's integer thresholds, in nats and rounded up. At most
    /// `epsilon`.
    pub effective_epsilon: f64,
    /// Probability δ with which the bound ε fails. It is 0 except for hash-bin with a δ.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) delta: f64,
    /// Part of a person's input that ε protects.
    pub(crate) protects: String,
    /// Meaning of ε, for readers without mathematics.
    pub statement: String,
    /// Maximum number of reports from one person, and the ε that they spend.
    pub(crate) budget: EpsilonSpending,
}

/// Maximum ε that one person spends under a task's budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpsilonSpending {
    /// Length of a time window, and maximum number of reports in each.
    #[serde(flatten)]
    pub(crate) report_limits: ReportBudget,
    /// Sum of ε over the reports in one time window.
    pub(crate) window_epsilon: f64,
    /// Sum of ε over the reports in the 365 days that start with the first report. If the reports
    /// are made from memos, ε of all these reports together.
    pub year_epsilon: f64,
    /// Meaning of these numbers, for readers without mathematics.
    pub statement: String,
}

impl EpsilonSpending {
    /// Computes the spending of one person under a task's budget.
    ///
    /// The ε of all reports add up, for any answers (sequential composition). Reports from one memo
    /// together spend at most the memo's ε.
    #[must_use]
    pub fn spending_for_task(task: &Task) -> Self {
        let from_memo = || Self::from_memoised_reports(task, task.report_budget().memo()?);
        from_memo().unwrap_or_else(|| Self::from_fresh_reports(task))
    }

    fn from_fresh_reports(task: &Task) -> Self {
        let (budget, epsilon) = (task.report_budget(), task.achieved_report_epsilon());
        let [window_epsilon, year_epsilon] =
            [budget.max_reports(), budget.reports_a_year()].map(|own| f64::from(own) * epsilon);
        let [one, window, year] =
            [epsilon, window_epsilon, year_epsilon].map(round_up_to_three_digits);
        let window = match budget.max_reports() {
            1 => String::new(),
            _ => format!(" One window spends at most ε = {window}."),
        };
        Self {
            report_limits: budget,
            window_epsilon,
            year_epsilon,
            statement: format!(
                "A person's browser sends at most {}. Each report spends ε = {one}.{window} A \
                 year has at most {} of them, which together spend ε = {year}: someone who links \
                 them all can become at most {} % sure of an answer that never changed.{}",
                allowed_reports_text(budget),
                budget.reports_a_year(),
                attacker_certainty_text(year_epsilon),
                cover_report_sentences(budget),
            ),
        }
    }

    fn from_memoised_reports(task: &Task, memo: MemoParameters) -> Option<Self> {
        let budget = task.report_budget();
        let year_epsilon = year_epsilon_of_memos(budget, &MemoisedAnswers::for_task(task)?)?;
        let whose = match max_memos_per_year(memo) {
            1 => "the answer that was given first",
            _ => "an answer that never changed",
        };
        let window_epsilon = task.achieved_report_epsilon();
        let [one, year, total] =
            [window_epsilon, year_epsilon, memo.epsilon].map(round_up_to_three_digits);
        Some(Self {
            report_limits: budget,
            window_epsilon,
            year_epsilon,
            statement: format!(
                "A person's browser sends at most {}. It keeps one randomised answer for {}, and \
                 makes all reports of that time from it. One report spends ε = {one}, and all of \
                 them together at most ε = {total}. A year spends at most ε = {year}: someone who \
                 links all its reports can become at most {} % sure of {whose}. Later answers are \
                 reported only when that time is over.",
                allowed_reports_text(budget),
                count_with_noun(memo.days, "day"),
                attacker_certainty_text(year_epsilon),
            ),
        })
    }
}

/// Returns the maximum ε of one person's reports in the 365 days after the first report, if they are
/// made from memos. It is the maximum over all numbers of reports from each memo. `None` if there is
/// no memo.
fn year_epsilon_of_memos(budget: ReportBudget, answers: &MemoisedAnswers) -> Option<f64> {
    let reports = budget.reports_a_year();
    let most = budget.reports_per_memo()?.min(reports);
    let loss = |own| answers.epsilon_of_reports(own);
    let losses: Vec<f64> = (1..=most).map(loss).collect();
    // Entry k is the maximum for k reports.
    let mut best = vec![0.0_f64; reports as usize + 1];
    for _ in 0..max_memos_per_year(budget.memo()?) {
        let with_memo = |total: usize| {
            let last = losses.iter().enumerate().take(total);
            last.fold(best[total], |most, (own, loss)| {
                most.max(best[total - own - 1] + loss)
            })
        };
        best = (0..best.len()).map(with_memo).collect();
    }
    best.pop()
}

/// Returns the maximum number of memos that one person's browser draws in the 365 days after the
/// first report.
fn max_memos_per_year(memo: MemoParameters) -> u32 {
    365_u32.div_ceil(memo.days)
}

fn count_with_noun(count: u32, what: &str) -> String {
    match count {
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Returns the number of reports in a time window and the length of the window, in words.
fn allowed_reports_text(budget: ReportBudget) -> String {
    let days = count_with_noun(budget.window_days(), "day");
    match budget.max_reports() {
        1 => format!("one report in {days}"),
        // Say "in each window", because the last report of one window and the first of the next can
        // be close together.
        reports => format!("{reports} reports in each window of {days}"),
    }
}

/// Returns what cover reports change, as a continuation of a statement. Empty if there are none.
fn cover_report_sentences(budget: ReportBudget) -> String {
    budget.cover().map_or_else(String::new, |cover| {
        format!(
            " A browser sends its report {} after a window begins, or at the next visit, even if \
             there is no answer. So its arrival does not show who has answered. People without an \
             answer are counted as \"no\", as the last option, or as having none of the items.",
            count_with_noun(cover.minutes, "minute"),
        )
    })
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl ReportPrivacy {
    /// Returns the privacy of one report of the task.
    #[must_use]
    pub fn for_task(task: &Task) -> Self {
        // If there are several questions, all of them protect whole inputs with a pure ε. So the
        // first one is enough.
        let mechanism = task.questions()[0].mechanism();
        let neighbours = mechanism.neighbours();
        let (guess, limits) = match neighbours {
            NeighbouringInputs::AnyTwoInputs => ("the answer".to_owned(), String::new()),
            NeighbouringInputs::DifferInOneItem => (
                "the value of one item, given the person's other items".to_owned(),
                " What many items of a person say together is not protected.".to_owned(),
            ),
            NeighbouringInputs::WithinDistance(distance) => (
                "which of two inputs it was made from".to_owned(),
                format!(
                    " This holds for two inputs whose values differ by at most {distance} in sum. \
                     Inputs farther apart are protected less."
                ),
            ),
        };
        let (epsilon, delta) = (task.achieved_report_epsilon(), mechanism.delta());
        let failing = if delta > 0.0 {
            format!(
                " This fails with a probability of at most {delta:e}, if the report's hash \
                 behaves like a random function."
            )
        } else {
            String::new()
        };
        Self {
            epsilon: task.epsilon(),
            effective_epsilon: epsilon,
            delta,
            protects: protected_input_text(neighbours),
            statement: format!(
                "Every report is randomised in the browser, with ε = {}. Anyone who sees a \
                 report, including the operator of this collector, can sharpen a guess only so \
                 far: from 50 % sure of {guess} to at most {} % sure. In general, a report \
                 multiplies the odds of a guess by at most exp(ε) = {}.{limits}{failing}",
                round_up_to_three_digits(epsilon),
                attacker_certainty_text(epsilon),
                round_up_to_three_digits(epsilon.exp()),
            ),
            budget: EpsilonSpending::spending_for_task(task),
        }
    }
}

/// Privacy of a sum task, whose messages go through a shuffler. It has only a central ε.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumPrivacy {
    /// Role of the party that people have to trust.
    #[cfg_attr(feature = "wasm", tsify(type = "\"shuffler\""))]
    pub(crate) trust: &'static str,
    /// Central ε of one person's report, in nats.
    pub central_epsilon: f64,
    /// Probability δ with which the bound ε fails.
    pub(crate) delta: f64,
    /// Minimum number of people in a batch.
    pub people: u64,
    /// Fraction of these people on whose noise the bound relies, in (0, 1].
    pub(crate) honest_fraction: f64,
    /// Meaning of these numbers, and the assumptions behind them.
    pub statement: String,
    /// Maximum number of reports from one person.
    #[cfg_attr(feature = "wasm", tsify(type = "object"))]
    pub(crate) budget: ReportBudget,
}

impl SumPrivacy {
    /// Returns the privacy of one report of the task.
    #[must_use]
    pub fn for_task(task: &SumTask) -> Self {
        let (budget, windows) = (task.report_budget(), task.report_budget().reports_a_year());
        let (epsilon, delta) = (task.central_epsilon(), task.delta());
        let [year, year_delta] = [epsilon, delta].map(|one| one * f64::from(windows));
        Self {
            trust: "shuffler",
            central_epsilon: epsilon,
            delta,
            people: task.min_people(),
            honest_fraction: task.task_fields().honest_fraction,
            statement: format!(
                "There is no local ε. Anyone who links messages to their sender reads the answer. \
                 The shuffler and the analyser together could do that. Against {CENTRAL_EPSILON_ATTACKER}, \
                 each batch is ({epsilon}, {delta:e})-differentially private for every person \
                 with one report in it: except with probability δ, a guess goes from 50 % sure to \
                 at most {} % sure. This assumes that the shuffler follows the protocol, that \
                 every batch has at least {} people, and that the browsers of {} of them follow \
                 the protocol. A person's browser sends at most {}. The 365 days from the first \
                 report add up to at most ({}, {:e}).",
                attacker_certainty_text(epsilon),
                task.min_people(),
                task.honest_people_count(),
                allowed_reports_text(budget),
                round_up_to_three_digits(year),
                round_up_to_three_digits(year_delta),
            ),
            budget,
        }
    }
}

/// Returns the part of a person's input that ε protects, in words.
#[must_use]
pub fn protected_input_text(neighbours: NeighbouringInputs) -> String {
    match neighbours {
        NeighbouringInputs::AnyTwoInputs => "a person's whole input".to_owned(),
        NeighbouringInputs::DifferInOneItem => {
            "the value of any single item, not a whole input".to_owned()
        }
        NeighbouringInputs::WithinDistance(distance) => {
            format!("which of two inputs was sent, if they differ by at most {distance} in sum")
        }
    }
}

/// Returns a statement of the central privacy of the smallest batch of a task that a collector has
/// released. `account` is the account of that batch, and `reports` its number of reports.
///
/// The smallest batch is the least private one, and an analyst may read its totals separately. Each
/// person is assumed to have sent all reports that the budget allows in one time window.
/// `shufflers` are the names of the servers that shuffled the reports before this collector
/// received them. The list is empty if no server shuffled the reports.
#[must_use]
pub fn batch_privacy_statement(
    account: &BatchPrivacy,
    reports: u64,
    task: &Task,
    shufflers: &[String],
) -> String {
    let (epsilon, allowed) = (task.epsilon(), task.report_budget().max_reports());
    let each = match allowed {
        1 => "one report".to_owned(),
        allowed => format!("at most {allowed} reports, whatever the answers,"),
    };
    let by_whom = match shufflers {
        [] => format!(
            "Only this collector shuffled the reports, when it released them. Against its \
             operator, and anyone else who could link reports, the local ε of {epsilon} holds."
        ),
        names => format!(
            "The reports were sealed to this analyser, and shuffled by {} before it received \
             them. So its operator cannot link them either, unless the operator of the shuffler \
             helps. Then the local ε of {epsilon} holds.",
            names.join(" and ")
        ),
    };
    let compared = match task.report_budget().memo() {
        None => String::new(),
        Some(memo) => format!(
            " Batches of reports from the same memos add up differently, to at most ε = {}: see \
             `hushbin account --batches`.",
            round_up_to_three_digits(memo.epsilon)
        ),
    };
    format!(
        "The smallest batch has {reports} reports. Against {CENTRAL_EPSILON_ATTACKER}, it is \
         ({}, {:e})-differentially private, rounded up: a guess goes from 50 % sure to at most {} \
         % sure. This assumes that each person sent {each} and that {} of the reports come from \
         people who follow the protocol. Browsers may send that in each window of {}, so a batch \
         that is open for several windows can hold more reports of one person. Several batches \
         add up.{compared} {by_whom}",
        round_up_to_three_digits(account.central_epsilon),
        account.delta,
        attacker_certainty_text(account.central_epsilon),
        account.honest_reports,
        count_with_noun(task.report_budget().window_days(), "day"),
    )
}

/// Returns a statement of whether the privacy guarantee of a sum task is valid for the smallest
/// batch from a shuffler. `people` is the number of people in that batch.
#[must_use]
pub fn sum_guarantee_check_text(task: &SumTask, people: u64) -> String {
    let least = task.min_people();
    match people {
        0 => "No batch is known to come from a shuffler, so nothing is promised yet.".to_owned(),
        _ if people < least => format!(
            "The smallest batch from a shuffler has {people} people, and the promise needs \
             {least}. It does not hold for the people in that batch. The shuffler should not \
             have sent it, or many of its messages were repeated or invalid."
        ),
        _ => format!(
            "The smallest batch from a shuffler has {people} people. The promise holds, under its \
             assumptions."
        ),
    }
}

/// Returns a statement of a hypothetical account's assumptions, and of the attackers against whom
/// the local and the central ε protect. `epsilon` is the local ε.
#[must_use]
pub fn accounting_assumptions_statement(epsilon: f64, exposure: &PersonExposure) -> String {
    let each = match exposure.reports_per_person {
        1 => "one report".to_owned(),
        reports => format!("up to {reports} reports, whatever the inputs,"),
    };
    let batches = match exposure.batches {
        1 => "the batch".to_owned(),
        batches => format!("each of up to {batches} such batches"),
    };
    format!(
        "Assumed: each person sends {each} in {batches}. More reports reveal more.\n\
         ε = {epsilon} holds for one report {LOCAL_EPSILON_ATTACKERS}. The shuffled ε holds only against \
         {CENTRAL_EPSILON_ATTACKER}. An operator who could link reports must quote ε = {epsilon}."
    )
}

/// Returns a statement of what the local and the central ε of a plan protect, if a fraction
/// `honest_fraction` of the reports is honest.
#[must_use]
pub(crate) fn plan_protection_statement(
    neighbours: NeighbouringInputs,
    honest_fraction: f64,
) -> String {
    let local = match neighbours {
        NeighbouringInputs::AnyTwoInputs => "a person",
        NeighbouringInputs::DifferInOneItem | NeighbouringInputs::WithinDistance(_) => {
            "a single entry"
        }
    };
    let honest = if honest_fraction < 1.0 {
        format!(
            ", if at least a fraction {honest_fraction} of the reports comes from people who \
             follow the protocol"
        )
    } else {
        String::new()
    };
    format!(
        "The local ε protects {local} {LOCAL_EPSILON_ATTACKERS}. The shuffled ε holds only against \
         {CENTRAL_EPSILON_ATTACKER}{honest}."
    )
}

/// Returns a statement of how much too small error bars over several time windows can be. `None`
/// unless reports are made from memos.
///
/// Let person i send mᵢ reports from one memo, each with variance v, of which ρ·v is the variance of
/// the memo. Let n be the number of all reports. Then the sum of the reports has the variance
/// ∑ (mᵢ v + mᵢ(mᵢ − 1) ρ v). The stated variance is n v, which is exact if every mᵢ is 1. If every
/// mᵢ is at most k, the true variance is at most 1 + (k − 1) ρ times the stated one.
#[must_use]
pub fn memo_error_bar_warning(task: &Task) -> Option<String> {
    let share = MemoisedAnswers::for_task(task)?.memo_share_of_variance();
    Some(format!(
        "Reports of one person are made from one randomised answer, whose noise they share. Error \
         bars treat all reports as independent, which holds within one window of {}. Over k \
         windows of the same people, estimates can be off by up to √(1 + {}·(k − 1)) times the \
         stated standard errors, and intervals are too narrow by the same factor.",
        count_with_noun(task.report_budget().window_days(), "day"),
        round_up_to_three_digits(share),
    ))
}

/// Returns a statement of the bias that does not decrease with the number of reports. `None` if
/// estimates are unbiased for people with at most s entries, where s is the sparsity.
#[must_use]
pub fn bias_statement(question: &Question) -> Option<String> {
    let worded = |[min, max]: [f64; 2], unit: Option<&str>| {
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        format!("{min} to {max}{unit}")
    };
    let scaled = |scale: &NumberScale| worded(scale.range(), scale.unit());
    let beyond = match question.kind() {
        QuestionKind::Number(scale) => Some(scaled(scale)),
        QuestionKind::CrossTabulation(cross) => cross.column_part().scale().map(scaled),
        QuestionKind::Numbers(of) if of.is_single() => Some(worded(of[0].range(), of[0].unit())),
        QuestionKind::Numbers(_) => Some("their range".to_owned()),
        _ => None,
    };
    if let Some(range) = beyond {
        return Some(format!(
            "Numbers outside {range} count as the nearer end of that range. Intervals do not \
             cover the effect on a mean."
        ));
    }
    let Mechanism::HashBin(hash_bin) = question.mechanism() else {
        return None;
    };
    let (clip, s) = (
        hash_bin.privacy_level().clipping_bound()?,
        question.max_entries_per_report(),
    );
    let left = hash_bin.share_surviving_clipping(s);
    (left < 1.0).then(|| {
        format!(
            "Each person's sum is clipped to ±{clip}, which pulls estimates towards 0. For a person \
             with {s} full entries, a fraction {left:.3} of each value remains on average. \
             Intervals do not cover this."
        )
    })
}
