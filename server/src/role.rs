//! What a process does of collecting, shuffling and analysing, and what it needs for that.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use clap::ValueEnum;
use hushbin::Fingerprint;
use hyper::Uri;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::any_task::AnyTask;
use crate::hex;
use crate::keys;
use crate::sealed::{Configuration, Recipient, RecipientError};
use crate::signed::{self, Signer, Statement};
use crate::store::Form;

/// Header of a request that is signed: the signer's name and the signature, hexadecimal, with a
/// colon between them.
pub(crate) const SIGNATURE: &str = "hushbin-signature";

/// What a process does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Takes reports from pages and estimates from them
    #[default]
    Collector,
    /// Takes sealed reports from pages and sends them on in batches, in another order
    Shuffler,
    /// Takes batches from shufflers and estimates from them
    Analyser,
}

impl Role {
    /// What its reports are.
    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Collector => Form::Clear,
            Self::Shuffler => Form::Sealed,
            Self::Analyser => Form::Shuffled,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Collector => "collector",
            Self::Shuffler => "shuffler",
            Self::Analyser => "analyser",
        }
    }
}

/// A role with what it needs.
pub(crate) enum Part {
    Collector,
    Shuffler(Shuffler),
    Analyser(Analyser),
}

/// Its role alone: what else it is are keys.
impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.role(), f)
    }
}

impl Part {
    pub(crate) const fn role(&self) -> Role {
        match self {
            Self::Collector => Role::Collector,
            Self::Shuffler(_) => Role::Shuffler,
            Self::Analyser(_) => Role::Analyser,
        }
    }
}

/// What a signer is called: the beginning of the SHA-256 of the public key.
pub(crate) type Name = [u8; 8];

/// The name of the holder of this key.
pub(crate) fn name(public: &[u8; keys::LENGTH]) -> Name {
    let digest = Sha256::digest(public);
    *digest.first_chunk().expect("a digest has 32 bytes")
}

/// What a shuffler needs.
pub(crate) struct Shuffler {
    /// Where its analyser is.
    pub(crate) analyser: Uri,
    signer: Signer,
    analyser_key: [u8; keys::LENGTH],
    /// By task, what reports are sealed by, as the analyser last said.
    configurations: RwLock<HashMap<String, Vec<Configuration>>>,
}

impl Shuffler {
    pub(crate) fn new(
        analyser: Uri,
        private: &[u8; keys::LENGTH],
        analyser_key: [u8; keys::LENGTH],
    ) -> Self {
        Self {
            analyser,
            signer: Signer::new(private),
            analyser_key,
            configurations: RwLock::default(),
        }
    }

    /// What a block is sent with.
    pub(crate) fn signature(&self, block: &[u8]) -> String {
        let name = name(&self.signer.public());
        let signature = self.signer.sign(Statement::Block, block);
        format!("{}:{}", hex::encode(&name), hex::encode(&signature))
    }

    /// Whether the analyser says that it has this block.
    pub(crate) fn is_receipt(&self, receipt: &[u8], block: &[u8]) -> bool {
        let digest = Sha256::digest(block);
        signed::is_by(&self.analyser_key, Statement::Receipt, &digest, receipt)
    }

    /// What reports of a task are sealed by; `None` where the analyser has not said.
    pub(crate) fn configurations(&self, task: &str) -> Option<Vec<Configuration>> {
        let known = self.configurations.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        known.get(task).cloned()
    }

    pub(crate) fn learn(&self, task: &str, configurations: Vec<Configuration>) {
        let known = self.configurations.write();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        known.insert(task.to_owned(), configurations);
    }
}

/// What an analyser needs.
pub(crate) struct Analyser {
    /// Private keys that reports are sealed to, the newest first.
    sealing: Vec<[u8; keys::LENGTH]>,
    /// Who opens reports, by the fingerprint of the task: made once.
    recipients: RwLock<HashMap<Fingerprint, Arc<Recipient>>>,
    signer: Signer,
    /// Public keys of the shufflers that it takes batches from.
    shufflers: HashMap<Name, [u8; keys::LENGTH]>,
}

impl Analyser {
    pub(crate) fn new(
        sealing: Vec<[u8; keys::LENGTH]>,
        private: &[u8; keys::LENGTH],
        shufflers: impl IntoIterator<Item = [u8; keys::LENGTH]>,
    ) -> Self {
        Self {
            sealing,
            recipients: RwLock::default(),
            signer: Signer::new(private),
            shufflers: shufflers.into_iter().map(|key| (name(&key), key)).collect(),
        }
    }

    /// Who opens the reports of a task.
    ///
    /// # Errors
    /// When two keys cannot be told apart.
    pub(crate) fn recipient(&self, task: &AnyTask) -> Result<Arc<Recipient>, RecipientError> {
        let fingerprint = task.fingerprint();
        let known = self.recipients.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(recipient) = known.get(&fingerprint) {
            return Ok(Arc::clone(recipient));
        }
        drop(known);
        let recipient = Arc::new(Recipient::new(task.clone(), &self.sealing)?);
        let all = self.recipients.write();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.insert(fingerprint, Arc::clone(&recipient));
        Ok(recipient)
    }

    /// The shuffler that has signed this block so; `None` where none of those has.
    pub(crate) fn shuffler(&self, signature: &str, block: &[u8]) -> Option<Name> {
        let (shuffler, signature) = signature.split_once(':')?;
        let shuffler: Name = hex::decode(shuffler)?.try_into().ok()?;
        let key = self.shufflers.get(&shuffler)?;
        let signature = hex::decode(signature)?;
        signed::is_by(key, Statement::Block, block, &signature).then_some(shuffler)
    }

    /// What says that this block is on the disk.
    pub(crate) fn receipt(&self, block: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(block);
        self.signer.sign(Statement::Receipt, &digest).to_vec()
    }
}
