//! Mechanisms as pages use them: parameters, and randomizers that are prepared for a task.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::contract::{
    EncodeReport, MechanismParameters, NeighbouringInputs, Randomize, unknown_mechanism_error,
};
use super::mechanism_list::match_any_mechanism;
use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry};
use crate::error::Error;
use crate::sample::Threshold;

/// Randomizer of the mechanism `P`, with the report that it made last.
#[derive(Debug, Clone)]
pub(crate) struct RandomizerWithReport<P: MechanismParameters> {
    pub(super) randomizer: P::Randomizer,
    pub(super) report: P::Report,
}

macro_rules! register {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        /// Mechanism that randomises the answers to one question, with all parameters of the
        /// mechanism.
        ///
        /// ```
        /// use hushbin::mechanism::Mechanism;
        ///
        /// let mechanism: Mechanism = serde_json::from_str(
        ///     r#"{ "name": "coco", "rule": "overwrite", "hashing": "balanced", "buckets": 12 }"#,
        /// ).unwrap();
        /// assert_eq!((mechanism.name(), mechanism.delta()), ("coco", 0.0));
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        pub enum Mechanism {
            $(
                #[doc = concat!("See [`", stringify!($module), "`](super::", stringify!($module), ").")]
                $(#[$feature])?
                $Name(super::$module::$Name),
            )+
        }

        /// Randomizer of any mechanism, with the report that it made last.
        #[derive(Debug, Clone)]
        pub(crate) enum PreparedRandomizer {
            $($(#[$feature])? $Name(RandomizerWithReport<super::$module::$Name>),)+
        }

        impl Mechanism {
            /// Creates a randomizer for inputs over `domain` at local ε.
            pub(crate) fn randomizer(&self, domain: &Domain, epsilon: f64) -> PreparedRandomizer {
                match self {
                    $($(#[$feature])? Self::$Name(own) => PreparedRandomizer::$Name(RandomizerWithReport {
                        randomizer: own.randomizer(domain, epsilon),
                        report: Default::default(),
                    }),)+
                }
            }
        }

        /// Reads the parameters of the mechanism that is called `name`, from canonical bytes.
        fn read_parameters(
            name: &str,
            reader: &mut CanonicalReader<'_>,
        ) -> Result<Mechanism, Error> {
            match name {
                $(
                    $(#[$feature])?
                    <super::$module::$Name as MechanismParameters>::NAME => {
                        <super::$module::$Name>::read_canonical(reader).map(Mechanism::$Name)
                    }
                )+
                name => Err(unknown_mechanism_error(name)),
            }
        }
    };
}

crate::mechanisms!([register]);

impl Mechanism {
    /// Pairs of inputs that the guarantee of ε covers.
    #[must_use]
    pub fn neighbours(&self) -> NeighbouringInputs {
        match_any_mechanism!(Self, self, own => own.neighbouring_inputs())
    }

    /// Probability δ with which the guarantee of ε may fail. It is 0, except for hash-bin with a δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        match_any_mechanism!(Self, self, own => own.delta())
    }

    /// See [`MechanismParameters::memo_slot_and_bucket_counts`].
    pub(super) fn memo_slot_and_bucket_counts(&self, domain: &Domain) -> Option<[u32; 3]> {
        match_any_mechanism!(Self, self, own => own.memo_slot_and_bucket_counts(domain))
    }

    pub(crate) fn check_domain(&self, domain: &Domain) -> Result<(), Error> {
        match_any_mechanism!(Self, self, own => own.check_suits_domain(domain))
    }

    pub(crate) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        read_parameters(reader.read_text(), reader)
    }
}

impl PreparedRandomizer {
    /// Replaces the probability of drawing a favoured output. Meant for mechanisms that have
    /// [`MechanismParameters::memo_slot_and_bucket_counts`].
    pub(super) fn set_favoured_threshold(&mut self, threshold: Threshold) {
        match_any_mechanism!(Self, self, own => own.randomizer.set_favoured_threshold(threshold));
    }

    /// Randomises entries as [`Randomize::randomize`] does, and keeps the report in `self`.
    // Not inlined, because pages download this code: a single copy is smaller.
    #[inline(never)]
    pub(crate) fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
    ) -> bool {
        match_any_mechanism!(Self, self, RandomizerWithReport { randomizer, report } => {
            randomizer.randomize(entries, seed, rng, report)
        })
    }

    /// Appends the encoding of the report that was made last to `bytes`.
    pub(crate) fn encode_report(&self, bytes: &mut Vec<u8>) {
        match_any_mechanism!(Self, self, own => own.report.encode(bytes));
    }
}
