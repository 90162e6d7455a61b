//! Sealed reports (RFC 9180): a page seals a report to the analyser, so that collector and shuffler
//! cannot read it.

mod configuration;
mod recipient;
mod suite;

pub(crate) use configuration::{Configuration, KeyId};
pub(crate) use recipient::{Recipient, RecipientError, private, public};
pub(crate) use suite::{Aead, Kdf, Kem};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
