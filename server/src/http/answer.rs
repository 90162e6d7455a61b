//! Answers that are written on a thread of their own: a short one is held whole, a long
//! one is sent while it is written, so that whoever reads slowly, or not at all, makes
//! the writing wait instead of filling memory.

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

use super::problem::Problem;
use crate::estimates;

/// Bytes of the pieces in which a longer one is sent.
const PIECE: usize = 64 << 10;

/// Pieces that wait to be sent, of one answer.
const WAITING_PIECES: usize = 2;

/// An answer as JSON or CSV, written to `out`.
///
/// # Errors
/// When nobody listens any more; then nobody hears of it.
pub(super) fn render(
    csv: bool,
    answer: &impl Serialize,
    write_csv: impl FnOnce(&mut Writer) -> io::Result<()>,
    out: &mut Writer,
) -> Result<(), Problem> {
    estimates::write(csv, answer, write_csv, out).map_err(|_| Problem::Internal)
}

/// An answer as JSON, written to `out`.
///
/// # Errors
/// As [`render`]'s.
pub(super) fn json(answer: &impl Serialize, out: &mut Writer) -> Result<(), Problem> {
    serde_json::to_writer(out, answer).map_err(|_| Problem::Internal)
}

/// The answer around a body that is JSON or CSV.
pub(super) fn table(csv: bool, body: Body) -> Response {
    let kind = match csv {
        true => "text/csv; charset=utf-8; header=present",
        false => "application/json",
    };
    // Both forms live at one address, and each is old with the next report.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::VARY, HeaderValue::from_static("accept")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, body).into_response()
}

/// What an answer takes: whether it is held whole or sent while it is written, and for which
/// others it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Some hundred KB at most, of totals.
    Short,
    /// Of any length, of totals.
    Long,
    /// Of any length, of all reports, one by one.
    Reports,
}

/// What an answer is written to.
pub(super) struct Writer {
    work: Work,
    buffer: Vec<u8>,
    to: To,
}

enum To {
    /// Nobody, yet: it may still become a problem.
    Nobody(oneshot::Sender<Result<Body, Problem>>),
    /// Whoever reads the pieces.
    Reader(mpsc::Sender<Piece>),
    /// It has been given up.
    Gone,
}

enum Piece {
    Bytes(Bytes),
    End,
}

impl Writer {
    /// For what will be replied.
    pub(super) const fn new(work: Work, reply: oneshot::Sender<Result<Body, Problem>>) -> Self {
        Self {
            work,
            buffer: Vec::new(),
            to: To::Nobody(reply),
        }
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_given_up(&self) -> bool {
        match &self.to {
            To::Nobody(reply) => reply.is_closed(),
            To::Reader(pieces) => pieces.is_closed(),
            To::Gone => true,
        }
    }

    /// Sends what is still held, or the problem; an answer that has begun is cut off instead.
    pub(super) fn finish(mut self, result: Result<(), Problem>) {
        let held = Bytes::from(mem::take(&mut self.buffer));
        match (self.to, result) {
            (To::Nobody(reply), result) => {
                // Nobody listens any more when the request has been given up.
                let _ = reply.send(result.map(|()| Body::from(held)));
            }
            (To::Reader(pieces), Ok(())) => {
                let _ = pieces
                    .blocking_send(Piece::Bytes(held))
                    .and_then(|()| pieces.blocking_send(Piece::End));
            }
            (To::Reader(_), Err(_)) | (To::Gone, _) => {}
        }
    }

    /// Sends what is held as a piece, the first one with the answer's head.
    fn send(&mut self) -> io::Result<()> {
        let pieces = match mem::replace(&mut self.to, To::Gone) {
            To::Reader(pieces) => pieces,
            To::Nobody(reply) => begin(reply)?,
            To::Gone => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        let piece = Bytes::from(mem::replace(&mut self.buffer, Vec::with_capacity(PIECE)));
        pieces
            .blocking_send(Piece::Bytes(piece))
            .map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.to = To::Reader(pieces);
        Ok(())
    }
}

/// Replies with a body that is still to be written.
fn begin(reply: oneshot::Sender<Result<Body, Problem>>) -> io::Result<mpsc::Sender<Piece>> {
    let (pieces, reader) = mpsc::channel(WAITING_PIECES);
    let body = Body::new(Pieces {
        reader,
        ended: false,
    });
    reply
        .send(Ok(body))
        .map_err(|_| io::ErrorKind::BrokenPipe)?;
    Ok(pieces)
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.work != Work::Short && self.buffer.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // Pieces are sent when they are long enough, the last one by `finish`.
    }
}

/// A body that is still being written.
struct Pieces {
    reader: mpsc::Receiver<Piece>,
    ended: bool,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.reader.poll_recv(context).map(|piece| match piece {
            Some(Piece::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Piece::End) => {
                self.ended = true;
                None
            }
            // Must not pass for whole.
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

    /// Writes so many numbers on a thread of its own, which ends like that.
    fn write(
        work: Work,
        count: usize,
        end: Result<(), Problem>,
    ) -> (
        oneshot::Receiver<Result<Body, Problem>>,
        thread::JoinHandle<()>,
    ) {
        let (reply, answer) = oneshot::channel();
        let writing = thread::spawn(move || {
            let mut writer = Writer::new(work, reply);
            let written = json(&numbers(count), &mut writer);
            writer.finish(written.and(end));
        });
        (answer, writing)
    }

    #[tokio::test]
    async fn answers_come_whole_whether_held_or_sent_while_they_are_written() {
        for work in [Work::Short, Work::Long, Work::Reports] {
            for count in [0, 10, 1_000_000] {
                let (answer, writing) = write(work, count, Ok(()));
                let body = answer.await.unwrap().unwrap();
                let held = body.size_hint().exact().is_some();
                let bytes = body.collect().await.unwrap().to_bytes();
                assert_eq!(bytes, serde_json::to_vec(&numbers(count)).unwrap());
                let fits = work == Work::Short || bytes.len() < PIECE;
                assert_eq!(held, fits, "{work:?} {count}");
                writing.join().unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_long_answer_is_written_no_faster_than_it_is_read() {
        let (answer, writing) = write(Work::Long, 1_000_000, Ok(()));
        let mut body = answer.await.unwrap().unwrap();
        body.frame().await.unwrap().unwrap();
        // All but what may wait is still to be written.
        assert!(!writing.is_finished());
        drop(body);
        writing.join().unwrap();
    }

    #[tokio::test]
    async fn what_goes_wrong_before_anything_is_sent_is_a_problem() {
        for work in [Work::Short, Work::Long, Work::Reports] {
            let (answer, _) = write(work, 10, Err(Problem::Storage));
            assert_eq!(answer.await.unwrap().unwrap_err(), Problem::Storage);
        }
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_does_not_pass_for_whole() {
        let (answer, writing) = write(Work::Long, 100_000, Err(Problem::Internal));
        let body = answer.await.unwrap().unwrap();
        assert!(body.collect().await.is_err());
        writing.join().unwrap();
    }
}
