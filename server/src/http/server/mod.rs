//! Connections: accepting, bounding and draining them.
//!
//! `axum::serve` bounds neither the number of connections nor the time that a request's head or the
//! reading of an answer may take, and hands addresses to the log; this does neither.

mod rates;
mod slots;
mod tracked;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use super::front::Front;
use crate::http::metrics::{Closed, Metrics};
use rates::Rates;
use slots::{Peer, Slot, Slots};
use tracked::Tracked;
use write_timeout::WriteTimeout;

/// Connections that the operating system holds until they are accepted; Linux holds no
/// more than `net.core.somaxconn`, 4096.
const BACKLOG: u32 = 4096;

/// Longest head of a request, and most that is read ahead of a body, in bytes.
const HEAD_BYTES: usize = 32 << 10;

/// Bytes of an answer that the operating system holds for a peer.
const SEND_BUFFER: u32 = 256 << 10;

/// Bounds of the server as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerOptions {
    /// Connections served at once. For further ones those make room that have waited
    /// longest for a request; while none waits, further ones wait to be accepted.
    pub(crate) connections: usize,
    /// Connections of one IPv4 address or IPv6 network of 64 bits; further ones are closed at once.
    pub(crate) connections_of_peer: Option<usize>,
    /// Requests a minute of one such address or network; further ones are asked to come back.
    pub(crate) requests_of_peer: Option<NonZeroU32>,
    /// Time in which a peer has to agree how its connection is encrypted, where it is.
    pub(crate) handshake_timeout: Duration,
    /// Time that a request's head may take, idle time before it included.
    pub(crate) head_timeout: Duration,
    /// Time in which a peer has to take a part of its answer.
    pub(crate) write_timeout: Duration,
    /// Time that requests under way have left once the server is to stop.
    pub(crate) drain_timeout: Duration,
}

impl ServerOptions {
    /// Bounds that suit one process on a small machine, where all connections may be
    /// those of one proxy.
    pub(crate) const DEFAULT: Self = Self {
        connections: 4096,
        connections_of_peer: None,
        requests_of_peer: None,
        handshake_timeout: Duration::from_secs(10),
        head_timeout: Duration::from_secs(60),
        write_timeout: Duration::from_secs(20),
        drain_timeout: Duration::from_secs(20),
    };

    /// What one peer may have by default, of a collector that listens at this address:
    /// all, where only this machine can connect, because then it is a proxy.
    pub(crate) fn default_connections_of_peer(listen: IpAddr) -> Option<usize> {
        (!listen.is_loopback()).then_some(256)
    }

    /// The same of requests a minute: some ten pages a second are opened behind one address.
    pub(crate) fn default_requests_of_peer(listen: IpAddr) -> Option<NonZeroU32> {
        NonZeroU32::new(600).filter(|_| !listen.is_loopback())
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A socket that accepts connections.
///
/// # Errors
/// Where the address cannot be had.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address.ip() {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As every server does: a restart need not wait for old connections to be forgotten.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop` completes, then finishes the requests under way.
///
/// Returns whether all of them finished in time.
pub(crate) async fn serve(
    listener: TcpListener,
    front: Front,
    options: ServerOptions,
    stop: impl Future<Output = ()>,
) -> bool {
    let draining = GracefulShutdown::new();
    tokio::select! {
        never = accept_all(&listener, &front, options, &draining) => match never {},
        () = stop => {}
    }
    drop(listener);
    tokio::time::timeout(options.drain_timeout, draining.shutdown())
        .await
        .is_ok()
}

/// Accepts connections, each into a task of its own.
async fn accept_all(
    listener: &TcpListener,
    front: &Front,
    options: ServerOptions,
    draining: &GracefulShutdown,
) -> Infallible {
    let slots = Slots::new(options.connections, options.connections_of_peer);
    let rates = options.requests_of_peer.map(Rates::new).map(Arc::new);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_buf_size(HEAD_BYTES);
    let metrics = front.metrics();
    // Ends, and with it handshakes, when this does.
    let (_accepting, stopping) = watch::channel(());
    loop {
        let (stream, peer) = accept(listener, &slots).await;
        let Some(slot) = slots.take(peer).await else {
            metrics.closed(Closed::Peer);
            continue; // Which closes it.
        };
        let answering = {
            let (front, slot, rates) = (front.clone(), Arc::clone(&slot), rates.clone());
            service_fn(move |request: hyper::Request<Incoming>| {
                let (front, busy) = (front.clone(), slot.busy());
                let allowed = rates.as_ref().is_none_or(|rates| rates.allow(peer));
                async move {
                    let answer = front.answer(request.map(Body::new), allowed).await;
                    Ok::<_, Infallible>(answer.map(|body| Tracked::new(body, busy)))
                }
            })
        };
        let stream = WriteTimeout::new(stream, options.write_timeout);
        let connection = match front.tls() {
            None => converse(stream, &http, answering, draining.watcher()),
            Some(tls) => {
                let (http, watcher) = (http.clone(), draining.watcher());
                let accepting = tls.accept(stream, options.handshake_timeout);
                let (metrics, mut stopping) = (Arc::clone(metrics), stopping.clone());
                Box::pin(async move {
                    tokio::select! {
                        accepted = accepting => match accepted {
                            Ok(stream) => converse(stream, &http, answering, watcher).await,
                            Err(error) => {
                                tracing::debug!(%error, "a TLS handshake failed");
                                metrics.closed(Closed::Handshake);
                                Ok(())
                            }
                        },
                        _ = stopping.changed() => Ok(()),
                    }
                })
            }
        };
        tokio::spawn(attend(connection, slot, Arc::clone(metrics)));
    }
}

/// Waits for the end of a connection, or cuts it.
async fn attend(connection: Conversation, slot: Arc<Slot>, metrics: Arc<Metrics>) {
    metrics.connections.inc();
    tokio::select! {
        // First what is due on the connection: an answer that is ready leaves
        // before the connection makes room.
        biased;
        // A broken connection is the client's business: what it sent is
        // either acknowledged or may be sent again.
        result = connection => if result.is_err_and(|error| is_unread(&error)) {
            metrics.closed(Closed::Unread);
        },
        () = slot.cut() => metrics.closed(Closed::Room),
    }
    metrics.connections.dec();
}

/// All requests of a connection, in memory of their own: 4096 silent connections took 51 MB so,
/// and 113 MB where it lay within the futures that wait for it.
type Conversation = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// Answers the requests of a connection.
fn converse<S, A>(stream: S, http: &http1::Builder, answering: A, draining: Watcher) -> Conversation
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: HttpService<Incoming, ResBody = Tracked, Error = Infallible> + Send + 'static,
    A::Future: Send,
{
    let connection = http.serve_connection(TokioIo::new(stream), answering);
    Box::pin(draining.watch(connection))
}

/// Whether a connection ended because its peer did not read.
fn is_unread(error: &hyper::Error) -> bool {
    std::error::Error::source(error)
        .and_then(|cause| cause.downcast_ref::<io::Error>())
        .is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// The next connection, whatever happens to earlier ones.
async fn accept(listener: &TcpListener, slots: &Slots) -> (TcpStream, Peer) {
    loop {
        match listener.accept().await {
            // The address is dropped here and known nowhere else.
            Ok((stream, address)) => {
                // Answers are one small write; waiting to fill a packet only delays.
                let _ = stream.set_nodelay(true);
                return (stream, Peer::new(address.ip()));
            }
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                // Usually too many open files: others must end before one can begin.
                tracing::error!(%error, "cannot accept connections");
                slots.cut_longest_waiting();
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
