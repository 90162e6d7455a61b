//! From reports to totals to estimates with error bars: pure functions of data,
//! without clock or I/O.
//!
//! [`Totals`] is the fold of reports: counts that merge by addition, so that
//! reports may be folded in any order, by any number of workers. Estimates are
//! a function of a task and its totals. They are raw and, but for what hash-bin
//! clips, unbiased: a frequency may come out below 0 or above 1, and says so much
//! about its noise. What is
//! made of them afterwards ([`PostProcessing`]) stands beside them.

mod answer;
mod clipped_sum;
mod conditional;
mod confidence;
mod contract;
mod contribution;
mod counted;
mod error;
mod estimator;
#[cfg(test)]
mod exact_coverage;
mod expectation;
mod hits;
mod interval;
mod kept;
mod law;
mod noise;
mod point;
mod post;
mod predict;
mod processing;
mod projection;
mod question;
mod signs;
mod totals;

pub use answer::{Estimates, ItemEstimates};
pub use confidence::{CONFIDENCE, DEFAULT_CONFIDENCE};
pub use error::EstimateError;
pub use estimator::{Estimator, estimates, points};
pub use expectation::Expectation;
pub use interval::{Estimate, Quantiles};
pub use point::{Estimand, ItemPoints, Point};
pub use post::{ConditionalMean, PostProcessed, Projected};
pub use predict::Predictor;
pub use processing::PostProcessing;
pub use question::{Label, Options, Question};
pub use totals::Totals;

use hushbin::{Entry, Mechanism, Report, Task, ValueKind, mechanism};

use contract::{Asked, Estimated};
use contribution::Contribution;
use law::Law;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        /// Estimands of a task: what its mechanism estimates of an item, in the order
        /// of [`Estimand::ALL`].
        ///
        /// ```
        /// use hushbin_analysis::estimate::{Estimand, estimands};
        ///
        /// let draft: hushbin::TaskDraft = serde_json::from_str(
        ///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        /// ).unwrap();
        /// assert_eq!(estimands(&draft.resolve().unwrap()), Estimand::ALL);
        /// ```
        #[must_use]
        pub fn estimands(task: &Task) -> &'static [Estimand] {
            match task.mechanism() {
                $(Mechanism::$Name(own) => own.estimands(),)+
            }
        }

        /// What is kept of the reports of one mechanism.
        #[derive(Debug, Clone)]
        enum Counts {
            $($Name(<mechanism::$module::$Name as Estimated>::Counts),)+
        }

        impl Counts {
            fn for_task(task: &Task, items: &[u64]) -> Self {
                let (domain, epsilon) = (task.domain(), task.epsilon());
                match task.mechanism() {
                    $(Mechanism::$Name(own) => {
                        Self::$Name(own.counts(&domain, epsilon, items))
                    })+
                }
            }

            fn fold(&mut self, report: &Report) {
                match (self, report) {
                    $((Self::$Name(counts), Report::$Name(report)) => {
                        <mechanism::$module::$Name>::fold(counts, report);
                    })+
                    _ => panic!("reports are decoded under the task of the totals"),
                }
            }

            fn merge(&mut self, others: &Self) {
                match (self, others) {
                    $((Self::$Name(counts), Self::$Name(others)) => {
                        <mechanism::$module::$Name>::merge(counts, others);
                    })+
                    _ => panic!("totals of one task are of one mechanism"),
                }
            }
        }

        /// A mechanism with its rates over a task's domain at its ε.
        #[derive(Debug, Clone)]
        enum Prepared {
            $($Name(
                mechanism::$module::$Name,
                <mechanism::$module::$Name as Estimated>::Rates,
            ),)+
        }

        impl Prepared {
            /// The rates of the task's reports.
            fn for_task(task: &Task) -> Self {
                let (domain, epsilon) = (task.domain(), task.epsilon());
                match task.mechanism() {
                    $(Mechanism::$Name(own) => {
                        Self::$Name(own.clone(), Estimated::rates(own, &domain, epsilon))
                    })+
                }
            }

            /// As [`Estimated::points`], from counts of the same task.
            fn points(
                &self,
                counts: &Counts,
                kind: ValueKind,
                reports: u64,
                items: &[u64],
            ) -> Vec<ItemPoints> {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.points(rates, counts, kind, reports, items)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::law`], from counts of the same task.
            fn law(&self, counts: &Counts, asked: &Asked, points: &ItemPoints) -> Law {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.law(rates, counts, asked, points)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::contribution`]; `None` where the mechanism does not
            /// estimate this.
            fn contribution(
                &self,
                sparsity: u32,
                estimand: Estimand,
                entries: &[Entry],
            ) -> Option<Contribution> {
                match self {
                    $(Self::$Name(own, rates) => {
                        let contribution = || {
                            <mechanism::$module::$Name>::contribution(
                                rates, sparsity, estimand, entries,
                            )
                        };
                        own.estimands().contains(&estimand).then(contribution)
                    })+
                }
            }
        }
    };
}

hushbin::mechanisms!(register);
