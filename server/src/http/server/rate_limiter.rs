//! Rate limit of reports for each peer.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota};

use super::slots::PeerNetwork;

/// Time between clean-ups. A clean-up removes the peers that have their full quota again.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(60);

/// Number of requests after which a clean-up comes early. It bounds the memory that a flood from
/// many addresses takes.
const REQUESTS_BETWEEN_CLEANUPS: u32 = 1 << 14;

/// Rate limiter with a constant rate for each peer. A peer may send the reports of a whole minute
/// at once.
///
/// At most a minute after its last request, a peer has its full quota again. The next clean-up then
/// removes the peer, at most a minute later. Peers are kept only in memory.
pub(super) struct RateLimiter {
    per_peer_limiter: DefaultKeyedRateLimiter<PeerNetwork>,
    reports_per_minute: NonZeroU32,
    total_request_count: AtomicU32,
}

/// Failure to charge reports to a peer's quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum QuotaExceeded {
    /// The peer has to wait.
    ForNow,
    /// The request has more reports than the peer may send in a minute, which is the number given.
    ForEver(u32),
}

impl RateLimiter {
    /// Creates a limiter that allows each peer `reports_per_minute` reports per minute.
    pub(super) fn new(reports_per_minute: NonZeroU32) -> Self {
        Self {
            per_peer_limiter: DefaultKeyedRateLimiter::keyed(Quota::per_minute(reports_per_minute)),
            reports_per_minute,
            total_request_count: AtomicU32::new(0),
        }
    }

    /// Charges at most `reports_per_minute` reports to a peer's quota, all or none of them.
    fn charge(&self, peer: PeerNetwork, reports: u32) -> Result<(), QuotaExceeded> {
        let Some(reports) = NonZeroU32::new(reports) else {
            return Ok(());
        };
        // Relaxed: the count only triggers clean-ups and orders nothing.
        let requests = self.total_request_count.fetch_add(1, Ordering::Relaxed);
        if requests % REQUESTS_BETWEEN_CLEANUPS == REQUESTS_BETWEEN_CLEANUPS - 1 {
            self.remove_silent_peers();
        }
        match self.per_peer_limiter.check_key_n(&peer, reports) {
            Ok(Ok(())) => Ok(()),
            _ => Err(QuotaExceeded::ForNow),
        }
    }

    fn remove_silent_peers(&self) {
        self.per_peer_limiter.retain_recent();
        self.per_peer_limiter.shrink_to_fit();
    }
}

/// Removes silent peers every minute, until the limiter is dropped.
pub(super) async fn remove_silent_peers_forever(limiter: Weak<RateLimiter>) {
    loop {
        tokio::time::sleep(CLEANUP_INTERVAL).await;
        match limiter.upgrade() {
            Some(limiter) => limiter.remove_silent_peers(),
            None => return,
        }
    }
}

/// Quota of the peer that sent a request.
#[derive(Clone)]
pub(in crate::http) struct PeerQuota {
    rates: Arc<RateLimiter>,
    peer: PeerNetwork,
}

impl PeerQuota {
    pub(super) fn new(rates: &Arc<RateLimiter>, peer: PeerNetwork) -> Self {
        Self {
            rates: Arc::clone(rates),
            peer,
        }
    }

    /// Returns the number of reports that the peer may send in a minute.
    pub(in crate::http) fn reports_per_minute(&self) -> NonZeroU32 {
        self.rates.reports_per_minute
    }

    /// Charges a request, as one report.
    ///
    /// # Errors
    /// When the peer has sent too many reports within a minute.
    pub(super) fn charge_request(&self) -> Result<(), QuotaExceeded> {
        self.rates.charge(self.peer, 1)
    }

    /// Charges the reports of a request that was already charged as one report.
    ///
    /// # Errors
    /// When the peer has sent too many reports within a minute, or the request has more.
    pub(in crate::http) fn charge_reports(&self, reports: usize) -> Result<(), QuotaExceeded> {
        let most = self.rates.reports_per_minute.get();
        match u32::try_from(reports) {
            Ok(reports) if reports <= most => self.rates.charge(self.peer, reports.max(1) - 1),
            _ => Err(QuotaExceeded::ForEver(most)),
        }
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
                [0; 4].map(|_| rates.charge(peer, 1).is_ok()),
                [true, true, true, false]
            );
        }
        // An address of the same /64 network.
        let neighbour =
            PeerNetwork::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 1, 9, 9, 9, 9)));
        assert_eq!(rates.charge(neighbour, 1), Err(QuotaExceeded::ForNow));
    }

    #[test]
    fn reports_of_a_request_count_together() {
        let rates = Arc::new(RateLimiter::new(NonZeroU32::new(10).expect("10 is not 0")));
        let quota = PeerQuota::new(&rates, PeerNetwork::new(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        for reports in [11, usize::MAX] {
            assert_eq!(
                quota.charge_reports(reports),
                Err(QuotaExceeded::ForEver(10))
            );
        }
        assert_eq!(quota.charge_request(), Ok(()));
        assert_eq!(quota.charge_reports(9), Ok(()));
        assert_eq!(quota.charge_reports(3), Err(QuotaExceeded::ForNow));
        assert_eq!(quota.charge_reports(2), Ok(()));
        // A body without reports costs no more than the request.
        assert_eq!(quota.charge_reports(0), Ok(()));
        assert_eq!(quota.charge_request(), Err(QuotaExceeded::ForNow));
    }

    #[test]
    fn peers_are_forgotten() {
        let a_minute = NonZeroU32::new(1_000_000).expect("it is not 0");
        let rates = RateLimiter::new(a_minute);
        for number in 0..REQUESTS_BETWEEN_CLEANUPS {
            let peer = PeerNetwork::new(IpAddr::V4(Ipv4Addr::from_bits(number)));
            assert!(rates.charge(peer, 1).is_ok());
        }
        // Each peer's quota is full again after less than a tenth of a millisecond.
        assert!(rates.per_peer_limiter.len() < REQUESTS_BETWEEN_CLEANUPS as usize / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn silent_peers_are_forgotten_without_further_requests() {
        let a_minute = NonZeroU32::new(1_000_000).expect("it is not 0");
        let rates = Arc::new(RateLimiter::new(a_minute));
        let cleaning = tokio::spawn(remove_silent_peers_forever(Arc::downgrade(&rates)));
        for number in 0..100 {
            let peer = PeerNetwork::new(IpAddr::V4(Ipv4Addr::from_bits(number)));
            assert!(rates.charge(peer, 1).is_ok());
        }
        assert_eq!(rates.per_peer_limiter.len(), 100);
        // Quotas recover by real time, within a tenth of a millisecond.
        std::thread::sleep(Duration::from_millis(10));
        tokio::time::sleep(CLEANUP_INTERVAL * 3 / 2).await;
        assert_eq!(rates.per_peer_limiter.len(), 0);
        drop(rates);
        cleaning.await.expect("it ends with the limiter");
    }
}
