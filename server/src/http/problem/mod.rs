//! Error responses: `application/problem+json` (RFC 9457).
//!
//! `kinds` defines the sentence, members, type, status and title of each problem. `response` builds
//! the HTTP response. `retry_after` decides when a client may retry. `from_errors` converts errors
//! of the store, the analysis and the core into problems.

mod from_errors;
mod kinds;
mod not_ready;
mod response;
mod retry_after;

pub(crate) use kinds::Problem;
pub(super) use kinds::ProblemSlug;
pub(super) use not_ready::NotReadyReason;
