//! What it would take to ask the same as ratings.

use hushbin::choose::{Asked, AutoDraft, MechanismDraft, ObjectiveDraft, ObjectiveName};
use hushbin::choose::{AutoLevel, QuestionDraft};
use hushbin::task::Kind;
use hushbin::{Items, Question, ValueKind};

use crate::estimate::{Aim, Predictor};

/// So many numbers are compared at most: for more, choosing takes seconds.
const MOST_NUMBERS: usize = 64;

/// Variance of one report's estimate of what is aimed at, if the answers were items that
/// are rated: 1 is the answer's sign, and a number its value. `None` where they are, and
/// where that is not known.
pub(super) fn variance(question: &Question, aim: Aim, several: bool) -> Option<f64> {
    let answers = |sparsity| Some((question.items().count()?, ValueKind::Sign, sparsity));
    let (items, value, sparsity) = match question.kind() {
        Kind::Ratings(_) => None,
        Kind::Set => answers(question.sparsity()),
        Kind::Number(scale) if scale.edges().is_none() => Some((1, ValueKind::Real, 1)),
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
        // Only of Collision's hits are sums known.
        Aim::Distribution(_) => MechanismDraft::default(),
    };
    let rated = QuestionDraft {
        name: String::new(),
        asked: Asked::Ratings(Items::Count(items), value),
        sparsity: Some(sparsity),
        entries: None,
        weight: None,
        mechanism,
    };
    let rated = rated.resolve(question.epsilon(), None).ok()?;
    let predictor = Predictor::for_question(&rated);
    match aim {
        Aim::Distribution(part) => predictor.worst_of_rated_bins(part, several),
        // A number's place is half of what it is rated, from −1 to 1.
        Aim::Mean if matches!(question.kind(), Kind::Number(_)) => {
            Some(0.25 * predictor.worst_variance(aim, several)?)
        }
        Aim::Mean | Aim::Share => predictor.worst_variance(aim, several),
    }
}

fn auto(objective: ObjectiveName) -> MechanismDraft {
    MechanismDraft::Auto(AutoDraft {
        objective: ObjectiveDraft::Name(objective),
        level: AutoLevel::User,
    })
}
