//! What can go wrong, with a stable code for every kind.

#[cfg(feature = "module")]
mod bare;
mod code;
#[cfg(not(feature = "module"))]
mod worded;

#[cfg(feature = "module")]
use bare as stated;
#[cfg(not(feature = "module"))]
use worded as stated;

pub use code::ErrorCode;
pub use stated::Error;
pub(crate) use stated::error;

use alloc::string::String;

/// The error of what is unknown or, where the crate is not built complete, may be left out.
pub(crate) fn left_out(name: &str) -> Error {
    error!(UnknownMechanism {
        name: String::from(name)
    })
}
