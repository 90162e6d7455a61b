//! Sealed reports (RFC 9180): a page seals (encrypts) a report to the analyser's public key.
//! Collector and shuffler therefore cannot read the report.

mod configuration;
mod recipient;
mod suite;

pub(crate) use configuration::{KeyConfiguration, KeyId};
pub(crate) use recipient::{
    OpenedReport, OpeningResult, RecipientKeysError, ReportRecipient, private_key_from_bytes,
    x25519_public_key,
};
pub(crate) use suite::{Aead, Kdf, Kem};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
