//! Oblivious HTTP (RFC 9458): requests that come through a relay. The relay sees the clients'
//! addresses, and cannot read the requests. The gateway reads the requests, and sees only the
//! relay.
//!
//! The encapsulation follows sections 3 and 4 of the standard. The encapsulated messages have the
//! binary form of RFC 9292.

mod gateway;
pub(crate) mod message;

pub(crate) use gateway::{DecapsulationError, OhttpGateway, key_configuration};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
