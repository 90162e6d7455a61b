//! Mechanisms as collectors use them: the form in task files, and the decoding of reports.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::collected_mechanism::CollectedMechanism;
use super::contract::{EncodeReport, MechanismParameters};
use super::mechanism_dispatch::{Mechanism, PreparedRandomizer, RandomizerWithReport};
use super::mechanism_list::match_any_mechanism;
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;

macro_rules! register {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        #[derive(Serialize, Deserialize)]
        #[serde(remote = "Mechanism", tag = "name", rename_all = "kebab-case")]
        enum MechanismFile {
            $($Name(super::$module::$Name),)+
        }

        /// Report of one of the mechanisms: one randomised message.
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
                #[doc = concat!("Made by [`", stringify!($module), "`](super::", stringify!($module), ").")]
                $Name(super::$module::Report),
            )+
        }

        $(
            impl From<super::$module::$Name> for Mechanism {
                fn from(parameters: super::$module::$Name) -> Self {
                    Self::$Name(parameters)
                }
            }

            impl ReportConversion for super::$module::$Name {
                fn wrap_in_report_enum(own: Self::Report) -> Report {
                    Report::$Name(own)
                }
            }
        )+
    };
}

crate::mechanisms!([register]);

/// Conversion of the report type of one mechanism into [`Report`], the type for all mechanisms.
trait ReportConversion: MechanismParameters {
    fn wrap_in_report_enum(own: Self::Report) -> Report;
}

impl Serialize for Mechanism {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        MechanismFile::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Mechanism {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MechanismFile::deserialize(deserializer)
    }
}

impl WriteCanonical for Mechanism {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_text(self.name());
        match_any_mechanism!(Self, self, own => own.write_canonical(canonical));
    }
}

impl Mechanism {
    /// Name of the mechanism, as in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        const fn name<P: MechanismParameters>(_: &P) -> &'static str {
            P::NAME
        }
        match_any_mechanism!(Self, self, own => name(own))
    }

    pub(crate) fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        match_any_mechanism!(Self, self, own => own.effective_epsilon(domain, epsilon))
    }

    /// Decodes the next `count` reports, which clients made for `domain` at local ε. Calls `visit`
    /// with each report and with the offset of the first byte after that report.
    pub(crate) fn decode_reports(
        &self,
        domain: &Domain,
        epsilon: f64,
        cursor: &mut Cursor<'_>,
        count: u32,
        visit: &mut dyn FnMut(Report, usize),
    ) -> Result<(), Error> {
        fn decode_mechanism_reports<P: ReportConversion + CollectedMechanism>(
            own: &P,
            (domain, epsilon): (&Domain, f64),
            cursor: &mut Cursor<'_>,
            count: u32,
            visit: &mut dyn FnMut(Report, usize),
        ) -> Result<(), Error> {
            let decode = own.report_decoder(domain, epsilon);
            for _ in 0..count {
                let report = decode(cursor)?;
                visit(P::wrap_in_report_enum(report), cursor.offset());
            }
            Ok(())
        }
        match_any_mechanism!(Self, self, own => decode_mechanism_reports(own, (domain, epsilon), cursor, count, visit))
    }
}

impl Report {
    /// Public seed that the report was randomised under. It is drawn independently of the input.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match_any_mechanism!(Self, self, own => own.seed)
    }

    /// Appends the encoded report to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        match_any_mechanism!(Self, self, own => own.encode(bytes));
    }
}

impl PreparedRandomizer {
    /// Returns the report that was made last, and leaves a default report in its place.
    pub(crate) fn take_report(&mut self) -> Report {
        fn take_last_report<P: ReportConversion>(made: &mut RandomizerWithReport<P>) -> Report {
            P::wrap_in_report_enum(core::mem::take(&mut made.report))
        }
        match_any_mechanism!(Self, self, own => take_last_report(own))
    }
}
