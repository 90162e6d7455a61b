//! Rate limit of requests for each peer.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use governor::{DefaultKeyedRateLimiter, Quota};

use super::slots::PeerNetwork;

/// Number of requests between clean-ups. A clean-up removes the peers with a full quota
/// again.
const REQUESTS_BETWEEN_CLEANUPS: u32 = 1 << 14;

/// Rate limiter with a constant rate for each peer. A peer may send the requests of a whole minute
/// at once.
///
/// At most a minute after its last request, a peer has its full quota again. The next clean-up then
/// removes the peer. Clean-ups come with requests, so on a quiet server a peer may stay in memory
/// for longer. Peers are kept only in memory.
pub(super) struct RateLimiter {
    per_peer_limiter: DefaultKeyedRateLimiter<PeerNetwork>,
    request_count: AtomicU32,
}

impl RateLimiter {
    /// Creates a limiter that allows each peer `a_minute` requests per minute.
    pub(super) fn new(a_minute: NonZeroU32) -> Self {
        Self {
            per_peer_limiter: DefaultKeyedRateLimiter::keyed(Quota::per_minute(a_minute)),
            request_count: AtomicU32::new(0),
        }
    }

    /// Returns true if the peer may send a request now, and counts the request if so.
    pub(super) fn allow_request(&self, peer: PeerNetwork) -> bool {
        // Relaxed: the count only triggers clean-ups and orders nothing.
        let requests = self.request_count.fetch_add(1, Ordering::Relaxed);
        if requests % REQUESTS_BETWEEN_CLEANUPS == REQUESTS_BETWEEN_CLEANUPS - 1 {
            self.per_peer_limiter.retain_recent();
            self.per_peer_limiter.shrink_to_fit();
        }
        self.per_peer_limiter.check_key(&peer).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn each_peer_has_its_own_rate() {
        let rates = RateLimiter::new(NonZeroU32::new(3).expect("3 is not 0"));
        let v4 = |last| PeerNetwork::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)));
        let v6 = |last| {
            PeerNetwork::new(IpAddr::V6(Ipv6Addr::new(
                0x2001, 0xdb8, 1, last, 5, 6, 7, last,
            )))
        };
        for peer in [v4(1), v4(2), v6(1), v6(2)] {
            assert_eq!(
                [0; 4].map(|_| rates.allow_request(peer)),
                [true, true, true, false]
            );
        }
        // An address of the same /64 network.
        let neighbour =
            PeerNetwork::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 1, 9, 9, 9, 9)));
        assert!(!rates.allow_request(neighbour));
    }

    #[test]
    fn peers_are_forgotten() {
        let a_minute = NonZeroU32::new(1_000_000).expect("it is not 0");
        let rates = RateLimiter::new(a_minute);
        for number in 0..REQUESTS_BETWEEN_CLEANUPS {
            let peer = PeerNetwork::new(IpAddr::V4(Ipv4Addr::from_bits(number)));
            assert!(rates.allow_request(peer));
        }
        // Each peer's quota is full again after less than a tenth of a millisecond.
        assert!(rates.per_peer_limiter.len() < REQUESTS_BETWEEN_CLEANUPS as usize / 2);
    }
}
