//! Explanation of Collision's reports.

use hushbin::domain::SignedItem;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::collision::{Collision, Randomizer};

use super::answer_placement::{AnswerPlacement, Outcome, SignedAnswer};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

impl ExplainMechanism for Collision {
    type Report = BucketReport;

    fn decode_randomised_part(&self, report: &BucketReport) -> Reported {
        Reported::Bucket {
            bucket: report.bucket,
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
        let outcome = |(bucket, chance)| {
            let report = BucketReport { bucket, ..*report };
            let hit = |element| support.is_hit(&report, element);
            let own = answers
                .iter()
                .filter(|signed| hit(domain.element_of_signed_item(**signed)));
            let paddings = setting
                .padding_indices(answers)
                .filter(|index| hit(domain.padding_element(*index)));
            Outcome {
                answers: own.map(SignedAnswer::from).collect(),
                paddings: paddings.count() as u32,
                chance,
            }
        };
        let chances = (0..).zip(outcome_probabilities(self, setting, answers, report.seed));
        AnswerPlacement::Buckets {
            buckets: chances.map(outcome).collect(),
            shared: support.slots_hit_per_report(),
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

    /// Returns the number of the first input's elements in the reported bucket, minus the number of
    /// the second input's elements in this bucket.
    fn audit_score(
        &self,
        setting: &DomainAndEpsilon,
        [first, second]: &[Vec<SignedItem>; 2],
        report: &BucketReport,
    ) -> f64 {
        let support = self.hit_decoder(&setting.domain);
        let held = |input: &[SignedItem]| {
            let element = |signed: &&SignedItem| setting.domain.element_of_signed_item(**signed);
            let hit = |signed: &&SignedItem| support.is_hit(report, element(signed));
            input.iter().filter(hit).count() as f64
        };
        held(first) - held(second)
    }
}

/// Returns the probability that each bucket is reported under a seed.
fn outcome_probabilities(
    collision: &Collision,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
    seed: u64,
) -> Vec<f64> {
    let mut core = Randomizer::new(collision, &setting.domain, setting.epsilon);
    setting.average_over_kept_answers(answers, &mut |kept| {
        core.exact_bucket_probabilities(seed, kept)
    })
}
