//! Which answers stand out of a long table.

use serde::Serialize;

use crate::estimate::law::Law;
use crate::estimate::point::{Estimand, Point};
use crate::estimate::query::Label;
use crate::numeric::limits::{Failure, Side};

/// The items whose estimate cannot be told by chance, of which a known part is expected
/// to be there by chance nevertheless.
///
/// Benjamini and Hochberg, "Controlling the False Discovery Rate" (1995): of k items those
/// i stand out whose tests at level rate·i/k say so, for the greatest such i. Means are
/// tested to be other than 0, shares to be more than 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StandOut {
    /// The part of those listed, on average, of whom it is not true; in (0, 1/2].
    pub false_discovery_rate: f64,
    /// What was tested.
    pub(crate) estimand: Estimand,
    /// The items, those first that are the most standard errors from 0.
    pub items: Vec<Label>,
}

/// An item's estimate and the law of its noise.
pub(crate) struct Tested {
    pub(crate) label: Label,
    pub(crate) point: Point,
    pub(crate) law: Law,
}

impl Tested {
    /// Whether 0 is ruled out by a test that errs with probability `failure`.
    fn rejects(&self, estimand: Estimand, reports: f64, failure: &Failure) -> bool {
        let limit = |side| self.law.limit(estimand, self.point, reports, failure, side);
        let below = || estimand == Estimand::Mean && limit(Side::Upper) < 0.0;
        limit(Side::Lower) > 0.0 || below()
    }

    fn distance(&self) -> f64 {
        (self.point.estimate / self.point.standard_error).abs()
    }
}

/// The items that stand out, from all that were tested together.
///
/// From all k on, so many are left as tests at the level of so many reject; where no more
/// fall, that number is the greatest i that is asked for.
pub(crate) fn among(
    tested: Vec<Tested>,
    estimand: Estimand,
    reports: f64,
    false_discovery_rate: f64,
) -> StandOut {
    let sides = if estimand == Estimand::Mean { 2.0 } else { 1.0 };
    let all = tested.len() as f64;
    let mut left = tested;
    loop {
        let before = left.len();
        if before == 0 {
            break;
        }
        let level = false_discovery_rate * before as f64 / all;
        let failure = Failure::new(level / sides);
        left.retain(|item| item.rejects(estimand, reports, &failure));
        if left.len() == before {
            break;
        }
    }
    left.sort_by(|a, b| b.distance().total_cmp(&a.distance()));
    StandOut {
        false_discovery_rate,
        estimand,
        items: left.into_iter().map(|item| item.label).collect(),
    }
}
