//! Responses that are written on another thread.
//!
//! A short response is buffered as a whole. A long response is sent while it is being written. A
//! slow client therefore only delays the writing, and cannot fill the memory.

use std::io::{self, Write};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use super::answer_cache::MAX_ANSWER_BYTES;
use super::problem::Problem;
use crate::estimates;

/// Size of the pieces of a long response, in bytes.
const RESPONSE_CHUNK_BYTES: usize = 64 << 10;

/// Maximum number of pieces of a response that wait to be sent.
const MAX_WAITING_CHUNKS: usize = 2;

/// Writes a response to `out` as JSON or CSV.
///
/// # Errors
/// When the client is gone, so the problem is never sent.
pub(super) fn write_json_or_csv(
    csv: bool,
    answer: &impl Serialize,
    write_csv: impl FnOnce(&mut ResponseWriter) -> io::Result<()>,
    out: &mut ResponseWriter,
) -> Result<(), Problem> {
    estimates::write_json_or_csv_answer(csv, answer, write_csv, out).map_err(|_| Problem::Internal)
}

/// Writes a response to `out` as JSON.
///
/// # Errors
/// Same as [`write_json_or_csv`].
pub(super) fn write_json(answer: &impl Serialize, out: &mut ResponseWriter) -> Result<(), Problem> {
    serde_json::to_writer(out, answer).map_err(|_| Problem::Internal)
}

/// Returns the response with this body, which is CSV if `csv` is true, and JSON otherwise.
pub(super) fn json_or_csv_response(csv: bool, body: Body) -> Response {
    let kind = match csv {
        true => "text/csv; charset=utf-8; header=present",
        false => "application/json",
    };
    // `Vary`, because JSON and CSV share the URL. `no-cache`, because the next report changes the
    // data.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::VARY, HeaderValue::from_static("accept")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, body).into_response()
}

/// Kind of work that a response needs. The kind determines whether the response is buffered, and in
/// which queue the work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseWorkKind {
    /// Response of at most some hundred KB, computed from totals.
    ShortFromTotals,
    /// Response of any length, computed from totals.
    LongFromTotals,
    /// Response of any length, computed from all reports, which are read one by one.
    ComputedFromReports,
}

/// Writer of the body of a response, on a thread for blocking work.
pub(super) struct ResponseWriter {
    work_kind: ResponseWorkKind,
    buffer: Vec<u8>,
    /// Copy of the whole body for the cache. `None` if none is kept, or if the body is too long.
    copy: Option<Vec<u8>>,
    state: ResponseState,
}

enum ResponseState {
    /// The response has not begun, so a problem can still be sent instead.
    NotStarted(oneshot::Sender<Result<Body, Problem>>),
    /// Pieces are being sent to the client.
    Streaming(mpsc::Sender<ResponseChunk>),
    /// The client is gone.
    Abandoned,
}

enum ResponseChunk {
    Bytes(Bytes),
    End,
}

impl ResponseWriter {
    /// Creates a writer whose response goes to `reply`.
    pub(super) const fn new(
        work: ResponseWorkKind,
        reply: oneshot::Sender<Result<Body, Problem>>,
    ) -> Self {
        Self {
            work_kind: work,
            buffer: Vec::new(),
            copy: None,
            state: ResponseState::NotStarted(reply),
        }
    }

    /// Keeps a copy of the body, which is written after this call.
    pub(super) fn keep_copy(&mut self) {
        self.copy = Some(Vec::new());
    }

    /// Returns the copy of the body, if it fits into the cache. `None` if the client is gone,
    /// because the body may be incomplete then.
    pub(super) fn take_copy(&mut self) -> Option<Bytes> {
        let copy = self.copy.take()?;
        (!self.is_abandoned()).then(|| copy.into())
    }

    /// Returns true if the client no longer waits for the response.
    pub(super) fn is_abandoned(&self) -> bool {
        match &self.state {
            ResponseState::NotStarted(reply) => reply.is_closed(),
            ResponseState::Streaming(pieces) => pieces.is_closed(),
            ResponseState::Abandoned => true,
        }
    }

    /// Ends the response: sends the rest of the buffer, or the problem. If a piece was sent
    /// already, a problem cuts the response off instead.
    pub(super) fn finish_response(mut self, result: Result<(), Problem>) {
        let held = Bytes::from(mem::take(&mut self.buffer));
        match (self.state, result) {
            (ResponseState::NotStarted(reply), result) => {
                // The receiver is gone if the request was cancelled.
                let _ = reply.send(result.map(|()| Body::from(held)));
            }
            (ResponseState::Streaming(pieces), Ok(())) => {
                let _ = pieces
                    .blocking_send(ResponseChunk::Bytes(held))
                    .and_then(|()| pieces.blocking_send(ResponseChunk::End));
            }
            (ResponseState::Streaming(_), Err(_)) | (ResponseState::Abandoned, _) => {}
        }
    }

    /// Sends the buffer to the client as one piece. The response's head precedes the first piece.
    fn send_chunk(&mut self) -> io::Result<()> {
        let pieces = match mem::replace(&mut self.state, ResponseState::Abandoned) {
            ResponseState::Streaming(pieces) => pieces,
            ResponseState::NotStarted(reply) => begin_streaming(reply)?,
            ResponseState::Abandoned => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        let piece = Bytes::from(mem::replace(
            &mut self.buffer,
            Vec::with_capacity(RESPONSE_CHUNK_BYTES),
        ));
        pieces
            .blocking_send(ResponseChunk::Bytes(piece))
            .map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.state = ResponseState::Streaming(pieces);
        Ok(())
    }
}

/// Replies with a response body that is still empty. Returns the sender for the body's pieces.
fn begin_streaming(
    reply: oneshot::Sender<Result<Body, Problem>>,
) -> io::Result<mpsc::Sender<ResponseChunk>> {
    let (pieces, reader) = mpsc::channel(MAX_WAITING_CHUNKS);
    let body = Body::new(StreamedBody {
        chunk_receiver: reader,
        has_ended: false,
    });
    reply
        .send(Ok(body))
        .map_err(|_| io::ErrorKind::BrokenPipe)?;
    Ok(pieces)
}

impl Write for ResponseWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        match &mut self.copy {
            Some(copy) if copy.len() + bytes.len() <= MAX_ANSWER_BYTES => {
                copy.extend_from_slice(bytes);
            }
            _ => self.copy = None,
        }
        if self.work_kind != ResponseWorkKind::ShortFromTotals
            && self.buffer.len() >= RESPONSE_CHUNK_BYTES
        {
            self.send_chunk()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // Pieces are sent when they are long enough, the last one by `finish`.
    }
}

/// Response body whose pieces are sent while later pieces are still being written.
struct StreamedBody {
    chunk_receiver: mpsc::Receiver<ResponseChunk>,
    has_ended: bool,
}

impl HttpBody for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        self.chunk_receiver
            .poll_recv(context)
            .map(|piece| match piece {
                Some(ResponseChunk::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(ResponseChunk::End) => {
                    self.has_ended = true;
                    None
                }
                // The writer was dropped without `End`: a truncated body must not look complete.
                None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::thread;

    use http_body_util::BodyExt;

    use super::*;

    fn numbers(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    /// Writes `count` numbers on a separate thread, and finishes with `end`.
    fn write_numbers(
        work: ResponseWorkKind,
        count: usize,
        end: Result<(), Problem>,
    ) -> (
        oneshot::Receiver<Result<Body, Problem>>,
        thread::JoinHandle<()>,
    ) {
        let (reply, answer) = oneshot::channel();
        let writing = thread::spawn(move || {
            let mut writer = ResponseWriter::new(work, reply);
            let written = write_json(&numbers(count), &mut writer);
            writer.finish_response(written.and(end));
        });
        (answer, writing)
    }

    #[tokio::test]
    async fn responses_arrive_complete() {
        for work in [
            ResponseWorkKind::ShortFromTotals,
            ResponseWorkKind::LongFromTotals,
            ResponseWorkKind::ComputedFromReports,
        ] {
            for count in [0, 10, 1_000_000] {
                let (answer, writing) = write_numbers(work, count, Ok(()));
                let body = answer.await.unwrap().unwrap();
                let held = body.size_hint().exact().is_some();
                let bytes = body.collect().await.unwrap().to_bytes();
                assert_eq!(bytes, serde_json::to_vec(&numbers(count)).unwrap());
                let fits =
                    work == ResponseWorkKind::ShortFromTotals || bytes.len() < RESPONSE_CHUNK_BYTES;
                assert_eq!(held, fits, "{work:?} {count}");
                writing.join().unwrap();
            }
        }
    }

    #[tokio::test]
    async fn slow_reader_slows_writer() {
        let (answer, writing) = write_numbers(ResponseWorkKind::LongFromTotals, 1_000_000, Ok(()));
        let mut body = answer.await.unwrap().unwrap();
        body.frame().await.unwrap().unwrap();
        // More than the waiting pieces remains to be written.
        assert!(!writing.is_finished());
        drop(body);
        writing.join().unwrap();
    }

    #[tokio::test]
    async fn early_error_is_sent_as_problem() {
        for work in [
            ResponseWorkKind::ShortFromTotals,
            ResponseWorkKind::LongFromTotals,
            ResponseWorkKind::ComputedFromReports,
        ] {
            let (answer, _) = write_numbers(work, 10, Err(Problem::Storage));
            assert_eq!(answer.await.unwrap().unwrap_err(), Problem::Storage);
        }
    }

    #[tokio::test]
    async fn truncated_response_is_an_error() {
        let (answer, writing) = write_numbers(
            ResponseWorkKind::LongFromTotals,
            100_000,
            Err(Problem::Internal),
        );
        let body = answer.await.unwrap().unwrap();
        assert!(body.collect().await.is_err());
        writing.join().unwrap();
    }
}
