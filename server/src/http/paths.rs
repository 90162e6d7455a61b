//! Paths of routes that several files use.

/// Route of uploads. Requests to it are never logged, since log lines have timestamps.
pub(super) const UPLOAD_ROUTE: &str = "/tasks/{id}/reports";

/// Route of sealed requests from relays, mostly uploads. Requests to it are not logged either.
pub(super) const OHTTP_GATEWAY_ROUTE: &str = "/.well-known/ohttp-gateway";

/// Route of a relay for sealed requests. Requests to it are not logged either.
pub(super) const RELAY_ROUTE: &str = "/gateways/{host}";

pub(super) const LIVENESS_ROUTE: &str = "/livez";
pub(super) const READINESS_ROUTE: &str = "/readyz";
pub(super) const METRICS_ROUTE: &str = "/metrics";

/// Routes whose requests are not logged.
pub(super) const UNLOGGED_ROUTES: [&str; 3] = [UPLOAD_ROUTE, OHTTP_GATEWAY_ROUTE, RELAY_ROUTE];

/// Routes of health checks, which accept any host name and have no rate limit.
pub(super) const HEALTH_CHECK_ROUTES: [&str; 2] = [LIVENESS_ROUTE, READINESS_ROUTE];
