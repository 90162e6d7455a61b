//! Errors of this crate, with a stable code for every kind.

#[cfg(feature = "module")]
mod bare;
pub(crate) mod code;
#[cfg(not(feature = "module"))]
mod worded;

#[cfg(feature = "module")]
use bare as stated;
#[cfg(not(feature = "module"))]
use worded as stated;

pub use code::ErrorCode;
pub use stated::Error;
pub(crate) use stated::error;
