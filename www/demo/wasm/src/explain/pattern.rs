//! Explanation of Pattern's reports.

use hushbin::domain::SignedItem;
use hushbin::mechanism::pattern::{Pattern, Randomizer, Report};

use super::answer_placement::{AnswerPlacement, Outcome, SignedAnswer};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

impl ExplainMechanism for Pattern {
    type Report = Report;

    fn decode_randomised_part(&self, report: &Report) -> Reported {
        Reported::Bucket {
            bucket: report.bucket,
        }
    }

    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        _: &Report,
    ) -> AnswerPlacement {
        let outcome = |(output, chance)| {
            let own = answers.iter();
            Outcome {
                answers: own
                    .filter(|own| self.cell_favours_output(own.item as u32, output))
                    .map(SignedAnswer::from)
                    .collect(),
                paddings: 0,
                chance,
            }
        };
        AnswerPlacement::Buckets {
            buckets: (0..)
                .zip(outcome_probabilities(self, setting, answers))
                .map(outcome)
                .collect(),
            shared: Some(self.favoured_outputs().len() as u32),
        }
    }

    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> f64 {
        outcome_probabilities(self, setting, answers)[report.bucket as usize].ln()
    }

    /// Returns 1 if only the first input favours the output, −1 if only the second does, else 0.
    fn audit_score(
        &self,
        _: &DomainAndEpsilon,
        [first, second]: &[Vec<SignedItem>; 2],
        report: &Report,
    ) -> f64 {
        let favours = |input: &[SignedItem]| {
            let own = input
                .iter()
                .any(|own| self.cell_favours_output(own.item as u32, report.bucket));
            f64::from(u8::from(own))
        };
        favours(first) - favours(second)
    }
}

/// Returns the probability that each output is reported.
fn outcome_probabilities(
    pattern: &Pattern,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
) -> Vec<f64> {
    let core = Randomizer::new(pattern, setting.epsilon);
    let kept = &mut |kept: &[SignedItem]| core.output_probabilities(kept[0].item as u32);
    setting.average_over_kept_answers(answers, kept)
}
