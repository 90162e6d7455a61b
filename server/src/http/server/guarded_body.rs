//! Response bodies that keep their connection marked as busy until they are sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::slots::BusyGuard;
use super::write_timeout::ProgressGuard;

/// Response body with the guard that marks its connection as busy. hyper drops the body after
/// handing the last byte to the connection.
pub(super) struct BodyWithBusyGuard {
    body: Body,
    /// Guard of a response by HTTP/2.
    progress: Option<ProgressGuard>,
    _busy: BusyGuard,
}

impl BodyWithBusyGuard {
    pub(super) const fn new(body: Body, busy: BusyGuard, progress: Option<ProgressGuard>) -> Self {
        Self {
            body,
            progress,
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
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let (Poll::Ready(Some(Ok(frame))), Some(progress)) = (&frame, &self.progress) {
            progress.add_bytes(frame.data_ref().map_or(0, Bytes::len));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
