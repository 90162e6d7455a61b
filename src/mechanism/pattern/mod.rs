//! Rotated pattern over cells: histograms with unbiased estimates of the shares of people below an
//! edge.
//!
//! There are L outputs, at least as many as cells. The pattern S is a set of c of them. A person in
//! cell j favours the outputs (j + s) mod L, for s in S. Each of them is reported with exp(ε) times
//! the probability of any other. No hash is needed: the seed only selects the question that is
//! answered.
//!
//! Every cell favours c of L outputs. So privacy depends on c, L and one threshold, and not on the
//! choice of S. That choice decides the accuracy:
//!
//! - A block of neighbours is Square Wave in integers (Li et al., "Estimating Numerical
//!   Distributions under Local Differential Privacy", SIGMOD 2020).
//! - A single output is generalised randomised response.
//! - A cyclic difference set is subset selection.
//! - One block with a few distant outputs spreads its information over wide and narrow ranges of
//!   cells, and is best for quantiles.

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
        let outputs = reader.number_u32();
        Self::new(outputs, reader.list())
    }

    fn randomizer(&self, _: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, epsilon)
    }
}
