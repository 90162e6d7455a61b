//! A rotated pattern over cells: histograms from which shares of people below an edge are exact.
//!
//! There are L outputs, at least as many as cells. The pattern S is c of them. A person in cell j
//! favours the outputs (j + s) mod L, for s in S: each is reported with exp(ε) times the
//! probability of any other. No hash is needed, and the seed tells only which question is answered.
//!
//! Every cell favours c of L outputs, so privacy depends on c, L and one threshold, and not
//! on which outputs S holds. That decides on accuracy. A block of neighbours is Square Wave
//! in integers (Li et al., "Estimating Numerical Distributions under Local Differential
//! Privacy", SIGMOD 2020). One output alone is generalised randomised response. A cyclic
//! difference set is subset selection. One block with a few outputs far away spreads its
//! information over wide and narrow ranges of cells, and is best for quantiles.

#[cfg(feature = "collector")]
mod collected;
mod parameters;
mod randomize;

pub use super::subset::BucketReport as Report;
#[cfg(feature = "collector")]
pub use collected::{Rates, triangle};
pub use parameters::Pattern;
pub use randomize::Randomizer;

use super::contract::Parameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::{Error, error};

impl Parameters for Pattern {
    const NAME: &'static str = "pattern";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check(&self, domain: &Domain) -> Result<(), Error> {
        let fits = |cells: u32| domain.is_one_of_list() && cells <= self.outputs();
        if domain.elements().is_some_and(fits) {
            return Ok(());
        }
        Err(error!(Combination {
            reason: "\"pattern\" is for the bins of a \"number\", at most as many as \"outputs\"",
        }))
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let outputs = reader.small();
        Self::new(outputs, reader.list())
    }

    fn randomizer(&self, _: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, epsilon)
    }
}
