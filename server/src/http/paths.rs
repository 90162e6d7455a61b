//! Paths that several files name.

/// Route of uploads, which is never logged: lines have times.
pub(super) const UPLOADS: &str = "/tasks/{id}/reports";

/// Route of what comes through relays, mostly uploads: not logged either.
pub(super) const GATEWAY: &str = "/.well-known/ohttp-gateway";

pub(super) const LIVE: &str = "/livez";
pub(super) const READY: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";

/// Routes that are not logged.
pub(super) const UNLOGGED: [&str; 2] = [UPLOADS, GATEWAY];

/// Routes for operators of the process.
pub(super) const HEALTH: [&str; 2] = [LIVE, READY];
