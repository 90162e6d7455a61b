//! Tests whether reports are consistent with people who follow the mechanism. A report is *honest*
//! if it was randomised as the task requires, even if the answer is false.
//!
//! Five properties of honest reports do not depend on the answers:
//!
//! - Seeds are uniform.
//! - A seed determines the hash functions of its report, so every bucket (or side, or sign) is
//!   reported with equal probability.
//! - Bins of hash-bin vary no more than noise and answers can explain.
//! - The counts of a pattern's outputs are possible for some population, up to noise.
//! - Estimates stay within the range of possible true values, up to noise.
//!
//! The tests catch careless forgeries. They cannot catch people who give false answers but draw
//! seeds and randomise correctly. [`ForgedReportInfluence`] bounds the effect of such lies.
//!
//! [`ForgedReportInfluence`]: super::ForgedReportInfluence

use hushbin::{Items, Question};
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use crate::estimate::counters::MIN_EXPECTED_COUNT;
use crate::estimate::distribution::CellOrOutputCounts;
use crate::estimate::estimator::Estimator;
use crate::estimate::mechanism::SquareStatistics;
use crate::estimate::point::{Estimand, ItemPointEstimates};
use crate::estimate::totals::Totals;

/// Threshold of the p-value: a test with a smaller p-value is flagged. This threshold is also the
/// maximum false-alarm probability of a test.
const MAX_FALSE_ALARM_PROBABILITY: f64 = 1e-6;

/// Result of one test of whether reports are honest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HonestyTest {
    /// Name of the question. `None` if the test covers all questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Property that was tested.
    pub(crate) test: HonestReportProperty,
    /// Upper bound on the probability that honest reports deviate at least as much as the observed
    /// reports (p-value).
    pub p: f64,
    /// True if the p-value is below one in a million. Such a deviation is too large to be chance.
    pub flagged: bool,
    /// Result of the test, in words.
    pub(crate) statement: String,
}

/// Property of honest reports that one test checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HonestReportProperty {
    /// Seeds are uniform.
    Seeds,
    /// Reported buckets, sides or signs are uniform, because seeds determine the hash functions.
    Places,
    /// Bins of hash-bin vary no more than noise and answers can explain.
    Bins,
    /// The counts of a pattern's outputs are possible for some population, up to noise.
    Outputs,
    /// Estimates stay within the range of possible true values, up to noise.
    Limits,
}

impl HonestReportProperty {
    fn test_result_statement(self, flagged: bool) -> &'static str {
        match (self, flagged) {
            (Self::Seeds, false) => "Seeds are uniform.",
            (Self::Seeds, true) => {
                "Seeds are not uniform: some reports were not made by the page, or were copied."
            }
            (Self::Places, false) => "Buckets are uniform.",
            (Self::Places, true) => {
                "Some buckets are more frequent than hash functions and noise can explain: some \
                 reports were not randomised as the task requires."
            }
            (Self::Bins, false) => "Bins are no wider than noise and answers can make them.",
            (Self::Bins, true) => {
                "Bins are wider than noise and answers can make them: some reports were not \
                 randomised as the task requires."
            }
            (Self::Outputs, false) => "Outputs have frequencies that bins and noise can explain.",
            (Self::Outputs, true) => {
                "Outputs have frequencies that no answers can explain: some reports were not \
                 randomised as the task requires."
            }
            (Self::Limits, false) => {
                "No estimate is outside the possible range by more than \
                                      noise."
            }
            (Self::Limits, true) => {
                "An estimate is outside the possible range by more than noise can explain: reports \
                 were made up to move it."
            }
        }
    }

    fn honesty_test_from_p_value(self, question: Option<String>, p: f64) -> HonestyTest {
        let flagged = p < MAX_FALSE_ALARM_PROBABILITY;
        HonestyTest {
            question,
            test: self,
            p,
            flagged,
            statement: self.test_result_statement(flagged).to_owned(),
        }
    }
}

impl Estimator {
    /// Runs all tests for which the totals have enough reports.
    ///
    /// # Panics
    /// If the totals belong to another task.
    #[must_use]
    pub fn run_honesty_tests(&self, totals: &Totals) -> Vec<HonestyTest> {
        let mut tests = Vec::new();
        let mut add = |respect: HonestReportProperty, question: Option<String>, p: Option<f64>| {
            tests.extend(p.map(|p| respect.honesty_test_from_p_value(question, p)));
        };
        add(
            HonestReportProperty::Seeds,
            None,
            totals.seed_uniformity_counts.p_value(),
        );
        for (index, question) in self.task().questions().iter().enumerate() {
            let name = (!self.task().has_unnamed_question()).then(|| question.name().to_owned());
            let folded = totals.question_totals(index);
            add(
                HonestReportProperty::Places,
                name.clone(),
                folded.outcome_uniformity_counts.p_value(),
            );
            let squares = folded
                .mechanism_counts
                .square_statistics(self.sampling_model(index), folded.report_count);
            add(
                HonestReportProperty::Bins,
                name.clone(),
                squares.and_then(squared_bins_p_value),
            );
            let outputs = self.pattern_outputs_p_value(totals, index);
            add(HonestReportProperty::Outputs, name.clone(), outputs);
            // In totals of several windows, reports from one memo share its noise, which the test
            // would take for forged reports.
            let range = match self.task().memo_thresholds() {
                None => self.estimate_range_p_value(totals, index, question),
                Some(_) => None,
            };
            add(HonestReportProperty::Limits, name, range);
        }
        tests
    }

    /// Returns the p-value of the hypothesis that the counts of a pattern's outputs come from some
    /// distribution of people over bins. `None` for other mechanisms, if the pattern has no more
    /// outputs than bins, or if there are too few reports.
    fn pattern_outputs_p_value(&self, totals: &Totals, index: usize) -> Option<f64> {
        let Some(CellOrOutputCounts::PatternOutputs(patterned)) =
            self.cell_or_output_counts(totals, index)
        else {
            return None;
        };
        let (statistic, freedom) = patterned.chi_squared_misfit()?;
        let law = ChiSquared::new(freedom as f64).expect("some degrees of freedom");
        Some(law.sf(statistic))
    }

    /// Returns the p-value of the estimate that is farthest outside the range of possible true
    /// values. `None` for an open question or if there are too few reports.
    fn estimate_range_p_value(
        &self,
        totals: &Totals,
        index: usize,
        question: &Question,
    ) -> Option<f64> {
        let items = match question.items() {
            Items::Named(names) => names.len() as u64,
            Items::Count(count) => (*count).into(),
            Items::Open(_) => return None,
        };
        let reports = totals.question_report_count(index);
        if (reports as f64) < MIN_EXPECTED_COUNT {
            return None;
        }
        let all: Vec<u64> = (0..items).collect();
        let points = self.point_estimates(totals, index, &all);
        // Bonferroni correction over both ends of the range and over all items.
        let beyond = points
            .iter()
            .filter_map(distance_from_feasible)
            .reduce(f64::max)?;
        let tail = Normal::standard().sf(beyond);
        Some((2.0 * items as f64 * tail).min(1.0))
    }
}

/// Returns the distance of an item's main estimate from the range of possible true values, in
/// standard errors. The distance is negative inside the range. `None` if the standard error is 0.
fn distance_from_feasible(points: &ItemPointEstimates) -> Option<f64> {
    let (estimand, point) = points.main_estimate()?;
    let [least, most] = match estimand {
        Estimand::Mean => [-1.0, 1.0],
        _ => [0.0, 1.0],
    };
    let far = (point.estimate - most).max(least - point.estimate);
    (point.standard_error > 0.0).then(|| far / point.standard_error)
}

/// Returns the p-value of the hypothesis that the expected squared bin is at most the bound for
/// honest reports. `None` if there are too few bins for the test.
fn squared_bins_p_value(squares: SquareStatistics) -> Option<f64> {
    let SquareStatistics {
        mean,
        max_expected_mean_square: most,
        square_count: numbers,
    } = squares;
    // The variance of a squared Laplace variable is 5 times the square of its mean. Answers add
    // less.
    let error = most * (5.0 / numbers).sqrt();
    (numbers >= MIN_EXPECTED_COUNT * MIN_EXPECTED_COUNT)
        .then(|| Normal::standard().sf((mean - most) / error))
}

#[cfg(test)]
mod tests {
    use hushbin::mechanism::collision;
    use hushbin::{Report, Task, TaskDraft};
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn reports_made_up_carelessly_are_flagged() {
        let draft: TaskDraft = serde_json::from_str(
            r#"{
                "id": "t", "epsilon": 1.0,
                "questions": [{ "name": "q", "kind": "choice", "options": 8 }]
            }"#,
        )
        .unwrap();
        let task: Task = draft.resolve_task().unwrap();
        let hushbin::Mechanism::Collision(own) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let (domain, outcomes) = (task.questions()[0].domain(), own.total_buckets());
        let support = own.hit_decoder(&domain);
        let estimator = Estimator::for_task(task.clone());
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut honest = Totals::new(&task);
        let mut of = |totals: &mut Totals, wanted: &dyn Fn(&collision::Report) -> bool| {
            loop {
                let (seed, bucket) = (rng.next_u64(), rng.next_u32() % outcomes);
                let report = collision::Report { seed, bucket };
                if wanted(&report) {
                    return totals.add_report(&Report::Collision(report));
                }
            }
        };
        (0..20_000).for_each(|_| of(&mut honest, &|_| true));
        let flagged = |totals: &Totals| -> Vec<HonestReportProperty> {
            let tests = estimator.run_honesty_tests(totals);
            assert_eq!(tests.len(), 3, "{tests:?}");
            let flagged = tests.into_iter().filter(|test| test.flagged);
            flagged.map(|test| test.test).collect()
        };
        assert_eq!(flagged(&honest), []);
        let mut copied = honest.clone();
        let report = Report::Collision(collision::Report { seed: 1, bucket: 0 });
        (0..2000).for_each(|_| copied.add_report(&report));
        assert_eq!(
            flagged(&copied),
            [HonestReportProperty::Seeds, HonestReportProperty::Places]
        );
        // All forged reports name the same bucket of the same hash function.
        let mut same = honest.clone();
        (0..2000).for_each(|_| of(&mut same, &|report| report.bucket == 1));
        assert_eq!(flagged(&same), [HonestReportProperty::Places]);
        // Forged reports always name the bucket of one answer. They resemble honest reports until
        // there are too many of them.
        let mut answer = honest.clone();
        (0..2000).for_each(|_| of(&mut answer, &|report| support.is_hit(report, 5)));
        assert_eq!(flagged(&answer), []);
        (0..200_000).for_each(|_| of(&mut answer, &|report| support.is_hit(report, 5)));
        assert_eq!(flagged(&answer), [HonestReportProperty::Limits]);
    }
}
