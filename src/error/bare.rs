//! Errors of the modules that pages download: codes alone.

use super::code::ErrorCode;

/// Any error of this crate: of the module that pages download its code, which is all
/// that crosses the boundary to JavaScript.
pub type Error = ErrorCode;

/// An [`Error`], of which the variant is kept: the fields are never worked out.
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
    pub(crate) const fn of_question(self, _: &str) -> Self {
        self
    }
}
