//! Mechanisms as collectors know them: in task files, and by the reports that arrive.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::collected::Collected;
use super::{Mechanism, Registered, Report, each};
use crate::canonical::{Canonical, Written};
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
    };
}

crate::mechanisms!([register]);

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

impl Written for Mechanism {
    fn write_canonical(&self, canonical: &mut Canonical) {
        canonical.text(self.name());
        each!(Self, self, own => own.write_canonical(canonical));
    }
}

impl Mechanism {
    pub(crate) fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        each!(Self, self, own => own.effective_epsilon(domain, epsilon))
    }

    /// Decodes `count` reports of a task over `domain` at local ε, and calls `visit` with each
    /// report and the offset of its end.
    pub(crate) fn decode_reports(
        &self,
        domain: &Domain,
        epsilon: f64,
        cursor: &mut Cursor<'_>,
        count: u32,
        visit: &mut dyn FnMut(Report, usize),
    ) -> Result<(), Error> {
        fn decode<P: Registered + Collected>(
            own: &P,
            (domain, epsilon): (&Domain, f64),
            cursor: &mut Cursor<'_>,
            count: u32,
            visit: &mut dyn FnMut(Report, usize),
        ) -> Result<(), Error> {
            let decode = own.decoder(domain, epsilon);
            for _ in 0..count {
                let report = decode(cursor)?;
                visit(P::report(report), cursor.offset());
            }
            Ok(())
        }
        each!(Self, self, own => decode(own, (domain, epsilon), cursor, count, visit))
    }
}
