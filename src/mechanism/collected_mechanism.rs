//! Trait of the mechanisms whose reports can be collected.

use super::contract::MechanismParameters;
use crate::canonical::WriteCanonical;
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;

/// Mechanism whose reports a collector can decode.
pub(crate) trait CollectedMechanism: MechanismParameters + WriteCanonical {
    /// Realised local ε over `domain`. The result is rounded up, and never above the requested
    /// `epsilon`.
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64;

    /// Returns a function that decodes the next report. It rejects reports that no client of the
    /// task can make.
    fn report_decoder(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Self::Report, Error>;
}
