//! Whether it is given who has what.

use hushbin::ValueKind;
use hushbin::task::Kind;

/// The people whose reports answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    /// All of those that estimates are about, each with what is counted or not.
    Given,
    /// All of those, each with a number that becomes one of the two levels beside it, at
    /// random. Of one level it is as if they were drawn.
    Rounded,
    /// As if drawn anew: real values make their bearers count sometimes, and of several questions
    /// only some people answer each, which can add up to the variance of who counts.
    Drawn,
}

impl People {
    /// Those who answer a question of this kind, or one of `several`.
    pub(crate) fn of(kind: &Kind, several: bool) -> Self {
        match kind {
            _ if several => Self::Drawn,
            Kind::Ratings(ValueKind::Real) | Kind::Text(_) => Self::Drawn,
            Kind::Numbers(_) => Self::Rounded,
            Kind::Cross(cross) if cross.levels().is_some() => Self::Rounded,
            Kind::Ratings(_)
            | Kind::Set
            | Kind::Choice
            | Kind::Flag
            | Kind::Number(_)
            | Kind::Cross(_)
            | Kind::Together(_) => Self::Given,
        }
    }
}
