//! Slots for connections. They limit the number of connections, in total and for each peer, and
//! choose the connection that is closed to make room for a new one.
//!
//! A connection is *busy* from the head of a request to the end of the response. Otherwise it is
//! *waiting* for the head of a request. When all slots are taken, the connection that has waited
//! longest is closed: no response is pending on that connection. An attacker with thousands of
//! silent connections therefore only replaces connections of the attack. Busy connections end by
//! the time limits of requests. An HTTP/2 connection may have several requests at once, so it is
//! closed if it is busy for too long.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// Time for which a connection may be busy without a pause while all slots are taken. No request
/// takes longer.
const MAX_BUSY_TIME: Duration = Duration::from_secs(60);

/// Interval at which the number of slots grows by a sixteenth, after it was lowered.
const GROWTH_INTERVAL: Duration = Duration::from_secs(60);

/// Peer for which connections are counted. A peer is an IPv4 address, or an IPv6 /64 network, which
/// usually belongs to one household or machine. The slots keep a peer in memory only while it has a
/// connection. Peers can be compared, but never displayed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PeerNetwork(IpAddr);

impl PeerNetwork {
    pub(super) fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// Slots for all connections of a server.
pub(super) struct ConnectionSlots {
    /// Number of slots, unless another resource is exhausted.
    configured_max_connections: usize,
    max_connections_per_peer: usize,
    state: Mutex<SlotsState>,
    /// Notified when a connection ends or begins to wait, since a new connection may then fit.
    slot_change_notify: Notify,
}

#[derive(Default)]
struct SlotsState {
    max_connections: usize,
    /// Time at which `max_connections` was last changed, if it was.
    max_changed: Option<Instant>,
    open_connections: usize,
    connections_by_peer: HashMap<PeerNetwork, usize>,
    /// Connections that wait for a request, ordered by the start of the wait.
    waiting_connections: BTreeMap<u64, Arc<Notify>>,
    /// Number of waits that have begun so far. The next number is the key of a new wait in
    /// `waiting_connections`.
    wait_counter: u64,
}

impl ConnectionSlots {
    /// Creates `limit` slots, of which each peer may take `peer_limit`. A limit of 0 counts as 1.
    pub(super) fn new(limit: usize, peer_limit: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            configured_max_connections: limit.max(1),
            max_connections_per_peer: peer_limit.map_or(usize::MAX, |limit| limit.max(1)),
            state: Mutex::new(SlotsState {
                max_connections: limit.max(1),
                ..SlotsState::default()
            }),
            slot_change_notify: Notify::new(),
        })
    }

    /// Takes a slot for a new connection of this peer. The connection then counts as waiting for a
    /// request. Returns `None` if the peer already has its maximum number of connections.
    ///
    /// If all slots are taken, the connection that has waited longest is asked to close. This
    /// function waits until a connection has closed.
    ///
    /// Only one task may wait here at a time.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        peer: PeerNetwork,
    ) -> Option<Arc<ConnectionSlot>> {
        loop {
            if let Some(answer) = self.try_acquire(peer) {
                return answer;
            }
            // `notify_one` stores a permit, so a change before this line is not missed.
            self.slot_change_notify.notified().await;
        }
    }

    /// Does the same as [`acquire`](Self::acquire) without waiting. The outer `None` means that all
    /// slots are taken.
    fn try_acquire(self: &Arc<Self>, peer: PeerNetwork) -> Option<Option<Arc<ConnectionSlot>>> {
        let mut state = self.lock_state();
        if state
            .connections_by_peer
            .get(&peer)
            .copied()
            .unwrap_or_default()
            >= self.max_connections_per_peer
        {
            return Some(None);
        }
        state.grow_after_pause(self.configured_max_connections);
        if state.open_connections >= state.max_connections {
            state.close_longest_waiting();
            return None;
        }
        state.open_connections += 1;
        *state.connections_by_peer.entry(peer).or_default() += 1;
        let cut = Arc::new(Notify::new());
        let since = state.add_waiting_connection(&cut);
        drop(state);
        Some(Some(Arc::new(ConnectionSlot {
            slots: Arc::clone(self),
            peer,
            activity: Mutex::new(Activity {
                current_requests: 0,
                busy_since: Instant::now(),
                wait_key: since,
            }),
            close_signal: cut,
            is_unread: Arc::default(),
            taken_bytes: AtomicUsize::new(0),
        })))
    }

    /// Lowers the number of slots, for some time, below the number of open connections, because
    /// another resource is exhausted: usually file descriptors. Closes an eighth of the connections,
    /// those that have waited longest for a request. Returns the new number of slots, or `None` if
    /// no connection waits.
    pub(super) fn shrink_and_close_waiting(&self) -> Option<usize> {
        let mut state = self.lock_state();
        let closed = (state.open_connections / 8)
            .max(1)
            .min(state.waiting_connections.len());
        for _ in 0..closed {
            state.close_longest_waiting();
        }
        // A sixteenth at least, since other processes may have used up the descriptors, and the
        // number grows slowly.
        let least = (self.configured_max_connections / 16).max(1);
        state.max_connections = (state.open_connections - closed).max(least);
        state.max_changed = Some(Instant::now());
        (closed > 0).then_some(state.max_connections)
    }

    fn lock_state(&self) -> MutexGuard<'_, SlotsState> {
        // parking_lot locks do not poison, and no code in this file panics while it holds the lock.
        self.state.lock()
    }
}

impl SlotsState {
    /// Raises the lowered number of slots by a sixteenth, at most to `limit`, unless it was changed
    /// a moment ago.
    fn grow_after_pause(&mut self, limit: usize) {
        let is_due = |last: Instant| last.elapsed() >= GROWTH_INTERVAL;
        if self.max_connections < limit && self.max_changed.is_some_and(is_due) {
            let step = (self.max_connections / 16).max(1);
            self.max_connections = (self.max_connections + step).min(limit);
            self.max_changed = Some(Instant::now());
        }
    }

    fn add_waiting_connection(&mut self, cut: &Arc<Notify>) -> u64 {
        self.wait_counter += 1;
        self.waiting_connections
            .insert(self.wait_counter, Arc::clone(cut));
        self.wait_counter
    }

    fn close_longest_waiting(&mut self) {
        if let Some((_, cut)) = self.waiting_connections.pop_first() {
            cut.notify_one();
        }
    }
}

/// Current requests of one connection. With HTTP/2 there may be several.
struct Activity {
    current_requests: usize,
    /// Time at which the connection became busy.
    busy_since: Instant,
    /// Key of the connection's latest wait in the map `waiting_connections`.
    wait_key: u64,
}

/// Slot that one connection has taken. Dropping it frees the slot.
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    peer: PeerNetwork,
    /// This mutex is locked only while the state of all slots is locked, so the order of locks is
    /// fixed.
    activity: Mutex<Activity>,
    close_signal: Arc<Notify>,
    is_unread: Arc<AtomicBool>,
    /// Number of bytes of responses by HTTP/2 that the peer has taken. It may wrap.
    taken_bytes: AtomicUsize,
}

impl ConnectionSlot {
    /// Marks the connection as busy until the guard is dropped.
    pub(super) fn mark_busy(self: &Arc<Self>) -> BusyGuard {
        let mut state = self.slots.lock_state();
        let mut activity = self.activity.lock();
        if activity.current_requests == 0 {
            activity.busy_since = Instant::now();
        } else if state.open_connections >= state.max_connections
            && activity.busy_since.elapsed() > MAX_BUSY_TIME
        {
            // With HTTP/2, a peer could otherwise keep a slot of a full server for ever: by a new
            // request before the last one has ended.
            self.close_signal.notify_one();
        }
        activity.current_requests += 1;
        state.waiting_connections.remove(&activity.wait_key);
        drop(activity);
        drop(state);
        BusyGuard(Arc::clone(self))
    }

    /// Completes when the connection has to close, to make room for a new connection or because its
    /// peer does not read the responses.
    pub(super) async fn wait_for_close_signal(&self) {
        self.close_signal.notified().await;
    }

    /// Asks the connection to close, because its peer does not read the responses.
    pub(super) fn close_unread(&self) {
        self.is_unread.store(true, Ordering::Relaxed);
        self.close_signal.notify_one();
    }

    /// Returns the flag that [`is_unread`](Self::is_unread) reads, for a stream that notices by
    /// itself that its peer does not read.
    pub(super) fn unread_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_unread)
    }

    /// Counts bytes of responses by HTTP/2 that the peer has taken.
    pub(super) fn add_taken_bytes(&self, bytes: usize) {
        self.taken_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes counted so far. The number may wrap.
    pub(super) fn taken_bytes(&self) -> usize {
        self.taken_bytes.load(Ordering::Relaxed)
    }

    /// Returns true if the connection has to close because its peer does not read the responses.
    pub(super) fn is_unread(&self) -> bool {
        self.is_unread.load(Ordering::Relaxed)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut state = self.slots.lock_state();
        state
            .waiting_connections
            .remove(&self.activity.lock().wait_key);
        state.open_connections -= 1;
        if let Some(count) = state.connections_by_peer.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                state.connections_by_peer.remove(&self.peer);
            }
        }
        drop(state);
        self.slots.slot_change_notify.notify_one();
    }
}

/// Guard of a current request. While the guard exists, the connection is not closed to make room.
pub(super) struct BusyGuard(Arc<ConnectionSlot>);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        let ConnectionSlot {
            slots,
            close_signal: cut,
            ..
        } = &*self.0;
        let mut state = slots.lock_state();
        let mut activity = self.0.activity.lock();
        activity.current_requests -= 1;
        if activity.current_requests > 0 {
            return;
        }
        activity.wait_key = state.add_waiting_connection(cut);
        drop(activity);
        // Only on a full server can a new connection be waiting for this one.
        let full = state.open_connections >= state.max_connections;
        drop(state);
        if full {
            slots.slot_change_notify.notify_one();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse_peer(text: &str) -> PeerNetwork {
        PeerNetwork::new(text.parse().unwrap())
    }

    /// Returns true if the connection was asked to close.
    async fn is_asked_to_close(slot: &ConnectionSlot) -> bool {
        tokio::select! {
            biased;
            () = slot.wait_for_close_signal() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[test]
    fn ipv6_peer_is_a_64_bit_network() {
        let is_one = |a: &str, b: &str| parse_peer(a) == parse_peer(b);
        assert!(is_one("192.0.2.1", "::ffff:192.0.2.1"));
        assert!(!is_one("192.0.2.1", "192.0.2.2"));
        assert!(is_one("2001:db8:1:2::3", "2001:db8:1:2:ffff::"));
        assert!(!is_one("2001:db8:1:2::3", "2001:db8:1:3::3"));
        assert!(!is_one("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
    }

    #[tokio::test]
    async fn peer_limit_is_enforced_and_freed() {
        let slots = ConnectionSlots::new(10, Some(2));
        let [greedy, other] = [parse_peer("192.0.2.1"), parse_peer("192.0.2.2")];
        let first = slots.acquire(greedy).await.unwrap();
        let _second = slots.acquire(greedy).await.unwrap();
        assert!(slots.acquire(greedy).await.is_none());
        assert!(slots.acquire(other).await.is_some());
        drop(first);
        assert!(slots.acquire(greedy).await.is_some());
        assert_eq!(
            slots.lock_state().connections_by_peer.len(),
            1,
            "others are forgotten"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_never_pauses_makes_room_on_a_full_server() {
        for (limit, pauses, expected) in [(1, false, true), (1, true, false), (2, false, false)] {
            let slots = ConnectionSlots::new(limit, None);
            let slot = slots.acquire(parse_peer("192.0.2.1")).await.unwrap();
            let mut busy = Some(slot.mark_busy());
            for _ in 0..5 {
                tokio::time::advance(MAX_BUSY_TIME / 4).await;
                if pauses {
                    drop(busy.take());
                }
                // The next request begins before the last one has ended.
                let next = slot.mark_busy();
                busy = Some(next);
            }
            assert_eq!(is_asked_to_close(&slot).await, expected, "{limit} {pauses}");
        }
    }

    #[tokio::test]
    async fn longest_waiting_is_closed_first() {
        let slots = ConnectionSlots::new(3, None);
        let p = parse_peer("192.0.2.1");
        let first = slots.acquire(p).await.unwrap();
        let second = slots.acquire(p).await.unwrap();
        let third = slots.acquire(p).await.unwrap();
        // The first sends a request and waits again. Now the second has waited longest, but it is
        // busy.
        drop(first.mark_busy());
        let busy = second.mark_busy();
        assert!(slots.try_acquire(p).is_none());
        assert!(
            is_asked_to_close(&third).await
                && !is_asked_to_close(&first).await
                && !is_asked_to_close(&second).await
        );
        drop(third);
        let fourth = slots.acquire(p).await.unwrap();
        drop((first, fourth));
        drop(busy);
        drop(second);
        let state = slots.lock_state();
        assert_eq!(
            (state.open_connections, state.waiting_connections.len()),
            (0, 0)
        );
    }

    #[tokio::test]
    async fn exhausted_descriptors_close_many_waiting_connections() {
        let slots = ConnectionSlots::new(100, None);
        let p = parse_peer("192.0.2.1");
        let mut open = Vec::new();
        for _ in 0..40 {
            open.push(slots.acquire(p).await.unwrap());
        }
        let busy: Vec<_> = open[..10].iter().map(ConnectionSlot::mark_busy).collect();
        assert_eq!(slots.shrink_and_close_waiting(), Some(35));
        for (index, slot) in open.iter().enumerate() {
            let longest_waiting = (10..15).contains(&index);
            assert_eq!(is_asked_to_close(slot).await, longest_waiting, "{index}");
        }
        // A connection is accepted once the closed ones have ended.
        assert!(slots.try_acquire(p).is_none());
        drop(open.drain(10..16).collect::<Vec<_>>());
        assert!(slots.try_acquire(p).is_some());
        // Busy connections are never closed.
        let all_busy: Vec<_> = open[10..].iter().map(ConnectionSlot::mark_busy).collect();
        assert_eq!(slots.shrink_and_close_waiting(), None);
        drop((busy, all_busy));
    }

    #[tokio::test(start_paused = true)]
    async fn slots_come_back_slowly_after_descriptors_were_exhausted() {
        let slots = ConnectionSlots::new(40, None);
        let p = parse_peer("192.0.2.1");
        let mut open = Vec::new();
        for _ in 0..40 {
            open.push(slots.acquire(p).await.unwrap());
        }
        assert_eq!(slots.shrink_and_close_waiting(), Some(35));
        open.truncate(1);
        let mut limits = Vec::new();
        for _ in 0..4 {
            tokio::time::advance(GROWTH_INTERVAL).await;
            // A second connection in the same interval changes nothing.
            drop((slots.acquire(p).await, slots.acquire(p).await));
            limits.push(slots.lock_state().max_connections);
        }
        assert_eq!(limits, [37, 39, 40, 40]);
        drop(open);
    }

    #[tokio::test]
    async fn first_idle_connection_makes_room() {
        let slots = ConnectionSlots::new(2, None);
        let p = parse_peer("192.0.2.1");
        let first = slots.acquire(p).await.unwrap();
        let second = slots.acquire(p).await.unwrap();
        let busy = [first.mark_busy(), second.mark_busy()];
        let taking = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.acquire(p).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!taking.is_finished());
        let [first_busy, _second_busy] = busy;
        drop(first_busy);
        first.wait_for_close_signal().await;
        drop(first);
        assert!(taking.await.unwrap());
    }
}
