//! Tokens in a file of the data directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::token::{Token, TokensError, log_changes, warn_if_role_unknown};
use crate::format_version::json_format_version;
use crate::store::{FileStamp, check_journal_exists, file_stamp, open_or_create, write_atomically};

pub(crate) const TOKENS_FILE_NAME: &str = "tokens.json";
pub(crate) const TOKENS_LOCK_FILE_NAME: &str = "tokens.lock";
const TOKENS_FILE_VERSION: u64 = 1;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFileContents {
    version: u64,
    tokens: Vec<Token>,
}

/// Current tokens of a data directory.
#[derive(Debug)]
pub(crate) struct TokensFile {
    path: PathBuf,
    cached_tokens: RwLock<(Option<FileStamp>, Vec<Token>)>,
}

impl TokensFile {
    /// Opens the tokens of a data directory.
    ///
    /// # Errors
    /// When the file of tokens is invalid.
    pub(super) fn open(data: &Path) -> Result<Self, TokensError> {
        let path = data.join(TOKENS_FILE_NAME);
        // The stamp is read before the file. A write in between is noticed at the next call.
        let found = file_stamp(&path).map_err(|source| file_error(&path, source))?;
        let tokens = read_tokens_file(&path)?.tokens;
        tokens.iter().for_each(warn_if_role_unknown);
        let cached_tokens = RwLock::new((found, tokens));
        Ok(Self {
            path,
            cached_tokens,
        })
    }

    /// Returns true if there are no tokens, so that no one has access.
    pub(super) fn is_empty(&self) -> bool {
        let known = self.cached_tokens.read();
        known.1.is_empty()
    }

    /// Returns the token with this hash, or `None` if there is no such token.
    ///
    /// # Errors
    /// Same as [`TokensFile::open`].
    pub(super) fn find_token_by_hash(&self, hash: &str) -> Result<Option<Token>, TokensError> {
        self.reload_if_changed()?;
        let known = self.cached_tokens.read();
        // Compares with every token in constant time, so that the time reveals nothing.
        let found = known.1.iter().filter(|token| {
            let same = token.sha256.as_bytes().ct_eq(hash.as_bytes());
            bool::from(same)
        });
        Ok(found.max_by_key(|token| token.role()).cloned())
    }

    /// Reads the file again if it has changed. The tokens stay as they were if it cannot be read,
    /// but must not be used.
    ///
    /// # Errors
    /// Same as [`TokensFile::open`].
    pub(super) fn reload_if_changed(&self) -> Result<(), TokensError> {
        let found = file_stamp(&self.path).map_err(|source| file_error(&self.path, source))?;
        if self.cached_tokens.read().0 == found {
            return Ok(());
        }
        let tokens = read_tokens_file(&self.path)?.tokens;
        let mut cached = self.cached_tokens.write();
        log_changes(&cached.1, &tokens);
        if found.is_none() {
            tracing::warn!("the file of tokens was removed, so no token is valid");
        }
        *cached = (found, tokens);
        Ok(())
    }
}

/// Returns all tokens of a data directory, oldest first.
///
/// # Errors
/// When there is no such directory, or the file of tokens is invalid.
pub(super) fn list_tokens(data: &Path) -> Result<Vec<Token>, TokensError> {
    check_data_directory_exists(data)?;
    Ok(read_tokens_file(&data.join(TOKENS_FILE_NAME))?.tokens)
}

/// Adds a token.
///
/// # Errors
/// When the directory holds no journal, another token has this name, or the file cannot be read or
/// written.
pub(super) fn add_token(data: &Path, token: &Token) -> Result<(), TokensError> {
    check_journal_exists(data)?;
    change_tokens(data, |tokens| {
        if tokens.iter().any(|other| other.has_id_or_name(&token.name)) {
            return Err(TokensError::NameTaken {
                name: token.name.clone(),
            });
        }
        tokens.push(token.clone());
        Ok(())
    })
}

/// Revokes the token with this id or name.
///
/// # Errors
/// When no token has this id or name, or the file cannot be read or written.
pub(super) fn revoke_token(data: &Path, id_or_name: &str) -> Result<Token, TokensError> {
    check_data_directory_exists(data)?;
    change_tokens(data, |tokens| {
        let at = tokens
            .iter()
            .position(|token| token.has_id_or_name(id_or_name));
        let at = at.ok_or_else(|| TokensError::UnknownToken {
            id_or_name: id_or_name.to_owned(),
        })?;
        Ok(tokens.remove(at))
    })
}

/// Copies the tokens of the data directory `data` to the data directory `to`.
///
/// # Errors
/// When the file cannot be read or written.
pub(crate) fn copy_tokens_to_directory(data: &Path, to: &Path) -> Result<(), TokensError> {
    change_tokens(to, |tokens| {
        *tokens = list_tokens(data)?;
        Ok(())
    })
}

/// Checks that the data directory exists.
fn check_data_directory_exists(data: &Path) -> Result<(), TokensError> {
    let found = fs::metadata(data).map(drop);
    found.map_err(|source| file_error(data, source))
}

/// Changes the file under a lock, so that two changes never overlap.
fn change_tokens<T>(
    data: &Path,
    change: impl FnOnce(&mut Vec<Token>) -> Result<T, TokensError>,
) -> Result<T, TokensError> {
    // A separate file is locked, because each write replaces the file of tokens.
    let _lock = lock_file(&data.join(TOKENS_LOCK_FILE_NAME))?;
    let path = data.join(TOKENS_FILE_NAME);
    let mut contents = read_tokens_file(&path)?;
    let changed = change(&mut contents.tokens)?;
    let text = serde_json::to_vec_pretty(&contents).expect("tokens can be written as JSON");
    write_atomically(&path, &text)?;
    Ok(changed)
}

/// Locks the file at `path` until the returned file is dropped.
fn lock_file(path: &Path) -> Result<File, TokensError> {
    open_or_create(path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|source| file_error(path, source))
}

fn read_tokens_file(path: &Path) -> Result<TokensFileContents, TokensError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(TokensFileContents {
                version: TOKENS_FILE_VERSION,
                tokens: Vec::new(),
            });
        }
        Err(source) => return Err(file_error(path, source)),
    };
    let wrong = |source| TokensError::InvalidJson {
        path: path.display().to_string(),
        source,
    };
    match json_format_version(&bytes).map_err(wrong)? {
        TOKENS_FILE_VERSION => serde_json::from_slice(&bytes).map_err(wrong),
        found => Err(TokensError::UnsupportedVersion {
            path: path.display().to_string(),
            found,
            known: TOKENS_FILE_VERSION,
        }),
    }
}

fn file_error(path: &Path, source: io::Error) -> TokensError {
    TokensError::File {
        path: path.display().to_string(),
        source,
    }
}
