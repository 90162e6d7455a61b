//! Whom this machine trusts, for connections that are made from it.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

/// TLS by the machine's certificates; a file that `SSL_CERT_FILE` names takes their place.
///
/// # Errors
/// When the versions of TLS that there are cannot be spoken.
pub(crate) fn by_the_machine() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    // Whoever is without TLS needs none; of any other it is said when it is asked.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
