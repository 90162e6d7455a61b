//! HTTP response for a problem: body and headers.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

use super::kinds::{Problem, ProblemKind, ProblemSlug};

#[derive(Serialize)]
struct ProblemBody<'a> {
    #[serde(rename = "type")]
    uri: String,
    title: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    #[serde(flatten)]
    members: &'a Problem,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let ProblemKind {
            slug,
            status,
            title,
        } = self.kind();
        let uri = match self {
            // A registered type, which clients of all gateways understand (RFC 9458, section 5.3).
            Self::OhttpKey => format!("https://iana.org/assignments/http-problem-types#{slug}"),
            _ => format!("urn:hushbin:problem:{slug}"),
        };
        let body = json!(ProblemBody {
            uri,
            title,
            status,
            detail: self.to_string(),
            members: &self,
        });
        let status = StatusCode::from_u16(status).expect("kinds have statuses of HTTP");
        let mut response = (status, body.to_string()).into_response();
        response.extensions_mut().insert(ProblemSlug(slug));
        let headers = response.headers_mut();
        let mut insert = |name, value| headers.insert(name, HeaderValue::from_static(value));
        insert(header::CONTENT_TYPE, "application/problem+json");
        insert(header::CACHE_CONTROL, "no-store");
        match self {
            // Encodings that may be sent instead (RFC 9110, section 12.5.3).
            Self::EncodedBody => insert(header::ACCEPT_ENCODING, "identity"),
            // The only scheme (RFC 9110, section 11.6.1).
            Self::Unauthorized | Self::UnknownToken => {
                insert(header::WWW_AUTHENTICATE, "Bearer realm=\"hushbin\"")
            }
            _ => None,
        };
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}
