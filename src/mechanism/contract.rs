//! Traits that every mechanism implements.

use alloc::string::String;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry};
use crate::error::{Error, error};

/// Parameters of a mechanism, and through them all of its functions. A mechanism implements this
/// trait to be listed in [the registry](crate::mechanism).
pub(crate) trait Parameters: Sized {
    /// Name of the mechanism, in task files and canonical bytes.
    const NAME: &'static str;
    /// Report of the mechanism: one randomised message.
    type Report: Encode;
    /// Maker of such reports.
    type Randomizer: Randomize<Report = Self::Report>;

    /// Checks that the parameters suit a domain.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] for parameters that do not suit the domain.
    fn check(&self, domain: &Domain) -> Result<(), Error>;

    /// Reads the parameters from canonical bytes. [Fails](CanonicalReader::fail) at bytes that
    /// stand for no parameters.
    ///
    /// # Errors
    /// The errors of the parameters' constructor.
    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error>;

    /// Pairs of inputs that the guarantee of ε covers.
    fn neighbours(&self) -> Neighbours {
        Neighbours::Any
    }

    /// Probability δ with which the guarantee of ε may fail.
    fn delta(&self) -> f64 {
        0.0
    }

    /// Creates a randomizer of inputs over a domain that the parameters suit.
    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Self::Randomizer;
}

/// Report that can be encoded.
pub(crate) trait Encode: Default {
    /// Appends the encoded report to `bytes`, the seed's eight bytes first.
    fn encode(&self, bytes: &mut Vec<u8>);
}

/// Maker of reports.
pub(crate) trait Randomize {
    /// Type of the reports.
    type Report;

    /// Randomises entries that the domain has checked, under a public `seed`. `report` is
    /// overwritten, and its memory is used again. Returns true if the input had more than s
    /// entries, so that some were left out.
    ///
    /// # Guarantee
    /// [`Parameters::effective_epsilon`]-local differential privacy between
    /// [`Parameters::neighbours`], except for [`Parameters::delta`]. It requires a seed that is
    /// drawn independently of the input.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Self::Report,
    ) -> bool;
}

/// Pairs of inputs that ε applies to.
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
    /// Any two inputs: a person's whole input is protected.
    Any,
    /// Inputs that differ in the value of one item: each entry is protected, but not the whole
    /// input.
    OneItem,
    /// Inputs whose values differ by at most this much in sum.
    Within(f64),
}

/// Returns the error for a name that is unknown, or that this build leaves out.
pub(crate) fn left_out_of_build(name: &str) -> Error {
    error!(UnknownMechanism {
        name: String::from(name)
    })
}
