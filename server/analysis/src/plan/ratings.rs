//! Cost of asking the same as ratings.

use hushbin::choose::{AutoDraft, KindDraft, MechanismDraft, ObjectiveDraft, ObjectiveName};
use hushbin::choose::{AutoLevel, QuestionDraft};
use hushbin::task::Kind;
use hushbin::{Items, Question, ValueKind};

use crate::estimate::{Aim, Predictor};

/// Maximum number of numbers that are compared. For more, choosing takes seconds.
const MOST_NUMBERS: usize = 64;

/// Returns the variance if the answers were items that are rated, over the question's own. An
/// answer is then rated 1, and a number its value. Both variances are for the worst case over
/// answers. `None` if they are rated already, or if the variance is not known.
pub(super) fn times(question: &Question, aim: Aim, several: bool) -> Option<f64> {
    let answers = |sparsity| Some((question.items().count()?, ValueKind::Sign, sparsity));
    let (items, value, sparsity) = match question.kind() {
        // Crosses and parts asked together have several answers, and ratings cannot have texts
        // outside a list.
        Kind::Ratings(_) | Kind::Cross(_) | Kind::Text(_) | Kind::Together(_) => None,
        Kind::Set => answers(question.sparsity()),
        Kind::Choice | Kind::Flag | Kind::Number(_) => answers(1),
        Kind::Numbers(limits) => (limits.len() <= MOST_NUMBERS).then_some((
            limits.len() as u32,
            ValueKind::Real,
            limits.len() as u32,
        )),
    }?;
    let mechanism = match aim {
        Aim::Mean => auto(ObjectiveName::Mean),
        Aim::Share => auto(ObjectiveName::Frequency),
        // Sums of shares are only known for Collision.
        Aim::Distribution(_) => MechanismDraft::default(),
        Aim::MeanWithin(_) => return None,
    };
    let rated = QuestionDraft {
        name: String::new(),
        kind: KindDraft::Ratings(Items::Count(items), value),
        sparsity: Some(sparsity),
        entries: None,
        overlap: None,
        weight: None,
        mechanism,
    };
    let rated = rated.resolve(question.epsilon(), None).ok()?;
    let [own, rated] = [question, &rated].map(Predictor::for_question);
    let (theirs, ours) = match aim {
        Aim::Distribution(part) => (
            rated.worst_of_rated_bins(part, several)?,
            own.worst_variance(aim, several)?,
        ),
        Aim::MeanWithin(_) => return None,
        Aim::Mean | Aim::Share => (
            rated.worst_variance(aim, several)?,
            own.worst_variance(aim, several)?,
        ),
    };
    Some(theirs / ours)
}

fn auto(objective: ObjectiveName) -> MechanismDraft {
    MechanismDraft::Auto(AutoDraft {
        objective: ObjectiveDraft::Name(objective),
        level: AutoLevel::User,
    })
}
