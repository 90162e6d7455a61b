//! Pattern mechanism in task files and uploads, and the exact probabilities of its outputs.

mod rates;

pub use rates::{PatternEstimator, triangular_cdf};

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::Pattern;
use super::randomize::Randomizer;
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collected_mechanism::CollectedMechanism;
use crate::mechanism::subset::BucketReport as Report;

/// Form of a [`Pattern`] in a task file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedPattern {
    outputs: u32,
    favoured: Vec<u32>,
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (outputs, favoured) = (self.output_count(), self.favoured_outputs().to_vec());
        SerializedPattern { outputs, favoured }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = SerializedPattern::deserialize(deserializer)?;
        Self::new(parts.outputs, parts.favoured).map_err(de::Error::custom)
    }
}

impl WriteCanonical for Pattern {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_u64(u64::from(self.output_count()));
        canonical.write_u32_list(self.favoured_outputs());
    }
}

impl CollectedMechanism for Pattern {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        self.favoured_output_thresholds(epsilon).effective_epsilon()
    }

    fn report_decoder(
        &self,
        _: &Domain,
        _: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let outputs = self.output_count();
        move |cursor| Report::decode(cursor, outputs)
    }
}

impl Randomizer {
    /// Computes the exact probability of each output for a person in `cell`. The index `cell` is
    /// below the number of outputs. The threshold is the one that [`crate::Randomizer::randomize`]
    /// uses.
    #[must_use]
    pub fn output_probabilities(&self, cell: u32) -> Vec<f64> {
        let outputs = self.outputs_favoured_first.len() as u32;
        let mut probabilities = alloc::vec![0.0; outputs as usize];
        for (rank, output) in self.outputs_favoured_first.iter().enumerate() {
            let inside = (rank as u32) < self.favoured_output_count;
            probabilities[((output + cell) % outputs) as usize] = if inside {
                self.favoured_threshold.probability() / f64::from(self.favoured_output_count)
            } else {
                self.favoured_threshold.false_probability()
                    / f64::from(outputs - self.favoured_output_count)
            };
        }
        probabilities
    }
}
