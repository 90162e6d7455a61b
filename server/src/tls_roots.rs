//! TLS configuration for outgoing connections, with the root certificates of this machine.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

/// Returns a TLS configuration that trusts the root certificates of this machine. If the
/// environment variable `SSL_CERT_FILE` names a file, it trusts the certificates in that file.
///
/// # Errors
/// When *ring* supports none of the default versions of TLS.
pub(crate) fn tls_client_config() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    // An empty store is no error here. Plain HTTP needs no certificates, and TLS handshakes report
    // that there are none.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
