//! Access control.
//!
//! Requests for uploads, tasks and health checks need no token. Requests for released data need an
//! analyst's token, and changes need an admin's: `Authorization: Bearer TOKEN`. A handler requires
//! a role by taking an argument of type [`RequireAnalyst`] or [`RequireAdmin`].

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::problem::Problem;
use super::refusal_log::RefusalLog;
use crate::tokens::{TokenRole, TokenStore};

/// Access policy of a collector.
#[derive(Clone)]
pub(crate) enum AccessPolicy {
    /// Every request is allowed: access is controlled elsewhere, or not needed.
    Unrestricted,
    /// Requests with a token are allowed, according to the token's role.
    AllowByTokenRole(Arc<TokenStore>, Arc<RefusalLog>),
}

impl AccessPolicy {
    /// Checks that the request has a token of at least the needed role. Returns the token's id, or
    /// `None` if every request is allowed.
    ///
    /// # Errors
    /// - [`Problem::Unauthorized`] without a token.
    /// - [`Problem::UnknownToken`] with an unknown token.
    /// - [`Problem::Forbidden`] with a token of a lesser role.
    /// - [`Problem::TokensUnreadable`] if the tokens cannot be read.
    async fn authorize(
        &self,
        headers: &HeaderMap,
        needed: TokenRole,
    ) -> Result<Option<String>, Problem> {
        let Self::AllowByTokenRole(tokens, refusals) = self else {
            return Ok(None);
        };
        let text = bearer_token(headers).ok_or(Problem::Unauthorized)?;
        // The tokens have logged the error once, so it is not logged here.
        let found = tokens.find_token(text).await;
        let token = found.map_err(|_| Problem::TokensUnreadable)?;
        match token {
            None => {
                refusals.record("refused requests with unknown or revoked tokens");
                Err(Problem::UnknownToken)
            }
            Some(token) if token.role() < Some(needed) => Err(Problem::Forbidden),
            Some(token) => Ok(Some(token.id)),
        }
    }
}

/// Returns the token that follows the word "Bearer" in upper or lower case (RFC 9110, section
/// 11.1).
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, text) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(text.trim_start_matches(' '))
}

/// Proof that a request has a token of a sufficient role. If `ADMIN` is true, only an admin's token
/// is sufficient. Otherwise an analyst's token is sufficient too.
pub(super) struct Authorized<const ADMIN: bool> {
    /// Id of the token, for the log. `None` if every request is allowed.
    pub(super) token_id: Option<String>,
}

/// Proof that the request has a token for reading released data.
pub(super) type RequireAnalyst = Authorized<false>;

/// Proof that the request has a token for making changes.
pub(super) type RequireAdmin = Authorized<true>;

impl<S: Sync, const ADMIN: bool> FromRequestParts<S> for Authorized<ADMIN>
where
    AccessPolicy: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let needed = match ADMIN {
            true => TokenRole::Admin,
            false => TokenRole::Analyst,
        };
        let token_id = AccessPolicy::from_ref(state)
            .authorize(&parts.headers, needed)
            .await?;
        Ok(Self { token_id })
    }
}
