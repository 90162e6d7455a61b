//! Explanation of CoCo's reports.

use hushbin::domain::SignedItem;
use hushbin::hash::HashFamily;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{Coco, Randomizer};

use super::answer_placement::{AnswerPlacement, Outcome, Pair, SignedAnswer};
use super::explain_mechanism::{
    DomainAndEpsilon, ExplainMechanism, Reported, mean_of_distributions,
};

impl ExplainMechanism for Coco {
    type Report = BucketReport;

    fn decode_randomised_part(&self, report: &BucketReport) -> Reported {
        Reported::Side {
            pair: report.bucket / 2,
            plus: report.bucket.is_multiple_of(2),
        }
    }

    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &BucketReport,
    ) -> AnswerPlacement {
        let domain = setting.domain;
        let support = self.hit_decoder(&domain);
        let chances = outcome_probabilities(self, setting, answers, report.seed);
        let fills = self.hash_family() == HashFamily::BalancedItems;
        let pair = |pair: u32| {
            let bucket = 2 * pair;
            let report = BucketReport { bucket, ..*report };
            let side = |plus: bool| {
                let pushing = answers.iter().filter(|signed| {
                    let own_plus = support.hit_side_is_plus(&report, signed.item);
                    own_plus.is_some_and(|own_plus| (own_plus != signed.is_negative) == plus)
                });
                Outcome {
                    answers: pushing.map(SignedAnswer::from).collect(),
                    paddings: 0,
                    chance: chances[bucket as usize + usize::from(!plus)],
                }
            };
            // With balanced items, random items replace padding. The report does not show which.
            let paddings = setting.padding_indices(answers).filter(|_| !fills);
            let paddings = paddings.filter(|index| {
                support
                    .hit_side_is_plus(&report, domain.without_signs().padding_element(*index))
                    .is_some()
            });
            Pair {
                plus: side(true),
                minus: side(false),
                paddings: paddings.count() as u32,
            }
        };
        AnswerPlacement::Sides {
            pairs: (0..self.total_buckets() / 2).map(pair).collect(),
        }
    }

    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &BucketReport,
    ) -> f64 {
        outcome_probabilities(self, setting, answers, report.seed)[report.bucket as usize].ln()
    }

    /// Returns the number of answers of the first input that push to the reported side, minus the
    /// number that push to the opposite side.
    fn audit_score(
        &self,
        setting: &DomainAndEpsilon,
        [first, _]: &[Vec<SignedItem>; 2],
        report: &BucketReport,
    ) -> f64 {
        let support = self.hit_decoder(&setting.domain);
        let push = |signed: &SignedItem| {
            let own_plus = support.hit_side_is_plus(report, signed.item)?;
            Some(if own_plus == signed.is_negative {
                -1.0
            } else {
                1.0
            })
        };
        first.iter().filter_map(push).sum()
    }
}

/// Returns the probability that each side is reported under a seed. Probabilities are averaged over
/// all replacements of missing answers.
fn outcome_probabilities(
    coco: &Coco,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
    seed: u64,
) -> Vec<f64> {
    let mut core = Randomizer::new(coco, &setting.domain, setting.epsilon);
    setting.average_over_kept_answers(answers, &mut |kept| {
        let completions = core
            .input_completion_count(kept.len() as u32)
            .expect("at most s are kept, and s is small");
        mean_of_distributions(
            (0..completions)
                .map(|completion| core.exact_bucket_probabilities(seed, kept, completion)),
        )
    })
}
