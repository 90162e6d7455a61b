//! Errors of this crate, with a stable code for every kind.

pub(crate) mod code;
#[cfg(feature = "module")]
mod code_only;
#[cfg(not(feature = "module"))]
mod detailed;

#[cfg(feature = "module")]
use code_only as chosen;
#[cfg(not(feature = "module"))]
use detailed as chosen;

pub use chosen::Error;
pub(crate) use chosen::error;
pub use code::ErrorCode;
