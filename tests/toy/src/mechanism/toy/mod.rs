//! A toy mechanism: the sign of one random element of a person's is reported, truthfully or not
//! (Warner, "Randomized Response", 1965).

use alloc::vec::Vec;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use super::collected_mechanism::CollectedMechanism;
use super::contract::{EncodeReport, MechanismParameters, Randomize};
use crate::canonical::{CanonicalReader, CanonicalWriter, WriteCanonical};
use crate::codec::{Cursor, append_varint};
use crate::domain::{Domain, Entry, SignedItem};
use crate::error::{Error, error};
use crate::hash::{HashKeys, hashed_element_sign};
use crate::sample::{ExpLowerBound, Threshold, WeightAndCount, draw_below, realised_epsilon};

/// MechanismParameters of the toy: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toy {}

/// A seed, which gives each element a fair sign, and the reported sign of the drawn element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Report {
    /// Seed of the signs of this report.
    pub seed: u64,
    /// ReportedValue sign.
    pub plus: bool,
}

/// Randomizer of the toy.
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    truthful: Threshold,
    signed: Vec<SignedItem>,
}

impl Toy {
    fn truthful(epsilon: f64) -> Threshold {
        Threshold(ExpLowerBound::new(epsilon).favoured_probability(1, 1, 1))
    }

    /// Returns P(plus) of an element that pushes towards plus, minus that of one that does not.
    #[must_use]
    pub fn lean(&self, epsilon: f64) -> f64 {
        let truthful = Self::truthful(epsilon);
        truthful.probability() - truthful.false_probability()
    }
}

impl MechanismParameters for Toy {
    const NAME: &'static str = "toy";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check_suits_domain(&self, domain: &Domain) -> Result<(), Error> {
        domain
            .item_count()
            .map(|_| ())
            .ok_or(error!(InvalidCombination {
                reason: "the toy takes no open task",
            }))
    }

    fn read_canonical(_: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Ok(Self {})
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer {
            domain: *domain,
            truthful: Self::truthful(epsilon),
            signed: Vec::new(),
        }
    }
}

impl WriteCanonical for Toy {
    fn write_canonical(&self, _: &mut CanonicalWriter) {}
}

impl CollectedMechanism for Toy {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        let truthful = u128::from(Self::truthful(epsilon).0);
        let sides = [truthful, (1 << 64) - truthful].map(|weight| WeightAndCount(weight, 1));
        realised_epsilon(sides.into_iter(), epsilon)
    }

    fn report_decoder(
        &self,
        _: &Domain,
        _: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        |cursor| {
            let seed = u64::from_le_bytes(cursor.read_array("expected a seed of 8 bytes")?);
            let plus = cursor.read_value("expected a sign, 0 or 1")?;
            Ok(Report { seed, plus })
        }
    }
}

impl EncodeReport for Report {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        append_varint(bytes, u64::from(self.plus));
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let sampled_down = self
            .domain
            .round_and_sample_entries(entries, rng, &mut self.signed);
        let drawn = draw_below(rng, self.domain.sparsity()) as usize;
        let plus = match self.signed.get(drawn) {
            Some(signed) => {
                let sign = hashed_element_sign(&self.domain, &HashKeys::new(seed), signed.item);
                (sign < 0) == signed.is_negative
            }
            // A padding has a fair sign.
            None => rng.next_u64() & 1 == 1,
        };
        *report = Report {
            seed,
            plus: plus == self.truthful.draw_bool(rng),
        };
        sampled_down
    }
}
