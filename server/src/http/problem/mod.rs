//! Error responses: `application/problem+json` (RFC 9457).
//!
//! `kinds` has sentence, members, type, status and title of each, `response` makes the response,
//! `retry_after` decides when to try again, `from_errors` converts errors of the store and of the
//! analysis.

mod from_errors;
mod kinds;
mod not_ready;
mod response;
mod retry_after;

pub(super) use kinds::Answered;
pub(crate) use kinds::Problem;
pub(super) use not_ready::NotReady;
