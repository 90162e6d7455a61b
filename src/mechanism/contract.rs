//! Traits that every mechanism implements.

use alloc::string::String;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry};
use crate::error::{Error, error};
use crate::sample::Threshold;

/// Parameters of a mechanism. All functions of the mechanism are reached through this type. Every
/// mechanism in [the list](crate::mechanism) implements this trait.
pub(crate) trait MechanismParameters: Sized {
    /// Name of the mechanism, in task files and canonical bytes.
    const NAME: &'static str;
    /// Type of the mechanism's reports. A report is one randomised message.
    type Report: EncodeReport;
    /// Randomizer that makes these reports.
    type Randomizer: Randomize<Report = Self::Report>;

    /// Checks that the parameters suit a domain.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] for parameters that do not suit the domain.
    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error>;

    /// Reads the parameters from canonical bytes. [Fails](CanonicalReader::mark_malformed) if the bytes do
    /// not encode parameters.
    ///
    /// # Errors
    /// The errors of the parameters' constructor.
    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error>;

    /// Pairs of inputs that the guarantee of ε covers.
    fn neighbouring_inputs(&self) -> NeighbouringInputs {
        NeighbouringInputs::AnyTwoInputs
    }

    /// Probability δ with which the guarantee of ε may fail.
    fn delta(&self) -> f64 {
        0.0
    }

    /// Creates a randomizer for inputs over `domain` at local ε. The parameters must suit the
    /// domain.
    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Self::Randomizer;

    /// Returns the numbers of slots, favoured buckets and all buckets, if reports can be made from
    /// memos (see [`MemoAndReportThresholds`](super::MemoAndReportThresholds)). A slot has the same favoured buckets in every
    /// report with the same seed, and each bucket has equally many slots.
    fn memo_slot_and_bucket_counts(&self, _: &Domain) -> Option<[u32; 3]> {
        None
    }
}

/// Report that can be encoded as bytes.
pub(crate) trait EncodeReport: Default {
    /// Appends the encoded report to `bytes`, the seed's eight bytes first.
    fn encode(&self, bytes: &mut Vec<u8>);
}

/// Randomizer of a mechanism: turns a person's input into a report.
pub(crate) trait Randomize {
    /// Type of the reports.
    type Report;

    /// Replaces the probability of drawing a favoured output, if there is only one. Called only for
    /// mechanisms that have [`MechanismParameters::memo_slot_and_bucket_counts`].
    fn set_favoured_threshold(&mut self, _: Threshold) {}

    /// Randomises `entries`, which have been checked, under a public `seed`. The result overwrites
    /// `report`, whose memory is reused. Returns true if the input had more entries than the
    /// sparsity s, so that some entries were left out.
    ///
    /// # Guarantee
    /// Local (ε, δ)-differential privacy for the pairs of inputs in
    /// [`MechanismParameters::neighbouring_inputs`]. Here ε is the realised one
    /// (`CollectedMechanism::effective_epsilon`), and δ is [`MechanismParameters::delta`]. The
    /// guarantee requires a seed that is drawn independently of the input.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Self::Report,
    ) -> bool;
}

/// Pairs of inputs that the guarantee of ε covers. A report hardly reveals which input of such a
/// pair a person has.
///
/// ```
/// use hushbin::mechanism::NeighbouringInputs;
///
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// assert_eq!(task.questions()[0].mechanism().neighbours(), NeighbouringInputs::AnyTwoInputs);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NeighbouringInputs {
    /// Any two inputs. A person's whole input is protected.
    AnyTwoInputs,
    /// Inputs that differ in the value of one item. Each entry is protected, but not the whole
    /// input.
    DifferInOneItem,
    /// Inputs whose values differ by at most this distance in total, summed over all items.
    WithinDistance(f64),
}

/// Returns the error for a mechanism or rule that is unknown, or that this build does not contain.
pub(crate) fn unknown_mechanism_error(name: &str) -> Error {
    error!(UnknownMechanism {
        name: String::from(name)
    })
}
