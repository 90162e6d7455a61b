//! Access tokens, roles of tokens, and errors of reading or changing tokens.

use std::io;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::EngineError;
use data_encoding::HEXLOWER;

/// Permissions of a token's holder. Each role includes the permissions of the roles before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum TokenRole {
    /// Read released estimates, the list of batches and the settings of tasks.
    Analyst,
    /// Do what 'analyst' may do. Close batches. Create, change and delete tasks.
    Admin,
}

impl TokenRole {
    /// Returns the role's name on the command line and in the storage.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Admin => "admin",
        }
    }
}

/// A token, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// Id by which the token is revoked, as by its name.
    pub(crate) id: String,
    /// Purpose of the token, in the words of the operator who created the token.
    pub(crate) name: String,
    /// Name of the role. A newer version may have written a name that this version does not know.
    #[serde(rename = "role")]
    pub(crate) role_name: String,
    /// Time of creation, in seconds since 1970.
    pub(crate) created: u64,
    /// SHA-256 of the token's text, hexadecimal.
    pub(super) sha256: String,
}

impl Token {
    /// Returns the role, or `None` if this version does not know it. Then the token permits nothing.
    pub(crate) fn role(&self) -> Option<TokenRole> {
        TokenRole::from_str(&self.role_name, false).ok()
    }

    /// Returns true if this is the token's id or name. No two tokens share one.
    pub(super) fn has_id_or_name(&self, id_or_name: &str) -> bool {
        self.id == id_or_name || self.name == id_or_name
    }
}

/// Reason that tokens cannot be read, created or revoked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokensError {
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
    #[error("{path} is not a list of tokens: {source}")]
    InvalidJson {
        path: String,
        source: serde_json::Error,
    },
    #[error("{path} has version {found}, this hushbin supports version {known}")]
    UnsupportedVersion {
        path: String,
        found: u64,
        known: u64,
    },
    #[error("there is no token {id_or_name:?}, expected an id or a name of hushbin token list")]
    UnknownToken { id_or_name: String },
    #[error("there is already a token {name:?}, expected another name; or revoke that token first")]
    NameTaken { name: String },
    #[error(transparent)]
    Store(#[from] EngineError),
    #[error("the system gives no random numbers: {0}")]
    Entropy(getrandom::Error),
}

/// Computes the hash of a token's text, as hexadecimal digits.
pub(super) fn hash_token_text(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

/// Logs which tokens other processes have created or revoked.
pub(super) fn log_changes(before: &[Token], after: &[Token]) {
    let missing_from = |others: &[Token], token: &Token| others.iter().all(|o| o.id != token.id);
    for token in after.iter().filter(|token| missing_from(before, token)) {
        let (name, role) = (&token.name, &token.role_name);
        tracing::info!(token = token.id, name, role, "a token was created");
    }
    let changed = after.iter().filter(|token| !before.contains(token));
    changed.for_each(warn_if_role_unknown);
    for token in before.iter().filter(|token| missing_from(after, token)) {
        tracing::info!(token = token.id, name = token.name, "a token was revoked");
    }
}

/// Logs that a token has a role that this version does not know.
pub(super) fn warn_if_role_unknown(token: &Token) {
    if token.role().is_none() {
        let (name, role) = (&token.name, &token.role_name);
        tracing::warn!(
            token = token.id,
            name,
            role,
            "this token has an unknown role and permits nothing, expected analyst or admin; revoke \
             it, or use the hushbin version that created it"
        );
    }
}
