//! What every mechanism is made of.

use alloc::string::String;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry};
use crate::error::{Error, error};

/// The parameters of a mechanism, and through them all that it does: what a
/// mechanism implements to be listed in [the registry](crate::mechanism).
pub(crate) trait Parameters: Sized {
    /// The mechanism's name, in task files and canonical bytes.
    const NAME: &'static str;
    /// One randomised message.
    type Report: Encode;
    /// Makes such reports.
    type Randomizer: Randomize<Report = Self::Report>;

    /// The check that the parameters suit a domain.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] for parameters that do
    /// not suit the domain.
    fn check(&self, domain: &Domain) -> Result<(), Error>;

    /// Reads canonical bytes, and nothing else:
    /// [fails](CanonicalReader::fail) at bytes that stand for no parameters.
    ///
    /// # Errors
    /// Those of the parameters' constructor.
    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error>;

    /// The pairs of inputs that a report hardly tells apart.
    fn neighbours(&self) -> Neighbours {
        Neighbours::Any
    }

    /// δ, the probability with which the guarantee of ε may fail.
    fn delta(&self) -> f64 {
        0.0
    }

    /// Prepares to randomise inputs over a domain that the parameters suit.
    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Self::Randomizer;
}

/// A report that can be written down.
pub(crate) trait Encode: Default {
    /// Appends the encoded report to `bytes`, the seed's eight bytes first.
    fn encode(&self, bytes: &mut Vec<u8>);
}

/// Makes reports.
pub(crate) trait Randomize {
    /// What it makes.
    type Report;

    /// Randomises entries that the domain has checked into `report`, whose
    /// memory is used again, under a public `seed`. Returns whether the input had more than s entries,
    /// so that some were left out.
    ///
    /// # Guarantee
    /// [`Parameters::effective_epsilon`]-local differential privacy between
    /// [`Parameters::neighbours`], but for [`Parameters::delta`], where the seed is
    /// drawn independently of the input.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Self::Report,
    ) -> bool;
}

/// The pairs of inputs that ε is about.
///
/// ```
/// use hushbin::mechanism::Neighbours;
///
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// assert_eq!(task.questions()[0].mechanism().neighbours(), Neighbours::Any);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Neighbours {
    /// Any two: a person's whole input is protected.
    Any,
    /// Two that differ in the value of one item: every entry is protected by itself.
    OneItem,
    /// Two whose values differ by at most this much in sum.
    Within(f64),
}

/// An error for a name that is unknown, or that this build leaves out.
pub(crate) fn left_out(name: &str) -> Error {
    error!(UnknownMechanism {
        name: String::from(name)
    })
}
