//! Explanation of CoCo's reports.

use hushbin::domain::Signed;
use hushbin::hash::Hashing;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{Coco, Randomizer};

use super::explain_mechanism::{ExplainMechanism, Reported, Setting, mean_distribution};
use super::placement::{Outcome, Pair, Placement, SignedAnswer};

impl ExplainMechanism for Coco {
    type Report = BucketReport;

    fn reported(&self, report: &BucketReport) -> Reported {
        Reported::Side {
            pair: report.bucket / 2,
            plus: report.bucket.is_multiple_of(2),
        }
    }

    fn place(&self, setting: &Setting, answers: &[Signed], report: &BucketReport) -> Placement {
        let domain = setting.domain;
        let support = self.support(&domain);
        let chances = outcome_probabilities(self, setting, answers, report.seed);
        let fills = self.hashing() == Hashing::BalancedItems;
        let pair = |pair: u32| {
            let bucket = 2 * pair;
            let report = BucketReport { bucket, ..*report };
            let side = |plus: bool| {
                let pushing = answers.iter().filter(|signed| {
                    let own_plus = support.hit(&report, signed.item);
                    own_plus.is_some_and(|own_plus| (own_plus != signed.negative) == plus)
                });
                Outcome {
                    answers: pushing.map(SignedAnswer::from).collect(),
                    paddings: 0,
                    chance: chances[bucket as usize + usize::from(!plus)],
                }
            };
            // With balanced items, random items replace padding. The report does not show which.
            let paddings = setting.paddings(answers).filter(|_| !fills);
            let paddings = paddings.filter(|index| {
                support
                    .hit(&report, domain.unsigned().padding(*index))
                    .is_some()
            });
            Pair {
                plus: side(true),
                minus: side(false),
                paddings: paddings.count() as u32,
            }
        };
        Placement::Sides {
            pairs: (0..self.outcomes() / 2).map(pair).collect(),
        }
    }

    fn log_likelihood(&self, setting: &Setting, answers: &[Signed], report: &BucketReport) -> f64 {
        outcome_probabilities(self, setting, answers, report.seed)[report.bucket as usize].ln()
    }

    /// Returns the number of answers of the first input that push to the reported side, minus the
    /// number that push to the opposite side.
    fn score(
        &self,
        setting: &Setting,
        [first, _]: &[Vec<Signed>; 2],
        report: &BucketReport,
    ) -> f64 {
        let support = self.support(&setting.domain);
        let push = |signed: &Signed| {
            let own_plus = support.hit(report, signed.item)?;
            Some(if own_plus == signed.negative {
                -1.0
            } else {
                1.0
            })
        };
        first.iter().filter_map(push).sum()
    }
}

/// Returns the probability that each side is reported under a seed. It is averaged over all
/// replacements of missing answers.
fn outcome_probabilities(
    coco: &Coco,
    setting: &Setting,
    answers: &[Signed],
    seed: u64,
) -> Vec<f64> {
    let mut core = Randomizer::new(coco, &setting.domain, setting.epsilon);
    setting.average_over_selections(answers, &mut |kept| {
        let completions = core
            .completions(kept.len() as u32)
            .expect("at most s are kept, and s is small");
        mean_distribution(
            (0..completions).map(|completion| core.probabilities(seed, kept, completion)),
        )
    })
}
