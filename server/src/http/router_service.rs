//! Service that answers the requests of all connections.
//!
//! While the store is being opened, the service serves only a few paths. Afterwards it serves the
//! whole interface. It refuses requests for other host names than the collector's, and uses TLS if
//! there is a certificate.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use parking_lot::RwLock;
use tower::ServiceExt;

use super::hosts::AllowedHosts;
use super::layers::{starting_router, too_many_requests_router};
use super::paths::{HEALTH_CHECK_ROUTES, OHTTP_GATEWAY_ROUTE};
use super::problem::Problem;
use super::tls::Tls;
use crate::http::metrics::Metrics;
use crate::store::now;

/// Service whose router, host names and certificate can be replaced while it serves. All clones
/// share the same router, host names and certificate.
#[derive(Clone)]
pub(crate) struct RouterService(Arc<RouterServiceState>);

struct RouterServiceState {
    router: RwLock<Router>,
    too_many_requests_router: Router,
    allowed_hosts: RwLock<AllowedHosts>,
    tls: RwLock<Option<Tls>>,
    metrics: Arc<Metrics>,
}

/// Days before the expiry of a certificate from which on starts and reloads log a warning.
pub(crate) const EXPIRY_WARNING_DAYS: i64 = 14;

/// Publishes when a certificate expires. Logs a warning if it has expired or expires soon.
fn report_certificate_expiry(tls: Option<&Tls>, metrics: &Metrics) {
    metrics.set_certificate_expiry(tls.map(Tls::expires));
    let Some(tls) = tls else { return };
    let days = (tls.expires() - now().cast_signed()).div_euclid(86_400);
    if days < 0 {
        tracing::error!(
            days = -days,
            "the TLS certificate has expired; clients refuse it; renew it and send SIGHUP"
        );
    } else if days < EXPIRY_WARNING_DAYS {
        tracing::warn!(
            days,
            "the TLS certificate expires soon; renew it and send SIGHUP"
        );
    }
}

impl RouterService {
    /// Creates the service for a process whose store is not open yet: `/livez` responds, and most
    /// other paths respond with the problem `starting`.
    pub(crate) fn new(hosts: AllowedHosts, tls: Option<Tls>, metrics: Arc<Metrics>) -> Self {
        report_certificate_expiry(tls.as_ref(), &metrics);
        Self(Arc::new(RouterServiceState {
            router: RwLock::new(starting_router(Arc::clone(&metrics))),
            too_many_requests_router: too_many_requests_router(Arc::clone(&metrics)),
            allowed_hosts: RwLock::new(hosts),
            tls: RwLock::new(tls),
            metrics,
        }))
    }

    /// Replaces the router.
    pub(crate) fn set_router(&self, router: Router) {
        *self.0.router.write() = router;
    }

    /// Replaces the allowed host names.
    pub(crate) fn set_allowed_hosts(&self, hosts: AllowedHosts) {
        *self.0.allowed_hosts.write() = hosts;
    }

    /// Replaces the certificate for new connections. Returns true if the new certificate differs
    /// from the previous one.
    pub(crate) fn set_tls(&self, tls: Option<Tls>) -> bool {
        report_certificate_expiry(tls.as_ref(), &self.0.metrics);
        let mut held = self.0.tls.write();
        let other = *held != tls;
        *held = tls;
        other
    }

    /// Returns the TLS configuration for a new connection; `None` means plain HTTP.
    pub(super) fn tls(&self) -> Option<Tls> {
        self.0.tls.read().clone()
    }

    /// Returns the metrics.
    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// Answers a request. `allowed` is false if the peer has exceeded its rate of requests.
    pub(super) async fn answer_request(&self, request: Request, allowed: bool) -> Response {
        let (mut parts, body) = request.into_parts();
        // Health checks use an IP address instead of a host name. The responses reveal only the
        // health.
        let health = HEALTH_CHECK_ROUTES.contains(&parts.uri.path());
        if !health && !self.0.allowed_hosts.read().allows_request(&parts) {
            self.0.metrics.count_problem(Problem::Misdirected.slug());
            return Problem::Misdirected.into_response();
        }
        if parts.uri.path() == OHTTP_GATEWAY_ROUTE {
            // The handler checks the sealed request inside against the same host names.
            parts.extensions.insert(self.0.allowed_hosts.read().clone());
        }
        let router = match allowed || health {
            // Cloned, so that no lock is held while the request is answered.
            true => self.0.router.read().clone(),
            false => self.0.too_many_requests_router.clone(),
        };
        match router.oneshot(Request::from_parts(parts, body)).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}
