//! Who may read what a collector knows, and administer it: tokens, of which hashes are kept.
//!
//! A token is 32 random bytes, so that its hash tells nothing of it; it is shown once, when it
//! is made. They are beside the journal, and are looked up whenever one is shown: a token that is
//! made or revoked is so at once.

mod database;
mod file;

use std::io;
use std::panic;
use std::sync::Arc;

use clap::ValueEnum;
use file::TokensFile;
pub(crate) use file::copy;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex;
use crate::store::{EngineError, Place, Sessions, now};

/// Before the digits of every token, by which people and programs know what it is.
const PREFIX: &str = "hushbin_";

/// What the holder of a token may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Read what is released.
    Analyst,
    /// Close batches; make, change and delete tasks.
    Admin,
}

/// A token, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// What it is revoked by.
    pub(crate) id: String,
    /// What it is for, in its maker's words.
    pub(crate) name: String,
    pub(crate) role: Role,
    /// When it was made, in seconds since 1970.
    pub(crate) created: u64,
    /// Of the token's text, hexadecimal.
    sha256: String,
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
        found: u32,
        known: u32,
    },
    #[error("there is no token {id:?}")]
    Unknown { id: String },
    #[error(transparent)]
    Store(#[from] EngineError),
    #[error("the database has a token of role {found:?}, expected analyst or admin")]
    Role { found: String },
    #[error("no random numbers: {0}")]
    Entropy(getrandom::Error),
}

/// The tokens at a place, as they are at any time.
pub(crate) enum Tokens {
    File(TokensFile),
    Database(Arc<Sessions>),
}

impl Tokens {
    /// Those at a place.
    ///
    /// # Errors
    /// When there is a file that is no list of tokens.
    pub(crate) fn open(place: &Place) -> Result<Self, TokensError> {
        Ok(match place {
            Place::Directory(data) => Self::File(TokensFile::open(data)?),
            Place::Database(database) => Self::Database(Arc::new(Sessions::new(database, false))),
        })
    }

    /// Whether there is none, so that nobody may do anything.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn is_empty(&self) -> Result<bool, TokensError> {
        match self {
            Self::File(file) => Ok(file.is_empty()),
            Self::Database(sessions) => {
                let list = where_it_may_block(sessions, database::list);
                Ok(list.await?.is_empty())
            }
        }
    }

    /// What the holder of this text may do, if it is a token.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn role_of(&self, text: &str) -> Result<Option<Role>, TokensError> {
        let hash = hash_of(text);
        match self {
            Self::File(file) => file.role_of(&hash),
            Self::Database(sessions) => {
                let find = move |sessions: &Sessions| database::role_of(sessions, &hash);
                where_it_may_block(sessions, find).await
            }
        }
    }
}

/// Asks the database on a thread that may wait for it.
async fn where_it_may_block<T: Send + 'static>(
    sessions: &Arc<Sessions>,
    ask: impl FnOnce(&Sessions) -> Result<T, TokensError> + Send + 'static,
) -> Result<T, TokensError> {
    let sessions = Arc::clone(sessions);
    let asking = tokio::task::spawn_blocking(move || ask(&sessions));
    let asked = asking.await;
    asked.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()))
}

/// All tokens at a place, oldest first.
///
/// # Errors
/// When they cannot be read.
pub(crate) fn list(place: &Place) -> Result<Vec<Token>, TokensError> {
    match place {
        Place::Directory(data) => file::list(data),
        Place::Database(database) => database::list(&Sessions::new(database, false)),
    }
}

/// Makes a token; the text that its holder sends is returned, and known nowhere else.
///
/// # Errors
/// When it cannot be stored, or there is no entropy.
pub(crate) fn create(
    place: &Place,
    role: Role,
    name: &str,
) -> Result<(Token, String), TokensError> {
    let mut secret = [0; 32];
    let mut id = [0; 4];
    for bytes in [&mut secret[..], &mut id[..]] {
        getrandom::fill(bytes).map_err(TokensError::Entropy)?;
    }
    let text = format!("{PREFIX}{}", hex::encode(&secret));
    let token = Token {
        id: hex::encode(&id),
        name: name.to_owned(),
        role,
        created: now(),
        sha256: hash_of(&text),
    };
    match place {
        Place::Directory(data) => file::add(data, &token)?,
        Place::Database(database) => database::add(database, &token)?,
    }
    Ok((token, text))
}

/// Revokes the token of this id.
///
/// # Errors
/// When there is none, or that cannot be stored.
pub(crate) fn revoke(place: &Place, id: &str) -> Result<Token, TokensError> {
    match place {
        Place::Directory(data) => file::revoke(data, id),
        Place::Database(database) => database::revoke(database, id),
    }
}

fn hash_of(text: &str) -> String {
    hex::encode(&Sha256::digest(text))
}
