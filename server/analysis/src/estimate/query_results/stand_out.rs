//! Items of a long table that stand out: their estimates differ significantly from 0.

use serde::Serialize;

use crate::estimate::point::{Estimand, PointEstimate};
use crate::estimate::query::ItemLabel;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Items that differ significantly from 0, at a controlled rate of false discoveries.
///
/// The method is that of Benjamini and Hochberg, "Controlling the False Discovery Rate" (1995).
/// Among k items, the method finds the greatest i such that tests at level rate·i/k reject i items.
/// Means are tested for being different from 0, shares for being greater than 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SignificantItems {
    /// Maximum expected share of false discoveries among the listed items, in (0, 1/2].
    pub false_discovery_rate: f64,
    /// Estimand that was tested.
    pub(crate) estimand: Estimand,
    /// Items that stand out, sorted by descending distance from 0 in standard errors.
    pub items: Vec<ItemLabel>,
}

/// An item's estimate, with the item's index in the query.
pub(crate) type TestedItem = (usize, PointEstimate);

/// Returns the indices of the items that stand out among all tested ones, sorted by descending
/// distance from 0 in standard errors.
///
/// `limits` is called with the thresholds of each round. It returns a function that computes the
/// confidence limit of an item on one side.
pub(crate) fn benjamini_hochberg<L: Fn(&TestedItem, LimitSide) -> f64>(
    tested: Vec<TestedItem>,
    estimand: Estimand,
    false_discovery_rate: f64,
    limits: impl Fn(TailThresholds) -> L,
) -> Vec<usize> {
    // Two-sided tests of means divide the level between both sides.
    let sides = if estimand == Estimand::Mean { 2.0 } else { 1.0 };
    let all = tested.len() as f64;
    let mut left = tested;
    // Start with i = k and replace i by the number of rejections at its level. The first fixed
    // point is the greatest i of the step-up procedure.
    loop {
        let before = left.len();
        if before == 0 {
            break;
        }
        let level = false_discovery_rate * before as f64 / all;
        let limit = limits(TailThresholds::new(level / sides));
        left.retain(|item| {
            let (_, point) = item;
            let two_sided = estimand == Estimand::Mean;
            // The level of a side is at most 1/4 then, so limits lie beyond the estimate.
            let above = || two_sided && point.estimate < 0.0;
            let below =
                || two_sided && point.estimate <= 0.0 && limit(item, LimitSide::Upper) < 0.0;
            (!above() && limit(item, LimitSide::Lower) > 0.0) || below()
        });
        if left.len() == before {
            break;
        }
    }
    let distance = |(_, point): &TestedItem| (point.estimate / point.standard_error).abs();
    left.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    left.into_iter().map(|(item, _)| item).collect()
}
