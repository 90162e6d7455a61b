//! Identities of 16 bytes, which are written as hexadecimal digits.

mod bytes;
#[cfg(feature = "collector")]
mod hex_parsing;

pub use bytes::Fingerprint;
pub(crate) use bytes::write_hex;
#[cfg(feature = "collector")]
pub use hex_parsing::ParseHexError;
#[cfg(feature = "collector")]
pub(crate) use hex_parsing::parse_16_hex_bytes;
