//! Estimator, which computes estimates from the totals of a task.

use std::convert::Infallible;
use std::sync::Arc;

use hushbin::task::{Kind, Limits};
use hushbin::{Question, Task};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::totals::{Folded, Totals};
use crate::estimate::answer::{
    ByItem, Estimates, ItemEstimates, PostProcessed, StandOut, Tested, conditional, parallel, post,
    stand_out,
};
use crate::estimate::law::{Cells, Law};
use crate::estimate::mechanism::{Prepared, prepared};
use crate::estimate::point::{Estimand, ItemPoints, Point, SamplingModel};
use crate::estimate::query::{Estimate, Label, Quantiles, Query};
use crate::estimate::question::{NumberEstimates, Parts, cross, number};
use crate::promise::{Privacy, bias, repeats};

/// Estimator for one task. It computes the hit rates of the task's mechanisms once, and uses them
/// for every query.
///
/// ```
/// use hushbin_analysis::estimate::{Estimator, Options, Query, Totals};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let estimator = Estimator::for_task(draft.resolve().unwrap());
/// let all = Query::new(estimator.task(), &Options::default()).unwrap();
/// let totals = Totals::new(estimator.task());
/// assert_eq!(estimator.estimates(&totals, &all).reports, 0);
/// ```
#[derive(Debug, Clone)]
pub struct Estimator {
    task: Task,
    /// Mechanism with its rates, for each question.
    prepared: Vec<Arc<dyn Prepared>>,
    /// Parts of each question. `None` unless the question asks several parts together.
    parts: Vec<Option<Parts>>,
}

impl Estimator {
    /// Creates the estimator of a task.
    #[must_use]
    pub fn for_task(task: Task) -> Self {
        let questions = task.questions().iter();
        let parts = |question: &Question| Parts::of(question, people(&task, question));
        Self {
            prepared: questions.clone().map(prepared).collect(),
            parts: questions.map(parts).collect(),
            task,
        }
    }

    /// Returns the task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns each question's mechanism with its rates.
    pub(crate) fn prepared(&self) -> &[Arc<dyn Prepared>] {
        &self.prepared
    }

    /// Returns the sampling model of a question.
    pub(crate) fn people(&self, question: usize) -> SamplingModel {
        people(&self.task, &self.task.questions()[question])
    }

    /// Returns point estimates of `items` (indices or keys) of the question at index `question`, in
    /// the same order. Empty if no report answers the question.
    ///
    /// # Panics
    /// If the totals belong to another task, or do not count one of the items.
    #[must_use]
    pub fn points(&self, totals: &Totals, question: usize, items: &[u64]) -> Vec<ItemPoints> {
        totals.check(&self.task);
        let Folded {
            reports, counts, ..
        } = totals.folded(question);
        if *reports == 0 {
            return Vec::new();
        }
        let whose = self.people(question);
        let of = |items: &[u64]| counts.points(whose, *reports, items);
        let Some(parts) = &self.parts[question] else {
            return of(items);
        };
        // The correction for a part's sum needs the raw estimates of all its options.
        let all: Vec<u64> = (0..parts.items()).collect();
        parts.points(&of(&all), items, *reports)
    }

    /// Answers a query from totals of the task. For an open question, the totals must count [the
    /// query's items](Totals::of_items).
    ///
    /// # Panics
    /// Same as [`Estimator::points`].
    #[must_use]
    pub fn estimates(&self, totals: &Totals, query: &Query) -> Estimates {
        self.answer(totals, query).collect_items()
    }

    /// Answers a query like [`Estimator::estimates`], without storing the items.
    ///
    /// The error bars of items are most of the work and most of the output. They are computed on
    /// all cores while the answer is written.
    ///
    /// # Panics
    /// Same as [`Estimator::points`].
    #[must_use]
    pub fn answer<'a>(&'a self, totals: &'a Totals, query: &'a Query) -> Estimates<LazyItems<'a>> {
        let task = &self.task;
        totals.check(task);
        let index = query.question();
        let question = &task.questions()[index];
        let laws = self.laws(totals, query);
        let reports = totals.reports_of(index) as f64;
        let sums = post::Sums {
            sparsity: question.sparsity(),
            full: !question.domain().is_padded(),
            parts: match question.kind() {
                Kind::Together(together) => together.parts(),
                _ => &[],
            },
        };
        let conditional = |item: usize| {
            conditional::mean(
                &laws.points[item],
                &laws.of(item),
                reports,
                &query.quantiles,
            )
        };
        let null = self.null(&laws, query);
        let (processed, shrinkage) =
            post::process(&query.post, sums, &laws.points, conditional, null);
        Estimates {
            task: task.id().to_owned(),
            question: (!task.is_unnamed()).then(|| question.name().to_owned()),
            fingerprint: task.fingerprint(),
            reports: totals.reports_of(index),
            confidence: query.quantiles.confidence(),
            privacy: Privacy::for_task(task),
            bias: bias(question),
            repeats: repeats(task),
            post_processing: post::statements(&query.post),
            shrinkage,
            stand_out: query
                .false_discovery_rate
                .and_then(|rate| laws.stand_out(&query.labels, rate)),
            number: laws.number(question, query),
            cross: match (question.kind(), &laws.cells) {
                (Kind::Cross(cross), Some(cells)) => {
                    Some(cross::estimates(cross, cells.flat(), &query.quantiles))
                }
                _ => None,
            },
            estimates: LazyItems {
                question,
                query,
                laws,
                processed,
            },
        }
    }

    /// Returns a function that takes an item's index in the query. The function returns the item's
    /// estimate, and the standard error that this estimate would have if the true value were 0.
    fn null<'a>(
        &'a self,
        laws: &'a Laws<'_>,
        query: &'a Query,
    ) -> impl Fn(usize) -> Option<(Point, f64)> + 'a {
        let first = laws.points.first().and_then(ItemPoints::first);
        let prepared = &self.prepared[query.question()];
        let variances = first.and_then(|(own, _)| prepared.variances(own));
        let reports = laws.folded.reports as f64;
        move |item| {
            let of_part = laws
                .parts
                .map(|parts| parts.null_variance(query.items()[item]));
            // Index 1 is the variance of people without the item.
            let variance = of_part.or_else(|| Some(variances?[1]))?;
            let (_, point) = laws.points[item].first()?;
            Some((point, (variance / reports).sqrt()))
        }
    }

    /// Computes the point estimates of the queried items, and collects what their noise
    /// distributions depend on.
    fn laws<'a>(&'a self, totals: &'a Totals, query: &'a Query) -> Laws<'a> {
        let index = query.question();
        let cells = self.cells(totals, index);
        Laws {
            parts: self.parts[index].as_ref(),
            folded: totals.folded(index),
            whose: self.people(index),
            items: query.items(),
            cells,
            points: self.points(totals, index, query.items()),
        }
    }

    /// Returns the cell counts if the question asks for a number or a cross-tabulation. Returns
    /// `None` for other kinds of question, or if there are no reports.
    pub(crate) fn cells(&self, totals: &Totals, question: usize) -> Option<Cells> {
        let asked = &self.task.questions()[question];
        let folded = totals.folded(question);
        let in_cells = matches!(asked.kind(), Kind::Number(_) | Kind::Cross(_));
        if folded.reports == 0 || !in_cells {
            return None;
        }
        folded.counts.cells(self.people(question), folded.reports)
    }
}

/// Returns the sampling model of a question.
fn people(task: &Task, question: &Question) -> SamplingModel {
    SamplingModel::of(question.kind(), task.questions().len() > 1)
}

/// Returns the minimum and maximum of an item, if the question asks for several numbers. Returns
/// `None` for other kinds of question.
fn limits(question: &Question, item: u64) -> Option<&Limits> {
    match question.kind() {
        Kind::Numbers(of) => of.get(item as usize),
        _ => None,
    }
}

/// Converts a mean in [−1, 1] to the range and unit of its number.
fn in_unit(mean: Estimate, limits: &Limits) -> Estimate {
    // Map −1..1 to the position 0..1 (0.5 at 0, 1 at 1), then to the range.
    mean.within([0.5, 1.0]).within(limits.range())
}

/// Estimates of the queried items, computed one by one while they are written.
#[derive(Debug)]
pub struct LazyItems<'a> {
    question: &'a Question,
    query: &'a Query,
    laws: Laws<'a>,
    /// Post-processed results by item. Empty if none were requested.
    processed: Vec<PostProcessed>,
}

impl LazyItems<'_> {
    /// Computes the estimates of the item at index `item` of the query.
    fn item(&self, item: usize) -> ItemEstimates {
        let limits = limits(self.question, self.query.items()[item]);
        let by_estimand = self.laws.estimates(item, &self.query.quantiles);
        ItemEstimates {
            item: self.query.labels[item].clone(),
            by_estimand: match limits {
                Some(limits) => by_estimand.map(|mean| Some(in_unit(mean?, limits))),
                None => by_estimand,
            },
            unit: limits.and_then(|limits| limits.unit().map(str::to_owned)),
            post_processed: self.processed.get(item).copied().unwrap_or_default(),
        }
    }

    /// Passes each item's estimates to `take`, in query order. Does nothing if there are no
    /// reports.
    fn take<E>(&self, take: impl FnMut(ItemEstimates) -> Result<(), E>) -> Result<(), E> {
        parallel::ordered_map(self.laws.points.len(), |item| self.item(item), take)
    }
}

impl ByItem for LazyItems<'_> {
    fn each<E>(&self, mut take: impl FnMut(&ItemEstimates) -> Result<(), E>) -> Result<(), E> {
        self.take(|item| take(&item))
    }
}

impl Serialize for LazyItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.laws.points.len()))?;
        self.take(|item| list.serialize_element(&item))?;
        list.end()
    }
}

impl Estimates<LazyItems<'_>> {
    /// Computes and stores all items.
    fn collect_items(self) -> Estimates {
        let mut estimates = Vec::with_capacity(self.estimates.laws.points.len());
        let Ok(()) = self.estimates.take(|item| {
            estimates.push(item);
            Ok::<_, Infallible>(())
        });
        Estimates {
            task: self.task,
            question: self.question,
            fingerprint: self.fingerprint,
            reports: self.reports,
            confidence: self.confidence,
            privacy: self.privacy,
            bias: self.bias,
            repeats: self.repeats,
            post_processing: self.post_processing,
            shrinkage: self.shrinkage,
            stand_out: self.stand_out,
            number: self.number,
            cross: self.cross,
            estimates,
        }
    }
}

/// Point estimates of one question's items, with the data from which their noise distributions are
/// computed.
#[derive(Debug)]
struct Laws<'a> {
    parts: Option<&'a Parts>,
    folded: &'a Folded,
    whose: SamplingModel,
    items: &'a [u64],
    /// Cell counts, if the question asks for a number or a cross-tabulation.
    cells: Option<Cells>,
    points: Vec<ItemPoints>,
}

impl Laws<'_> {
    fn of(&self, item: usize) -> Law {
        let of_part = self.parts.and_then(|parts| parts.law(self.items[item]));
        if let Some(law) = of_part {
            return law;
        }
        let bin = self.items[item] as usize;
        if let Some(Cells::Patterned(patterned)) = &self.cells {
            return Law::Scores(patterned.among(bin..bin + 1).1.into());
        }
        let Folded {
            reports, counts, ..
        } = self.folded;
        counts.law(self.whose, *reports, self.items[item], &self.points[item])
    }

    fn estimates(&self, item: usize, quantiles: &Quantiles) -> [Option<Estimate>; 5] {
        let (law, reports) = (self.of(item), self.folded.reports as f64);
        let estimate = |estimand| {
            let point = self.points[item].get(estimand)?;
            Some(quantiles.estimate(point, |failure, side| {
                law.limit(estimand, point, reports, failure, side)
            }))
        };
        Estimand::ALL.map(estimate)
    }

    fn number(&self, question: &Question, query: &Query) -> Option<NumberEstimates> {
        match (question.kind(), &self.cells) {
            (Kind::Number(scale), Some(cells)) => Some(number::estimates(
                scale,
                cells,
                &query.quantile_levels,
                &query.quantiles,
            )),
            (Kind::Numbers(own), _) if own.is_alone() && !self.points.is_empty() => {
                // A lone number has a mean and no other estimate.
                let mean = self
                    .estimates(0, &query.quantiles)
                    .into_iter()
                    .flatten()
                    .next()?;
                Some(number::of_mean(&own[0], in_unit(mean, &own[0])))
            }
            _ => None,
        }
    }

    fn stand_out(&self, labels: &[Label], false_discovery_rate: f64) -> Option<StandOut> {
        let (estimand, _) = self.points.first()?.first()?;
        let tested = labels.iter().enumerate().filter_map(|(item, label)| {
            Some(Tested {
                label: label.clone(),
                point: self.points[item].get(estimand)?,
                law: self.of(item),
            })
        });
        let reports = self.folded.reports as f64;
        Some(stand_out::benjamini_hochberg(
            tested.collect(),
            estimand,
            reports,
            false_discovery_rate,
        ))
    }
}

/// Computes [`Estimator::points`] of a task's first question, without a reusable estimator.
///
/// # Panics
/// Same as [`Estimator::points`].
#[must_use]
pub fn points(task: &Task, totals: &Totals, items: &[u64]) -> Vec<ItemPoints> {
    Estimator::for_task(task.clone()).points(totals, 0, items)
}

/// Computes [`Estimator::estimates`] of a task, without a reusable estimator.
///
/// # Panics
/// Same as [`Estimator::estimates`].
#[must_use]
pub fn estimates(task: &Task, totals: &Totals, query: &Query) -> Estimates {
    Estimator::for_task(task.clone()).estimates(totals, query)
}
