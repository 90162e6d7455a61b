//! Table of the variances of hushbin and of all competitors for one question.

mod hushbin_row;
mod published_rows;
mod question;
mod variance;

use hushbin::Error;
use hushbin::bounds::PEOPLE_COUNT_RANGE;
use serde::Serialize;

use super::budget::Budget;
use variance::MechanismRow;

pub use question::ComparedQuestion;
pub use variance::EstimateVariance;

/// Comparison table of all mechanisms for a question. hushbin's mechanism is in the first row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MechanismComparison {
    /// Question for which mechanisms are compared.
    pub asked: ComparedQuestion,
    /// Local ε of one report.
    pub epsilon: f64,
    /// Failure probability δ of one report; hushbin does not use it.
    pub delta: f64,
    /// Number of people who report.
    pub people: u64,
    /// Rows, one for each mechanism.
    pub rows: Vec<ComparisonRow>,
}

/// Row of a comparison table, for one mechanism.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Name of the mechanism.
    pub mechanism: &'static str,
    /// Parameters with the least variance, as text.
    pub parameters: String,
    /// Variance of one report's estimate; `None` if the mechanism does not exist at this budget.
    pub variance: Option<EstimateVariance>,
    /// Worst-case variance divided by hushbin's worst-case variance; `None` if either is missing.
    pub worst_ratio: Option<f64>,
    /// Average variance divided by hushbin's average variance; `None` if either is missing.
    pub average_ratio: Option<f64>,
    /// Standard error of the estimate from all `people`: √(worst variance/people).
    pub standard_error: Option<f64>,
    /// Reason why `variance` is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Compares all mechanisms that answer the question, under a budget. `people` is from 1 to 10¹².
///
/// Each variance is the variance of one report's estimate. For a choice, the estimate is of the
/// share of people who gave one answer. Its variance depends on whether the reporting person gave
/// this answer. The worst case is the larger of the two variances, and the average is over the k
/// answers. For a number, the worst case and the average are over values from −1 to 1.
///
/// # Errors
/// [`Error::OutOfRange`] if the question's k or d, or the number of people, is out of range.
///
/// ```
/// use hushbin_study::competitors::{ComparedQuestion, Budget, compare_mechanisms};
///
/// let asked = ComparedQuestion::Choice { options: 2 };
/// let table = compare_mechanisms(asked, &Budget::new(1.0, 0.0)?, 100_000)?;
/// let e = 1.0_f64.exp();
/// assert!((table.rows[0].variance.unwrap().worst - e / (e - 1.0).powi(2)).abs() < 1e-9);
/// // A yes or no needs no hashing.
/// let olh = table.rows.iter().find(|row| row.mechanism == "OLH").unwrap();
/// assert!(olh.worst_ratio.unwrap() > 4.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn compare_mechanisms(
    question: ComparedQuestion,
    budget: &Budget,
    people: u64,
) -> Result<MechanismComparison, Error> {
    PEOPLE_COUNT_RANGE.check_in_range(people as f64)?;
    let ours = hushbin_row::hushbin_row(question, budget)?;
    let mut lines = published_rows::published_mechanism_rows(question, budget);
    lines.insert(0, ours);
    let baseline = lines[0].variance.as_ref().ok().copied();
    let row = |line: MechanismRow| comparison_row(line, baseline, people as f64);
    Ok(MechanismComparison {
        asked: question,
        epsilon: budget.epsilon(),
        delta: budget.delta(),
        people,
        rows: lines.into_iter().map(row).collect(),
    })
}

fn comparison_row(
    line: MechanismRow,
    baseline: Option<EstimateVariance>,
    people: f64,
) -> ComparisonRow {
    let (variance, reason) = match line.variance {
        Ok(variance) => (Some(variance), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let ratio = |part: fn(&EstimateVariance) -> f64| Some(part(&variance?) / part(&baseline?));
    ComparisonRow {
        mechanism: line.mechanism,
        parameters: line.parameters,
        worst_ratio: ratio(|variance| variance.worst),
        average_ratio: ratio(|variance| variance.average),
        standard_error: variance.map(|variance| (variance.worst / people).sqrt()),
        variance,
        reason,
    }
}
