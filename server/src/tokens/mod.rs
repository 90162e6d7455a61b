//! Who may read what a collector knows, and administer it: tokens, of which hashes are kept.
//!
//! A token is 32 random bytes, so that its hash tells nothing of it; it is shown once, when it
//! is made. They are beside the journal, and are looked up whenever one is shown: a token that is
//! made or revoked is so at once.

#[cfg_attr(not(feature = "postgres"), path = "no_database.rs")]
mod database;
mod file;
mod token;

use std::panic;
use std::sync::Arc;

use file::TokensFile;
pub(crate) use file::copy;
use token::hash_of;
pub(crate) use token::{Token, TokenRole, TokensError};

use crate::store::{Location, Sessions, checked_tables, now};
use data_encoding::HEXLOWER;

/// Before the digits of every token, by which people and programs know what it is.
const PREFIX: &str = "hushbin_";

/// The tokens at a location, as they are at any time.
pub(crate) enum Tokens {
    File(TokensFile),
    Database(Arc<Sessions>),
}

impl Tokens {
    /// Those at a location.
    ///
    /// # Errors
    /// When there is a file that is no list of tokens.
    pub(crate) fn open(location: &Location) -> Result<Self, TokensError> {
        Ok(match location {
            Location::Directory(data) => Self::File(TokensFile::open(data)?),
            Location::Database(database) => Self::Database(database::sessions(database)),
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
    pub(crate) async fn role_of(&self, text: &str) -> Result<Option<TokenRole>, TokensError> {
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

/// All tokens at a location, oldest first.
///
/// # Errors
/// When they cannot be read.
pub(crate) fn list(location: &Location) -> Result<Vec<Token>, TokensError> {
    match location {
        Location::Directory(data) => file::list(data),
        Location::Database(database) => database::list(&checked_tables(database)?),
    }
}

/// Makes a token; the text that its holder sends is returned, and known nowhere else.
///
/// # Errors
/// When it cannot be stored, or there is no entropy.
pub(crate) fn create(
    location: &Location,
    role: TokenRole,
    name: &str,
) -> Result<(Token, String), TokensError> {
    let mut secret = [0; 32];
    let mut id = [0; 4];
    for bytes in [&mut secret[..], &mut id[..]] {
        getrandom::fill(bytes).map_err(TokensError::Entropy)?;
    }
    let text = format!("{PREFIX}{}", HEXLOWER.encode(&secret));
    let token = Token {
        id: HEXLOWER.encode(&id),
        name: name.to_owned(),
        role,
        created: now(),
        sha256: hash_of(&text),
    };
    match location {
        Location::Directory(data) => file::add(data, &token)?,
        Location::Database(database) => database::add(database, &token)?,
    }
    Ok((token, text))
}

/// Revokes the token of this id.
///
/// # Errors
/// When there is none, or that cannot be stored.
pub(crate) fn revoke(location: &Location, id: &str) -> Result<Token, TokensError> {
    match location {
        Location::Directory(data) => file::revoke(data, id),
        Location::Database(database) => database::revoke(database, id),
    }
}
