//! Reports that are sealed in the page to whoever analyses them (RFC 9180), so that whoever
//! collects and shuffles them cannot read them.

mod configuration;
mod recipient;
mod suite;

pub(crate) use configuration::{Configuration, KeyId};
pub(crate) use recipient::{Recipient, RecipientError, private, public};
pub(crate) use suite::{Aead, Kdf, Kem};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
