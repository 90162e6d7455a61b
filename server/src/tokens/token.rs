//! One token, and what can be wrong with all.

use std::io;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::EngineError;
use data_encoding::HEXLOWER;

/// What the holder of a token may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TokenRole {
    /// Read what is released.
    Analyst,
    /// Close batches; make, change and delete tasks.
    Admin,
}

impl TokenRole {
    /// As it is said on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Admin => "admin",
        }
    }
}

/// A token, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// What it is revoked by.
    pub(crate) id: String,
    /// What it is for, in its maker's words.
    pub(crate) name: String,
    pub(crate) role: TokenRole,
    /// When it was made, in seconds since 1970.
    pub(crate) created: u64,
    /// Of the token's text, hexadecimal.
    pub(super) sha256: String,
}

/// Why tokens cannot be read, made or revoked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokensError {
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
    #[error("{path} is not a list of tokens: {source}")]
    Json {
        path: String,
        source: serde_json::Error,
    },
    #[error("{path} has version {found}, this hushbin knows version {known}")]
    Version {
        path: String,
        found: u64,
        known: u64,
    },
    #[error("there is no token {id:?}")]
    Unknown { id: String },
    #[error(transparent)]
    Store(#[from] EngineError),
    #[cfg(feature = "postgres")]
    #[error("the database has a token of role {found:?}, expected analyst or admin")]
    Role { found: String },
    #[error("no random numbers: {0}")]
    Entropy(getrandom::Error),
}

/// The hash of a token's text, hexadecimal.
pub(super) fn hash_of(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}
