//! The single message on a grid: means of numbers that everybody has, told by levels.
//!
//! A report's seed draws k of the d attributes. Each of their values v, from −1 to 1, is
//! rounded without bias to one of the two levels beside it, of r + 1 that are even from −1
//! to 1: together they are a cell of M = (r + 1)ᵏ. That cell is reported with exp(ε) times
//! the probability of any other. A coordinate of the report times a constant is unbiased
//! for its value.
//!
//! It is generalised randomised response: with probability 1 − γ the cell, and else a
//! uniform one, γ = M/(e + M − 1). With k = d it is Algorithm 5 of Asi, Feldman, Nelson,
//! Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the Shuffle Model: Optimal Rates
//! Require Many Messages", with the γ that its blanket needs; drawing k of d is hushbin's
//! own. With r = 1 it is the [cube](super::cube) with κ = k. More levels leave less of the
//! rounding's variance, but more cells: worth it at a large ε, as it is where reports are
//! shuffled.

#[cfg(feature = "collector")]
mod collected;
#[cfg(feature = "analysis")]
mod exact;
mod parameters;
mod randomize;
#[cfg(feature = "analysis")]
mod rates;
#[cfg(feature = "collector")]
mod support;

pub use super::cube::Thresholds;
pub use super::subset::BucketReport as Report;
pub use parameters::Grid;
pub use randomize::Randomizer;
#[cfg(feature = "analysis")]
pub use rates::Rates;
#[cfg(feature = "collector")]
pub use support::Support;

use super::contract::Parameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::Error;

impl Parameters for Grid {
    const NAME: &'static str = "grid";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check(&self, domain: &Domain) -> Result<(), Error> {
        let reason = "\"grid\" is for \"numbers\", all of which everybody has";
        domain.check_drawn(self.drawn(), reason)
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Self::new(reader.small(), reader.small())
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }
}
