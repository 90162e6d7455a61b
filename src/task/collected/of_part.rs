//! Parts as questions.

use crate::task::local::kind::{Asked, Kind, Part};

impl Part {
    /// What is asked: a choice, a flag or a number.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.asked {
            Asked::Choice => Kind::Choice,
            Asked::Flag => Kind::Flag,
            Asked::Number(scale) => Kind::Number(scale.clone()),
        }
    }
}
