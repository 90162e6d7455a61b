//! Items of a long table that stand out: their estimates differ significantly from 0.

use serde::Serialize;

use crate::estimate::distribution::ContributionDistribution;
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

/// An item's estimate with the distribution of its noise.
pub(crate) struct TestedItem {
    pub(crate) label: ItemLabel,
    pub(crate) point: PointEstimate,
    pub(crate) contribution_distribution: ContributionDistribution,
}

impl TestedItem {
    /// Returns true if a test with error probability `failure` rules out 0.
    fn rejects_zero(&self, estimand: Estimand, reports: f64, failure: &TailThresholds) -> bool {
        let limit = |side| {
            self.contribution_distribution
                .confidence_limit(estimand, self.point, reports, failure, side)
        };
        let below = || estimand == Estimand::Mean && limit(LimitSide::Upper) < 0.0;
        limit(LimitSide::Lower) > 0.0 || below()
    }

    fn distance_from_zero(&self) -> f64 {
        (self.point.estimate / self.point.standard_error).abs()
    }
}

/// Returns the items that stand out among all tested ones.
pub(crate) fn benjamini_hochberg(
    tested: Vec<TestedItem>,
    estimand: Estimand,
    reports: f64,
    false_discovery_rate: f64,
) -> SignificantItems {
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
        let failure = TailThresholds::new(level / sides);
        left.retain(|item| item.rejects_zero(estimand, reports, &failure));
        if left.len() == before {
            break;
        }
    }
    left.sort_by(|a, b| b.distance_from_zero().total_cmp(&a.distance_from_zero()));
    SignificantItems {
        false_discovery_rate,
        estimand,
        items: left.into_iter().map(|item| item.label).collect(),
    }
}
