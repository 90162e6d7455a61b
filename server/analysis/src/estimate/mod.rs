//! From reports to totals to estimates with error bars: pure functions of data,
//! without clock or I/O.
//!
//! [`Totals`] is the fold of reports: counts that merge by addition, so that
//! reports may be folded in any order, by any number of workers, and totals stored
//! in the place of reports ([`Totals::encode`]). Estimates are
//! a function of a task and its totals. They are raw and, but for what hash-bin
//! clips, unbiased: a frequency may come out below 0 or above 1, and says so much
//! about its noise. What is
//! made of them afterwards ([`PostProcessing`]) stands beside them.

mod answer;
mod clipped_sum;
mod conditional;
mod confidence;
mod contract;
mod contrast;
mod contribution;
mod counted;
mod cross;
mod crowd;
mod encoding;
mod error;
mod estimator;
#[cfg(test)]
mod exact_coverage;
mod expectation;
mod hits;
mod influence;
mod interval;
mod kept;
mod law;
mod layered;
mod noise;
mod number;
mod one_answer;
mod people;
mod point;
mod post;
mod predict;
mod processing;
mod projection;
mod query;
mod ratio;
mod score;
mod shrinkage;
mod signs;
mod spread;
mod stand_out;
mod together;
mod totals;
mod worst;

pub use answer::{ByItem, Estimates, ItemEstimates};
pub use confidence::{CONFIDENCE, DEFAULT_CONFIDENCE, FALSE_DISCOVERY_RATE};
pub use cross::{ConditionalMeanOf, ConditionalShare, CrossEstimates, Margin, MarginalShare};
pub use crowd::{CrowdTest, Respect};
pub(crate) use encoding::Reader as TotalsReader;
pub use encoding::TotalsError;
pub(crate) use encoding::append_header;
pub use error::EstimateError;
pub use estimator::{Estimator, InTurn, estimates, points};
pub use expectation::Expectation;
pub use influence::{Influence, Influenced, MADE_UP};
pub use interval::{Estimate, Quantiles};
pub use number::{Below, NumberEstimates, QuantileEstimate};
pub use point::{Estimand, ItemPoints, Point};
pub use post::{ConditionalMean, PostProcessed, Projected};
pub use predict::{Aim, Predictor};
pub use processing::PostProcessing;
pub use projection::{Sum, project};
pub use query::{Label, Options, Query};
pub(crate) use query::{counted_label, position};
pub use ratio::RatioEstimate;
pub use shrinkage::{Shrinkage, Shrunken, shrink};
pub use stand_out::StandOut;
pub use totals::Totals;

use hushbin::domain::Domain;
use hushbin::{Entry, Mechanism, Question, Report, mechanism};

use contract::{Asked, Estimated, Squares};
use contribution::Contribution;
use law::Law;
use one_answer::OneAnswer;
use people::People;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        /// Estimands of a question: what its mechanism estimates of an item, in the order
        /// of [`Estimand::ALL`].
        ///
        /// ```
        /// use hushbin_analysis::estimate::{Estimand, estimands};
        ///
        /// let draft: hushbin::TaskDraft = serde_json::from_str(
        ///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        /// ).unwrap();
        /// let task = draft.resolve().unwrap();
        /// assert_eq!(estimands(&task.questions()[0]), Estimand::RATINGS);
        /// ```
        #[must_use]
        pub fn estimands(question: &Question) -> &'static [Estimand] {
            let domain = question.domain();
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.estimands(&domain),)+
            }
        }

        /// How many counts, or words of counts, a report of the question is added to, which
        /// is what it costs to count; `None` of one without a list of items, whose reports are
        /// held against each item that is asked for.
        ///
        /// ```
        /// use hushbin_analysis::estimate::steps;
        ///
        /// let draft: hushbin::TaskDraft = serde_json::from_str(
        ///     r#"{ "id": "t", "items": 1000000, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#,
        /// ).unwrap();
        /// let task = draft.resolve().unwrap();
        /// assert!(steps(&task.questions()[0]) > Some(100_000));
        /// ```
        #[must_use]
        pub fn steps(question: &Question) -> Option<u64> {
            let (domain, epsilon) = (question.domain(), question.epsilon());
            match question.mechanism() {
                $(Mechanism::$Name(own) => Estimated::steps(own, &domain, epsilon),)+
            }
        }

        /// As [`Estimated::places`], of a question.
        fn places(question: &Question) -> u32 {
            let (domain, epsilon) = (question.domain(), question.epsilon());
            match question.mechanism() {
                $(Mechanism::$Name(own) => Estimated::places(own, &domain, epsilon),)+
            }
        }

        /// As [`Estimated::place`].
        fn place(report: &Report) -> Option<u32> {
            match report {
                $(Report::$Name(own) => <mechanism::$module::$Name as Estimated>::place(own),)+
            }
        }

        /// What is kept of the reports of one mechanism.
        #[derive(Debug, Clone)]
        enum Counts {
            $($Name(<mechanism::$module::$Name as Estimated>::Counts),)+
        }

        impl Counts {
            fn for_question(question: &Question, items: &[u64]) -> Self {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match question.mechanism() {
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
                    _ => panic!("reports are decoded under the question of the totals"),
                }
            }

            fn merge(&mut self, others: &Self) {
                match (self, others) {
                    $((Self::$Name(counts), Self::$Name(others)) => {
                        <mechanism::$module::$Name>::merge(counts, others);
                    })+
                    _ => panic!("totals of one question are of one mechanism"),
                }
            }

            /// As [`Estimated::encode`].
            fn encode(&self, bytes: &mut Vec<u8>) {
                match self {
                    $(Self::$Name(counts) => {
                        <mechanism::$module::$Name as Estimated>::encode(counts, bytes);
                    })+
                }
            }

            /// As [`Estimated::decode`].
            fn decode(&mut self, reports: u64, bytes: &mut TotalsReader<'_>) -> Result<(), TotalsError> {
                match self {
                    $(Self::$Name(counts) => {
                        <mechanism::$module::$Name as Estimated>::decode(counts, reports, bytes)
                    })+
                }
            }
        }

        /// A mechanism with its rates over a question's domain at its ε.
        #[derive(Debug, Clone)]
        enum Prepared {
            $($Name(
                mechanism::$module::$Name,
                <mechanism::$module::$Name as Estimated>::Rates,
            ),)+
        }

        impl Prepared {
            /// The rates of the question's reports.
            fn for_question(question: &Question) -> Self {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match question.mechanism() {
                    $(Mechanism::$Name(own) => {
                        Self::$Name(own.clone(), Estimated::rates(own, &domain, epsilon))
                    })+
                }
            }

            /// As [`Estimated::points`], from counts of the same task.
            fn points(
                &self,
                counts: &Counts,
                whose: People,
                reports: u64,
                items: &[u64],
            ) -> Vec<ItemPoints> {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.points(rates, counts, whose, reports, items)
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

            /// As [`Estimated::one_answer`], from counts of the same task.
            fn one_answer(
                &self,
                counts: &Counts,
                whose: People,
                reports: u64,
            ) -> Option<OneAnswer> {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.one_answer(rates, counts, whose, reports)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::single`].
            fn single(&self) -> Option<&mechanism::collision::Rates> {
                match self {
                    $(Self::$Name(_, rates) => <mechanism::$module::$Name>::single(rates),)+
                }
            }

            /// As [`Estimated::reach`], of the same question.
            fn reach(&self, question: &Question, estimand: Estimand) -> [f64; 2] {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match self {
                    $(Self::$Name(own, rates) => own.reach(rates, &domain, epsilon, estimand),)+
                }
            }

            /// As [`Estimated::squares`], from counts of the same question.
            fn squares(&self, counts: &Counts, sparsity: u32, reports: u64) -> Option<Squares> {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.squares(rates, counts, sparsity, reports)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::contribution`]; `None` where the mechanism does not
            /// estimate this.
            fn contribution(
                &self,
                domain: &Domain,
                estimand: Estimand,
                entries: &[Entry],
            ) -> Option<Contribution> {
                match self {
                    $(Self::$Name(own, rates) => {
                        let contribution = || {
                            <mechanism::$module::$Name>::contribution(
                                rates, domain.sparsity(), estimand, entries,
                            )
                        };
                        own.estimands(domain).contains(&estimand).then(contribution)
                    })+
                }
            }
        }
    };
}

hushbin::mechanisms!(register);

impl Counts {
    /// Of a tree, which is for Collision, the nodes of one layer alone.
    fn among(self, nodes: std::ops::Range<u32>) -> Self {
        match self {
            Self::Collision(counts) => Self::Collision(counts.among(nodes)),
            others => others,
        }
    }
}
