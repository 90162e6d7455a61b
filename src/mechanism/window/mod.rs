//! Window: means of d numbers (attributes) that every person has.
//!
//! A report's seed draws m of the d attributes. For each of them the report has one of t atoms,
//! which have antisymmetric integer values Y₀ ≤ … ≤ Y₍t−1₎. There are N = t − k + 1 levels. Level i
//! favours a window of k atoms, from atom i on. Level i means the number Wᵢ/W₍N−1₎, where Wᵢ
//! is the sum of the values of these k atoms.
//!
//! Each drawn number, from −1 to 1, is rounded without bias to one of the two nearest levels. A
//! cell is a combination of m atoms, one for each drawn number. A cell is favoured if all its atoms
//! are. So kᵐ of the tᵐ cells are favoured. Each favoured cell is reported with exp(ε) times the
//! probability of any other cell.
//!
//! Privacy depends on k, t, m and one threshold, and not on the values. The value of a reported
//! atom, divided by a constant, is an unbiased estimate of the number. Special cases are known
//! mechanisms:
//!
//! - With t = 2 and k = 1 it is randomised response (Duchi, Jordan, Wainwright, "Minimax Optimal
//!   Procedures for Locally Private Estimation", 2018, in one dimension).
//! - With k = 1 it is generalised randomised response to a grid of levels.
//! - With equally spaced values it is a discrete piecewise mechanism (N. Wang et al., "Collecting
//!   and Analyzing Multidimensional Data with Local Differential Privacy", ICDE 2019).
//!
//! Unevenly spaced levels are hushbin's own. For ε up to 6, they bring the worst-case variance of
//! one number to within 1.5 per cent of the least of any unbiased mechanism.

#[cfg(feature = "collector")]
mod for_collectors;
mod parameters;
mod randomize;
#[cfg(feature = "analysis")]
mod rates;

pub use super::subset::{BucketReport as Report, Thresholds};
#[cfg(feature = "collector")]
pub use for_collectors::AtomDecoder;
pub use parameters::Window;
pub use randomize::Randomizer;
#[cfg(feature = "analysis")]
pub use rates::EstimateScaleAndVariance;

use super::contract::MechanismParameters;
use crate::canonical::CanonicalReader;
use crate::domain::Domain;
use crate::error::Error;

impl MechanismParameters for Window {
    const NAME: &'static str = "window";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error> {
        let reason = "\"window\" is only for the means of \"numbers\"";
        domain.check_dense_with_min_items(self.drawn_attribute_count(), reason)
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let [drawn, atoms, favoured] = [reader.read_u32(), reader.read_u32(), reader.read_u32()];
        Self::new(drawn, atoms, favoured, reader.read_u32_list())
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }
}
