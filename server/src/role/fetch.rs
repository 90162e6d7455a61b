//! One request to another server, for checks of a configuration.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::connector::connector;

/// Time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of a response's body, in bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Requests an address, and returns the response with its body.
///
/// # Errors
/// When there is no complete response within [`TIMEOUT`], in words.
pub(crate) async fn fetch(address: Uri) -> Result<Response<Bytes>, String> {
    send(Request::get(address).body(Empty::new())).await
}

/// Sends a request without a body, and returns the response with its body.
///
/// # Errors
/// As [`fetch`], or when the request is an error.
pub(crate) async fn send(
    request: hyper::http::Result<Request<Empty<Bytes>>>,
) -> Result<Response<Bytes>, String> {
    let connector = connector().map_err(|error| error.to_string())?;
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let request = request.map_err(|error| error.to_string())?;
    let answered = async {
        let answer = client.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            cause.unwrap_or_else(|| error.to_string())
        })?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok(Response::from_parts(head, body))
    };
    let none = || Err(format!("no answer within {} s", TIMEOUT.as_secs()));
    let answered = tokio::time::timeout(TIMEOUT, answered).await;
    answered.unwrap_or_else(|_| none())
}
