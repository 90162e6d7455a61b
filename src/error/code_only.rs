//! Errors in the modules that pages download: error codes without fields or texts.

use super::code::ErrorCode;

/// Error of this crate. In the modules that pages download, an error is only its code, because
/// nothing else is passed to JavaScript.
pub type Error = ErrorCode;

/// Builds an [`Error`]. Only the variant is kept. The fields are type-checked but never evaluated.
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
    pub(crate) const fn with_question_if_named(self, _: &str) -> Self {
        self
    }
}
