//! Whether it is given who has what.

use hushbin::task::Kind;
use hushbin::{Question, ValueKind};

/// The people whose reports answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum People {
    /// All of those that estimates are about, each with what is counted or not.
    Given,
    /// As if drawn anew: real values and levels make their bearers count sometimes, and
    /// of several questions only some people answer each, which can add up to the
    /// variance of who counts.
    Drawn,
}

impl People {
    /// Those who answer a question, or one of `several`.
    pub(super) fn of(question: &Question, several: bool) -> Self {
        let rounded = match question.kind() {
            Kind::Ratings(value) => *value == ValueKind::Real,
            Kind::Number(scale) => scale.edges().is_none(),
            Kind::Set | Kind::Choice | Kind::Flag => false,
        };
        if rounded || several {
            Self::Drawn
        } else {
            Self::Given
        }
    }
}
