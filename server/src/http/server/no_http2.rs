//! HTTP/2 in a build without the feature `tls`: no client can choose it.

use std::convert::Infallible;

use hyper_util::server::graceful::Watcher;
use tokio::sync::watch;

use super::options::ServerOptions;

/// Server of one connection by HTTP/2. No value of this type can exist in this build.
pub(super) struct Http2Server(Infallible);

impl Http2Server {
    pub(super) const fn negotiated<S>(_: &S, _: &ServerOptions) -> Option<Self> {
        None
    }

    #[expect(clippy::unused_async, reason = "serving has to wait")]
    pub(super) async fn serve<S, A>(
        self,
        _: S,
        _: A,
        _: Watcher,
        _: watch::Receiver<()>,
    ) -> hyper::Result<()> {
        match self.0 {}
    }
}
