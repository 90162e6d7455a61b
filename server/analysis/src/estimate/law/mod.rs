//! Distributions of the sums from which estimates are computed, for every possible true value.
//! Confidence limits are derived from them.

mod hits;
mod noise;
mod one_answer;
pub(crate) mod patterned;
mod score;
mod width;

pub(crate) use hits::{HitDistribution, Outcomes};
pub(crate) use noise::LaplaceDistribution;
pub(crate) use one_answer::SingleAnswerHits;
pub(crate) use patterned::PatternEstimates;
pub(crate) use score::{BetweenNodes, Crowd, MAX_TILT, Score, ScoreDistribution};
pub(crate) use width::IntervalWidth;

use std::sync::Arc;

use crate::estimate::point::{Estimand, Point};
use crate::numeric::limits::{Failure, Side};

/// Counts of reports, by cell, for a question that asks for a number or a cross-tabulation.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    /// Number of hits on each cell.
    Flat(SingleAnswerHits),
    /// Counts of a pattern's outputs, from which bins are estimated.
    Patterned(PatternEstimates),
}

impl Cells {
    /// Returns the number of hits on each cell of a cross-tabulation.
    ///
    /// # Panics
    /// If the reports are outputs of a pattern.
    pub(crate) fn flat(&self) -> &SingleAnswerHits {
        match self {
            Self::Flat(answers) => answers,
            Self::Patterned(_) => panic!("patterns are for the bins of a number"),
        }
    }
}

/// Distribution of the reports' contributions to the estimates of one item.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Law {
    /// Unspecified distribution. Limits use the normal distribution.
    Normal,
    /// Reports hit the item's plus side, its minus side, both or neither.
    Hits(HitDistribution),
    /// Reports add noise of a known distribution.
    Noise(LaplaceDistribution),
    /// Reports contribute scores of a known distribution.
    Scores(Arc<ScoreDistribution>),
}

impl Law {
    /// Returns the confidence limit for the true value on one side, from `reports` reports.
    pub(crate) fn limit(
        &self,
        estimand: Estimand,
        point: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        match self {
            Self::Normal => normal_limit(point, failure, side),
            Self::Hits(law) => law.limit(estimand, point, reports, failure, side),
            Self::Noise(law) => law.limit(point, reports, failure, side),
            Self::Scores(law) => law.limit(point, reports as u64, failure, side),
        }
    }

    /// Returns the confidence limit on one side for a conditional mean. `parts` are the mean and
    /// the non-missing frequency, and `ratio` is their quotient. The frequency must be
    /// significantly above 0.
    pub(crate) fn ratio_limit(
        &self,
        parts: [Point; 2],
        ratio: Point,
        reports: f64,
        failure: &Failure,
        side: Side,
    ) -> f64 {
        match self {
            Self::Normal | Self::Noise(_) | Self::Scores(_) => normal_limit(ratio, failure, side),
            Self::Hits(law) => law.ratio_limit(parts, ratio, reports, failure, side),
        }
    }
}

/// Returns the confidence limit on one side if the estimate is normally distributed.
pub(crate) fn normal_limit(point: Point, failure: &Failure, side: Side) -> f64 {
    point.estimate + side.sign() * failure.z() * point.standard_error
}
