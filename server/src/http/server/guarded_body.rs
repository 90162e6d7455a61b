//! Response bodies that keep their connection marked as busy until they are sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::slots::BusyGuard;
use super::write_timeout::ProgressGuard;

/// Maximum length of a frame of a response by HTTP/2. hyper hands a whole frame to the connection as
/// soon as the peer takes a part of it.
const MAX_HTTP2_FRAME_BYTES: usize = 16 << 10;

/// Response body with the guard that marks its connection as busy. hyper drops the body after
/// handing the last byte to the connection.
pub(super) struct BodyWithBusyGuard {
    body: Body,
    /// Guard of a response by HTTP/2.
    progress: Option<ProgressGuard>,
    /// Bytes of the last frame of `body` that are still to be sent.
    rest: Bytes,
    _busy: BusyGuard,
}

impl BodyWithBusyGuard {
    pub(super) const fn new(body: Body, busy: BusyGuard, progress: Option<ProgressGuard>) -> Self {
        Self {
            body,
            progress,
            rest: Bytes::new(),
            _busy: busy,
        }
    }
}

impl HttpBody for BodyWithBusyGuard {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.progress.is_none() {
            return Pin::new(&mut self.body).poll_frame(context);
        }
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end_or_error => return Poll::Ready(end_or_error),
            }
        }
        let length = self.rest.len().min(MAX_HTTP2_FRAME_BYTES);
        let part = self.rest.split_to(length);
        if let Some(progress) = &self.progress {
            progress.add_bytes(part.len());
        }
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
