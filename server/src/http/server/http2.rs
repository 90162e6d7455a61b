//! HTTP/2, which clients may choose in a TLS handshake.

use std::convert::Infallible;
use std::io::Cursor;

use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::HttpService;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Duration, timeout};
use tokio_rustls::server::TlsStream;

use super::guarded_body::BodyWithBusyGuard;
use super::options::{MAX_CONCURRENT_STREAMS, SEND_BUFFER_BYTES, ServerOptions};
use crate::http::tls::HTTP2_PROTOCOL_ID;

/// Maximum size of a request's head, in bytes, with 32 bytes more for each field. It allows about 170
/// fields, which take 60 KB of memory.
const MAX_HEADER_LIST_BYTES: u32 = 8 << 10;

/// Length of the bytes with which each client begins (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = 24;

/// Server of one connection by HTTP/2.
pub(super) struct Http2Server {
    builder: http2::Builder<TokioExecutor>,
    preface_timeout: Duration,
}

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
        Some(Self {
            builder,
            preface_timeout: options.head_timeout,
        })
    }

    /// Serves the requests of the connection. Closes it if the client does not begin with a preface
    /// in time, or when the sender of `stopping` is dropped before that.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(super) async fn serve<S, A>(
        self,
        stream: S,
        answering: A,
        draining: Watcher,
        mut stopping: watch::Receiver<()>,
    ) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        A: HttpService<Incoming, ResBody = BodyWithBusyGuard, Error = Infallible> + Send + 'static,
        A::Future: Send + 'static,
    {
        let (mut reader, writer) = tokio::io::split(stream);
        let mut preface = [0; PREFACE_BYTES];
        // hyper itself would wait for ever, and sends pings only afterwards.
        tokio::select! {
            read = timeout(self.preface_timeout, reader.read_exact(&mut preface)) => match read {
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => return Ok(()),
            },
            _ = stopping.changed() => return Ok(()),
        }
        let stream = tokio::io::join(Cursor::new(preface).chain(reader), writer);
        let connection = self
            .builder
            .serve_connection(TokioIo::new(stream), answering);
        draining.watch(connection).await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hyper::service::service_fn;
    use hyper::{Request, Response};
    use hyper_util::server::graceful::GracefulShutdown;
    use tokio::io::{AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);
    const PREFACE: &[u8; PREFACE_BYTES] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    /// Serves a client that sends `bytes` and then nothing. Returns the seconds until the connection
    /// ends, or `None` if it does not end.
    async fn seconds_until_end(bytes: &[u8], stops: bool) -> Option<u64> {
        let (ours, mut theirs) = duplex(1000);
        theirs.write_all(bytes).await.unwrap();
        let server = Http2Server {
            builder: http2::Builder::new(TokioExecutor::new()),
            preface_timeout: TIMEOUT,
        };
        let (accepting, stopping) = watch::channel(());
        if stops {
            drop(accepting);
        }
        let answering = service_fn(|_: Request<Incoming>| {
            std::future::pending::<Result<Response<BodyWithBusyGuard>, Infallible>>()
        });
        let draining = GracefulShutdown::new();
        let begin = Instant::now();
        let serving = server.serve(ours, answering, draining.watcher(), stopping);
        let ended = timeout(10 * TIMEOUT, serving).await;
        ended.is_ok().then(|| begin.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_preface_has_to_come_in_time() {
        let half = &PREFACE[..PREFACE_BYTES / 2];
        assert_eq!(seconds_until_end(half, false).await, Some(60));
        assert_eq!(seconds_until_end(b"", false).await, Some(60));
        // A server that stops does not wait for it.
        assert_eq!(seconds_until_end(half, true).await, Some(0));
        // This server sends no pings, so only the preface has a limit.
        assert_eq!(seconds_until_end(PREFACE, false).await, None);
    }
}
