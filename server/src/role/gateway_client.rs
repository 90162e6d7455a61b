//! Client of a relay: forwards sealed requests (Oblivious HTTP, RFC 9458) to gateways.

use std::error::Error;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, Uri, header};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::{Connector, connector};

/// Media type of sealed requests.
pub(crate) const SEALED_REQUEST_TYPE: &str = "message/ohttp-req";

/// Path of a gateway whose URL has no path (RFC 9540).
const WELL_KNOWN_PATH: &str = "/.well-known/ohttp-gateway";

/// Maximum number of idle connections to one gateway.
pub(crate) const MAX_IDLE_CONNECTIONS: usize = 64;

/// Time after which an idle connection is closed. Below 60 seconds, the time after which a hushbin
/// gateway closes it, so that no request is sent on a connection that is about to close.
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);

/// Gateway to which a relay forwards requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RelayedGateway {
    /// Host of the gateway's URL, with its port if the URL has one. Pages name the gateway by it.
    pub(crate) name: String,
    /// Complete URL.
    pub(crate) address: Uri,
}

impl RelayedGateway {
    /// Creates the gateway at this URL, which has a scheme and a host.
    ///
    /// # Errors
    /// When the URL has no host.
    pub(crate) fn new(url: &Uri) -> Result<Self, hyper::http::Error> {
        let path = url.path_and_query().filter(|path| path.as_str() != "/");
        let path = path
            .cloned()
            .unwrap_or(PathAndQuery::from_static(WELL_KNOWN_PATH));
        let mut parts = url.clone().into_parts();
        parts.path_and_query = Some(path);
        let address = Uri::from_parts(parts)?;
        let name = address.authority().map(|own| own.as_str().to_lowercase());
        Ok(Self {
            name: name.unwrap_or_default(),
            address,
        })
    }
}

/// Client with a pool of connections to gateways.
#[derive(Clone)]
pub(crate) struct GatewayClient(Client<Connector, Full<Bytes>>);

impl GatewayClient {
    /// Creates a client without connections.
    ///
    /// # Errors
    /// When this machine has no root certificates, by which a gateway could be identified.
    pub(crate) fn new() -> Result<Self, impl Error + Send + Sync + 'static> {
        connector().map(|connector| {
            let client = Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE_TIMEOUT)
                .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
                .build(connector);
            Self(client)
        })
    }

    /// Sends a sealed request, and returns the gateway's answer. Redirects are not followed. The
    /// request has no headers besides `Host` and the type and length of the body.
    ///
    /// # Errors
    /// When the gateway cannot be reached or breaks the protocol.
    pub(crate) async fn forward(
        &self,
        gateway: &RelayedGateway,
        sealed: Bytes,
    ) -> Result<Response<Incoming>, legacy::Error> {
        let mut request = Request::new(Full::new(sealed));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = gateway.address.clone();
        let kind = header::HeaderValue::from_static(SEALED_REQUEST_TYPE);
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        self.0.request(request).await
    }
}
