//! Write timeout, which closes connections whose peer does not read the responses.

use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};

use super::options::MAX_CONCURRENT_STREAMS;
use super::slots::ConnectionSlot;

/// Minimum number of bytes that a peer must receive within each write timeout, while more bytes
/// wait to be sent. Any working network is faster, and most responses are shorter.
const MIN_BYTES_PER_TIMEOUT: usize = 512 << 10;

/// Stream whose writes fail if the peer receives less than [`MIN_BYTES_PER_TIMEOUT`] bytes within `timeout`,
/// while more bytes wait to be sent.
pub(super) struct WriteTimeoutStream<S> {
    stream: S,
    timeout: Duration,
    /// Set when the peer has been too slow. The error itself may be hidden inside those of TLS or
    /// HTTP/2.
    has_timed_out: Arc<AtomicBool>,
    /// Timer, which runs while data waits to be written.
    stall_timer: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the timer was started or reset.
    bytes_since_timer_reset: usize,
}

impl<S> WriteTimeoutStream<S> {
    pub(super) const fn new(stream: S, timeout: Duration, has_timed_out: Arc<AtomicBool>) -> Self {
        Self {
            stream,
            timeout,
            has_timed_out,
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
                        self.has_timed_out.store(true, Ordering::Relaxed);
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
/// [`WriteTimeoutStream`] notices nothing. Honest peers read all responses of a connection at the
/// same time, so each of them may be slower than that of a connection with one response.
pub(super) struct ProgressGuard {
    slot: Arc<ConnectionSlot>,
    bytes: Arc<AtomicUsize>,
    watch: AbortHandle,
}

/// Minimum number of bytes of one response by HTTP/2: its share if the connection has the maximum
/// number of responses.
const MIN_RESPONSE_BYTES_PER_TIMEOUT: usize =
    MIN_BYTES_PER_TIMEOUT / MAX_CONCURRENT_STREAMS as usize;

impl ProgressGuard {
    /// Begins to watch a response. Until the guard is dropped, the connection is closed if within
    /// `timeout` the peer takes less than [`MIN_RESPONSE_BYTES_PER_TIMEOUT`] bytes of this response,
    /// or less than [`MIN_BYTES_PER_TIMEOUT`] bytes of all responses of the connection.
    pub(super) fn new(slot: Arc<ConnectionSlot>, timeout: Duration) -> Self {
        let bytes = Arc::new(AtomicUsize::new(0));
        let (watched, taken) = (Arc::clone(&slot), Arc::clone(&bytes));
        let mut before = slot.taken_bytes();
        let watch = tokio::spawn(async move {
            loop {
                sleep(timeout).await;
                let now = watched.taken_bytes();
                let of_all = now.wrapping_sub(mem::replace(&mut before, now));
                let of_this = taken.swap(0, Ordering::Relaxed);
                if of_all < MIN_BYTES_PER_TIMEOUT || of_this < MIN_RESPONSE_BYTES_PER_TIMEOUT {
                    return watched.close_unread();
                }
            }
        });
        Self {
            slot,
            bytes,
            watch: watch.abort_handle(),
        }
    }

    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.slot.add_taken_bytes(bytes);
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
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::super::slots::{ConnectionSlots, PeerNetwork};
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn stalled_reader_is_timed_out() {
        let (ours, _theirs) = duplex(1000);
        let timed_out = Arc::new(AtomicBool::new(false));
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT, Arc::clone(&timed_out));
        let begin = Instant::now();
        let error = patient.write_all(&[0; 2000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(timed_out.load(Ordering::Relaxed));
        assert_eq!(begin.elapsed().as_secs(), TIMEOUT.as_secs());
    }

    /// Reads `piece` bytes each second for a hundred seconds. Returns false if the writer timed
    /// out.
    async fn reads_without_timeout(piece: usize) -> bool {
        let (ours, mut theirs) = duplex(1000);
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT, Arc::default());
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

    /// Takes so many bytes of each response in each timeout, for ten of them. Returns true if the
    /// connection has to close.
    async fn closes_connection(bytes: &[usize]) -> bool {
        let peer = PeerNetwork::new(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let slot = ConnectionSlots::new(1, None).acquire(peer).await.unwrap();
        let guard = |_| ProgressGuard::new(Arc::clone(&slot), TIMEOUT);
        let guards: Vec<_> = bytes.iter().map(guard).collect();
        for _ in 0..10 {
            // The watches begin to sleep before the bytes are taken.
            tokio::task::yield_now().await;
            for (guard, bytes) in guards.iter().zip(bytes) {
                guard.add_bytes(*bytes);
            }
            tokio::time::sleep(TIMEOUT).await;
        }
        slot.is_unread()
    }

    #[tokio::test(start_paused = true)]
    async fn responses_of_a_connection_share_its_pace() {
        let many = MAX_CONCURRENT_STREAMS as usize;
        assert!(!closes_connection(&[MIN_BYTES_PER_TIMEOUT]).await);
        assert!(closes_connection(&[MIN_BYTES_PER_TIMEOUT - 1]).await);
        let mut shares = vec![MIN_BYTES_PER_TIMEOUT / many; many];
        assert!(!closes_connection(&shares).await);
        // One response is held back while nine are taken.
        shares[0] += 1;
        shares[1] -= 1;
        assert!(closes_connection(&shares).await);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_is_not_a_stall() {
        let (ours, mut theirs) = duplex(1000);
        let mut patient = WriteTimeoutStream::new(ours, TIMEOUT, Arc::default());
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
