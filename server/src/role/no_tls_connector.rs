//! Connections to other servers, in a build without the feature `tls`. The settings refuse
//! addresses that begin with `https`.

use hyper_util::client::legacy::connect::HttpConnector;

use crate::missing_feature::MissingFeature;

/// Connector without TLS.
pub(super) type Connector = HttpConnector;

/// Returns a connector for connections to other servers.
#[expect(
    clippy::unnecessary_wraps,
    reason = "encryption may have no configuration"
)]
pub(super) fn connector() -> Result<Connector, MissingFeature> {
    Ok(HttpConnector::new())
}
