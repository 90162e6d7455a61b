//! Sampling model: fixed population, rounded values, or random sample.

use hushbin::ValueKind;
use hushbin::task::Kind;

/// Sampling model of the people whose reports answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingModel {
    /// Fixed population: all people answer, and each either counts or does not.
    FixedPopulation,
    /// Fixed population whose numbers are rounded at random to one of two neighbouring levels. For
    /// a single level this is equivalent to a random sample.
    RoundedValues,
    /// Random sample.
    ///
    /// Real values count at random. If there are several questions, only some people answer each.
    /// This can add up to the variance of membership.
    RandomSample,
}

impl SamplingModel {
    /// Returns the model for a question of this kind. `several` means that the task asks several
    /// questions.
    pub(crate) fn of(kind: &Kind, several: bool) -> Self {
        match kind {
            _ if several => Self::RandomSample,
            Kind::Ratings(ValueKind::Real) | Kind::Text(_) => Self::RandomSample,
            Kind::Numbers(_) => Self::RoundedValues,
            Kind::Cross(cross) if cross.levels().is_some() => Self::RoundedValues,
            Kind::Ratings(_)
            | Kind::Set
            | Kind::Choice
            | Kind::Flag
            | Kind::Number(_)
            | Kind::Cross(_)
            | Kind::Together(_) => Self::FixedPopulation,
        }
    }
}
