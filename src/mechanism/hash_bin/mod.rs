//! Hash-bin: sums of real values in noisy bins.
//!
//! A report's seed hashes every item to one of b bins and gives the item a fair sign. A bin is a
//! sum over its items: the value of each item times the item's sign. A report has the seed and a
//! randomised response: either all bins with noise, or one sign.
//!
//! The mean of an item is estimated from the item's sign times the item's bin. Other values in the
//! bin cancel in expectation, because signs are fair and independent.
//!
//! Unlike Collision and CoCo, hash-bin uses every entry with its value. No entry is left out, and
//! no value is rounded to a sign. The protection of one report depends on its [`PrivacyLevel`].
//!
//! Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1.
//! The two-point response is the one in the published code of that paper. Values are integers
//! throughout, and noise is exact.

#[cfg(feature = "analysis")]
mod attenuation;
#[cfg(feature = "analysis")]
mod bins_before_noise;
#[cfg(feature = "collector")]
mod for_collectors;
#[cfg(feature = "collector")]
mod item_bin_lookup;
mod parameters;
mod privacy_level;
#[cfg(feature = "collector")]
mod privacy_loss;
mod randomize;
#[cfg(feature = "analysis")]
mod rates;
mod report;
mod response_distribution;

pub use parameters::HashBin;
pub use privacy_level::{PrivacyLevel, SumNoiseKind};
pub use randomize::Randomizer;
pub use report::{HashBinReport as Report, RandomisedResponse};
pub use response_distribution::ResponseDistribution;
#[cfg(feature = "analysis")]
pub use {
    attenuation::{clipped_sum_second_moment, share_surviving_clipping},
    rates::EstimateScaleAndVariance,
};
#[cfg(feature = "collector")]
pub use {
    for_collectors::{DEFAULT_GRID_STEPS_PER_UNIT, PrivacyLevelName},
    item_bin_lookup::ItemBinLookup,
};

use super::contract::{MechanismParameters, NeighbouringInputs};
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::HashFamily;

impl MechanismParameters for HashBin {
    const NAME: &'static str = "hash-bin";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error> {
        self.hash_family().check_domain(domain)?;
        domain.check_rated_and_not_dense()?;
        // With more bins than items some would be empty.
        let most = domain
            .item_count()
            .map_or(bounds::HASH_BIN_COUNT_RANGE.max, f64::from);
        bounds::HASH_BIN_COUNT_RANGE
            .with_max(bounds::HASH_BIN_COUNT_RANGE.max.min(most))
            .check_in_range(f64::from(self.bin_count()))
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let (kind, amount, delta) = (reader.read_u64(), reader.read_u64(), reader.read_u64());
        let level = match (kind, amount, delta) {
            (0, 0, 0) => PrivacyLevel::Event,
            (1, amount, delta) => PrivacyLevel::Neighbouring {
                distance: f64::from_bits(amount),
                // 0 is out of range, so it can stand for no δ.
                delta: (delta != 0).then_some(f64::from_bits(delta)),
            },
            (2 | 3, amount, 0) => PrivacyLevel::User {
                clip: f64::from_bits(amount),
                noise: if kind == 2 {
                    SumNoiseKind::TwoPoint
                } else {
                    SumNoiseKind::Laplace
                },
            },
            _ => reader.unwrap_or_mark_malformed(None)?,
        };
        let hashing = HashFamily::from_canonical_code(reader.read_u64());
        let hashing = reader.unwrap_or_mark_malformed(hashing)?;
        let (bins, bits) = (reader.read_u32(), reader.read_u32());
        // Saturated, because a grid that fine is out of range in any case.
        let grid = 1_u32.checked_shl(bits).unwrap_or(u32::MAX);
        Self::new(level, hashing, bins, grid)
    }

    fn neighbouring_inputs(&self) -> NeighbouringInputs {
        match self.privacy_level() {
            PrivacyLevel::User { .. } => NeighbouringInputs::AnyTwoInputs,
            PrivacyLevel::Event => NeighbouringInputs::DifferInOneItem,
            PrivacyLevel::Neighbouring { distance, .. } => {
                NeighbouringInputs::WithinDistance(distance)
            }
        }
    }

    fn delta(&self) -> f64 {
        self.realised_delta()
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }
}
