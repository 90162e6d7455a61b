//! Files with private or public keys, in PEM as `openssl genpkey` and `openssl pkey -pubout` write
//! it (RFC 8410).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use clap::ValueEnum;
use pem::{EncodeConfig, LineEnding, Pem};

/// Length of a private or public key, in bytes.
pub(crate) const KEY_BYTES: usize = 32;

/// Permission bits that a private key's file must not have. The group may read the file, since
/// services that share a key share a group. Only the owner may have any other permission.
const FORBIDDEN_MODE_BITS: u32 = 0o037;

/// Error for a private key's file whose permissions exceed mode 640.
#[derive(Debug, thiserror::Error)]
#[error("{path} has mode {mode:o}, expected 640 or less: other users must not read a private key")]
pub(crate) struct KeyPermissionError {
    path: String,
    mode: u32,
}

/// Checks that only the owner and the group of a private key's file have access to it.
///
/// # Errors
/// When the mode has a bit of [`FORBIDDEN_MODE_BITS`], or the file's metadata cannot be read.
pub(crate) fn check_private_permissions<E: From<KeyPermissionError>>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
) -> Result<(), E> {
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
    match mode & FORBIDDEN_MODE_BITS {
        0 => Ok(()),
        _ => Err(E::from(KeyPermissionError {
            path: path.display().to_string(),
            mode,
        })),
    }
}

/// Purpose and algorithm of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyAlgorithm {
    /// Key with which pages seal (encrypt) reports for an analyser, or requests for a gateway
    #[value(name = "sealing")]
    X25519,
    /// Key with which a shuffler signs its messages to an analyser, or an analyser its messages to
    /// a shuffler
    #[value(name = "signing")]
    Ed25519,
}

/// Half of a key pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyHalf {
    Private,
    Public,
}

/// Errors of reading or creating a key file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("{path}: {source}")]
    FileAccess { path: String, source: io::Error },
    #[error("{path} is not a PEM file: {source}")]
    Pem { path: String, source: pem::PemError },
    #[error("{path} contains {found:?}, expected {expected:?}")]
    WrongPemTag {
        path: String,
        found: String,
        expected: &'static str,
    },
    #[error("{path} contains a key for another algorithm, expected {}", .expected.openssl_name())]
    WrongAlgorithm {
        path: String,
        expected: KeyAlgorithm,
    },
    #[error(transparent)]
    KeyFilePermissions(#[from] KeyPermissionError),
    #[error("the system gives no random numbers: {0}")]
    NoRandomNumbers(getrandom::Error),
}

impl KeyAlgorithm {
    /// Returns the algorithm's name for `openssl genpkey -algorithm`.
    pub(crate) const fn openssl_name(self) -> &'static str {
        match self {
            Self::X25519 => "X25519",
            Self::Ed25519 => "Ed25519",
        }
    }

    /// Returns the DER bytes in front of a key. They depend only on the algorithm, and on whether
    /// the key is private or public. They contain the version (private keys only), an object
    /// identifier and lengths (RFC 8410, sections 3, 4 and 7). The identifier is 1.3.101.110 for
    /// X25519 and 1.3.101.112 for Ed25519.
    fn der_prefix(self, half: KeyHalf) -> Vec<u8> {
        let identifier = match self {
            Self::X25519 => 0x6e,
            Self::Ed25519 => 0x70,
        };
        let algorithm = [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, identifier];
        let (before, behind): (&[u8], &[u8]) = match half {
            KeyHalf::Private => (&[0x30, 0x2e, 2, 1, 0], &[0x04, 0x22, 0x04, 0x20]),
            KeyHalf::Public => (&[0x30, 0x2a], &[0x03, 0x21, 0x00]),
        };
        [before, &algorithm, behind].concat()
    }
}

impl KeyHalf {
    const fn pem_tag(self) -> &'static str {
        match self {
            Self::Private => "PRIVATE KEY",
            Self::Public => "PUBLIC KEY",
        }
    }
}

/// Reads a private key from a file.
///
/// # Errors
/// When the file cannot be read, is not a private key of this algorithm, or is accessible to other
/// users.
pub(crate) fn read_private_key(
    path: &Path,
    algorithm: KeyAlgorithm,
) -> Result<[u8; KEY_BYTES], KeyError> {
    let failed = |source| file_error(path, source);
    let text = fs::read(path).map_err(failed)?;
    let key = parse_key(&text, path, algorithm, KeyHalf::Private)?;
    // Permissions are checked last. A public key, which everyone may read, is thus reported as the
    // wrong kind of key.
    check_private_permissions(path, failed)?;
    Ok(key)
}

/// Reads a public key from a file.
///
/// # Errors
/// When the file cannot be read or is not a public key of this algorithm.
pub(crate) fn read_public_key(
    path: &Path,
    algorithm: KeyAlgorithm,
) -> Result<[u8; KEY_BYTES], KeyError> {
    let text = fs::read(path).map_err(|source| file_error(path, source))?;
    parse_key(&text, path, algorithm, KeyHalf::Public)
}

fn file_error(path: &Path, source: io::Error) -> KeyError {
    KeyError::FileAccess {
        path: path.display().to_string(),
        source,
    }
}

fn parse_key(
    text: &[u8],
    path: &Path,
    algorithm: KeyAlgorithm,
    half: KeyHalf,
) -> Result<[u8; KEY_BYTES], KeyError> {
    let shown = || path.display().to_string();
    let pem = pem::parse(text).map_err(|source| KeyError::Pem {
        path: shown(),
        source,
    })?;
    if pem.tag() != half.pem_tag() {
        return Err(KeyError::WrongPemTag {
            path: shown(),
            found: pem.tag().to_owned(),
            expected: half.pem_tag(),
        });
    }
    let key = pem.contents().strip_prefix(&algorithm.der_prefix(half)[..]);
    let key = key.and_then(|key| key.try_into().ok());
    key.ok_or_else(|| KeyError::WrongAlgorithm {
        path: shown(),
        expected: algorithm,
    })
}

/// Returns a public key in PEM format.
pub(crate) fn public_pem(algorithm: KeyAlgorithm, key: &[u8; KEY_BYTES]) -> String {
    to_pem(algorithm, KeyHalf::Public, key)
}

fn to_pem(algorithm: KeyAlgorithm, half: KeyHalf, key: &[u8; KEY_BYTES]) -> String {
    let der = [&algorithm.der_prefix(half)[..], key].concat();
    let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(half.pem_tag(), der), lines)
}

/// Creates a random private key, and writes it to a new file with mode 600. Returns the key.
///
/// # Errors
/// When the file exists already or cannot be written, or random numbers are not available.
pub(crate) fn create_private_key(
    path: &Path,
    algorithm: KeyAlgorithm,
) -> Result<[u8; KEY_BYTES], KeyError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(KeyError::NoRandomNumbers)?;
    let failed = |source| file_error(path, source);
    let mut file = OpenOptions::new()
        .write(true)
        // The mode applies at creation, so the key is never accessible to further users.
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    let text = to_pem(algorithm, KeyHalf::Private, &key);
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Writes a file that only its owner may read.
    fn write_private_file(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Reads the examples in RFC 8410, sections 10.1 and 10.3. The expected bytes are those that
    /// openssl shows for these keys.
    #[test]
    fn rfc8410_examples_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let private = directory.path().join("private.pem");
        let text = "-----BEGIN PRIVATE KEY-----\n\
                    MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                    -----END PRIVATE KEY-----\n";
        write_private_file(&private, text);
        let key = read_private_key(&private, KeyAlgorithm::Ed25519).unwrap();
        assert_eq!(
            data_encoding::HEXLOWER.encode(&key),
            "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"
        );
        assert_eq!(to_pem(KeyAlgorithm::Ed25519, KeyHalf::Private, &key), text);

        let public = directory.path().join("public.pem");
        let text = "-----BEGIN PUBLIC KEY-----\n\
                    MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                    -----END PUBLIC KEY-----\n";
        fs::write(&public, text).unwrap();
        let key = read_public_key(&public, KeyAlgorithm::Ed25519).unwrap();
        assert_eq!(
            data_encoding::HEXLOWER.encode(&key),
            "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
        );
        assert_eq!(public_pem(KeyAlgorithm::Ed25519, &key), text);
    }

    #[test]
    fn created_key_is_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        let key = create_private_key(&path, KeyAlgorithm::X25519).unwrap();
        assert_eq!(read_private_key(&path, KeyAlgorithm::X25519).unwrap(), key);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = create_private_key(&path, KeyAlgorithm::X25519)
            .unwrap_err()
            .to_string();
        assert!(again.contains("key.pem"), "{again}");
    }

    #[test]
    fn invalid_key_files_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        let shown = path.display().to_string();
        let said = |expected: &str| {
            let error = read_private_key(&path, KeyAlgorithm::X25519).unwrap_err();
            let error = error.to_string();
            assert!(
                error.starts_with(&shown) && error.contains(expected),
                "{error}"
            );
        };
        said("No such file");
        write_private_file(&path, "no key");
        said("is not a PEM file");
        write_private_file(&path, &public_pem(KeyAlgorithm::X25519, &[7; KEY_BYTES]));
        said(r#"contains "PUBLIC KEY", expected "PRIVATE KEY""#);
        write_private_file(
            &path,
            &to_pem(KeyAlgorithm::Ed25519, KeyHalf::Private, &[7; KEY_BYTES]),
        );
        said("contains a key for another algorithm, expected X25519");
        let long = Pem::new(KeyHalf::Private.pem_tag(), vec![0; 49]);
        write_private_file(&path, &pem::encode(&long));
        said("contains a key for another algorithm");
        write_private_file(
            &path,
            &to_pem(KeyAlgorithm::X25519, KeyHalf::Private, &[7; KEY_BYTES]),
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        said("has mode 604, expected 640 or less");
    }
}
