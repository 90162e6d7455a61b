//! Keys of a shuffler, and the address and keys of its analyser.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use data_encoding::HEXLOWER;
use hyper::Uri;
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use super::signature::{self, SignedStatementKind, Signer};
use crate::keys;
use crate::sealed::{KeyConfiguration, KeyId};

/// Keys of a shuffler, and the address and keys of its analyser.
pub(crate) struct ShufflerKeys {
    /// Address of the analyser.
    pub(crate) analyser_address: Uri,
    /// Key pair that signs blocks.
    signer: Signer,
    /// Public key that verifies receipts from the analyser.
    analyser_key: [u8; keys::KEY_BYTES],
    /// Configurations that reports are sealed with, by task id. The analyser sends them.
    key_configurations_by_task: RwLock<HashMap<String, Vec<KeyConfiguration>>>,
    /// True if a report was sealed to a key that is not among the configurations.
    keys_outdated: AtomicBool,
}

impl ShufflerKeys {
    pub(crate) fn new(
        analyser: Uri,
        private: &[u8; keys::KEY_BYTES],
        analyser_key: [u8; keys::KEY_BYTES],
    ) -> Self {
        Self {
            analyser_address: analyser,
            signer: Signer::new(private),
            analyser_key,
            key_configurations_by_task: RwLock::default(),
            keys_outdated: AtomicBool::new(false),
        }
    }

    /// Returns the value of the header [`signature::SIGNATURE_HEADER`] for a block.
    pub(crate) fn signature_header(&self, block: &[u8]) -> String {
        let id = signature::signer_id(&self.signer.public_key());
        let signature = self
            .signer
            .sign(SignedStatementKind::BlockFromShuffler, block);
        format!("{}:{}", HEXLOWER.encode(&id), HEXLOWER.encode(&signature))
    }

    /// Returns true if `receipt` is the analyser's receipt for this block.
    pub(crate) fn is_valid_receipt(&self, receipt: &[u8], block: &[u8]) -> bool {
        let digest = Sha256::digest(block);
        signature::is_valid_signature(
            &self.analyser_key,
            SignedStatementKind::ReceiptFromAnalyser,
            &digest,
            receipt,
        )
    }

    /// Returns the configurations that reports of a task are sealed with. Returns `None` if the
    /// analyser has not sent them yet.
    pub(crate) fn key_configurations(&self, task: &str) -> Option<Vec<KeyConfiguration>> {
        let known = self.key_configurations_by_task.read();
        known.get(task).cloned()
    }

    /// Returns the first of these key ids that is not among the configurations of a task, and then
    /// has the configurations fetched again soon.
    pub(crate) fn find_unlisted_key(
        &self,
        task: &str,
        mut ids: impl Iterator<Item = KeyId>,
    ) -> Option<KeyId> {
        let listed: Vec<KeyId> = self
            .key_configurations(task)
            .iter()
            .flatten()
            .map(KeyConfiguration::id)
            .collect();
        let unlisted = ids.find(|id| !listed.contains(id));
        if unlisted.is_some() {
            self.keys_outdated.store(true, Ordering::Relaxed);
        }
        unlisted
    }

    /// Returns true if [`ShufflerKeys::find_unlisted_key`] has found a key since the last call.
    pub(crate) fn take_keys_outdated(&self) -> bool {
        self.keys_outdated.swap(false, Ordering::Relaxed)
    }

    /// Replaces the configurations of a task.
    pub(crate) fn set_key_configurations(&self, task: &str, configurations: Vec<KeyConfiguration>) {
        let mut known = self.key_configurations_by_task.write();
        known.insert(task.to_owned(), configurations);
    }
}
