//! Distributions of the sums from which estimates are computed, for every possible true value.
//! Confidence limits are derived from these distributions.

mod hits;
mod laplace_distribution;
mod noise_law;
pub(crate) mod pattern_output_shares;
mod score;
mod single_answer;
mod width;

pub(crate) use hits::{HitDistribution, SideHitProbabilities};
pub(crate) use laplace_distribution::LaplaceResponseDistribution;
pub(crate) use noise_law::NoiseLaw;
pub(crate) use pattern_output_shares::PatternOutputShares;
pub(crate) use score::{
    CrowdBetweenNodes, MAX_ARGUMENT_TIMES_SCORE, ScoreDistribution, ScoreProbabilities,
    ScoredGroups,
};
pub(crate) use single_answer::SingleAnswerHits;
pub(crate) use width::SimulatedIntervalWidth;

use std::sync::Arc;

use crate::estimate::point::{Estimand, PointEstimate};
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Counts of reports, by cell, for a question that asks for a number or a cross-tabulation.
#[derive(Debug, Clone)]
pub(crate) enum CellOrOutputCounts {
    /// Number of hits on each cell.
    CellHits(SingleAnswerHits),
    /// Counts of a pattern's outputs, from which bins are estimated.
    PatternOutputs(PatternOutputShares),
}

impl CellOrOutputCounts {
    /// Returns the number of hits on each cell of a cross-tabulation.
    ///
    /// # Panics
    /// If the reports are outputs of a pattern.
    pub(crate) fn expect_cell_hits(&self) -> &SingleAnswerHits {
        match self {
            Self::CellHits(answers) => answers,
            Self::PatternOutputs(_) => panic!("patterns are for the bins of a number"),
        }
    }
}

/// Distribution of the reports' contributions to the estimates of one item.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum ContributionDistribution {
    /// Unspecified distribution. Limits use the normal distribution.
    Normal,
    /// Reports hit the item's plus side, its minus side, both or neither.
    Hits(HitDistribution),
    /// Reports add noise of a known distribution.
    Noise(LaplaceResponseDistribution),
    /// Reports contribute scores of a known distribution.
    Scores(Arc<ScoreDistribution>),
}

impl ContributionDistribution {
    /// Returns the confidence limit for the true value on one side, from `reports` reports.
    pub(crate) fn confidence_limit(
        &self,
        estimand: Estimand,
        point: PointEstimate,
        reports: f64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        match self {
            Self::Normal => normal_limit(point, failure, side),
            Self::Hits(law) => law.confidence_limit(estimand, point, reports, failure, side),
            Self::Noise(law) => law.confidence_limit(point, reports, failure, side),
            Self::Scores(law) => law.confidence_limit(point, reports as u64, failure, side),
        }
    }

    /// Returns the parameters of the noise that items may share. `None` if limits are quick to
    /// compute (normal noise), or differ for each item or option (scores).
    pub(crate) fn noise_law(&self) -> Option<NoiseLaw> {
        match self {
            Self::Normal | Self::Scores(_) => None,
            Self::Hits(law) => Some(law.noise_law()),
            Self::Noise(law) => Some(law.noise_law()),
        }
    }

    /// Returns the observed mean and non-missing frequency on which the limits of a mean depend,
    /// besides the estimate and the [noise](Self::noise_law).
    pub(crate) fn observed_mean_and_frequency(&self) -> [f64; 2] {
        match self {
            Self::Hits(law) => law.observed_mean_and_frequency(),
            Self::Normal | Self::Noise(_) | Self::Scores(_) => [0.0; 2],
        }
    }

    /// Returns the confidence limit on one side for a conditional mean. `parts` are the mean and
    /// the non-missing frequency, and `ratio` is their quotient. The frequency must be
    /// significantly above 0.
    pub(crate) fn conditional_mean_limit(
        &self,
        parts: [PointEstimate; 2],
        ratio: PointEstimate,
        reports: f64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        match self {
            Self::Normal | Self::Noise(_) | Self::Scores(_) => normal_limit(ratio, failure, side),
            Self::Hits(law) => law.conditional_mean_limit(parts, ratio, reports, failure, side),
        }
    }
}

/// Returns the confidence limit on one side if the estimate is normally distributed.
pub(crate) fn normal_limit(point: PointEstimate, failure: &TailThresholds, side: LimitSide) -> f64 {
    point.estimate + side.sign() * failure.normal_quantile() * point.standard_error
}
