//! Opens sealed reports.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use hpke::{Deserializable, Kem as _, OpModeR, Serializable, setup_receiver};
use hushbin::sealed::{ENCAPSULATED_KEY_BYTES, KEY_ID_BYTES};

use super::configuration::{KeyConfiguration, KeyId};
use super::suite::{Aead, Kdf, Kem};
use crate::keys;
use crate::task::ReportOrSumTask;

/// Recipient of the reports of one task, with one or several keys. New reports are sealed to the
/// first key. Reports sealed to the remaining keys are still opened.
pub(crate) struct ReportRecipient {
    task: ReportOrSumTask,
    configurations: Vec<KeyConfiguration>,
    keys_by_id: HashMap<KeyId, RecipientKey>,
}

/// Context of the secret that is exported as the id of a sealed report (RFC 9180, section 5.3).
const SEALED_REPORT_ID_LABEL: &[u8] = b"hushbin sealed report id";

/// Result of opening a sealed report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OpeningResult {
    Opened(OpenedReport),
    /// The recipient does not have the key with this id.
    MissingKey(KeyId),
    /// The bytes are not a valid sealed report or message of the task.
    Invalid,
}

/// Report or message that was sealed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenedReport {
    /// Id that is equal whenever the encapsulated key is. A client seals each report to a fresh
    /// encapsulated key, so a report with a known id is a repeated report.
    pub(crate) id: [u8; 16],
    /// Id of the key to which the report was sealed.
    pub(crate) key_id: KeyId,
    /// Encoded report or message.
    pub(crate) encoded: Vec<u8>,
}

struct RecipientKey {
    private_key: <Kem as hpke::Kem>::PrivateKey,
    hpke_info: Vec<u8>,
}

/// Reason that private keys cannot be used together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecipientKeysError {
    #[error("two keys have the id {}: create another key", HEXLOWER.encode(.0))]
    SameId(KeyId),
}

impl ReportRecipient {
    /// Creates the recipient of a task, with these private keys.
    ///
    /// # Errors
    /// When two of the keys have the same id.
    pub(crate) fn new(
        task: ReportOrSumTask,
        keys: &[[u8; keys::KEY_BYTES]],
    ) -> Result<Self, RecipientKeysError> {
        let mut recipient = Self {
            task,
            configurations: Vec::new(),
            keys_by_id: HashMap::new(),
        };
        for bytes in keys {
            let key = private_key_from_bytes(bytes);
            let public = Kem::sk_to_pk(&key).to_bytes();
            let configuration = KeyConfiguration::new(&recipient.task, &public.into());
            let (id, info) = (configuration.id(), configuration.hpke_info());
            if recipient
                .keys_by_id
                .insert(
                    id,
                    RecipientKey {
                        private_key: key,
                        hpke_info: info,
                    },
                )
                .is_some()
            {
                return Err(RecipientKeysError::SameId(id));
            }
            recipient.configurations.push(configuration);
        }
        Ok(recipient)
    }

    /// Returns the task.
    pub(crate) const fn task(&self) -> &ReportOrSumTask {
        &self.task
    }

    /// Returns the configurations for the keys. The first one is for new reports.
    pub(crate) fn key_configurations(&self) -> &[KeyConfiguration] {
        &self.configurations
    }

    /// Opens a sealed report or message.
    pub(crate) fn open_report(&self, sealed: &[u8]) -> OpeningResult {
        let Some((key_id, sealed)) = sealed.split_first_chunk::<KEY_ID_BYTES>() else {
            return OpeningResult::Invalid;
        };
        let Some(key) = self.keys_by_id.get(key_id) else {
            return OpeningResult::MissingKey(*key_id);
        };
        self.open_with_key(*key_id, key, sealed)
            .map_or(OpeningResult::Invalid, OpeningResult::Opened)
    }

    fn open_with_key(
        &self,
        key_id: KeyId,
        key: &RecipientKey,
        sealed: &[u8],
    ) -> Option<OpenedReport> {
        let (encapsulated, ciphertext) = sealed.split_at_checked(ENCAPSULATED_KEY_BYTES)?;
        let encapsulated = <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
        let context = setup_receiver::<Aead, Kdf, Kem>(
            &OpModeR::Base,
            &key.private_key,
            &encapsulated,
            &key.hpke_info,
        );
        let mut context = context.ok()?;
        let mut padded = context.open(ciphertext, &[]).ok()?;
        let length = self.task.leading_report_length(&padded).ok()?;
        // The padding must be zeros, so that it cannot carry anything that distinguishes a sender.
        if padded[length..].iter().any(|&byte| byte != 0) {
            return None;
        }
        padded.truncate(length);
        // Unlike a hash of the encapsulated key, the exported secret cannot be computed by the
        // shuffler. So a stored id does not reveal from which sealed report it came.
        let mut id = [0; 16];
        context.export(SEALED_REPORT_ID_LABEL, &mut id).ok()?;
        Some(OpenedReport {
            id,
            key_id,
            encoded: padded,
        })
    }
}

/// Converts bytes to a private key.
pub(crate) fn private_key_from_bytes(
    bytes: &[u8; keys::KEY_BYTES],
) -> <Kem as hpke::Kem>::PrivateKey {
    <Kem as hpke::Kem>::PrivateKey::from_bytes(bytes).expect("any 32 bytes are a key of X25519")
}

/// Computes the public key that belongs to a private key.
pub(crate) fn x25519_public_key(key: &[u8; keys::KEY_BYTES]) -> [u8; keys::KEY_BYTES] {
    Kem::sk_to_pk(&private_key_from_bytes(key))
        .to_bytes()
        .into()
}
