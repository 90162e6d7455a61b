//! Keys of an analyser, and keys of its shufflers. An analyser accepts batches only from these
//! shufflers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use hushbin::Fingerprint;
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use super::signature::{self, SignedStatementKind, Signer, SignerId};
use crate::keys;
use crate::sealed::{KeyId, RecipientKeysError, ReportRecipient};
use crate::task::ReportOrSumTask;

/// Keys of an analyser, and public keys of its shufflers.
pub(crate) struct AnalyserKeys {
    /// Private keys that open sealed reports, newest first.
    sealing_keys: Vec<[u8; keys::KEY_BYTES]>,
    /// Ids of lost keys. Reports that were sealed to them are left out.
    lost_key_ids: BTreeSet<KeyId>,
    /// Recipients that were already created, by task fingerprint.
    recipients: RwLock<HashMap<Fingerprint, Arc<ReportRecipient>>>,
    /// Key pair that signs receipts.
    signer: Signer,
    /// Public keys of the analyser's shufflers, by signer id.
    shuffler_public_keys: HashMap<SignerId, [u8; keys::KEY_BYTES]>,
}

impl AnalyserKeys {
    pub(crate) fn new(
        sealing: Vec<[u8; keys::KEY_BYTES]>,
        lost_key_ids: BTreeSet<KeyId>,
        private: &[u8; keys::KEY_BYTES],
        shufflers: impl IntoIterator<Item = [u8; keys::KEY_BYTES]>,
    ) -> Self {
        Self {
            sealing_keys: sealing,
            lost_key_ids,
            recipients: RwLock::default(),
            signer: Signer::new(private),
            shuffler_public_keys: shufflers
                .into_iter()
                .map(|key| (signature::signer_id(&key), key))
                .collect(),
        }
    }

    /// Returns the recipient that opens the reports of a task.
    ///
    /// # Errors
    /// When two keys have the same id.
    pub(crate) fn recipient(
        &self,
        task: &ReportOrSumTask,
    ) -> Result<Arc<ReportRecipient>, RecipientKeysError> {
        let fingerprint = task.fingerprint();
        let known = self.recipients.read();
        if let Some(recipient) = known.get(&fingerprint) {
            return Ok(Arc::clone(recipient));
        }
        drop(known);
        // Two threads may create a recipient at once. Both results are the same.
        let recipient = Arc::new(ReportRecipient::new(task.clone(), &self.sealing_keys)?);
        let mut all = self.recipients.write();
        all.insert(fingerprint, Arc::clone(&recipient));
        Ok(recipient)
    }

    /// Returns the ids in `missing`, in hexadecimal, except those of lost keys.
    pub(crate) fn without_lost_keys(&self, missing: &BTreeSet<KeyId>) -> Vec<String> {
        let missing = missing.difference(&self.lost_key_ids);
        missing.map(|id| HEXLOWER.encode(id)).collect()
    }

    /// Returns the id of the shuffler that signed the block, according to the header value
    /// `signature`. Returns `None` if the shuffler is unknown or the signature is invalid.
    pub(crate) fn verified_shuffler_id(&self, signature: &str, block: &[u8]) -> Option<SignerId> {
        let (shuffler, signature) = signature.split_once(':')?;
        let shuffler: SignerId = HEXLOWER.decode(shuffler.as_bytes()).ok()?.try_into().ok()?;
        let key = self.shuffler_public_keys.get(&shuffler)?;
        let signature = HEXLOWER.decode(signature.as_bytes()).ok()?;
        signature::is_valid_signature(
            key,
            SignedStatementKind::BlockFromShuffler,
            block,
            &signature,
        )
        .then_some(shuffler)
    }

    /// Returns the analyser's receipt for a block, which is a signature.
    pub(crate) fn sign_receipt(&self, block: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(block);
        self.signer
            .sign(SignedStatementKind::ReceiptFromAnalyser, &digest)
            .to_vec()
    }
}
