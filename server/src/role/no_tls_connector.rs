//! Connections to an analyser, in a build without the feature `tls`: addresses that begin with
//! `https` are refused when they are connected to.

use hyper_util::client::legacy::connect::HttpConnector;

use crate::left_out::LeftOut;

pub(super) type Connector = HttpConnector;

/// Returns what connects to an analyser.
#[expect(
    clippy::unnecessary_wraps,
    reason = "encryption may have no configuration"
)]
pub(super) fn connector() -> Result<Connector, LeftOut> {
    Ok(HttpConnector::new())
}
