//! Sampling model: fixed population, rounded values, or random sample.

use hushbin::ValueKind;
use hushbin::task::QuestionKind;

/// Sampling model of the people whose reports answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingModel {
    /// Fixed population (*given* people): all people answer, and each person either has the counted
    /// property or does not.
    FixedPopulation,
    /// Fixed population whose numbers are rounded at random to one of two neighbouring levels. For
    /// the share of a single level, this is equivalent to a random sample.
    RoundedValues,
    /// Random sample (*drawn* people).
    ///
    /// Real values are rounded to signs at random. If a task asks several questions, only some
    /// people answer each question. In the worst case, this randomness adds the full variance of
    /// drawing each person at random.
    RandomSample,
}

impl SamplingModel {
    /// Returns the sampling model for a question of this kind. `several` is true if the task asks
    /// several questions.
    pub(crate) fn for_question_kind(kind: &QuestionKind, several: bool) -> Self {
        match kind {
            _ if several => Self::RandomSample,
            QuestionKind::Ratings(ValueKind::Real) | QuestionKind::Text(_) => Self::RandomSample,
            QuestionKind::Numbers(_) => Self::RoundedValues,
            QuestionKind::CrossTabulation(cross) if cross.level_scale().is_some() => {
                Self::RoundedValues
            }
            QuestionKind::Ratings(_)
            | QuestionKind::Set
            | QuestionKind::Choice
            | QuestionKind::Flag
            | QuestionKind::Number(_)
            | QuestionKind::CrossTabulation(_)
            | QuestionKind::JointChoices(_) => Self::FixedPopulation,
        }
    }
}
