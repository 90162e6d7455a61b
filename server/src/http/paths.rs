//! Paths used in several files.

/// Route of uploads. It is never logged, since log lines have timestamps.
pub(super) const UPLOADS: &str = "/tasks/{id}/reports";

/// Route of requests from relays, mostly uploads. This route is not logged either.
pub(super) const GATEWAY: &str = "/.well-known/ohttp-gateway";

pub(super) const LIVE: &str = "/livez";
pub(super) const READY: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";

/// Routes that are not logged.
pub(super) const UNLOGGED: [&str; 2] = [UPLOADS, GATEWAY];

/// Health checks, which need no allowed host name and have no rate limit.
pub(super) const HEALTH: [&str; 2] = [LIVE, READY];
