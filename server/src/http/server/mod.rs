//! Server of connections: accepts, limits and drains connections.
//!
//! `axum::serve` limits neither the number of connections, nor the time for a request's head, nor
//! the time for reading a response. It also logs addresses. This server has these limits and keeps
//! addresses out of the log.

mod guarded_body;
#[cfg_attr(not(feature = "tls"), path = "no_http2.rs")]
mod http2;
mod options;
mod rate_limiter;
mod slots;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::Version;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use super::paths::HEALTH_CHECK_ROUTES;
use super::router_service::RouterService;
use crate::http::metrics::{ConnectionCloseReason, Metrics};
use guarded_body::BodyWithBusyGuard;
use http2::Http2Server;
pub(crate) use options::ServerOptions;
use options::{MAX_REQUEST_HEAD_BYTES, SEND_BUFFER_BYTES};
pub(super) use rate_limiter::{PeerQuota, QuotaExceeded};
use rate_limiter::{RateLimiter, remove_silent_peers_forever};
use slots::{ConnectionSlot, ConnectionSlots, PeerNetwork};
use write_timeout::{ProgressGuard, WriteTimeoutStream};

/// Number of connections that the operating system queues until they are accepted. Linux queues no
/// more than `net.core.somaxconn`, 4096.
const LISTEN_BACKLOG: u32 = 4096;

/// Returns a socket that listens on `address`.
///
/// # Errors
/// When the address is not available.
pub(crate) fn bind_listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address.ip() {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As usual for servers: a restart need not wait for old connections to time out.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves until `stop` completes, and then finishes the current requests.
///
/// Returns true if all current requests finished in time.
pub(crate) async fn serve_connections(
    listener: TcpListener,
    service: RouterService,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> bool {
    let draining = GracefulShutdown::new();
    tokio::select! {
        never = accept_connections(&listener, &service, options, &draining) => match never {},
        () = stop => {}
    }
    // Closes the socket, so that new clients are refused at once.
    drop(listener);
    tokio::time::timeout(options.drain_timeout, draining.shutdown())
        .await
        .is_ok()
}

/// Accepts connections, and serves each connection in a separate asynchronous task.
async fn accept_connections(
    listener: &TcpListener,
    service: &RouterService,
    options: ServerOptions,
    draining: &GracefulShutdown,
) -> Infallible {
    let slots = ConnectionSlots::new(options.max_connections, options.max_connections_per_peer);
    let rates = options
        .max_peer_reports_per_minute
        .map(RateLimiter::new)
        .map(Arc::new);
    if let Some(rates) = &rates {
        tokio::spawn(remove_silent_peers_forever(Arc::downgrade(rates)));
    }
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_buf_size(MAX_REQUEST_HEAD_BYTES);
    let metrics = service.metrics();
    // Dropping the sender ends pending handshakes when this function is cancelled.
    let (_accepting, stopping) = watch::channel(());
    loop {
        let (stream, peer) = accept_next_connection(listener, &slots, metrics).await;
        let Some(slot) = slots.acquire(peer).await else {
            metrics.count_closed_connection(ConnectionCloseReason::PeerLimitReached);
            continue; // Dropping the stream closes the connection.
        };
        let answering = request_answerer(
            service.clone(),
            (Arc::clone(&slot), options.write_timeout),
            rates.clone(),
            peer,
        );
        let stream = WriteTimeoutStream::new(stream, options.write_timeout, slot.unread_flag());
        let connection = match service.tls() {
            None => serve_http1(stream, &http, answering, draining.watcher()),
            Some(tls) => {
                let (http, watcher) = (http.clone(), draining.watcher());
                let accepting = tls.accept(stream, options.handshake_timeout);
                let (metrics, mut stopping) = (Arc::clone(metrics), stopping.clone());
                Box::pin(async move {
                    tokio::select! {
                        accepted = accepting => match accepted {
                            Ok(stream) => match Http2Server::negotiated(&stream, &options) {
                                Some(http2) => Box::pin(http2.serve(stream, answering, watcher, stopping)).await,
                                None => serve_http1(stream, &http, answering, watcher).await,
                            },
                            Err(error) => {
                                tracing::debug!(%error, "a TLS handshake failed");
                                metrics.count_closed_connection(ConnectionCloseReason::TlsHandshakeFailed);
                                Ok(())
                            }
                        },
                        _ = stopping.changed() => Ok(()),
                    }
                })
            }
        };
        tokio::spawn(run_connection(connection, slot, Arc::clone(metrics)));
    }
}

/// Returns the service that answers the requests of one connection, and charges all reports to the
/// quota of the peer. The write timeout is for responses by HTTP/2.
fn request_answerer(
    service: RouterService,
    (slot, write_timeout): (Arc<ConnectionSlot>, Duration),
    rates: Option<Arc<RateLimiter>>,
    peer: PeerNetwork,
) -> impl HttpService<
    Incoming,
    ResBody = BodyWithBusyGuard,
    Error = Infallible,
    Future = impl Future<Output = Result<hyper::Response<BodyWithBusyGuard>, Infallible>>
             + Send
             + 'static,
> + Send
+ 'static {
    service_fn(move |request: hyper::Request<Incoming>| {
        let (service, busy) = (service.clone(), slot.mark_busy());
        // Health checks are not limited, and cost nothing.
        let is_limited = !HEALTH_CHECK_ROUTES.contains(&request.uri().path());
        let rates = rates.as_ref().filter(|_| is_limited);
        let quota = rates.map(|rates| PeerQuota::new(rates, peer));
        let allowed = quota
            .as_ref()
            .is_none_or(|quota| quota.charge_request().is_ok());
        let http2_slot = (request.version() == Version::HTTP_2).then(|| Arc::clone(&slot));
        async move {
            let mut request = request.map(Body::new);
            if let Some(quota) = quota {
                request.extensions_mut().insert(quota);
            }
            let answer = service.answer_request(request, allowed).await;
            let progress = http2_slot.map(|slot| ProgressGuard::new(slot, write_timeout));
            Ok::<_, Infallible>(answer.map(|body| BodyWithBusyGuard::new(body, busy, progress)))
        }
    })
}

/// Serves a connection until it ends, or until it has to make room for a new connection.
async fn run_connection(
    connection: ConnectionFuture,
    slot: Arc<ConnectionSlot>,
    metrics: Arc<Metrics>,
) {
    metrics.open_connections.inc();
    tokio::select! {
        // The connection comes first: a response that is ready is sent before the connection makes
        // room.
        biased;
        // A broken connection is not an error here: the client's data was either acknowledged or
        // may be sent again.
        _ = connection => if slot.is_unread() {
            metrics.count_closed_connection(ConnectionCloseReason::ResponsesUnread);
        },
        () = slot.wait_for_close_signal() => metrics.count_closed_connection(match slot.is_unread() {
            true => ConnectionCloseReason::ResponsesUnread,
            false => ConnectionCloseReason::ReplacedByNewConnection,
        }),
    }
    metrics.open_connections.dec();
}

/// Future that serves all requests of a connection. It is boxed to save memory: 4096 silent
/// connections took 51 MB with boxes, and 113 MB without.
type ConnectionFuture = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// Returns the future that serves the requests of a connection by HTTP/1.1.
fn serve_http1<S, A>(
    stream: S,
    http: &http1::Builder,
    answering: A,
    draining: Watcher,
) -> ConnectionFuture
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: HttpService<Incoming, ResBody = BodyWithBusyGuard, Error = Infallible> + Send + 'static,
    A::Future: Send,
{
    let connection = http.serve_connection(TokioIo::new(stream), answering);
    Box::pin(draining.watch(connection))
}

/// Accepts the next connection. After an error, this function tries again until it has a
/// connection.
async fn accept_next_connection(
    listener: &TcpListener,
    slots: &ConnectionSlots,
    metrics: &Metrics,
) -> (TcpStream, PeerNetwork) {
    loop {
        match listener.accept().await {
            // The address is dropped here; only the peer, which cannot be displayed, is kept.
            Ok((stream, address)) => {
                // Most responses are one small write; waiting to fill a packet would only delay
                // them.
                let _ = stream.set_nodelay(true);
                return (stream, PeerNetwork::new(address.ip()));
            }
            Err(error) if is_single_connection_error(&error) => {}
            Err(error) => {
                // Usually too many open files: connections must end before a new one can begin.
                metrics.count_failed_accept();
                let limit = slots.shrink_and_close_waiting();
                tracing::error!(%error, max_connections = limit, "cannot accept connections");
                // Closed connections end within milliseconds. Requests may take longer.
                let pause = if limit.is_some() { 10 } else { 500 };
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
    }
}

fn is_single_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
