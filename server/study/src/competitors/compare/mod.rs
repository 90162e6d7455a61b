//! Every mechanism's variance for one question, beside ours.

mod asked;
mod ours;
mod theirs;
mod variance;

use hushbin::Error;
use hushbin::bounds::PEOPLE;
use serde::Serialize;

use super::budget::Budget;
use variance::Line;

pub use asked::Asked;
pub use variance::Variance;

/// Every mechanism for a question, ours first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is asked.
    pub asked: Asked,
    /// ε of one report.
    pub epsilon: f64,
    /// δ of one report; ours has none.
    pub delta: f64,
    /// How many people report.
    pub people: u64,
    /// The mechanisms.
    pub rows: Vec<Row>,
}

/// One mechanism.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub mechanism: &'static str,
    /// Its parameters at their best, in words.
    pub parameters: String,
    /// Of one report's estimate; `None` where the mechanism does not exist at this budget.
    pub variance: Option<Variance>,
    /// The worst variance over that of ours.
    pub worst_ratio: Option<f64>,
    /// The average variance over that of ours.
    pub average_ratio: Option<f64>,
    /// Standard error of the estimate at so many people, root of worst variance over people.
    pub standard_error: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Compares mechanisms under a budget at a number of people, 1 to 10¹².
///
/// Variances are of one report: of an answer's share, worst over one's own and another
/// answer and averaged over all k; of a number, worst and averaged over −1 to 1.
///
/// # Errors
/// [`Error::OutOfRange`] where the question's k, its d or the number of people is.
///
/// ```
/// use hushbin_study::competitors::{Asked, Budget, compare};
///
/// let asked = Asked::Choice { options: 2 };
/// let table = compare(asked, &Budget::new(1.0, 0.0)?, 100_000)?;
/// let e = 1.0_f64.exp();
/// assert!((table.rows[0].variance.unwrap().worst - e / (e - 1.0).powi(2)).abs() < 1e-9);
/// // A yes or no needs no hashing.
/// let olh = table.rows.iter().find(|row| row.mechanism == "OLH").unwrap();
/// assert!(olh.worst_ratio.unwrap() > 4.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn compare(asked: Asked, budget: &Budget, people: u64) -> Result<Comparison, Error> {
    PEOPLE.check(people as f64)?;
    let ours = ours::line(asked, budget)?;
    let mut lines = theirs::lines(asked, budget);
    lines.insert(0, ours);
    let baseline = lines[0].variance.as_ref().ok().copied();
    let row = |line: Line| row(line, baseline, people as f64);
    Ok(Comparison {
        asked,
        epsilon: budget.epsilon(),
        delta: budget.delta(),
        people,
        rows: lines.into_iter().map(row).collect(),
    })
}

fn row(line: Line, baseline: Option<Variance>, people: f64) -> Row {
    let (variance, reason) = match line.variance {
        Ok(variance) => (Some(variance), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let ratio = |part: fn(&Variance) -> f64| Some(part(&variance?) / part(&baseline?));
    Row {
        mechanism: line.mechanism,
        parameters: line.parameters,
        worst_ratio: ratio(|variance| variance.worst),
        average_ratio: ratio(|variance| variance.average),
        standard_error: variance.map(|variance| (variance.worst / people).sqrt()),
        variance,
        reason,
    }
}
