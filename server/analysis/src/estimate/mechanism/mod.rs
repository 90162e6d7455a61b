//! Counting of reports and estimation of items, for each mechanism.

mod estimated_mechanism;
#[cfg(test)]
mod exact_coverage;
mod type_erased;

pub(crate) use estimated_mechanism::{ShareSumEstimator, SquareStatistics};
pub(crate) use type_erased::{ErasedCounts, PreparedQuestion};

use std::sync::Arc;

use hushbin::{Mechanism, Question, Report, mechanism};

use crate::estimate::point::Estimand;
use type_erased::{ReportDowncast, TypedQuestion};

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(
            mod $module;

            impl ReportDowncast for mechanism::$module::$Name {
                #[inline]
                fn as_own_report(report: &Report) -> Option<&Self::Report> {
                    match report {
                        Report::$Name(own) => Some(own),
                        _ => None,
                    }
                }
            }
        )+

        /// Creates the type-erased form of a question, which counts reports and estimates items.
        pub(crate) fn prepare_question(question: &Question) -> Arc<dyn PreparedQuestion> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => Arc::new(TypedQuestion::new(own, question)),)+
            }
        }
    };
}

hushbin::mechanisms!(register);

/// Returns the quantities that a question's mechanism estimates for an item, in the order of
/// [`Estimand::ALL`].
///
/// ```
/// use hushbin_analysis::estimate::{Estimand, estimands};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// assert_eq!(estimands(&task.questions()[0]), Estimand::RATING_ESTIMANDS);
/// ```
#[must_use]
pub fn estimands(question: &Question) -> &'static [Estimand] {
    prepare_question(question).estimands()
}

/// Returns the number of counters, or words of counters, that a report of the question updates.
/// This is the cost of counting a report. Returns `None` for a question without a list of items,
/// because its reports are tested against every queried item.
///
/// ```
/// use hushbin_analysis::estimate::counter_updates_per_report;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 1000000, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// assert!(counter_updates_per_report(&task.questions()[0]) > Some(100_000));
/// ```
#[must_use]
pub fn counter_updates_per_report(question: &Question) -> Option<u64> {
    prepare_question(question).counter_updates_per_report()
}
