//! Hash-bin: sums of real values in noisy bins.
//!
//! A report's seed hashes every item to one of b bins and gives it a fair sign. A bin contains the
//! sum of its items' values times their signs. A report is the seed with a randomised response: the
//! bins with noise, or one sign.
//!
//! The mean of an item is estimated by its sign times its bin. Other values in the bin cancel in
//! expectation, because signs are fair and independent.
//!
//! Unlike the mechanisms of buckets, it takes every entry as it is. Nothing is sampled down, and no
//! value is turned into a sign. The protection of one report depends on its [`Level`].
//!
//! Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1.
//! The two-point response is that of its published code. Values are integers throughout, and noise
//! is exact.

#[cfg(feature = "analysis")]
mod attenuation;
#[cfg(feature = "collector")]
mod collected;
#[cfg(feature = "analysis")]
mod exact;
mod level;
#[cfg(feature = "collector")]
mod loss;
mod parameters;
mod randomize;
#[cfg(feature = "analysis")]
mod rates;
mod report;
mod sampling;
#[cfg(feature = "collector")]
mod support;

pub use level::{Level, Noise};
pub use parameters::HashBin;
pub use randomize::Randomizer;
pub use report::{BinsReport as Report, Response};
pub use sampling::Sampling;
#[cfg(feature = "analysis")]
pub use {
    attenuation::{attenuation, clipped_square},
    rates::Rates,
};
#[cfg(feature = "collector")]
pub use {
    collected::{GRID, LevelName},
    support::Support,
};

use super::contract::{Neighbours, Parameters};
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;

impl Parameters for HashBin {
    const NAME: &'static str = "hash-bin";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check(&self, domain: &Domain) -> Result<(), Error> {
        self.hashing().check(domain)?;
        domain.check_rated()?;
        // With more bins than items some would be empty.
        let most = domain.items().map_or(bounds::BINS.max, f64::from);
        bounds::BINS
            .at_most(bounds::BINS.max.min(most))
            .check(f64::from(self.bins()))
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let (kind, amount, delta) = (reader.number(), reader.number(), reader.number());
        let level = match (kind, amount, delta) {
            (0, 0, 0) => Level::Event,
            (1, amount, delta) => Level::Neighbouring {
                distance: f64::from_bits(amount),
                // 0 is out of range, so it can stand for no δ.
                delta: (delta != 0).then_some(f64::from_bits(delta)),
            },
            (2 | 3, amount, 0) => Level::User {
                clip: f64::from_bits(amount),
                noise: if kind == 2 {
                    Noise::TwoPoint
                } else {
                    Noise::Laplace
                },
            },
            _ => reader.require(None)?,
        };
        let hashing = Hashing::of_canonical(reader.number());
        let hashing = reader.require(hashing)?;
        let (bins, bits) = (reader.number_u32(), reader.number_u32());
        // Saturated, because too fine a grid is out of range in any case.
        let grid = 1_u32.checked_shl(bits).unwrap_or(u32::MAX);
        Self::new(level, hashing, bins, grid)
    }

    fn neighbours(&self) -> Neighbours {
        match self.level() {
            Level::User { .. } => Neighbours::Any,
            Level::Event => Neighbours::OneItem,
            Level::Neighbouring { distance, .. } => Neighbours::Within(distance),
        }
    }

    fn delta(&self) -> f64 {
        self.realised_delta()
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }
}
