//! What connections are served with: little while the store is being opened, then the
//! whole interface, only under the names that the collector answers to, and encrypted where
//! there is a certificate.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use parking_lot::RwLock;
use tower::ServiceExt;

use super::hosts::Hosts;
use super::layers::{starting, too_many};
use super::paths::{GATEWAY, HEALTH};
use super::problem::Problem;
use super::tls::Tls;
use crate::http::metrics::Metrics;

/// A service that can change while it serves; clones share it.
#[derive(Clone)]
pub(crate) struct Front(Arc<Inner>);

struct Inner {
    router: RwLock<Router>,
    too_many: Router,
    hosts: RwLock<Hosts>,
    tls: RwLock<Option<Tls>>,
    metrics: Arc<Metrics>,
}

impl Front {
    /// As it is while there is no store: alive, and not ready.
    pub(crate) fn new(hosts: Hosts, tls: Option<Tls>, metrics: Arc<Metrics>) -> Self {
        Self(Arc::new(Inner {
            router: RwLock::new(starting(Arc::clone(&metrics))),
            too_many: too_many(Arc::clone(&metrics)),
            hosts: RwLock::new(hosts),
            tls: RwLock::new(tls),
            metrics,
        }))
    }

    /// Serves this from now on.
    pub(crate) fn serve(&self, router: Router) {
        *self.0.router.write() = router;
    }

    /// Answers to these names from now on.
    pub(crate) fn set_hosts(&self, hosts: Hosts) {
        *self.0.hosts.write() = hosts;
    }

    /// Encrypts new connections with this from now on; whether it is another certificate.
    pub(crate) fn set_tls(&self, tls: Option<Tls>) -> bool {
        let mut held = self.0.tls.write();
        let other = *held != tls;
        *held = tls;
        other
    }

    /// What a new connection is encrypted with.
    pub(super) fn tls(&self) -> Option<Tls> {
        self.0.tls.read().clone()
    }

    /// What is counted of it.
    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// What a request is answered with, of a peer who may ask as often, or has asked too often.
    pub(super) async fn answer(&self, request: Request, allowed: bool) -> Response {
        let (mut parts, body) = request.into_parts();
        // Whoever looks after the process asks by its address, and learns nothing else.
        let health = HEALTH.contains(&parts.uri.path());
        if !health && !self.0.hosts.read().allow(&parts) {
            self.0.metrics.problem(Problem::Misdirected.slug());
            return Problem::Misdirected.into_response();
        }
        if parts.uri.path() == GATEWAY {
            // What is inside is for the same names.
            parts.extensions.insert(self.0.hosts.read().clone());
        }
        let router = match allowed || health {
            true => self.0.router.read().clone(),
            false => self.0.too_many.clone(),
        };
        match router.oneshot(Request::from_parts(parts, body)).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}
