//! Whether reports look as those of people who follow the mechanism do, whatever they answer.
//!
//! Seeds are drawn evenly. As hash functions are drawn with them, the bucket (or side, or sign)
//! that a report names is as likely as any other, too, whatever a person answers. And no estimate
//! is further from what people can have than its noise explains. Reports that were made up
//! carelessly are told by that; those of somebody who draws seeds and randomises as the mechanism
//! says, but lies in the answers, never are: of them [`Influence`] tells the worst.
//!
//! [`Influence`]: super::Influence

use hushbin::task::Answers;
use hushbin::{Items, Question};
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use crate::estimate::estimator::Estimator;
use crate::estimate::fold::EXPECTED;
use crate::estimate::law::Cells;
use crate::estimate::mechanism::Squares;
use crate::estimate::point::{Estimand, ItemPoints};
use crate::estimate::totals::Totals;

/// How often a test flags an honest crowd, at most.
const FALSE_ALARM: f64 = 1e-6;

/// Whether reports are as those of people who follow the mechanism, in one respect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrowdTest {
    /// The question's name; `None` where it is about all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What is looked at.
    pub(crate) test: Respect,
    /// How often reports of an honest crowd are as unusual as these, at most.
    pub p: f64,
    /// Whether that is too rarely to be chance: once in a million tests.
    pub flagged: bool,
    /// What was found.
    pub(crate) statement: String,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Respect {
    /// Seeds are drawn evenly.
    Seeds,
    /// Places are named evenly, as seeds draw hash functions.
    Places,
    /// Bins spread no wider than noise and answers explain.
    Bins,
    /// Outputs of a pattern are named as often as some crowd's bins explain.
    Outputs,
    /// No estimate is beyond what people can have but by its noise.
    Limits,
}

impl Respect {
    fn words(self, flagged: bool) -> &'static str {
        match (self, flagged) {
            (Self::Seeds, false) => "Seeds are drawn evenly.",
            (Self::Seeds, true) => {
                "Seeds are not drawn evenly: some reports were not made by the page, \
                 or were copied."
            }
            (Self::Places, false) => "Buckets are named evenly.",
            (Self::Places, true) => {
                "Some buckets are named more often than hash functions and noise explain: \
                 some reports were not randomised as the task says."
            }
            (Self::Bins, false) => "Bins are as wide as noise and answers make them, at most.",
            (Self::Bins, true) => {
                "Bins are wider than noise and answers make them: some reports were not \
                 randomised as the task says."
            }
            (Self::Outputs, false) => "Outputs are named as bins and noise explain.",
            (Self::Outputs, true) => {
                "Outputs are named as no crowd's bins and noise explain: some reports were not \
                 randomised as the task says."
            }
            (Self::Limits, false) => "No estimate is beyond what people can have.",
            (Self::Limits, true) => {
                "An estimate is further beyond what people can have than noise explains: \
                 reports were made up to move it."
            }
        }
    }

    fn of(self, question: Option<String>, p: f64) -> CrowdTest {
        let flagged = p < FALSE_ALARM;
        CrowdTest {
            question,
            test: self,
            p,
            flagged,
            statement: self.words(flagged).to_owned(),
        }
    }
}

impl Estimator {
    /// What tells reports that were made up carelessly from those of an honest crowd, as far
    /// as there are enough of them. Nothing where answers are permanent: reports of an honest
    /// crowd then come again and again.
    ///
    /// # Panics
    /// If the totals are not of the task.
    #[must_use]
    pub fn crowd(&self, totals: &Totals) -> Vec<CrowdTest> {
        let mut tests = Vec::new();
        if self.task().budget().answers() == Answers::Permanent {
            return tests;
        }
        let mut add = |respect: Respect, question: Option<String>, p: Option<f64>| {
            tests.extend(p.map(|p| respect.of(question, p)));
        };
        add(Respect::Seeds, None, totals.seeds.p());
        for (index, question) in self.task().questions().iter().enumerate() {
            let name = (!self.task().is_unnamed()).then(|| question.name().to_owned());
            let folded = totals.folded(index);
            add(Respect::Places, name.clone(), folded.places.p());
            let squares = folded.counts.squares(self.people(index), folded.reports);
            add(Respect::Bins, name.clone(), squares.and_then(of_squares));
            let outputs = self.outputs(totals, index);
            add(Respect::Outputs, name.clone(), outputs);
            add(Respect::Limits, name, self.limits(totals, index, question));
        }
        tests
    }

    /// How often outputs of a pattern, of which there are more than bins, are as far from what
    /// the bins that fit best explain.
    fn outputs(&self, totals: &Totals, index: usize) -> Option<f64> {
        let Some(Cells::Patterned(patterned)) = self.cells(totals, index) else {
            return None;
        };
        let (statistic, freedom) = patterned.misfit()?;
        let law = ChiSquared::new(freedom as f64).expect("some degrees of freedom");
        Some(law.sf(statistic))
    }

    /// How often the noise of some item's estimate takes it as far beyond what people can have.
    fn limits(&self, totals: &Totals, index: usize, question: &Question) -> Option<f64> {
        let items = match question.items() {
            Items::Named(names) => names.len() as u64,
            Items::Count(count) => (*count).into(),
            Items::Open(_) => return None,
        };
        let reports = totals.reports_of(index);
        if (reports as f64) < EXPECTED {
            return None;
        }
        let all: Vec<u64> = (0..items).collect();
        let points = self.points(totals, index, &all);
        let beyond = points.iter().filter_map(beyond).reduce(f64::max)?;
        let tail = Normal::standard().sf(beyond);
        Some((2.0 * items as f64 * tail).min(1.0))
    }
}

/// By how many standard errors an item's estimate is beyond what people can have.
fn beyond(points: &ItemPoints) -> Option<f64> {
    let (estimand, point) = points.first()?;
    let [least, most] = match estimand {
        Estimand::Mean => [-1.0, 1.0],
        _ => [0.0, 1.0],
    };
    let far = (point.estimate - most).max(least - point.estimate);
    (point.standard_error > 0.0).then(|| far / point.standard_error)
}

/// How often squares are as large on average. The square of a number that is distributed as
/// Laplace says has five times its squared variance as variance; answers add less.
fn of_squares(squares: Squares) -> Option<f64> {
    let Squares {
        mean,
        most,
        numbers,
    } = squares;
    let error = most * (5.0 / numbers).sqrt();
    (numbers >= EXPECTED * EXPECTED).then(|| Normal::standard().sf((mean - most) / error))
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
        let task: Task = draft.resolve().unwrap();
        let hushbin::Mechanism::Collision(own) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let (domain, outcomes) = (task.questions()[0].domain(), own.outcomes());
        let support = own.support(&domain);
        let estimator = Estimator::for_task(task.clone());
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut honest = Totals::new(&task);
        let mut of = |totals: &mut Totals, wanted: &dyn Fn(&collision::Report) -> bool| {
            loop {
                let (seed, bucket) = (rng.next_u64(), rng.next_u32() % outcomes);
                let report = collision::Report { seed, bucket };
                if wanted(&report) {
                    return totals.fold(&Report::Collision(report));
                }
            }
        };
        (0..20_000).for_each(|_| of(&mut honest, &|_| true));
        let flagged = |totals: &Totals| -> Vec<Respect> {
            let tests = estimator.crowd(totals);
            assert_eq!(tests.len(), 3, "{tests:?}");
            let flagged = tests.into_iter().filter(|test| test.flagged);
            flagged.map(|test| test.test).collect()
        };
        assert_eq!(flagged(&honest), []);
        let mut copied = honest.clone();
        let report = Report::Collision(collision::Report { seed: 1, bucket: 0 });
        (0..2000).for_each(|_| copied.fold(&report));
        assert_eq!(flagged(&copied), [Respect::Seeds, Respect::Places]);
        // One bucket, whatever the hash functions.
        let mut same = honest.clone();
        (0..2000).for_each(|_| of(&mut same, &|report| report.bucket == 1));
        assert_eq!(flagged(&same), [Respect::Places]);
        // Always an answer's bucket: this looks like a crowd until it is too many.
        let mut answer = honest.clone();
        (0..2000).for_each(|_| of(&mut answer, &|report| support.hits(report, 5)));
        assert_eq!(flagged(&answer), []);
        (0..200_000).for_each(|_| of(&mut answer, &|report| support.hits(report, 5)));
        assert_eq!(flagged(&answer), [Respect::Limits]);
    }
}
