//! What a draft leaves open as the papers print it, to repeat their experiments.

use serde::Deserialize;

/// The source of the parameters that a draft leaves open: `"parameters"` in a task file.
///
/// As printed, Collision has the rule `occupied`, an independent hash and
/// t = ⌊s·e + 2s − 1⌋; CoCo the rule `overwrite` and an independent hash, with the best
/// t ≥ 2s + 2, for which nothing is printed. Hash-bin has an independent hash, with k the
/// most entries that a person has:
///
/// | level | b, at least 1 | clip η | noise |
/// |---|---|---|---|
/// | `event` | ε²k/4, rounded | | |
/// | `neighbouring` | ε²k/L², rounded; with a δ √(ε²k/(L·ln(1/δ))), rounded | | |
/// | `user` | 1 | √(2k·ln(4n/β)) for n people, rounded up to the grid; β = 0.05 | `laplace` |
///
/// How much worse these are is tabled in the collector's errata.
///
/// ```
/// use hushbin::{Mechanism, TaskDraft};
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "t", "items": 100, "sparsity": 4, "epsilon": 1.0, "value": "sign",
///     "mechanism": { "name": "collision", "parameters": "as-printed" }
/// }"#).unwrap();
/// let task = draft.resolve().unwrap();
/// let Mechanism::Collision(collision) = task.sole().unwrap().mechanism() else { panic!() };
/// // 4e + 7 = 17.87
/// assert_eq!(collision.buckets(), 17);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Those of least error.
    #[default]
    Chosen,
    /// Those of the paper.
    AsPrinted,
}
