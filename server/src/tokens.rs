//! Who may read what a collector knows, and administer it: tokens, of which hashes are kept.
//!
//! A token is 32 random bytes, so that its hash tells nothing of it; it is shown once, when it
//! is made. The file is looked at whenever it has changed: a token that is made or revoked is so
//! at once.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::hex;
use crate::store::{EngineError, create_root, now, open_to_lock, write_whole};

const FILE: &str = "tokens.json";
const LOCK: &str = "tokens.lock";
const VERSION: u32 = 1;

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

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    tokens: Vec<Token>,
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
    #[error("{path} has version {found}, this hushbin knows version {VERSION}")]
    Version { path: String, found: u32 },
    #[error("there is no token {id:?}")]
    Unknown { id: String },
    #[error(transparent)]
    Write(#[from] EngineError),
    #[error("no random numbers: {0}")]
    Entropy(getrandom::Error),
}

/// The tokens of a data directory, as they are at any time.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    known: RwLock<(Option<Stamp>, Vec<Token>)>,
}

/// What changes whenever the file is written, as that makes another one.
type Stamp = (u64, i64, i64, u64);

fn stamp(found: &Metadata) -> Stamp {
    (found.ino(), found.mtime(), found.mtime_nsec(), found.len())
}

impl Tokens {
    /// Those of a data directory.
    ///
    /// # Errors
    /// When there is a file that is no list of tokens.
    pub(crate) fn open(data: &Path) -> Result<Self, TokensError> {
        let tokens = Self {
            path: data.join(FILE),
            known: RwLock::default(),
        };
        tokens.refresh()?;
        Ok(tokens)
    }

    /// Whether there is none, so that nobody may do anything.
    pub(crate) fn is_empty(&self) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.1.is_empty()
    }

    /// What the holder of this text may do, if it is a token.
    ///
    /// # Errors
    /// As [`Tokens::open`].
    pub(crate) fn role_of(&self, text: &str) -> Result<Option<Role>, TokensError> {
        self.refresh()?;
        let hash = hash_of(text);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // All are compared, each in constant time.
        let found = known.1.iter().filter(|token| {
            let same = token.sha256.as_bytes().ct_eq(hash.as_bytes());
            bool::from(same)
        });
        Ok(found.map(|token| token.role).max())
    }

    /// Reads the file again if it has changed.
    fn refresh(&self) -> Result<(), TokensError> {
        let found = match fs::metadata(&self.path) {
            Ok(found) => Some(stamp(&found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(file_error(&self.path, source)),
        };
        if self.known.read().unwrap_or_else(PoisonError::into_inner).0 == found {
            return Ok(());
        }
        let tokens = read(&self.path)?.tokens;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = (found, tokens);
        Ok(())
    }
}

/// All tokens of a data directory, oldest first.
///
/// # Errors
/// When there is a file that is no list of tokens.
pub(crate) fn list(data: &Path) -> Result<Vec<Token>, TokensError> {
    Ok(read(&data.join(FILE))?.tokens)
}

/// Makes a token; the text that its holder sends is returned, and known nowhere else.
///
/// # Errors
/// When the file cannot be read or written, or there is no entropy.
pub(crate) fn create(data: &Path, role: Role, name: &str) -> Result<(Token, String), TokensError> {
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
    change(data, |tokens| {
        tokens.push(token.clone());
        Ok(())
    })?;
    Ok((token, text))
}

/// Revokes the token of this id.
///
/// # Errors
/// When there is none, or the file cannot be read or written.
pub(crate) fn revoke(data: &Path, id: &str) -> Result<Token, TokensError> {
    change(data, |tokens| {
        let at = tokens.iter().position(|token| token.id == id);
        let at = at.ok_or_else(|| TokensError::Unknown { id: id.to_owned() })?;
        Ok(tokens.remove(at))
    })
}

/// Copies the tokens of a data directory to another.
///
/// # Errors
/// When the file cannot be read or written.
pub(crate) fn copy(data: &Path, to: &Path) -> Result<(), TokensError> {
    change(to, |tokens| {
        *tokens = list(data)?;
        Ok(())
    })
}

/// Changes the file, one who does so after the other.
fn change<T>(
    data: &Path,
    change: impl FnOnce(&mut Vec<Token>) -> Result<T, TokensError>,
) -> Result<T, TokensError> {
    create_root(data)?;
    let _lock = lock(&data.join(LOCK))?;
    let path = data.join(FILE);
    let mut contents = read(&path)?;
    let changed = change(&mut contents.tokens)?;
    let text = serde_json::to_vec_pretty(&contents).expect("tokens can be written as JSON");
    write_whole(&path, &text)?;
    Ok(changed)
}

/// Held until it is dropped.
fn lock(path: &Path) -> Result<File, TokensError> {
    open_to_lock(path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|source| file_error(path, source))
}

fn read(path: &Path) -> Result<Contents, TokensError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Contents {
                version: VERSION,
                tokens: Vec::new(),
            });
        }
        Err(source) => return Err(file_error(path, source)),
    };
    let contents: Contents =
        serde_json::from_slice(&bytes).map_err(|source| TokensError::Json {
            path: path.display().to_string(),
            source,
        })?;
    match contents.version {
        VERSION => Ok(contents),
        found => Err(TokensError::Version {
            path: path.display().to_string(),
            found,
        }),
    }
}

fn hash_of(text: &str) -> String {
    hex::encode(&Sha256::digest(text))
}

fn file_error(path: &Path, source: io::Error) -> TokensError {
    TokensError::File {
        path: path.display().to_string(),
        source,
    }
}
