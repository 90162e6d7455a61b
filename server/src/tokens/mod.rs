//! Access tokens for reading results and for administration. Only hashes of the tokens are stored.
//!
//! A token is 32 random bytes, so that its hash does not reveal it. It is shown once, when it is
//! created. Tokens are stored with the journal, and are looked up at every use. So creating or
//! revoking a token takes effect at once.

#[cfg_attr(not(feature = "postgres"), path = "no_database.rs")]
mod database;
mod file;
mod token;

use std::panic;
use std::sync::Arc;

use database::DatabaseTokens;
use file::TokensFile;
pub(crate) use file::{TOKENS_FILE_NAME, TOKENS_LOCK_FILE_NAME, copy_tokens_to_directory};
use parking_lot::Mutex;
use token::hash_token_text;
pub(crate) use token::{Token, TokenRole, TokensError};
use tokio::sync::Semaphore;

use crate::store::{JournalLocation, RepeatedErrors, now, open_existing_pool};
use data_encoding::HEXLOWER;

/// Prefix of every token, by which people and programs recognise it.
const TOKEN_PREFIX: &str = "hushbin_";

/// Name of the action of reading tokens in the log.
const READ_TOKENS_ACTION: &str = "reading the tokens";

/// Access to the current tokens of a journal.
///
/// While the tokens cannot be read, no one has access: a token may have been revoked. The error is
/// logged once, and so is its end.
pub(crate) struct TokenStore {
    source: TokenSource,
    repeated_error_log: Mutex<RepeatedErrors>,
    /// Permits for queries of a database. Any client can cause queries by invalid tokens, but not use
    /// up the connections.
    query_permits: Semaphore,
}

/// Maximum number of queries for tokens at the same time.
const MAX_TOKEN_QUERIES: usize = 4;

/// Tokens in a file or in a database.
enum TokenSource {
    File(TokensFile),
    Database(Arc<DatabaseTokens>),
}

impl TokenStore {
    /// Opens the tokens at a location.
    ///
    /// # Errors
    /// When the file of tokens is invalid.
    pub(crate) fn open(location: &JournalLocation) -> Result<Self, TokensError> {
        let source = match location {
            JournalLocation::Directory(data) => TokenSource::File(TokensFile::open(data)?),
            JournalLocation::Database(database) => {
                TokenSource::Database(Arc::new(DatabaseTokens::new(database)))
            }
        };
        Ok(Self {
            source,
            repeated_error_log: Mutex::default(),
            query_permits: Semaphore::new(MAX_TOKEN_QUERIES),
        })
    }

    /// Reads the file of tokens again if it has changed. Does nothing for a database.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn reload_file(&self) -> Result<(), TokensError> {
        match &self.source {
            TokenSource::File(file) => self.logged(file.reload_if_changed()),
            TokenSource::Database(_) => Ok(()),
        }
    }

    /// Logs an error of reading the tokens once, and that reading works again.
    fn logged<T>(&self, read: Result<T, TokensError>) -> Result<T, TokensError> {
        let mut log = self.repeated_error_log.lock();
        log.record(None, READ_TOKENS_ACTION, &read);
        read
    }

    /// Returns true if there are no tokens, so that no one has access.
    ///
    /// # Errors
    /// When the tokens cannot be read.
    pub(crate) async fn is_empty(&self) -> Result<bool, TokensError> {
        match &self.source {
            TokenSource::File(file) => Ok(file.is_empty()),
            TokenSource::Database(tokens) => run_blocking(tokens, DatabaseTokens::is_empty).await,
        }
    }

    /// Returns the token with this text, or `None` if no token has this text.
    ///
    /// # Errors
    /// When the tokens cannot be read.
    pub(crate) async fn find_token(&self, text: &str) -> Result<Option<Token>, TokensError> {
        let hash = hash_token_text(text);
        self.logged(match &self.source {
            TokenSource::File(file) => file.find_token_by_hash(&hash),
            TokenSource::Database(tokens) => {
                // The semaphore is never closed.
                let _permit = self.query_permits.acquire().await;
                let find = move |tokens: &DatabaseTokens| tokens.find_token_by_hash(&hash);
                run_blocking(tokens, find).await
            }
        })
    }
}

/// Runs a query of the database on a thread that may block.
async fn run_blocking<T: Send + 'static>(
    tokens: &Arc<DatabaseTokens>,
    ask: impl FnOnce(&DatabaseTokens) -> Result<T, TokensError> + Send + 'static,
) -> Result<T, TokensError> {
    let tokens = Arc::clone(tokens);
    let asking = tokio::task::spawn_blocking(move || ask(&tokens));
    let asked = asking.await;
    asked.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()))
}

/// Returns all tokens at a location, oldest first.
///
/// # Errors
/// When the tokens cannot be read.
pub(crate) fn list_tokens(location: &JournalLocation) -> Result<Vec<Token>, TokensError> {
    match location {
        JournalLocation::Directory(data) => file::list_tokens(data),
        JournalLocation::Database(database) => {
            database::list_tokens(&open_existing_pool(database)?)
        }
    }
}

/// Creates and stores a token. Returns the token and its text, which is stored nowhere.
///
/// # Errors
/// When another token has this name, the token cannot be stored, or there is no entropy.
pub(crate) fn create_token(
    location: &JournalLocation,
    role: TokenRole,
    name: &str,
) -> Result<(Token, String), TokensError> {
    let mut secret = [0; 32];
    let mut id = [0; 4];
    for bytes in [&mut secret[..], &mut id[..]] {
        getrandom::fill(bytes).map_err(TokensError::Entropy)?;
    }
    let text = format!("{TOKEN_PREFIX}{}", HEXLOWER.encode(&secret));
    let token = Token {
        id: HEXLOWER.encode(&id),
        name: name.to_owned(),
        role_name: role.name().to_owned(),
        created: now(),
        sha256: hash_token_text(&text),
    };
    match location {
        JournalLocation::Directory(data) => file::add_token(data, &token)?,
        JournalLocation::Database(database) => database::add_token(database, &token)?,
    }
    Ok((token, text))
}

/// Revokes the token with this id or name.
///
/// # Errors
/// When no token has this id or name, or the change cannot be stored.
pub(crate) fn revoke_token(
    location: &JournalLocation,
    id_or_name: &str,
) -> Result<Token, TokensError> {
    match location {
        JournalLocation::Directory(data) => file::revoke_token(data, id_or_name),
        JournalLocation::Database(database) => database::revoke_token(database, id_or_name),
    }
}
