//! From the totals of a task to estimates.

use hushbin::Task;

use super::answer::{Estimates, ItemEstimates};
use super::contract::Asked;
use super::law::Law;
use super::point::{Estimand, ItemPoints};
use super::question::Question;
use super::totals::Totals;
use super::{Prepared, conditional, post};
use crate::promise::{Privacy, bias};

/// A task with the rates of its mechanism, which are computed once.
///
/// ```
/// use hushbin_analysis::estimate::{Estimator, Options, Question, Totals};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let estimator = Estimator::for_task(draft.resolve().unwrap());
/// let all = Question::new(estimator.task(), &Options::default()).unwrap();
/// let totals = Totals::new(estimator.task());
/// assert_eq!(estimator.estimates(&totals, &all).reports, 0);
/// ```
#[derive(Debug, Clone)]
pub struct Estimator {
    task: Task,
    prepared: Prepared,
}

impl Estimator {
    /// The estimator of a task.
    #[must_use]
    pub fn for_task(task: Task) -> Self {
        let prepared = Prepared::for_task(&task);
        Self { task, prepared }
    }

    /// The task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Point estimates of `items` (indices or keys), in their order; none if there
    /// are no reports.
    ///
    /// # Panics
    /// If the totals are not of the task, or an item is not counted in them.
    #[must_use]
    pub fn points(&self, totals: &Totals, items: &[u64]) -> Vec<ItemPoints> {
        if totals.reports() == 0 {
            return Vec::new();
        }
        let (kind, reports) = (self.task.value(), totals.reports());
        self.prepared.points(&totals.counts, kind, reports, items)
    }

    /// How reports contribute to the estimates of an item with these points.
    fn law(&self, totals: &Totals, item: u64, points: &ItemPoints) -> Law {
        let asked = Asked {
            item,
            kind: self.task.value(),
            sparsity: self.task.sparsity(),
            reports: totals.reports() as f64,
        };
        self.prepared.law(&totals.counts, &asked, points)
    }

    /// Answers a question from totals of the task (for an open task, totals
    /// [of the question's items](Totals::of_items)).
    ///
    /// # Panics
    /// As [`Estimator::points`].
    #[must_use]
    pub fn estimates(&self, totals: &Totals, question: &Question) -> Estimates {
        let task = &self.task;
        let points = self.points(totals, question.items());
        let quantiles = &question.quantiles;
        let (items, reports) = (question.items(), totals.reports() as f64);
        let law = |index: usize| self.law(totals, items[index], &points[index]);
        let by_estimand = |index: usize| {
            let law = law(index);
            let estimate = |estimand| {
                let point = points[index].get(estimand)?;
                Some(quantiles.estimate(point, |failure, side| {
                    law.limit(estimand, point, reports, failure, side)
                }))
            };
            Estimand::ALL.map(estimate)
        };
        let processed = post::process(&question.post, task, &points, |index| {
            conditional::mean(&points[index], &law(index), reports, quantiles)
        });
        let estimates = (0..)
            .zip(processed)
            .zip(&question.labels)
            .map(|((index, post_processed), label)| ItemEstimates {
                item: label.clone(),
                by_estimand: by_estimand(index),
                post_processed,
            })
            .collect();
        Estimates {
            task: task.id().to_owned(),
            fingerprint: task.fingerprint(),
            reports: totals.reports(),
            confidence: question.quantiles.confidence(),
            privacy: Privacy::for_task(task),
            bias: bias(task),
            post_processing: post::statements(&question.post),
            estimates,
        }
    }
}

/// [`Estimator::points`] of a task that is asked once.
///
/// # Panics
/// As there.
#[must_use]
pub fn points(task: &Task, totals: &Totals, items: &[u64]) -> Vec<ItemPoints> {
    Estimator::for_task(task.clone()).points(totals, items)
}

/// [`Estimator::estimates`] of a task that is asked once.
///
/// # Panics
/// As there.
#[must_use]
pub fn estimates(task: &Task, totals: &Totals, question: &Question) -> Estimates {
    Estimator::for_task(task.clone()).estimates(totals, question)
}
