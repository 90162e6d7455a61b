//! What every mechanism is made of whose reports are collected.

use super::contract::Parameters;
use crate::canonical::Written;
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;

/// A mechanism as its collector knows it.
pub(crate) trait Collected: Parameters + Written {
    /// The realised local ε, rounded up, never above `epsilon`.
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64;

    /// Prepares to decode reports: checks what one of a task can be.
    fn decoder(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Self::Report, Error>;
}
