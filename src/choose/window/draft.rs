//! The window as a task file may leave it open.

use alloc::vec::Vec;

use serde::Deserialize;

/// [`Window`](crate::mechanism::window::Window) with parameters left open.
///
/// ```
/// use hushbin::choose::window::Draft;
///
/// let draft: Draft = serde_json::from_str(r#"{ "drawn": 2 }"#).unwrap();
/// assert_eq!((draft.drawn, draft.atoms), (Some(2), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// m, how many numbers a report tells of.
    pub drawn: Option<u32>,
    /// t, how many atoms each number has.
    pub atoms: Option<u32>,
    /// k, how many atoms a level favours.
    pub favoured: Option<u32>,
    /// Values of the atoms of the upper half.
    pub values: Option<Vec<u32>>,
    /// Numbers for which the values are best.
    pub objective: Option<Objective>,
}

/// Numbers for which the variance of a mean is least. Privacy does not depend on it.
///
/// ```
/// use hushbin::choose::window::{Draft, Objective};
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::Window;
///
/// let domain = Domain::dense(1);
/// let [worst, average] = [Objective::Worst, Objective::Average].map(|objective| {
///     let draft = Draft { objective: Some(objective), ..Draft::default() };
///     Window::choose(&domain, 2.0, &draft).unwrap().rates(&domain, 2.0)
/// });
/// assert!(average.average_variance() < 0.96 * worst.average_variance());
/// assert!(average.worst_variance() > worst.worst_variance());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The worst number: what is promised holds for every crowd.
    Worst,
    /// Numbers spread evenly over the range, on average. The worst variance is greater.
    Average,
}
