//! What ε protects, and against whom, in words: the only place that words it.
//!
//! The local ε holds against everybody. The central one holds only against who
//! cannot link reports to people; whoever could must quote the local ε to itself.

use hushbin::mechanism::{Mechanism, Neighbours};
use hushbin::sums::SumTask;
use hushbin::task::{Answers, Budget, Kind, Scale};
use hushbin::{Question, Task};
use serde::Serialize;

use crate::accounting::{Account, Exposure};

/// Whom the local ε holds against.
const EVERYBODY: &str = "against everybody, the operator of the collector included";
/// Somebody whom the central ε holds against.
const CANNOT_LINK: &str = "somebody who sees the shuffled batch and nothing that links a report \
                           to a person (no order or time of arrival, no address, no stable id)";

/// Local privacy of each report of a task: ε in nats, and what it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// Local ε asked for.
    pub epsilon: f64,
    /// Local ε realised by each report, rounded up.
    pub effective_epsilon: f64,
    /// Probability with which that may fail; 0 but for hash-bin with a δ.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) delta: f64,
    /// What ε is about.
    pub(crate) protects: String,
    /// What that means.
    pub statement: String,
    /// How much one person reports, and what that costs.
    pub(crate) budget: Spending,
}

/// What one person spends under a task's budget, at most, whose ε is one report's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spending {
    /// Windows, and reports in each.
    #[serde(flatten)]
    pub(crate) budget: Budget,
    /// ε of all reports of a window together.
    pub(crate) window_epsilon: f64,
    /// ε of all reports of the 365 days from the first on together.
    pub(crate) year_epsilon: f64,
    /// What that means.
    pub statement: String,
}

impl Spending {
    /// Of a task's budget.
    ///
    /// What each report gives away adds up, whatever it is of (group privacy).
    #[must_use]
    pub fn for_task(task: &Task) -> Self {
        let (budget, epsilon) = (task.budget(), task.effective_epsilon());
        let window_epsilon = f64::from(budget.reports()) * epsilon;
        let year_epsilon = f64::from(budget.reports_a_year()) * epsilon;
        let [one, window, year] = [epsilon, window_epsilon, year_epsilon].map(rounded_up);
        let window = match budget.reports() {
            1 => format!("which spends ε = {window}"),
            _ => format!("which together spend ε = {window}"),
        };
        let year = format!("in the 365 days from the first ε = {year} is spent at most");
        let stays = match budget.answers() {
            Answers::Fresh => String::new(),
            Answers::Permanent => format!(
                " Where answers stay, later windows send the same reports again: they spend ε = \
                 {one} once for as long as that lasts, and show whoever receives them that one \
                 person sent them, whose answers have not changed."
            ),
        };
        let changes = match budget.reports() {
            1 => "",
            _ => {
                " Within a window only other answers are reported again: whoever can link a \
                 person's uploads learns for certain that answers changed, which no ε covers."
            }
        };
        Self {
            budget,
            window_epsilon,
            year_epsilon,
            statement: format!(
                "A person's browser sends {} at most, {window}; {year}.{stays}{changes}",
                allowed(budget)
            ),
        }
    }
}

/// An ε in four digits behind the point, which it does not exceed.
fn rounded_up(epsilon: f64) -> f64 {
    (1e4 * epsilon).ceil() / 1e4
}

/// A δ in three digits, which it does not exceed.
fn delta_up(delta: f64) -> String {
    let exponent = delta.log10().floor();
    let mantissa = 100.0 * delta / 10_f64.powf(exponent);
    // What is within a rounding of three digits has three.
    format!("{}e{exponent}", (mantissa * (1.0 - 1e-12)).ceil() / 100.0)
}

fn counted(count: u32, what: &str) -> String {
    match count {
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}

/// How many reports of a person there are in a window, and how long that is. Of several the
/// last of one window and the first of the next may be close together.
fn allowed(budget: Budget) -> String {
    let (reports, days) = (budget.reports(), counted(budget.days(), "day"));
    match reports {
        1 => format!("one report in {days}"),
        _ => format!("{reports} reports in each window of {days}"),
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Privacy {
    /// Of one report of the task.
    #[must_use]
    pub fn for_task(task: &Task) -> Self {
        // Of several, all protect whole inputs under pure ε.
        let mechanism = task.questions()[0].mechanism();
        let neighbours = mechanism.neighbours();
        let about = match neighbours {
            Neighbours::Any => "the person who sent it".to_owned(),
            Neighbours::OneItem => "the value of any one item, the person's other items being \
                 given; what many items of a person say together is not protected"
                .to_owned(),
            Neighbours::Within(distance) => format!(
                "which of two inputs it was made of, if their values differ by at most {distance} \
                 in sum; inputs farther apart are protected less"
            ),
        };
        let delta = mechanism.delta();
        let failing = if delta > 0.0 {
            format!(
                " This fails with a probability of at most {delta:e}, if the hash of the report is \
                 as good as random."
            )
        } else {
            String::new()
        };
        Self {
            epsilon: task.epsilon(),
            effective_epsilon: task.effective_epsilon(),
            delta,
            protects: protects(neighbours),
            statement: format!(
                "Every report was randomised in the browser under local differential privacy: \
                 whoever sees it, the operator of this collector included, learns from it at most \
                 a factor of exp(epsilon) about {about}.{failing} A person who reports several \
                 times spends epsilon each time."
            ),
            budget: Spending::for_task(task),
        }
    }
}

/// Privacy of a task whose sums a shuffler hides: central, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumPrivacy {
    /// Whom those who answer have to trust.
    #[cfg_attr(feature = "wasm", tsify(type = "\"shuffler\""))]
    pub(crate) trust: &'static str,
    /// Central ε of one report, in nats.
    pub central_epsilon: f64,
    /// δ of the same.
    pub(crate) delta: f64,
    /// People of a batch at least.
    pub people: u64,
    /// The part of them whose noise is counted on.
    pub(crate) honest_fraction: f64,
    /// What that means.
    pub statement: String,
    /// How much one person reports.
    #[cfg_attr(feature = "wasm", tsify(type = "object"))]
    pub(crate) budget: Budget,
}

impl SumPrivacy {
    /// Of one report of the task.
    #[must_use]
    pub fn for_task(task: &SumTask) -> Self {
        let (budget, windows) = (task.budget(), task.budget().reports_a_year());
        let (epsilon, delta) = (task.central_epsilon(), task.delta());
        let [year, year_delta] = [epsilon, delta].map(|one| one * f64::from(windows));
        Self {
            trust: "shuffler",
            central_epsilon: epsilon,
            delta,
            people: task.people(),
            honest_fraction: task.parts().honest_fraction,
            statement: format!(
                "There is no local epsilon: whoever links messages to the person who sent them \
                 reads the answer, and the shuffler could, together with who can open them. \
                 Against {CANNOT_LINK}, a batch is ({epsilon}, {delta:e})-differentially private \
                 for each person with one report in it, if the shuffler does what it says, no batch \
                 has fewer than {} people, and the browsers of {} of them follow the protocol. A \
                 person's browser sends {} at most; in the 365 days from the first that is ({}, {}) at most.",
                task.people(),
                task.honest_people(),
                allowed(budget),
                rounded_up(year),
                delta_up(year_delta),
            ),
            budget,
        }
    }
}

/// Few words for what a report protects.
#[must_use]
pub fn protects(neighbours: Neighbours) -> String {
    match neighbours {
        Neighbours::Any => "a person's whole input".to_owned(),
        Neighbours::OneItem => "the value of any single item, not a whole input".to_owned(),
        Neighbours::Within(distance) => {
            format!("which of two inputs it is that differ by at most {distance} in sum")
        }
    }
}

/// The statement beside an [`Account`] of the smallest batch that a collector has released of
/// a task, of people who send as many reports as its budget allows in one window: whoever may
/// read one batch alone has no others to hide them among. The reports were shuffled by those of
/// these names before the collector had them, or by nobody else.
#[must_use]
pub fn batch_statement(
    account: &Account,
    reports: u64,
    task: &Task,
    shufflers: &[String],
) -> String {
    let (epsilon, allowed) = (task.epsilon(), task.budget().reports());
    let each = match allowed {
        1 => "one report".to_owned(),
        allowed => format!("at most {allowed} reports, of whatever answers,"),
    };
    let by_whom = match shufflers {
        [] => format!(
            "Nobody but this collector has shuffled them, as they were released: against its \
             operator, and whoever else could link, the local epsilon of {epsilon} holds."
        ),
        names => format!(
            "They were sealed to this analyser, and shuffled by {} before it had them, so that \
             its operator is among those who cannot link, unless whoever runs the shuffler helps: \
             then the local epsilon of {epsilon} holds.",
            names.join(" and ")
        ),
    };
    let compared = match task.budget().answers() {
        Answers::Fresh => "",
        Answers::Permanent => {
            " That is of one batch. Answers are permanent: whoever compares batches of the same \
             reports can be left with that of somebody who joined or left, for whom the local \
             epsilon holds."
        }
    };
    format!(
        "Against {CANNOT_LINK}, and who may read released batches one by one, the {reports} \
         reports of the smallest are ({}, {:e})-differentially private, rounded up, if each \
         person sent {each} and {} of them come from people who follow the protocol. Browsers \
         send that in each window of {}: a batch that is open over several, or takes what has \
         waited, can have more of a person, and several batches add up.{compared} {by_whom}",
        rounded_up(account.central_epsilon),
        account.delta,
        account.honest_reports,
        counted(task.budget().days(), "day"),
    )
}

/// The statement beside the smallest batch of messages that shufflers sent of a task.
#[must_use]
pub fn sum_batch_statement(task: &SumTask, messages: u64) -> String {
    let (least, each) = (task.batch_messages(), task.messages().count());
    match messages {
        0 => {
            "Of no batch is it known that a shuffler hid it: none is promised anything.".to_owned()
        }
        _ if messages < least => format!(
            "The smallest batch that a shuffler sent has {messages} messages, and the promise takes \
             {least}: it does not hold for its people, whom the shuffler was not to send."
        ),
        _ => format!(
            "The smallest batch that a shuffler sent has {messages} messages, those of {} people: \
             the promise holds, under what it assumes.",
            messages / u64::from(each)
        ),
    }
}

/// The statement beside an account of what is only supposed: what was assumed of
/// people, and what holds against whom.
#[must_use]
pub fn account_statement(epsilon: f64, exposure: &Exposure) -> String {
    let each = match exposure.reports_per_person {
        1 => "one report".to_owned(),
        reports => format!("up to {reports} reports, of whatever inputs,"),
    };
    let batches = match exposure.batches {
        1 => "the batch".to_owned(),
        batches => format!("each of up to {batches} such batches"),
    };
    format!(
        "Assumed of every person: {each} in {batches}. More reports give away more.\n\
         ε = {epsilon} holds for one report {EVERYBODY}. The shuffled ε holds only against \
         {CANNOT_LINK}. A collector that could link must quote ε = {epsilon} to itself."
    )
}

/// The statement beside a plan, of which a part `honest_fraction` of the reports is
/// assumed to be honest.
#[must_use]
pub(crate) fn plan_statement(neighbours: Neighbours, honest_fraction: f64) -> String {
    let local = match neighbours {
        Neighbours::Any => "a person",
        Neighbours::OneItem | Neighbours::Within(_) => "a single entry",
    };
    let honest = if honest_fraction < 1.0 {
        format!(
            ", if a part of {honest_fraction} of the reports comes from people who follow the \
             protocol"
        )
    } else {
        String::new()
    };
    format!(
        "The local ε protects {local} {EVERYBODY}; the shuffled ε holds only against \
         {CANNOT_LINK}{honest}."
    )
}

/// What error bars over several windows leave out, in words; `None` where each report is drawn
/// anew.
///
/// Of n reports person i sent m_i, all one draw of variance v: their sum varies by v ∑ m_i², which
/// is v n, as stated, where every m_i is 1, and k times that at most, where none is above k.
#[must_use]
pub fn repeats(task: &Task) -> Option<String> {
    let budget = task.budget();
    (budget.answers() == Answers::Permanent).then(|| {
        format!(
            "Answers are permanent: whoever's answers stay sends the same report again in each \
             window of {}. Error bars count every report as drawn anew, which holds within one \
             window: estimates over k windows are off by up to √k times the standard errors that \
             are stated, and intervals are too narrow by as much.",
            counted(budget.days(), "day")
        )
    })
}

/// The bias that no number of reports lessens, in words; `None` where there is
/// none for people with at most s entries.
#[must_use]
pub fn bias(question: &Question) -> Option<String> {
    let told = |[min, max]: [f64; 2], unit: Option<&str>| {
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        format!("{min} to {max}{unit}")
    };
    let scaled = |scale: &Scale| told(scale.range(), scale.unit());
    let beyond = match question.kind() {
        Kind::Number(scale) => Some(scaled(scale)),
        Kind::Cross(cross) => cross.columns().scale().map(scaled),
        Kind::Numbers(of) if of.is_alone() => Some(told(of[0].range(), of[0].unit())),
        Kind::Numbers(_) => Some("their range".to_owned()),
        _ => None,
    };
    if let Some(range) = beyond {
        return Some(format!(
            "Numbers beyond {range} counted as the end that they are nearer to. \
             Intervals do not cover what that takes off a mean."
        ));
    }
    let Mechanism::HashBin(hash_bin) = question.mechanism() else {
        return None;
    };
    let (clip, s) = (hash_bin.level().clip()?, question.sparsity());
    let left = hash_bin.left(s);
    (left < 1.0).then(|| {
        format!(
            "A person's sum was clipped to ±{clip}, which pulls estimates towards 0: of each value \
             of a person with {s} full entries a part of {left:.3} is left on average. Intervals \
             do not cover that."
        )
    })
}
