//! Identities of 16 bytes, which are written as hexadecimal digits.

mod bytes;
#[cfg(feature = "collector")]
mod text;

pub use bytes::Fingerprint;
pub(crate) use bytes::write_hex;
#[cfg(feature = "collector")]
pub use text::ParseHexError;
#[cfg(feature = "collector")]
pub(crate) use text::parse_hex;
