//! Point estimates of the queried items, with the data behind the intervals.

use hushbin::Question;
use hushbin::task::{NumberLimits, QuestionKind};

use crate::estimate::distribution::{CellOrOutputCounts, ContributionDistribution};
use crate::estimate::point::{Estimand, ItemPointEstimates, SamplingModel};
use crate::estimate::query::{ConfidenceLevel, Estimate, EstimateQuery, ItemLabel};
use crate::estimate::query_results::{SignificantItems, conditional, stand_out};
use crate::estimate::question::{JointChoiceParts, NumberEstimates, number};
use crate::estimate::result_cache::{EstimateCache, RatioCache, ResultCache};
use crate::estimate::totals::QuestionTotals;
use crate::numeric::confidence_limits::LimitSide;

/// Point estimates of one question's items, with the data from which their noise distributions are
/// computed.
#[derive(Debug)]
pub(crate) struct QueriedPointEstimates<'a> {
    pub(crate) joint_parts: Option<&'a JointChoiceParts>,
    pub(crate) question_totals: &'a QuestionTotals,
    pub(crate) sampling_model: SamplingModel,
    pub(crate) items: &'a [u64],
    /// Cell counts, if the question asks for a number or a cross-tabulation.
    pub(crate) cell_or_output_counts: Option<CellOrOutputCounts>,
    pub(crate) points: Vec<ItemPointEstimates>,
    /// Number of results to cache, for each kind of result: see [`ResultCache::new`].
    pub(crate) cached_result_count: usize,
}

impl QueriedPointEstimates<'_> {
    pub(crate) fn contribution_distribution(&self, item: usize) -> ContributionDistribution {
        let of_part = self
            .joint_parts
            .and_then(|parts| parts.contribution_distribution(self.items[item]));
        if let Some(law) = of_part {
            return law;
        }
        let bin = self.items[item] as usize;
        if let Some(CellOrOutputCounts::PatternOutputs(patterned)) = &self.cell_or_output_counts {
            return ContributionDistribution::Scores(
                patterned
                    .share_and_score_distribution(bin..bin + 1)
                    .1
                    .into(),
            );
        }
        let QuestionTotals {
            report_count: reports,
            mechanism_counts: counts,
            ..
        } = self.question_totals;
        counts.contribution_distribution(
            self.sampling_model,
            *reports,
            self.items[item],
            &self.points[item],
        )
    }

    pub(crate) fn reports(&self) -> f64 {
        self.question_totals.report_count as f64
    }

    /// Creates an empty cache of results for all items.
    pub(crate) fn new_cache<T: Copy, const N: usize>(&self) -> ResultCache<T, N> {
        ResultCache::new(self.cached_result_count)
    }

    /// Returns the estimates of an item in the order of [`Estimand::ALL`]. `cache` must be for
    /// these estimates and this confidence level.
    pub(crate) fn estimates(
        &self,
        item: usize,
        quantiles: &ConfidenceLevel,
        cache: &EstimateCache<Estimate>,
    ) -> [Option<Estimate>; 5] {
        let (law, reports) = (self.contribution_distribution(item), self.reports());
        let estimate = |estimand| {
            let point = self.points[item].get(estimand)?;
            Some(cache.of_estimate(&law, estimand, point, || {
                quantiles.estimate_with_intervals(point, |failure, side| {
                    law.confidence_limit(estimand, point, reports, failure, side)
                })
            }))
        };
        Estimand::ALL.map(estimate)
    }

    /// Returns a function that computes the conditional mean of the item at an index: see
    /// [`conditional::estimate_conditional_mean`].
    pub(crate) fn conditional_means(
        &self,
        level: &ConfidenceLevel,
    ) -> impl Fn(usize) -> Option<Estimate> {
        let cache: RatioCache<_> = self.new_cache();
        move |item| {
            let (law, points) = (self.contribution_distribution(item), &self.points[item]);
            let both = "only mechanisms that estimate both are asked";
            let mean = points.mean.expect(both);
            let frequency = points.nonmissing_frequency.expect(both);
            let covariance = points.mean_nonmissing_covariance.expect(both);
            cache.of_ratio(&law, [mean, frequency], covariance, || {
                conditional::estimate_conditional_mean(
                    [mean, frequency],
                    covariance,
                    &law,
                    self.reports(),
                    level,
                )
            })
        }
    }

    pub(crate) fn number_estimates(
        &self,
        question: &Question,
        query: &EstimateQuery,
    ) -> Option<NumberEstimates> {
        match (question.kind(), &self.cell_or_output_counts) {
            (QuestionKind::Number(scale), Some(cells)) => Some(number::estimate_number(
                scale,
                cells,
                &query.quantile_levels,
                &query.confidence_level,
            )),
            (QuestionKind::Numbers(own), _) if own.is_single() && !self.points.is_empty() => {
                // A lone number has a mean and no other estimate.
                let mean = self
                    .estimates(0, &query.confidence_level, &EstimateCache::new(0))
                    .into_iter()
                    .flatten()
                    .next()?;
                Some(number::mean_only_estimates(
                    &own[0],
                    rescale_to_limits(mean, &own[0]),
                ))
            }
            _ => None,
        }
    }

    pub(crate) fn significant_items(
        &self,
        labels: &[ItemLabel],
        false_discovery_rate: f64,
    ) -> Option<SignificantItems> {
        let (estimand, _) = self.points.first()?.main_estimate()?;
        let points = self.points.iter().enumerate();
        let tested = points.filter_map(|(item, points)| Some((item, points.get(estimand)?)));
        let found = stand_out::benjamini_hochberg(
            tested.collect(),
            estimand,
            false_discovery_rate,
            |failure| {
                let [lower, upper]: [EstimateCache<f64>; 2] = [self.new_cache(), self.new_cache()];
                move |&(item, point), side| {
                    let law = self.contribution_distribution(item);
                    let cache = match side {
                        LimitSide::Lower => &lower,
                        LimitSide::Upper => &upper,
                    };
                    cache.of_estimate(&law, estimand, point, || {
                        law.confidence_limit(estimand, point, self.reports(), &failure, side)
                    })
                }
            },
        );
        Some(SignificantItems {
            false_discovery_rate,
            estimand,
            items: found.into_iter().map(|item| labels[item].clone()).collect(),
        })
    }
}

/// Returns the minimum and maximum of an item, if the question asks for several numbers. Returns
/// `None` for other kinds of question.
pub(crate) fn number_limits(question: &Question, item: u64) -> Option<&NumberLimits> {
    match question.kind() {
        QuestionKind::Numbers(of) => of.get(item as usize),
        _ => None,
    }
}

/// Converts a mean in [−1, 1] to the range and unit of its number.
pub(crate) fn rescale_to_limits(mean: Estimate, limits: &NumberLimits) -> Estimate {
    // Map −1..1 to the position 0..1 (0.5 at 0, 1 at 1), then to the range.
    mean.rescale_to_range([0.5, 1.0])
        .rescale_to_range(limits.range())
}
