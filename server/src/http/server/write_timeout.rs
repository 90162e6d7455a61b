//! Write timeout, which closes connections whose peer does not read the responses.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};

use super::slots::ConnectionSlot;

/// Minimum number of bytes that a peer must receive within each write timeout, while more bytes
/// wait to be sent. Any working network is faster, and most responses are shorter.
const MIN_BYTES_PER_TIMEOUT: usize = 512 << 10;

/// Stream whose writes fail if the peer receives less than [`MIN_BYTES_PER_TIMEOUT`] bytes within `timeout`,
/// while more bytes wait to be sent.
pub(super) struct WriteTimeoutStream<S> {
    stream: S,
    timeout: Duration,
    /// Timer, which runs while data waits to be written.
    stall_timer: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the timer was started or reset.
    bytes_since_timer_reset: usize,
}

impl<S> WriteTimeoutStream<S> {
    pub(super) const fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            stall_timer: None,
            bytes_since_timer_reset: 0,
        }
    }

    /// Returns the result of a write, or an error if the peer has been too slow.
    fn check_progress(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.bytes_since_timer_reset = self.bytes_since_timer_reset.saturating_add(bytes);
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let timeout = self.timeout;
                let taken = &mut self.bytes_since_timer_reset;
                let stalled = self.stall_timer.get_or_insert_with(|| {
                    *taken = 0;
                    Box::pin(sleep(timeout))
                });
                // A loop, because a reset timer must be polled again to register the waker.
                while stalled.as_mut().poll(context).is_ready() {
                    if *taken < MIN_BYTES_PER_TIMEOUT {
                        return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                    }
                    *taken = 0;
                    stalled.as_mut().reset(Instant::now() + timeout);
                }
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_progress(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.check_progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushes the stream and stops the timer. hyper flushes after handing all data to the stream,
    /// so no data waits any more.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stall_timer = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Guard of a response by HTTP/2, whose bytes it counts.
///
/// With HTTP/2 a peer can hold back a single response while the connection takes other writes. Then
/// [`WriteTimeoutStream`] notices nothing.
pub(super) struct ProgressGuard {
    bytes: Arc<AtomicUsize>,
    watch: AbortHandle,
}

impl ProgressGuard {
    /// Begins to watch a response. The connection is closed if the peer takes less than
    /// [`MIN_BYTES_PER_TIMEOUT`] bytes within `timeout`, until the guard is dropped.
    pub(super) fn new(slot: &Arc<ConnectionSlot>, timeout: Duration) -> Self {
        let bytes = Arc::new(AtomicUsize::new(0));
        let (slot, taken) = (Arc::clone(slot), Arc::clone(&bytes));
        let watch = tokio::spawn(async move {
            loop {
                sleep(timeout).await;
                if taken.swap(0, Ordering::Relaxed) < MIN_BYTES_PER_TIMEOUT {
                    return slot.close_unread();
                }
            }
        });
        Self {
            bytes,
            watch: watch.abort_handle(),
        }
    }

    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn stalled_reader_is_timed_out() {
        let (ours, _theirs) = duplex(1000);
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT);
        let begin = Instant::now();
        let error = patient.write_all(&[0; 2000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begin.elapsed().as_secs(), TIMEOUT.as_secs());
    }

    /// Reads `piece` bytes each second for a hundred seconds. Returns false if the writer timed
    /// out.
    async fn reads_without_timeout(piece: usize) -> bool {
        let (ours, mut theirs) = duplex(1000);
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT);
        let reading = async {
            let mut bytes = vec![0; piece];
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        };
        let all = vec![0; piece * 100];
        tokio::select! {
            written = patient.write_all(&all) => written.is_ok(),
            () = reading => true,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_too_slow_readers_time_out() {
        assert!(reads_without_timeout(MIN_BYTES_PER_TIMEOUT / 17).await);
        assert!(!reads_without_timeout(MIN_BYTES_PER_TIMEOUT / 23).await);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_is_not_a_stall() {
        let (ours, mut theirs) = duplex(1000);
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT);
        let mut bytes = [0; 1500];
        for _ in 0..3 {
            let (written, _) = tokio::join!(
                async {
                    patient.write_all(&[0; 1500]).await?;
                    patient.flush().await
                },
                theirs.read_exact(&mut bytes)
            );
            written.unwrap();
            tokio::time::sleep(3 * TIMEOUT).await;
        }
    }
}
