//! Oblivious HTTP (RFC 9458): requests that come through a relay, which sees who sends and cannot
//! read what, while whoever opens them reads what and sees nobody but the relay.
//!
//! The encapsulation is of the standard's sections 3 and 4, what is encapsulated is in the binary
//! form of RFC 9292.

mod gateway;
pub(crate) mod message;

pub(crate) use gateway::{Gateway, OpenError, configuration};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
