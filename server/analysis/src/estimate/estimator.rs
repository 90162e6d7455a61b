//! From the totals of a task to estimates.

use hushbin::Task;

use super::answer::{Estimates, ItemEstimates};
use super::contract::Asked;
use super::people::People;
use super::point::{Estimand, ItemPoints};
use super::query::Query;
use super::totals::{Folded, Totals};
use super::{Prepared, conditional, post};
use crate::promise::{Privacy, bias};

/// A task with the rates of its mechanisms, which are computed once.
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
    /// By question.
    prepared: Vec<Prepared>,
}

impl Estimator {
    /// The estimator of a task.
    #[must_use]
    pub fn for_task(task: Task) -> Self {
        let prepared = task.questions().iter().map(Prepared::for_question);
        Self {
            prepared: prepared.collect(),
            task,
        }
    }

    /// The task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Whose reports answer a question.
    fn people(&self, question: usize) -> People {
        let questions = self.task.questions();
        People::of(&questions[question], questions.len() > 1)
    }

    /// Point estimates of `items` (indices or keys) of the question in this position, in
    /// their order; none if there are no reports for it.
    ///
    /// # Panics
    /// If the totals are not of the task, or an item is not counted in them.
    #[must_use]
    pub fn points(&self, totals: &Totals, question: usize, items: &[u64]) -> Vec<ItemPoints> {
        let Folded { reports, counts } = totals.folded(question);
        if *reports == 0 {
            return Vec::new();
        }
        let whose = self.people(question);
        self.prepared[question].points(counts, whose, *reports, items)
    }

    /// Answers a query from totals of the task (where the question is open, totals
    /// [of the query's items](Totals::of_items)).
    ///
    /// # Panics
    /// As [`Estimator::points`].
    #[must_use]
    pub fn estimates(&self, totals: &Totals, query: &Query) -> Estimates {
        let task = &self.task;
        let index = query.question();
        let question = &task.questions()[index];
        let points = self.points(totals, index, query.items());
        let folded = totals.folded(index);
        let quantiles = &query.quantiles;
        let (items, reports) = (query.items(), folded.reports as f64);
        let law = |item: usize| {
            let asked = Asked {
                item: items[item],
                whose: self.people(index),
                sparsity: question.sparsity(),
                reports,
            };
            self.prepared[index].law(&folded.counts, &asked, &points[item])
        };
        let by_estimand = |item: usize| {
            let law = law(item);
            let estimate = |estimand| {
                let point = points[item].get(estimand)?;
                Some(quantiles.estimate(point, |failure, side| {
                    law.limit(estimand, point, reports, failure, side)
                }))
            };
            Estimand::ALL.map(estimate)
        };
        let processed = post::process(&query.post, question.sparsity(), &points, |item| {
            conditional::mean(&points[item], &law(item), reports, quantiles)
        });
        let estimates = (0..)
            .zip(processed)
            .zip(&query.labels)
            .map(|((item, post_processed), label)| ItemEstimates {
                item: label.clone(),
                by_estimand: by_estimand(item),
                post_processed,
            })
            .collect();
        Estimates {
            task: task.id().to_owned(),
            question: (!task.is_unnamed()).then(|| question.name().to_owned()),
            fingerprint: task.fingerprint(),
            reports: folded.reports,
            confidence: query.quantiles.confidence(),
            privacy: Privacy::for_task(task),
            bias: bias(question),
            post_processing: post::statements(&query.post),
            estimates,
        }
    }
}

/// [`Estimator::points`] of the first question of a task that is asked once.
///
/// # Panics
/// As there.
#[must_use]
pub fn points(task: &Task, totals: &Totals, items: &[u64]) -> Vec<ItemPoints> {
    Estimator::for_task(task.clone()).points(totals, 0, items)
}

/// [`Estimator::estimates`] of a task that is asked once.
///
/// # Panics
/// As there.
#[must_use]
pub fn estimates(task: &Task, totals: &Totals, query: &Query) -> Estimates {
    Estimator::for_task(task.clone()).estimates(totals, query)
}
