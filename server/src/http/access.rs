//! Who may ask.
//!
//! Uploads, tasks and the process's health are for everybody. What is released is for analysts,
//! and what changes something for admins; both send `Authorization: Bearer TOKEN`. Handlers name
//! whom they are for by an argument.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::problem::Problem;
use crate::tokens::{TokenRole, Tokens};

/// How it is told who may ask.
#[derive(Clone)]
pub(crate) enum Access {
    /// Whoever reaches the collector: somebody else looks after that, or nobody is to be kept out.
    Everybody,
    /// Holders of tokens.
    Holders(Arc<Tokens>),
}

impl Access {
    /// Lets those through whose token is for as much as is needed.
    ///
    /// # Errors
    /// [`Problem::Unauthorized`] without a token that is known, [`Problem::Forbidden`] with one
    /// that is for less.
    async fn admit(&self, headers: &HeaderMap, needed: TokenRole) -> Result<(), Problem> {
        let Self::Holders(tokens) = self else {
            return Ok(());
        };
        let text = bearer(headers).ok_or(Problem::Unauthorized)?;
        let role = tokens.role_of(text).await.map_err(|error| {
            tracing::error!(%error, "the tokens cannot be read");
            Problem::Storage
        })?;
        match role {
            None => Err(Problem::UnknownToken),
            Some(role) if role < needed => Err(Problem::Forbidden),
            Some(_) => Ok(()),
        }
    }
}

/// What follows "Bearer", in whatever case (RFC 9110, section 11.1).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, text) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(text.trim_start_matches(' '))
}

/// Proof of a token: an admin's, or any.
pub(super) struct Asker<const ADMIN: bool>;

/// Proof of a token for released data.
pub(super) type Analyst = Asker<false>;

/// Proof of a token for changes.
pub(super) type Admin = Asker<true>;

impl<S: Sync, const ADMIN: bool> FromRequestParts<S> for Asker<ADMIN>
where
    Access: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let needed = match ADMIN {
            true => TokenRole::Admin,
            false => TokenRole::Analyst,
        };
        Access::from_ref(state)
            .admit(&parts.headers, needed)
            .await?;
        Ok(Self)
    }
}
