//! HTTP/2, which clients may choose in a TLS handshake.

use std::convert::Infallible;

use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::HttpService;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::server::TlsStream;

use super::guarded_body::BodyWithBusyGuard;
use super::options::{SEND_BUFFER_BYTES, ServerOptions};
use crate::http::tls::HTTP2_PROTOCOL_ID;

/// Maximum number of current requests of one connection. RFC 9113 recommends at least 100, but then
/// one connection could hold too much memory. Browsers let further requests wait.
const MAX_CONCURRENT_STREAMS: u32 = 16;

/// Maximum size of a request's head, in bytes, with 32 bytes more for each field. It allows about 170
/// fields, which take 60 KB of memory.
const MAX_HEADER_LIST_BYTES: u32 = 8 << 10;

/// Server of one connection by HTTP/2.
pub(super) struct Http2Server(http2::Builder<TokioExecutor>);

impl Http2Server {
    /// Returns the server of a connection if its client has chosen HTTP/2, or `None` otherwise.
    pub(super) fn negotiated<S>(stream: &TlsStream<S>, options: &ServerOptions) -> Option<Self> {
        if stream.get_ref().1.alpn_protocol() != Some(HTTP2_PROTOCOL_ID) {
            return None;
        }
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            // A peer that is gone does not answer pings. A silent peer that does answer keeps its
            // connection until a new one needs the slot.
            .keep_alive_interval(options.head_timeout)
            .keep_alive_timeout(options.handshake_timeout)
            .max_header_list_size(MAX_HEADER_LIST_BYTES)
            .max_send_buf_size(SEND_BUFFER_BYTES as usize)
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS);
        Some(Self(builder))
    }

    /// Serves the requests of the connection.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(super) async fn serve<S, A>(
        self,
        stream: S,
        answering: A,
        draining: Watcher,
    ) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        A: HttpService<Incoming, ResBody = BodyWithBusyGuard, Error = Infallible> + Send + 'static,
        A::Future: Send + 'static,
    {
        let connection = self.0.serve_connection(TokioIo::new(stream), answering);
        draining.watch(connection).await
    }
}
