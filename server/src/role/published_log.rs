//! Task log as a process publishes it, with a signature of its head.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::signature::{SignedStatementKind, Signer, is_valid_signature};
use crate::keys::KEY_BYTES;
use crate::store::{TaskLogEntry, TaskLogError, TaskLogHash, check_task_log, head_hash, hex};

/// Task log with its head hash and, if the process has a signing key, a signature.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PublishedTaskLog<'a> {
    pub(crate) entries: Cow<'a, [TaskLogEntry]>,
    /// Hash of the last entry, or zeros if there is none.
    #[serde(with = "hex")]
    hash: TaskLogHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<HeadSignature>,
}

/// Ed25519 signature of the head hash.
#[derive(Debug, Serialize, Deserialize)]
struct HeadSignature {
    #[serde(with = "hex")]
    public_key: [u8; KEY_BYTES],
    #[serde(with = "hex")]
    signature: [u8; 64],
}

/// Error for a published log that is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishedTaskLogError {
    #[error("expected the JSON of a task log: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Entries(#[from] TaskLogError),
    #[error("the head is not the hash of entry {0}, the last")]
    Head(usize),
    #[error("the signature of the head, entry {0}, is wrong")]
    Signature(usize),
}

impl<'a> PublishedTaskLog<'a> {
    /// Publishes a log, signed if there is a signer.
    pub(crate) fn new(entries: &'a [TaskLogEntry], signer: Option<&Signer>) -> Self {
        let hash = head_hash(entries);
        let sign = |signer: &Signer| HeadSignature {
            public_key: signer.public_key(),
            signature: signer.sign(SignedStatementKind::TaskLogHead, &hash),
        };
        Self {
            entries: Cow::Borrowed(entries),
            hash,
            signature: signer.map(sign),
        }
    }

    /// Returns a strong entity tag for HTTP. It depends on the head and the public key.
    pub(crate) fn entity_tag(&self) -> String {
        let key = self.signature.as_ref().map(|own| &own.public_key[..8]);
        let key = HEXLOWER.encode(key.unwrap_or_default());
        format!("\"{}{key}\"", HEXLOWER.encode(&self.hash))
    }

    /// Parses and verifies a published log.
    ///
    /// # Errors
    /// When the JSON, an entry, the head or the signature is invalid.
    pub(crate) fn parse(bytes: &[u8]) -> Result<PublishedTaskLog<'static>, PublishedTaskLogError> {
        let log: PublishedTaskLog<'static> = serde_json::from_slice(bytes)?;
        check_task_log(&log.entries)?;
        if log.hash != head_hash(&log.entries) {
            return Err(PublishedTaskLogError::Head(log.entries.len()));
        }
        let is_valid = |own: &HeadSignature| {
            let kind = SignedStatementKind::TaskLogHead;
            is_valid_signature(&own.public_key, kind, &log.hash, &own.signature)
        };
        match log.signature.as_ref().is_none_or(is_valid) {
            true => Ok(log),
            false => Err(PublishedTaskLogError::Signature(log.entries.len())),
        }
    }

    /// Returns the public key that signed the head, in hexadecimal.
    pub(crate) fn public_key(&self) -> Option<String> {
        let signature = self.signature.as_ref();
        signature.map(|own| HEXLOWER.encode(&own.public_key))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn signature_binds_the_head() {
        let text = serde_json::to_string(&PublishedTaskLog::new(&[], Some(&Signer::new(&[1; 32]))));
        let text = text.unwrap();
        let log = PublishedTaskLog::parse(text.as_bytes()).unwrap();
        assert_eq!(log.public_key().unwrap().len(), 64);
        let other = PublishedTaskLog::new(&[], Some(&Signer::new(&[2; 32]))).public_key();
        let wrong = text.replace(&log.public_key().unwrap(), &other.unwrap());
        let error = PublishedTaskLog::parse(wrong.as_bytes()).unwrap_err();
        assert!(
            matches!(error, PublishedTaskLogError::Signature(0)),
            "{error}"
        );
        let wrong = text.replace(&"0".repeat(64), &"1".repeat(64));
        let error = PublishedTaskLog::parse(wrong.as_bytes()).unwrap_err();
        assert!(matches!(error, PublishedTaskLogError::Head(0)), "{error}");
    }
}
