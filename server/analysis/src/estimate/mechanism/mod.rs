//! The mechanisms: of each what is counted of its reports, and how estimates follow.

mod clipped_sum;
mod contract;
mod contribution;
#[cfg(test)]
mod exact_coverage;
mod kept;

pub(crate) use contract::{Asked, Estimated, Squares};
pub(crate) use contribution::Contribution;

use hushbin::domain::Domain;
use hushbin::{Entry, Mechanism, Question, Report, mechanism};

use crate::estimate::fold::{Reader, TotalsError};
use crate::estimate::law::{Law, OneAnswer};
use crate::estimate::point::{Estimand, ItemPoints, People};

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
        pub(crate) fn places(question: &Question) -> u32 {
            let (domain, epsilon) = (question.domain(), question.epsilon());
            match question.mechanism() {
                $(Mechanism::$Name(own) => Estimated::places(own, &domain, epsilon),)+
            }
        }

        /// As [`Estimated::place`].
        pub(crate) fn place(report: &Report) -> Option<u32> {
            match report {
                $(Report::$Name(own) => <mechanism::$module::$Name as Estimated>::place(own),)+
            }
        }

        /// What is kept of the reports of one mechanism.
        #[derive(Debug, Clone)]
        pub(crate) enum Counts {
            $($Name(<mechanism::$module::$Name as Estimated>::Counts),)+
        }

        impl Counts {
            pub(crate) fn for_question(question: &Question, items: &[u64]) -> Self {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match question.mechanism() {
                    $(Mechanism::$Name(own) => {
                        Self::$Name(own.counts(&domain, epsilon, items))
                    })+
                }
            }

            pub(crate) fn fold(&mut self, report: &Report) {
                match (self, report) {
                    $((Self::$Name(counts), Report::$Name(report)) => {
                        <mechanism::$module::$Name>::fold(counts, report);
                    })+
                    _ => panic!("reports are decoded under the question of the totals"),
                }
            }

            pub(crate) fn merge(&mut self, others: &Self) {
                match (self, others) {
                    $((Self::$Name(counts), Self::$Name(others)) => {
                        <mechanism::$module::$Name>::merge(counts, others);
                    })+
                    _ => panic!("totals of one question are of one mechanism"),
                }
            }

            /// As [`Estimated::encode`].
            pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
                match self {
                    $(Self::$Name(counts) => {
                        <mechanism::$module::$Name as Estimated>::encode(counts, bytes);
                    })+
                }
            }

            /// As [`Estimated::decode`].
            pub(crate) fn decode(&mut self, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError> {
                match self {
                    $(Self::$Name(counts) => {
                        <mechanism::$module::$Name as Estimated>::decode(counts, reports, bytes)
                    })+
                }
            }
        }

        /// A mechanism with its rates over a question's domain at its ε.
        #[derive(Debug, Clone)]
        pub(crate) enum Prepared {
            $($Name(
                mechanism::$module::$Name,
                <mechanism::$module::$Name as Estimated>::Rates,
            ),)+
        }

        impl Prepared {
            /// The rates of the question's reports.
            pub(crate) fn for_question(question: &Question) -> Self {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match question.mechanism() {
                    $(Mechanism::$Name(own) => {
                        Self::$Name(own.clone(), Estimated::rates(own, &domain, epsilon))
                    })+
                }
            }

            /// As [`Estimated::points`], from counts of the same task.
            pub(crate) fn points(
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
            pub(crate) fn law(&self, counts: &Counts, asked: &Asked, points: &ItemPoints) -> Law {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.law(rates, counts, asked, points)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::one_answer`], from counts of the same task.
            pub(crate) fn one_answer(
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
            pub(crate) fn single(&self) -> Option<&mechanism::collision::Rates> {
                match self {
                    $(Self::$Name(_, rates) => <mechanism::$module::$Name>::single(rates),)+
                }
            }

            /// As [`Estimated::reach`], of the same question.
            pub(crate) fn reach(&self, question: &Question, estimand: Estimand) -> [f64; 2] {
                let (domain, epsilon) = (question.domain(), question.epsilon());
                match self {
                    $(Self::$Name(own, rates) => own.reach(rates, &domain, epsilon, estimand),)+
                }
            }

            /// As [`Estimated::squares`], from counts of the same question.
            pub(crate) fn squares(&self, counts: &Counts, sparsity: u32, reports: u64) -> Option<Squares> {
                match (self, counts) {
                    $((Self::$Name(own, rates), Counts::$Name(counts)) => {
                        own.squares(rates, counts, sparsity, reports)
                    })+
                    _ => panic!("totals are of the task's mechanism"),
                }
            }

            /// As [`Estimated::contribution`]; `None` where the mechanism does not
            /// estimate this.
            pub(crate) fn contribution(
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
    pub(crate) fn among(self, nodes: std::ops::Range<u32>) -> Self {
        match self {
            Self::Collision(counts) => Self::Collision(counts.among(nodes)),
            others => others,
        }
    }
}
