//! Estimator, which computes estimates from the totals of a task.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use hushbin::task::QuestionKind;
use hushbin::{Question, Task};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::queried_estimates::{QueriedPointEstimates, number_limits, rescale_to_limits};
use super::totals::{QuestionTotals, Totals};
use crate::estimate::distribution::CellOrOutputCounts;
use crate::estimate::mechanism::{PreparedQuestion, prepare_question};
use crate::estimate::point::{ItemPointEstimates, PointEstimate, SamplingModel};
use crate::estimate::query::{Estimate, EstimateQuery};
use crate::estimate::query_results::{
    Estimates, ItemEstimateSource, ItemEstimates, PostProcessed, parallel, post_processing,
};
use crate::estimate::question::{JointChoiceParts, cross};
use crate::estimate::result_cache::{EstimateCache, useful_result_count};
use crate::promise::{ReportPrivacy, bias_statement, memo_error_bar_warning};

/// Estimator for one task. It computes the hit rates of the task's mechanisms once, and uses them
/// for every query.
///
/// ```
/// use hushbin_analysis::estimate::{Estimator, EstimateOptions, EstimateQuery, Totals};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let estimator = Estimator::for_task(draft.resolve_task().unwrap());
/// let all = EstimateQuery::new(estimator.task(), &EstimateOptions::default()).unwrap();
/// let totals = Totals::new(estimator.task());
/// assert_eq!(estimator.estimates(&totals, &all).reports, 0);
/// ```
#[derive(Debug, Clone)]
pub struct Estimator {
    task: Task,
    /// Mechanism with its rates, for each question.
    prepared: Vec<Arc<dyn PreparedQuestion>>,
    /// Parts of each question. `None` unless the question asks several parts together.
    joint_parts: Vec<Option<JointChoiceParts>>,
    /// Privacy of each report. With a memo, it takes up to tens of thousands of losses to compute,
    /// so it is computed once.
    cached_report_privacy: OnceLock<ReportPrivacy>,
}

impl Estimator {
    /// Creates the estimator of a task.
    #[must_use]
    pub fn for_task(task: Task) -> Self {
        let questions = task.questions().iter();
        let parts = |question: &Question| {
            JointChoiceParts::for_question(question, sampling_model_of(&task, question))
        };
        Self {
            prepared: questions.clone().map(prepare_question).collect(),
            joint_parts: questions.map(parts).collect(),
            cached_report_privacy: OnceLock::new(),
            task,
        }
    }

    /// Returns the task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns each question's mechanism with its rates.
    pub(crate) fn prepared_questions(&self) -> &[Arc<dyn PreparedQuestion>] {
        &self.prepared
    }

    /// Returns the sampling model of a question.
    pub(crate) fn sampling_model(&self, question: usize) -> SamplingModel {
        sampling_model_of(&self.task, &self.task.questions()[question])
    }

    /// Returns point estimates of `items` (indices or keys) of the question at index `question`, in
    /// the same order. Empty if no report answers the question.
    ///
    /// # Panics
    /// If the totals belong to another task, or do not count one of the items.
    #[must_use]
    pub fn point_estimates(
        &self,
        totals: &Totals,
        question: usize,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        totals.assert_same_task(&self.task);
        let QuestionTotals {
            report_count: reports,
            mechanism_counts: counts,
            ..
        } = totals.question_totals(question);
        if *reports == 0 {
            return Vec::new();
        }
        let whose = self.sampling_model(question);
        let of = |items: &[u64]| counts.point_estimates(whose, *reports, items);
        let Some(parts) = &self.joint_parts[question] else {
            return of(items);
        };
        // The correction for a part's sum needs the raw estimates of all its options.
        let all: Vec<u64> = (0..parts.item_count()).collect();
        parts.estimates_summing_to_one(&of(&all), items, *reports)
    }

    /// Answers a query from totals of the task. For an open question, the totals must count [the
    /// query's items](Totals::for_items).
    ///
    /// # Panics
    /// Same as [`Estimator::point_estimates`].
    #[must_use]
    pub fn estimates(&self, totals: &Totals, query: &EstimateQuery) -> Estimates {
        self.lazy_estimates(totals, query).collect_items()
    }

    /// Answers a query like [`Estimator::estimates`], without storing the items.
    ///
    /// Error bars take most of the computing time and most of the output. They are computed on all
    /// cores while the answer is written.
    ///
    /// # Panics
    /// Same as [`Estimator::point_estimates`].
    #[must_use]
    pub fn lazy_estimates<'a>(
        &'a self,
        totals: &'a Totals,
        query: &'a EstimateQuery,
    ) -> Estimates<LazyItemEstimates<'a>> {
        self.lazy_estimates_with_cache(totals, query, useful_result_count(query.items().len()))
    }

    /// Answers a query like [`Estimator::lazy_estimates`], and caches up to `cached` results of
    /// each kind. It must be 0 or a power of two.
    pub(super) fn lazy_estimates_with_cache<'a>(
        &'a self,
        totals: &'a Totals,
        query: &'a EstimateQuery,
        cached: usize,
    ) -> Estimates<LazyItemEstimates<'a>> {
        let task = &self.task;
        totals.assert_same_task(task);
        let index = query.question_index();
        let question = &task.questions()[index];
        let laws = self.queried_point_estimates(totals, query, cached);
        let sums = post_processing::SumConstraints::of_question(question);
        let null = self.standard_errors_under_null(&laws, query);
        let (processed, shrinkage) = post_processing::post_process_items(
            &query.post_processing_methods,
            sums,
            &laws.points,
            laws.conditional_means(&query.confidence_level),
            null,
        );
        Estimates {
            task_id: task.id().to_owned(),
            question: (!task.has_unnamed_question()).then(|| question.name().to_owned()),
            fingerprint: task.fingerprint(),
            reports: totals.question_report_count(index),
            confidence: query.confidence_level.confidence(),
            privacy: (self.cached_report_privacy)
                .get_or_init(|| ReportPrivacy::for_task(task))
                .clone(),
            bias_statement: bias_statement(question),
            memo_warning: memo_error_bar_warning(task),
            post_processing: post_processing::method_statements(&query.post_processing_methods),
            shrinkage,
            stand_out: query
                .false_discovery_rate
                .and_then(|rate| laws.significant_items(&query.item_labels, rate)),
            number: laws.number_estimates(question, query),
            cross: match (question.kind(), &laws.cell_or_output_counts) {
                (QuestionKind::CrossTabulation(cross), Some(cells)) => Some(cross::estimate_cross(
                    cross,
                    cells.expect_cell_hits(),
                    &query.confidence_level,
                )),
                _ => None,
            },
            estimates: LazyItemEstimates {
                asked_question: question,
                query,
                interval_cache: laws.new_cache(),
                queried_estimates: laws,
                processed,
            },
        }
    }

    /// Returns a function that takes an item's index in the query. The function returns the item's
    /// estimate, and the standard error that this estimate would have if the true value were 0.
    fn standard_errors_under_null<'a>(
        &'a self,
        laws: &'a QueriedPointEstimates<'_>,
        query: &'a EstimateQuery,
    ) -> impl Fn(usize) -> Option<(PointEstimate, f64)> + 'a {
        let first = laws
            .points
            .first()
            .and_then(ItemPointEstimates::main_estimate);
        let prepared = &self.prepared[query.question_index()];
        let variances = first.and_then(|(own, _)| prepared.variances_with_and_without(own));
        let reports = laws.question_totals.report_count as f64;
        move |item| {
            let of_part = laws
                .joint_parts
                .map(|parts| parts.absent_item_variance(query.items()[item]));
            // Index 1 is the variance of people without the item.
            let variance = of_part.or_else(|| Some(variances?[1]))?;
            let (_, point) = laws.points[item].main_estimate()?;
            Some((point, (variance / reports).sqrt()))
        }
    }

    /// Computes the point estimates of the queried items, and collects what their noise
    /// distributions depend on.
    pub(super) fn queried_point_estimates<'a>(
        &'a self,
        totals: &'a Totals,
        query: &'a EstimateQuery,
        cached: usize,
    ) -> QueriedPointEstimates<'a> {
        let index = query.question_index();
        let cells = self.cell_or_output_counts(totals, index);
        QueriedPointEstimates {
            joint_parts: self.joint_parts[index].as_ref(),
            question_totals: totals.question_totals(index),
            sampling_model: self.sampling_model(index),
            items: query.items(),
            cell_or_output_counts: cells,
            points: self.point_estimates(totals, index, query.items()),
            cached_result_count: cached,
        }
    }

    /// Returns the cell counts if the question asks for a number or a cross-tabulation. Returns
    /// `None` for other kinds of question, or if there are no reports.
    pub(crate) fn cell_or_output_counts(
        &self,
        totals: &Totals,
        question: usize,
    ) -> Option<CellOrOutputCounts> {
        let asked = &self.task.questions()[question];
        let folded = totals.question_totals(question);
        let in_cells = matches!(
            asked.kind(),
            QuestionKind::Number(_) | QuestionKind::CrossTabulation(_)
        );
        if folded.report_count == 0 || !in_cells {
            return None;
        }
        folded
            .mechanism_counts
            .cell_or_output_counts(self.sampling_model(question), folded.report_count)
    }
}

/// Returns the sampling model of a question.
fn sampling_model_of(task: &Task, question: &Question) -> SamplingModel {
    SamplingModel::for_question_kind(question.kind(), task.questions().len() > 1)
}

/// Estimates of the queried items, computed one by one while they are written.
#[derive(Debug)]
pub struct LazyItemEstimates<'a> {
    asked_question: &'a Question,
    query: &'a EstimateQuery,
    queried_estimates: QueriedPointEstimates<'a>,
    interval_cache: EstimateCache<Estimate>,
    /// Post-processed results by item. Empty if none were requested.
    processed: Vec<PostProcessed>,
}

impl LazyItemEstimates<'_> {
    /// Computes the estimates of the item at index `item` of the query.
    fn item_estimates(&self, item: usize) -> ItemEstimates {
        let limits = number_limits(self.asked_question, self.query.items()[item]);
        let by_estimand = self.queried_estimates.estimates(
            item,
            &self.query.confidence_level,
            &self.interval_cache,
        );
        ItemEstimates {
            item: self.query.item_labels[item].clone(),
            by_estimand: match limits {
                Some(limits) => by_estimand.map(|mean| Some(rescale_to_limits(mean?, limits))),
                None => by_estimand,
            },
            unit: limits.and_then(|limits| limits.unit().map(str::to_owned)),
            post_processed: self.processed.get(item).copied().unwrap_or_default(),
        }
    }

    /// Passes each item's estimates to `take`, in query order. Does nothing if there are no
    /// reports.
    fn for_each_computed_item<E>(
        &self,
        take: impl FnMut(ItemEstimates) -> Result<(), E>,
    ) -> Result<(), E> {
        parallel::parallel_map_in_order(
            self.queried_estimates.points.len(),
            |item| self.item_estimates(item),
            take,
        )
    }
}

impl ItemEstimateSource for LazyItemEstimates<'_> {
    fn try_for_each_item<E>(
        &self,
        mut take: impl FnMut(&ItemEstimates) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_computed_item(|item| take(&item))
    }
}

impl Serialize for LazyItemEstimates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.queried_estimates.points.len()))?;
        self.for_each_computed_item(|item| list.serialize_element(&item))?;
        list.end()
    }
}

impl Estimates<LazyItemEstimates<'_>> {
    /// Computes and stores all items.
    pub(super) fn collect_items(self) -> Estimates {
        let mut estimates = Vec::with_capacity(self.estimates.queried_estimates.points.len());
        let Ok(()) = self.estimates.for_each_computed_item(|item| {
            estimates.push(item);
            Ok::<_, Infallible>(())
        });
        Estimates {
            task_id: self.task_id,
            question: self.question,
            fingerprint: self.fingerprint,
            reports: self.reports,
            confidence: self.confidence,
            privacy: self.privacy,
            bias_statement: self.bias_statement,
            memo_warning: self.memo_warning,
            post_processing: self.post_processing,
            shrinkage: self.shrinkage,
            stand_out: self.stand_out,
            number: self.number,
            cross: self.cross,
            estimates,
        }
    }
}

/// Computes the point estimates of a task's first question, as [`Estimator::point_estimates`] does.
/// No estimator is kept for further calls.
///
/// # Panics
/// Same as [`Estimator::point_estimates`].
#[must_use]
pub fn point_estimates(task: &Task, totals: &Totals, items: &[u64]) -> Vec<ItemPointEstimates> {
    Estimator::for_task(task.clone()).point_estimates(totals, 0, items)
}

/// Computes the estimates of a task, as [`Estimator::estimates`] does. No estimator is kept for
/// further calls.
///
/// # Panics
/// Same as [`Estimator::estimates`].
#[must_use]
pub fn estimates_for_query(task: &Task, totals: &Totals, query: &EstimateQuery) -> Estimates {
    Estimator::for_task(task.clone()).estimates(totals, query)
}
