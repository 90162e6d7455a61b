//! Pattern: histograms of a number, with unbiased estimates of the share of people below an edge.
//!
//! The range of the number is divided into cells. There are L outputs, at least as many as cells.
//! The pattern S is a set of c outputs. A person in cell j favours the outputs (j + s) mod L, for s
//! in S: the pattern rotated by j. Each favoured output is reported with exp(ε) times the
//! probability of any other output. No hash function is needed: the seed only selects the question
//! that is answered.
//!
//! Every cell favours c of L outputs. So privacy depends on c, L and one threshold, and not on the
//! choice of S. The choice of S decides the accuracy:
//!
//! - If S is a block of neighbouring outputs, the mechanism is Square Wave in integers (Li et al.,
//!   "Estimating Numerical Distributions under Local Differential Privacy", SIGMOD 2020).
//! - If S is a single output, the mechanism is generalised randomised response.
//! - If S is a cyclic difference set, the mechanism is subset selection.
//! - If S is one block and a few distant outputs, reports have information about both wide and
//!   narrow ranges of cells. This choice is best for quantiles.

#[cfg(feature = "collector")]
mod for_collectors;
mod parameters;
mod randomize;

pub use super::subset::BucketReport as Report;
#[cfg(feature = "collector")]
pub use for_collectors::{PatternEstimator, triangular_cdf};
pub use parameters::Pattern;
pub use randomize::Randomizer;

use super::contract::MechanismParameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::{Error, error};

impl MechanismParameters for Pattern {
    const NAME: &'static str = "pattern";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error> {
        let fits = |cells: u32| domain.is_choice_from_list() && cells <= self.output_count();
        if domain.element_count().is_some_and(fits) {
            return Ok(());
        }
        Err(error!(InvalidCombination {
            reason: "\"pattern\" needs a \"number\" with at most as many bins as \"outputs\"",
        }))
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let outputs = reader.read_u32();
        Self::new(outputs, reader.read_u32_list())
    }

    fn randomizer(&self, _: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, epsilon)
    }
}
