//! The sampled cube: means of numbers that everybody has.
//!
//! A report's seed draws k of the d attributes. Each of their values v, from −1 to 1,
//! is rounded to 1 with probability (1 + v)/2 and else to −1, which is a corner V of a
//! cube of k dimensions. Corners that agree with V in κ coordinates or more are
//! favoured: they are reported with exp(ε) times the probability of others. A
//! coordinate of the report times a constant is unbiased for its value.
//!
//! With κ = 1 = k it is randomised response to one attribute (Duchi, Jordan, Wainwright,
//! "Minimax Optimal Procedures for Locally Private Estimation", 2018, in one
//! dimension), with κ = k generalised randomised response to the corners, with k = d and
//! κ = ⌊d/2⌋ + 1 Mechanism-1 of T. Wang, Zhao, Yang, Ren, "Locally Differentially Private
//! Data Collection and Analysis", for δ = 0. That k and κ are chosen by the variance, and
//! that k attributes have the whole ε, is hushbin's own.

#[cfg(feature = "collector")]
mod collected;
#[cfg(feature = "analysis")]
mod exact;
mod parameters;
mod randomize;
#[cfg(feature = "analysis")]
mod rates;
mod report;
#[cfg(feature = "collector")]
mod support;
mod thresholds;

pub use parameters::Cube;
pub use randomize::Randomizer;
#[cfg(feature = "analysis")]
pub use rates::Rates;
pub use report::CornerReport as Report;
#[cfg(feature = "collector")]
pub use support::Support;
pub use thresholds::Thresholds;

use super::contract::Parameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::Error;

impl Parameters for Cube {
    const NAME: &'static str = "cube";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check(&self, domain: &Domain) -> Result<(), Error> {
        let reason = "\"cube\" is for \"numbers\", all of which everybody has";
        domain.check_drawn(self.drawn(), reason)
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Self::new(reader.small(), reader.small())
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }
}
