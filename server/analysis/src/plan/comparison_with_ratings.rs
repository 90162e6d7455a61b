//! Comparison with asking the same question as ratings of items.

use hushbin::choose::{AutoDraft, KindDraft, MechanismDraft, ObjectiveDraft, ObjectiveName};
use hushbin::choose::{AutoLevel, QuestionDraft};
use hushbin::task::QuestionKind;
use hushbin::{Items, Question, ValueKind};

use crate::estimate::{ErrorPredictor, PredictedQuantity};

/// Maximum number of numbers for which the comparison is made. With more, choosing a mechanism
/// would take seconds.
const MAX_NUMBERS_TO_COMPARE: usize = 64;

/// Returns the variance that the question would have if its answers were asked as ratings of items,
/// divided by its actual variance. Each item in a person's answer is rated with the value 1. If the
/// question asks for several numbers, each number is rated with its own value. Both variances are
/// for the worst case over answers. Returns `None` if the question asks for ratings already, or if
/// a variance is not known.
pub(super) fn ratings_to_actual_variance_ratio(
    question: &Question,
    aim: PredictedQuantity,
    several: bool,
) -> Option<f64> {
    let answers = |sparsity| Some((question.items().item_count()?, ValueKind::Sign, sparsity));
    let (items, value, sparsity) = match question.kind() {
        // Cross-tabulations and parts that are asked together have several answers. Ratings cannot
        // be of texts that are not listed.
        QuestionKind::Ratings(_)
        | QuestionKind::CrossTabulation(_)
        | QuestionKind::Text(_)
        | QuestionKind::JointChoices(_) => None,
        QuestionKind::Set => answers(question.max_entries_per_report()),
        QuestionKind::Choice | QuestionKind::Flag | QuestionKind::Number(_) => answers(1),
        QuestionKind::Numbers(limits) => (limits.len() <= MAX_NUMBERS_TO_COMPARE).then_some((
            limits.len() as u32,
            ValueKind::Real,
            limits.len() as u32,
        )),
    }?;
    let mechanism = match aim {
        PredictedQuantity::Mean => auto_mechanism_draft(ObjectiveName::Mean),
        PredictedQuantity::Share => auto_mechanism_draft(ObjectiveName::Frequency),
        // The variance of sums of shares is known only for Collision.
        PredictedQuantity::DistributionFunction(_) => MechanismDraft::default(),
        PredictedQuantity::MeanWithinRow(_) => return None,
    };
    let rated = QuestionDraft {
        name: String::new(),
        kind: KindDraft::Ratings(Items::Count(items), value),
        sparsity: Some(sparsity),
        people_count_by_entry_count: None,
        mean_item_overlap: None,
        sampling_weight: None,
        mechanism,
    };
    let rated = rated
        .resolve_question(question.epsilon(), None, None)
        .ok()?;
    let [own, rated] = [question, &rated].map(ErrorPredictor::for_question);
    let (theirs, ours) = match aim {
        PredictedQuantity::DistributionFunction(part) => (
            rated.max_cdf_variance_if_rated(part, several)?,
            own.max_contribution_variance(aim, several)?,
        ),
        PredictedQuantity::MeanWithinRow(_) => return None,
        PredictedQuantity::Mean | PredictedQuantity::Share => (
            rated.max_contribution_variance(aim, several)?,
            own.max_contribution_variance(aim, several)?,
        ),
    };
    Some(theirs / ours)
}

fn auto_mechanism_draft(objective: ObjectiveName) -> MechanismDraft {
    MechanismDraft::Auto(AutoDraft {
        objective: ObjectiveDraft::Name(objective),
        level: AutoLevel::User,
    })
}
