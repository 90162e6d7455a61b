//! Draw of the question that a report answers.

use alloc::vec::Vec;

use crate::mix::mix64;

/// Assignment of seeds to questions. The assignment is public, and the seed is drawn before the
/// answers are read.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// assert_eq!(draft.resolve_task().unwrap().question_selector().question_index_for_seed(7), 0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionSelector {
    /// Cumulative sums of the questions' weights.
    cumulative_weights: Vec<u32>,
}

impl QuestionSelector {
    /// Creates the draw for `weights`, each at least 1, with a sum below 2³².
    pub(crate) fn new(weights: impl Iterator<Item = u32>) -> Self {
        let sum = |sum: &mut u32, weight| {
            *sum += weight;
            Some(*sum)
        };
        Self {
            cumulative_weights: weights.scan(0, sum).collect(),
        }
    }

    /// Returns the sum W of all weights.
    #[must_use]
    pub fn total_weight(&self) -> u32 {
        self.cumulative_weights[self.cumulative_weights.len() - 1]
    }

    /// Returns the index of the question that `seed` selects.
    ///
    /// Question i of weight `w_i` has probability `w_i/W`, with an error of at most `W/2⁶⁴`: seeds
    /// are uniform, and [`mix64`] is a bijection. Hash functions never use `mix64(seed)` as a key,
    /// so the question does not reveal what the report hashes.
    #[must_use]
    pub fn question_index_for_seed(&self, seed: u64) -> usize {
        // The high word of the product maps a uniform word to 0 … W − 1.
        let drawn = ((u128::from(mix64(seed)) * u128::from(self.total_weight())) >> 64) as u32;
        self.cumulative_weights.partition_point(|end| *end <= drawn)
    }
}
