//! Trait of the mechanisms whose reports can be collected.

use super::contract::Parameters;
use crate::canonical::WriteCanonical;
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;

/// Mechanism for its collector.
pub(crate) trait CollectedMechanism: Parameters + WriteCanonical {
    /// Realised local ε, rounded up, never above `epsilon`.
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64;

    /// Returns a decoder of reports, which refuses reports that the task cannot have.
    fn decoder(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Self::Report, Error>;
}
