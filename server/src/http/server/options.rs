//! Limits of the server of connections.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// Maximum size of a request's head, in bytes. At most as many bytes of a body are read ahead.
pub(super) const MAX_REQUEST_HEAD_BYTES: usize = 32 << 10;

/// Size of the operating system's send buffer for a peer, in bytes.
pub(super) const SEND_BUFFER_BYTES: u32 = 256 << 10;

/// Maximum number of current requests of one connection by HTTP/2. RFC 9113 recommends at least 100,
/// but then one connection could hold too much memory. Browsers let further requests wait.
pub(super) const MAX_CONCURRENT_STREAMS: u32 = 16;

/// Limits of the whole server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerOptions {
    /// Maximum number of connections. At this limit, each new connection closes the connection that
    /// has waited longest for a request. If no connection waits for a request, new connections wait
    /// to be accepted.
    pub(crate) max_connections: usize,
    /// Maximum number of connections of one IPv4 address or IPv6 /64 network. Further connections
    /// are closed at once. `None` means no limit.
    pub(crate) max_connections_per_peer: Option<usize>,
    /// Maximum number of reports per minute from one IPv4 address or IPv6 /64 network. A request
    /// without reports counts as one. Further requests get status 429. `None` means no limit.
    pub(crate) max_peer_reports_per_minute: Option<NonZeroU32>,
    /// Time limit for a TLS handshake.
    pub(crate) handshake_timeout: Duration,
    /// Time limit for a request's head, including the idle time before it.
    pub(crate) head_timeout: Duration,
    /// Time in which a peer has to read a minimum number of bytes, while a response waits to be
    /// sent.
    pub(crate) write_timeout: Duration,
    /// Time limit for finishing the current requests when the server stops.
    pub(crate) drain_timeout: Duration,
}

impl ServerOptions {
    /// Default limits, for one process on a small machine. There are no limits per peer, since all
    /// connections may come from one proxy.
    pub(crate) const DEFAULT: Self = Self {
        max_connections: 4096,
        max_connections_per_peer: None,
        max_peer_reports_per_minute: None,
        handshake_timeout: Duration::from_secs(10),
        head_timeout: Duration::from_secs(60),
        write_timeout: Duration::from_secs(20),
        drain_timeout: Duration::from_secs(20),
    };

    /// Returns the default limit of connections for one peer, for a server that listens on the
    /// address `listen`. There is no limit on a loopback address, since all connections then come
    /// from a proxy.
    pub(crate) fn default_max_connections_per_peer(listen: IpAddr) -> Option<usize> {
        (!listen.is_loopback()).then_some(256)
    }

    /// Returns the default limit of reports per minute for one peer, for a server that listens on
    /// the address `listen`. The limit suits about ten page views per second from one address, with
    /// five reports each. There is no limit on a loopback address.
    pub(crate) fn default_peer_reports_per_minute(listen: IpAddr) -> Option<NonZeroU32> {
        NonZeroU32::new(3000).filter(|_| !listen.is_loopback())
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}
