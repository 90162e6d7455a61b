//! The mechanisms: each a folder with its parameters, its randomizer, the
//! support of its reports and, with the feature `analysis`, its rates; and the
//! one list of them.
//!
//! Whatever there is one of for each mechanism, here and in the crates above,
//! is made from that list, so that a new mechanism is its own folders and a line
//! in [`mechanisms!`](crate::mechanisms).

mod contract;
#[cfg(feature = "analysis")]
pub mod occupancy;
mod subset;

pub use contract::Neighbours;
pub(crate) use contract::{Encode, Parameters, Randomize};
#[cfg(feature = "analysis")]
pub(crate) use subset::Selection;
pub use subset::{BucketReport, Rule, Subset};

use alloc::vec::Vec;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::canonical::{Canonical, CanonicalReader};
use crate::codec::Cursor;
use crate::domain::{Domain, Entry};
use crate::error::{Error, left_out};

/// The one list of mechanisms: hands each one's module and type, which is also
/// the name of its variant, to the macro that is named.
///
/// A module holds the parameters under that name, `Report` and `Randomizer`.
/// What stands in brackets is there with the feature `complete`: pages begin with the
/// others.
#[doc(hidden)]
#[macro_export]
macro_rules! mechanisms {
    ($($callback:tt)+) => {
        $crate::complete! { [$($callback)+]
            collision: Collision,
            [
            coco: Coco,
            hash_bin: HashBin,
            cube: Cube,
            grid: Grid,
            ]
        }
    };
}

/// Takes the brackets off. Decided here, because what a macro expands to sees the
/// features of the crate that calls it.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "complete")]
macro_rules! complete {
    ([$($callback:tt)+] $($module:ident: $Name:ident,)+ [$($more:tt)+]) => {
        $($callback)+! { $($module: $Name,)+ $($more)+ }
    };
}

/// Leaves out what stands in brackets.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "complete"))]
macro_rules! complete {
    ([$($callback:tt)+] $($module:ident: $Name:ident,)+ [$($more:tt)+]) => {
        $($callback)+! { $($module: $Name,)+ }
    };
}

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(pub mod $module;)+

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
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Mechanism {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
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
                $Name($module::Report),
            )+
        }

        $(
            impl From<$module::$Name> for Mechanism {
                fn from(parameters: $module::$Name) -> Self {
                    Self::$Name(parameters)
                }
            }
        )+

        impl Mechanism {
            /// The mechanism's name, as in a task file.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Name(_) => <$module::$Name as Parameters>::NAME,)+
                }
            }

            /// The pairs of inputs that a report hardly tells apart.
            #[must_use]
            pub fn neighbours(&self) -> Neighbours {
                match self {
                    $(Self::$Name(own) => own.neighbours(),)+
                }
            }

            /// δ: the guarantee of ε fails with at most this probability. 0 but
            /// for hash-bin with a δ.
            #[must_use]
            pub fn delta(&self) -> f64 {
                match self {
                    $(Self::$Name(own) => own.delta(),)+
                }
            }

            pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
                match self {
                    $(Self::$Name(own) => own.check(domain),)+
                }
            }

            pub(crate) fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
                match self {
                    $(Self::$Name(own) => own.effective_epsilon(domain, epsilon),)+
                }
            }

            pub(crate) fn write_canonical(&self, canonical: &mut Canonical) {
                canonical.text(self.name());
                match self {
                    $(Self::$Name(own) => own.write_canonical(canonical),)+
                }
            }

            pub(crate) fn read_canonical(
                reader: &mut CanonicalReader<'_>,
            ) -> Result<Self, Error> {
                match reader.text() {
                    $(
                        <$module::$Name as Parameters>::NAME => {
                            <$module::$Name>::read_canonical(reader).map(Self::$Name)
                        }
                    )+
                    name => Err(left_out(name)),
                }
            }

            /// Decodes `count` reports of a task over `domain` at local ε.
            pub(crate) fn decode_reports(
                &self,
                domain: &Domain,
                epsilon: f64,
                cursor: &mut Cursor<'_>,
                count: u32,
            ) -> Result<Vec<Report>, Error> {
                match self {
                    $(Self::$Name(own) => {
                        let decode = own.decoder(domain, epsilon);
                        let report = |_| decode(cursor).map(Report::$Name);
                        (0..count).map(report).collect()
                    })+
                }
            }

            /// Prepares to randomise inputs over `domain` at local ε.
            pub(crate) fn randomizer(&self, domain: &Domain, epsilon: f64) -> Prepared {
                match self {
                    $(Self::$Name(own) => {
                        Prepared::$Name(own.randomizer(domain, epsilon), Default::default())
                    })+
                }
            }
        }

        impl Report {
            /// The seed that it was made under, drawn independently of the input.
            #[must_use]
            pub fn seed(&self) -> u64 {
                match self {
                    $(Self::$Name(own) => own.seed(),)+
                }
            }

            /// Appends the encoded report to `bytes`.
            pub fn encode(&self, bytes: &mut Vec<u8>) {
                match self {
                    $(Self::$Name(own) => own.encode(bytes),)+
                }
            }
        }

        /// The randomizer of one mechanism, with the report last made.
        #[derive(Debug, Clone)]
        pub(crate) enum Prepared {
            $($Name($module::Randomizer, $module::Report),)+
        }

        impl Prepared {
            /// As [`Randomize::randomize`].
            pub(crate) fn randomize<R: CryptoRng + ?Sized>(
                &mut self,
                entries: &[Entry],
                seed: u64,
                rng: &mut R,
            ) -> bool {
                match self {
                    $(Self::$Name(own, report) => own.randomize(entries, seed, rng, report),)+
                }
            }

            /// Takes the report last made.
            pub(crate) fn take(&mut self) -> Report {
                match self {
                    $(Self::$Name(_, report) => Report::$Name(core::mem::take(report)),)+
                }
            }

            /// Appends the encoded report last made to `bytes`.
            pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
                match self {
                    $(Self::$Name(_, report) => report.encode(bytes),)+
                }
            }
        }
    };
}

mechanisms!(register);
