//! Draft of the window mechanism in a task file.

use alloc::vec::Vec;

use serde::Deserialize;

/// [`Window`](crate::mechanism::window::Window) whose parameters may be unset.
///
/// ```
/// use hushbin::choose::window::ParametersDraft;
///
/// let draft: ParametersDraft = serde_json::from_str(r#"{ "drawn": 2 }"#).unwrap();
/// assert_eq!((draft.drawn, draft.atoms), (Some(2), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersDraft {
    /// Number of drawn attributes m, which a report covers.
    pub drawn: Option<u32>,
    /// Number of atoms t for each attribute.
    pub atoms: Option<u32>,
    /// Number of atoms k that a level favours.
    pub favoured: Option<u32>,
    /// Values of the atoms in the upper half.
    pub values: Option<Vec<u32>>,
    /// Objective for which the values are chosen.
    pub objective: Option<VarianceObjective>,
}

/// Variance that the choice of the atoms' values minimises. Privacy does not depend on this choice.
///
/// ```
/// use hushbin::choose::window::{ParametersDraft, VarianceObjective};
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::Window;
///
/// let domain = Domain::of_dense_inputs(1);
/// let [worst, average] = [VarianceObjective::Worst, VarianceObjective::Average].map(|objective| {
///     let draft = ParametersDraft { objective: Some(objective), ..ParametersDraft::default() };
///     Window::choose_parameters(&domain, 2.0, &draft).unwrap().estimate_scale_and_variance(&domain, 2.0)
/// });
/// assert!(average.uniform_average_variance() < 0.96 * worst.uniform_average_variance());
/// assert!(average.max_variance() > worst.max_variance());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VarianceObjective {
    /// Worst case over numbers. The variance is then a bound for every distribution of numbers.
    Worst,
    /// Average over numbers spread evenly over the range. The worst-case variance is larger than
    /// under [`Worst`](Self::Worst).
    Average,
}
