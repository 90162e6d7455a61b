//! Connections: accepting, bounding and draining them.
//!
//! `axum::serve` bounds neither the number of connections nor the time that a
//! request's head may take, and hands addresses to the log; this does neither.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Bounds of the server as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerOptions {
    /// Connections served at once; further ones wait to be accepted.
    pub(crate) connections: usize,
    /// Time that a request's head may take, idle time before it included.
    pub(crate) head_timeout: Duration,
    /// Time that requests under way have left once the server is to stop.
    pub(crate) drain_timeout: Duration,
}

impl ServerOptions {
    /// Bounds that suit one process on a small machine.
    pub(crate) const DEFAULT: Self = Self {
        connections: 4096,
        head_timeout: Duration::from_secs(60),
        drain_timeout: Duration::from_secs(20),
    };
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Serves until `stop` completes, then finishes the requests under way.
///
/// Returns whether all of them finished in time.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> bool {
    let places = Arc::new(Semaphore::new(options.connections.max(1)));
    let draining = GracefulShutdown::new();
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout);
    let accepting = async {
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return; // The semaphore is never closed.
            };
            let stream = accept(&listener).await;
            let connection =
                draining.watch(http.serve_connection(TokioIo::new(stream), service.clone()));
            tokio::spawn(async move {
                // A broken connection is the client's business: what it sent is
                // either acknowledged or may be sent again.
                let _ = connection.await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    drop(listener);
    tokio::time::timeout(options.drain_timeout, draining.shutdown())
        .await
        .is_ok()
}

/// The next connection, whatever happens to earlier ones.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            // The address is dropped here and known nowhere else.
            Ok((stream, _)) => {
                // Answers are one small write; waiting to fill a packet only delays.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                // Usually too many open files: others must end before one can begin.
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
