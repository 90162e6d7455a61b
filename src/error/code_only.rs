//! Errors in modules that pages download: codes without fields or texts.

use super::code::ErrorCode;

/// Error of this crate. In a module that pages download it is its code, because only the code
/// crosses the boundary to JavaScript.
pub type Error = ErrorCode;

/// Builds an [`Error`]. Only its variant is kept. The fields are type-checked and never evaluated.
macro_rules! error {
    ($Variant:ident { $($field:ident $(: $value:expr)?),+ $(,)? }) => {{
        $(let _ = || error!(@ $field $($value)?);)+
        $crate::error::code::ErrorCode::$Variant
    }};
    (@ $field:ident) => {
        $field
    };
    (@ $field:ident $value:expr) => {
        $value
    };
}

pub(crate) use error;

impl ErrorCode {
    pub(crate) const fn code(&self) -> Self {
        *self
    }

    #[cfg(feature = "reports")]
    pub(crate) const fn in_question_if_named(self, _: &str) -> Self {
        self
    }
}
