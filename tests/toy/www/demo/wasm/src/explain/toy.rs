//! The toy's reports, explained.

use hushbin::domain::SignedItem;
use hushbin::hash::{HashKeys, hashed_closed_element_sign};
use hushbin::mechanism::toy::{Report, Toy};

use super::answer_placement::{AnswerPlacement, Outcome, SignedAnswer};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

impl ExplainMechanism for Toy {
    type Report = Report;

    fn decode_randomised_part(&self, report: &Report) -> Reported {
        Reported::Sign { plus: report.plus }
    }

    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> AnswerPlacement {
        let pushed = |plus| {
            let pushed = answers
                .iter()
                .filter(|signed| (push(signed, report.seed) > 0.0) == plus);
            Outcome {
                answers: pushed.map(SignedAnswer::from).collect(),
                paddings: 0,
                chance: chance(self, setting, answers, Report { plus, ..*report }),
            }
        };
        AnswerPlacement::Sign {
            sum: answers.iter().map(|signed| push(signed, report.seed)).sum(),
            plus: pushed(true),
            minus: pushed(false),
        }
    }

    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> f64 {
        chance(self, setting, answers, *report).ln()
    }

    fn audit_score(
        &self,
        _: &DomainAndEpsilon,
        [first, _]: &[Vec<SignedItem>; 2],
        report: &Report,
    ) -> f64 {
        let sum: f64 = first.iter().map(|signed| push(signed, report.seed)).sum();
        if report.plus { sum } else { -sum }
    }
}

fn push(signed: &SignedItem, seed: u64) -> f64 {
    let sign = f64::from(hashed_closed_element_sign(
        &HashKeys::new(seed),
        signed.item as u32,
    ));
    if signed.is_negative { -sign } else { sign }
}

fn chance(toy: &Toy, setting: &DomainAndEpsilon, answers: &[SignedItem], report: Report) -> f64 {
    let most = answers.len().max(setting.domain.sparsity() as usize);
    let sum: f64 = answers.iter().map(|signed| push(signed, report.seed)).sum();
    let plus = 0.5 + 0.5 * toy.lean(setting.epsilon) * sum / most as f64;
    if report.plus { plus } else { 1.0 - plus }
}
