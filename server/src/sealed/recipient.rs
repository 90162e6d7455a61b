//! Opens sealed reports.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use hpke::{Deserializable, Kem as _, OpModeR, Serializable, single_shot_open};
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

    /// Opens a sealed report or message. Returns the encoded report or message, and the id of the
    /// key to which it was sealed. Returns `None` if the bytes are not a valid sealed report or
    /// message of this task.
    pub(crate) fn open_report(&self, sealed: &[u8]) -> Option<(KeyId, Vec<u8>)> {
        let (id, sealed) = sealed.split_first_chunk::<KEY_ID_BYTES>()?;
        let (encapsulated, ciphertext) = sealed.split_at_checked(ENCAPSULATED_KEY_BYTES)?;
        let opener = self.keys_by_id.get(id)?;
        let encapsulated = <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
        let opened = single_shot_open::<Aead, Kdf, Kem>(
            &OpModeR::Base,
            &opener.private_key,
            &encapsulated,
            &opener.hpke_info,
            ciphertext,
            &[],
        );
        let mut padded = opened.ok()?;
        let length = self.task.leading_report_length(&padded).ok()?;
        // The padding must be zeros, so that it cannot carry anything that distinguishes a sender.
        let is_padding = padded[length..].iter().all(|&byte| byte == 0);
        padded.truncate(length);
        is_padding.then_some((*id, padded))
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
