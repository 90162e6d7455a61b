//! Connections to other servers, encrypted unless the server's address begins with `http:`.

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tokio_rustls::rustls;

use crate::tls_roots;

/// Connector with and without TLS.
pub(super) type Connector = HttpsConnector<HttpConnector>;

/// Returns a connector for connections to other servers.
///
/// # Errors
/// When there is no TLS configuration.
pub(super) fn connector() -> Result<Connector, rustls::Error> {
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls_roots::tls_client_config()?);
    Ok(builder.https_or_http().enable_http1().build())
}
