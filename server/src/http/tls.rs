//! TLS, for a collector without a proxy in front.
//!
//! Sessions cannot be resumed, because a session ticket or a session id would link the connections
//! of a client to each other.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::NoServerSessionStorage;
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::{self, InconsistentKeys, ServerConfig};
use tokio_rustls::server::TlsStream;
use x509_parser::parse_x509_certificate;

use crate::keys::{self, KeyPermissionError};

/// Certificate and key for encrypted connections.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    certificate_chain: Arc<[CertificateDer<'static>]>,
    /// Times at which the server's own certificate begins to be valid and expires, in seconds since
    /// 1970.
    validity: [i64; 2],
}

/// Errors of reading a certificate and its key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("--{given} is given without --{missing}, expected both or neither")]
    CertificateOrKeyMissing {
        given: &'static str,
        missing: &'static str,
    },
    #[error("{path}: {source}")]
    FileAccess { path: String, source: io::Error },
    #[error("{path} is not a PEM file, expected {expected}")]
    NotPemFile {
        path: String,
        expected: &'static str,
    },
    #[error("{path} has no usable PEM block, expected {expected}")]
    NoPemBlock {
        path: String,
        expected: &'static str,
    },
    #[error("{path} begins with something else, expected an X.509 certificate")]
    NotACertificate { path: String },
    #[error(transparent)]
    KeyFilePermissions(#[from] KeyPermissionError),
    #[error("the key in {key} does not match the first certificate in {certificate}")]
    KeyCertificateMismatch { certificate: String, key: String },
    #[error(
        "{certificate} with {key}: {source}, expected an X.509 certificate and its RSA, ECDSA or \
         Ed25519 key"
    )]
    UnusableCertificateOrKey {
        certificate: String,
        key: String,
        source: rustls::Error,
    },
}

/// Identifier of HTTP/2 in a TLS handshake (RFC 9113, section 3.2).
pub(super) const HTTP2_PROTOCOL_ID: &[u8] = b"h2";

/// Expected content of the certificate file, for error messages.
const EXPECTED_CERTIFICATE_CONTENT: &str =
    "a certificate chain, with the server's own certificate first";
/// Expected content of the key file, for error messages.
const EXPECTED_KEY_CONTENT: &str = "a private key that is not encrypted";

impl Tls {
    /// Reads a certificate chain and its key from two PEM files.
    ///
    /// # Errors
    /// When a file cannot be read or has different content, when users other than owner and group
    /// may read the key, or when the key does not match the certificate.
    pub(crate) fn read_certificate_and_key(
        certificate: &Path,
        key: &Path,
    ) -> Result<Self, TlsError> {
        let text = fs::read(certificate).map_err(|source| file_error(certificate, source))?;
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&text)
            .collect::<Result<_, _>>()
            .map_err(|error| pem_error(certificate, EXPECTED_CERTIFICATE_CONTENT, &error))?;
        if chain.is_empty() {
            return Err(pem_error(
                certificate,
                EXPECTED_CERTIFICATE_CONTENT,
                &pem::Error::NoItemsFound,
            ));
        }
        let failed = |source| file_error(key, source);
        keys::check_private_permissions(key, failed)?;
        let text = fs::read(key).map_err(failed)?;
        let own = PrivateKeyDer::from_pem_slice(&text)
            .map_err(|error| pem_error(key, EXPECTED_KEY_CONTENT, &error))?;
        let validity = validity(&chain[0]).ok_or_else(|| TlsError::NotACertificate {
            path: path_text(certificate),
        })?;
        let config = server_config(chain.clone(), own).map_err(|source| match source {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                TlsError::KeyCertificateMismatch {
                    certificate: path_text(certificate),
                    key: path_text(key),
                }
            }
            source => TlsError::UnusableCertificateOrKey {
                certificate: path_text(certificate),
                key: path_text(key),
                source,
            },
        })?;
        Ok(Self {
            config: Arc::new(config),
            certificate_chain: chain.into(),
            validity,
        })
    }

    /// Returns the time at which the server's own certificate expires, in seconds since 1970.
    pub(crate) const fn expires(&self) -> i64 {
        self.validity[1]
    }

    /// Returns the time at which the server's own certificate begins to be valid, in seconds since
    /// 1970.
    pub(crate) const fn begins(&self) -> i64 {
        self.validity[0]
    }

    /// Returns the encrypted stream to a client after the handshake.
    ///
    /// # Errors
    /// When the handshake fails or takes longer than `limit`.
    pub(super) async fn accept<S>(self, stream: S, limit: Duration) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let accepting = TlsAcceptor::from(self.config).accept(stream);
        timeout(limit, accepting).await?
    }
}

/// Compares only the certificate chains.
impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        self.certificate_chain == other.certificate_chain
    }
}

/// Writes only the name of the type, so that the key is never shown.
impl Debug for Tls {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Returns the times at which a certificate begins to be valid and expires, in seconds since 1970,
/// or `None` if it is not a certificate.
fn validity(certificate: &CertificateDer<'_>) -> Option<[i64; 2]> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    let validity = certificate.validity();
    Some([validity.not_before, validity.not_after].map(|time| time.timestamp()))
}

fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let provider = ring::default_provider();
    let pair = CertifiedKey::from_der(chain, key, &provider)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(pair)));
    config.alpn_protocols = vec![HTTP2_PROTOCOL_ID.to_vec(), b"http/1.1".to_vec()];
    // No session storage (TLS 1.2) and no tickets (TLS 1.3), so that connections cannot be linked.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

fn file_error(path: &Path, source: io::Error) -> TlsError {
    TlsError::FileAccess {
        path: path_text(path),
        source,
    }
}

/// Converts an error of the PEM parser. The message never contains any part of the file, which may
/// be a key.
fn pem_error(path: &Path, expected: &'static str, error: &pem::Error) -> TlsError {
    let path = path_text(path);
    match error {
        pem::Error::NoItemsFound => TlsError::NoPemBlock { path, expected },
        _ => TlsError::NotPemFile { path, expected },
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncWriteExt, duplex};
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn slow_tls_handshake_times_out() {
        let pair = rcgen::generate_simple_self_signed(["test".to_owned()]).unwrap();
        let (chain, key) = (vec![pair.cert.into()], pair.signing_key.into());
        let tls = Tls {
            config: Arc::new(server_config(chain, key).unwrap()),
            certificate_chain: Arc::new([]),
            validity: [0, 0],
        };
        let limit = Duration::from_secs(10);
        for trickles in [false, true] {
            let (ours, mut theirs) = duplex(1000);
            let trickling = async {
                // The beginning of a ClientHello of 512 bytes.
                for byte in b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
                    .iter()
                    .chain(&[0; 500])
                {
                    sleep(Duration::from_secs(1)).await;
                    if trickles && theirs.write_all(&[*byte]).await.is_err() {
                        break;
                    }
                }
            };
            let begin = Instant::now();
            let (refused, ()) = tokio::join!(tls.clone().accept(ours, limit), trickling);
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::TimedOut);
            assert!(begin.elapsed() >= limit);
        }
    }
}
