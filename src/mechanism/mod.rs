//! The mechanisms: each a folder with its parameters, its randomizer, the
//! support of its reports and, with the feature `analysis`, its rates; and the
//! one list of them.
//!
//! Whatever there is one of for each mechanism, here and in the crates above,
//! is made from that list, so that a new mechanism is its own folders and a line
//! in [`mechanisms!`](crate::mechanisms). All that differs between mechanisms is in
//! their traits; what is done with any of them is written once, by `each!`.

#[cfg(feature = "collector")]
mod any;
#[cfg(feature = "collector")]
mod collected;
mod contract;
#[cfg(feature = "analysis")]
pub mod occupancy;
mod subset;

pub use contract::Neighbours;
pub(crate) use contract::{Encode, Parameters, Randomize, left_out};
pub use subset::{BucketReport, Rule, Subset};
#[cfg(feature = "analysis")]
pub(crate) use subset::{Selection, most_hashes};

use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry};
use crate::error::Error;

/// The one list of mechanisms: hands each one's module and type, which is also
/// the name of its variant, to the macro that is named, behind what follows the name.
///
/// A module holds the parameters under that name, `Report` and `Randomizer`. The
/// attribute in front of a line says which builds have the mechanism: this crate's
/// macros, named in brackets, are given it. Other crates' macros would look for the
/// feature in their own manifest; they are not, as they build the core with all.
#[doc(hidden)]
#[macro_export]
macro_rules! mechanisms {
    ([$($callback:tt)+] $($first:tt)*) => {
        $($callback)+! { $($first)*
            collision: Collision,
            #[cfg(feature = "complete")]
            coco: Coco,
            #[cfg(feature = "complete")]
            hash_bin: HashBin,
            #[cfg(feature = "complete")]
            cube: Cube,
            #[cfg(feature = "complete")]
            grid: Grid,
        }
    };
    (@bare $callback:ident [$($first:tt)*]
        $($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $callback! { $($first)* $($module: $Name,)+ }
    };
    ($callback:ident $($first:tt)*) => {
        $crate::mechanisms! { [$crate::mechanisms] @bare $callback [$($first)*] }
    };
}

/// Evaluates an expression for the parameters, or whatever else the enum of this name
/// holds, of whichever mechanism a value is of.
macro_rules! each {
    ($Enum:ident, $value:expr, $own:pat => $result:expr) => {
        $crate::mechanisms! { [$crate::mechanism::each] @ $Enum, $value, $own => $result; }
    };
    (@ $Enum:ident, $value:expr, $own:pat => $result:expr;
        $($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        match $value {
            $($(#[$feature])? $Enum::$Name($own) => $result,)+
        }
    };
}

pub(crate) use each;

macro_rules! register {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $($(#[$feature])? pub mod $module;)+

        /// A mechanism with all its parameters, chosen by a task.
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
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $(#[$feature])?
                $Name($module::$Name),
            )+
        }

        /// One randomised message.
        ///
        /// ```
        /// use hushbin::Report;
        /// use hushbin::mechanism::collision;
        ///
        /// let report = Report::Collision(collision::Report { seed: 7, bucket: 5 });
        /// let mut bytes = Vec::new();
        /// report.encode(&mut bytes);
        /// assert_eq!(bytes.len(), 9);
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Report {
            $(
                #[doc = concat!("Made by [`", stringify!($module), "`].")]
                $(#[$feature])?
                $Name($module::Report),
            )+
        }

        /// The randomizer of one mechanism, with the report last made.
        #[derive(Debug, Clone)]
        pub(crate) enum Prepared {
            $($(#[$feature])? $Name(Made<$module::$Name>),)+
        }

        $(
            $(#[$feature])?
            impl From<$module::$Name> for Mechanism {
                fn from(parameters: $module::$Name) -> Self {
                    Self::$Name(parameters)
                }
            }

            $(#[$feature])?
            impl Registered for $module::$Name {
                fn report(own: Self::Report) -> Report {
                    Report::$Name(own)
                }

                fn prepared(made: Made<Self>) -> Prepared {
                    Prepared::$Name(made)
                }
            }
        )+

        /// Reads the parameters of the mechanism of a name.
        fn read_parameters(
            name: &str,
            reader: &mut CanonicalReader<'_>,
        ) -> Result<Mechanism, Error> {
            match name {
                $(
                    $(#[$feature])?
                    <$module::$Name as Parameters>::NAME => {
                        <$module::$Name>::read_canonical(reader).map(Mechanism::$Name)
                    }
                )+
                name => Err(left_out(name)),
            }
        }
    };
}

mechanisms!([register]);

/// A mechanism's own report and randomizer as one of any mechanism's.
trait Registered: Parameters {
    fn report(own: Self::Report) -> Report;
    fn prepared(made: Made<Self>) -> Prepared;
}

/// A randomizer with the report that it made last.
#[derive(Debug, Clone)]
pub(crate) struct Made<P: Parameters> {
    randomizer: P::Randomizer,
    report: P::Report,
}

impl Mechanism {
    /// The mechanism's name, as in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        const fn name<P: Parameters>(_: &P) -> &'static str {
            P::NAME
        }
        each!(Self, self, own => name(own))
    }

    /// The pairs of inputs that a report hardly tells apart.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        each!(Self, self, own => own.neighbours())
    }

    /// δ: the guarantee of ε fails with at most this probability. 0 but
    /// for hash-bin with a δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        each!(Self, self, own => own.delta())
    }

    pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
        each!(Self, self, own => own.check(domain))
    }

    pub(crate) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        read_parameters(reader.text(), reader)
    }

    /// Prepares to randomise inputs over `domain` at local ε.
    pub(crate) fn randomizer(&self, domain: &Domain, epsilon: f64) -> Prepared {
        fn prepare<P: Registered>(own: &P, domain: &Domain, epsilon: f64) -> Prepared {
            P::prepared(Made {
                randomizer: own.randomizer(domain, epsilon),
                report: P::Report::default(),
            })
        }
        each!(Self, self, own => prepare(own, domain, epsilon))
    }
}

impl Report {
    /// The seed that it was made under, drawn independently of the input.
    #[must_use]
    pub fn seed(&self) -> u64 {
        each!(Self, self, own => own.seed())
    }

    /// Appends the encoded report to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        each!(Self, self, own => own.encode(bytes));
    }
}

impl Prepared {
    /// As [`Randomize::randomize`].
    pub(crate) fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
    ) -> bool {
        each!(Self, self, Made { randomizer, report } => {
            randomizer.randomize(entries, seed, rng, report)
        })
    }

    /// Takes the report last made.
    pub(crate) fn take(&mut self) -> Report {
        fn take<P: Registered>(made: &mut Made<P>) -> Report {
            P::report(core::mem::take(&mut made.report))
        }
        each!(Self, self, own => take(own))
    }

    /// Appends the encoded report last made to `bytes`.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        each!(Self, self, own => own.report.encode(bytes));
    }
}
