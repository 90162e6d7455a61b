//! Which of several questions a report answers.

use alloc::vec::Vec;

use crate::mix::mix64;

/// The question that each seed stands for: public, and drawn before the answers are looked at.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// assert_eq!(draft.resolve().unwrap().draw().question(7), 0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// Sums of the weights of the questions up to each.
    ends: Vec<u32>,
}

impl Draw {
    /// Of weights from 1 whose sum is below 2³².
    pub(crate) fn new(weights: impl Iterator<Item = u32>) -> Self {
        let sum = |sum: &mut u32, weight| {
            *sum += weight;
            Some(*sum)
        };
        Self {
            ends: weights.scan(0, sum).collect(),
        }
    }

    /// Sum of all weights W.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.ends[self.ends.len() - 1]
    }

    /// Question i with probability w_i/W, to within W/2⁶⁴: seeds are uniform and
    /// [`mix64`] is a bijection. No key of a hash function is mixed from the seed
    /// itself, so that what one report hashes does not follow from its question.
    #[must_use]
    pub fn question(&self, seed: u64) -> usize {
        let drawn = ((u128::from(mix64(seed)) * u128::from(self.total())) >> 64) as u32;
        self.ends.partition_point(|end| *end <= drawn)
    }
}
