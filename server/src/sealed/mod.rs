//! Reports that are sealed in the page to whoever analyses them (RFC 9180), so that whoever
//! collects and shuffles them cannot read them.

mod configuration;
mod recipient;

pub(crate) use configuration::{Configuration, KeyId};
pub(crate) use recipient::{Recipient, RecipientError, private, public};

pub(crate) type Kem = hpke::kem::X25519HkdfSha256;
pub(crate) type Kdf = hpke::kdf::HkdfSha256;
pub(crate) type Aead = hpke::aead::AesGcm128;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
