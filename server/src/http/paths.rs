//! Paths of routes that several files use.

/// Route of uploads. Requests to it are never logged, since log lines have timestamps.
pub(super) const UPLOADS: &str = "/tasks/{id}/reports";

/// Route of sealed requests from relays, mostly uploads. Requests to it are not logged either.
pub(super) const GATEWAY: &str = "/.well-known/ohttp-gateway";

pub(super) const LIVE: &str = "/livez";
pub(super) const READY: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";

/// Routes whose requests are not logged.
pub(super) const UNLOGGED: [&str; 2] = [UPLOADS, GATEWAY];

/// Routes of health checks, which accept any host name and have no rate limit.
pub(super) const HEALTH: [&str; 2] = [LIVE, READY];
