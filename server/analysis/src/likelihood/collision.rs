//! Collision's reports, by Definition 5 of P1 and the rule `heaviest`.

use hushbin::Entry;
use hushbin::domain::{Domain, Signed};
use hushbin::hash::Keys;
use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
use hushbin::mechanism::{BucketReport, Rule as _};

use super::buckets::{self, Hashed, Held, bucket_of, keys_of, share};
use super::contract::{Enumerable, Observed};
use super::hypothesis::Hypothesis;
use super::observation::Observation;

impl Observed for Collision {
    type Report = BucketReport;

    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &BucketReport,
    ) -> Observation {
        observe(self, domain, epsilon.exp(), inputs, report)
    }

    fn enumerable(&self, domain: &Domain, epsilon: f64) -> Option<Enumerable> {
        let mut core = Randomizer::new(self, domain, epsilon);
        Some(Enumerable {
            buckets: self.outcomes(),
            completions: Box::new(|_| Some(1)),
            probabilities: Box::new(move |seed, signed, _| core.probabilities(seed, signed)),
        })
    }
}

/// Observation of a report, at exp(ε).
fn observe(
    collision: &Collision,
    domain: &Domain,
    exp: f64,
    inputs: [&Hypothesis; 2],
    report: &BucketReport,
) -> Observation {
    let bucket = |keys: &Keys, element| {
        let elements = domain.signed_elements();
        let (hashing, buckets) = (collision.hashing(), collision.buckets());
        bucket_of(hashing, elements, buckets, keys, element)
    };
    let hashed = Hashed {
        sides: Rule::SIDES,
        buckets: collision.buckets(),
        keys: keys_of(report.seed, collision.hashes()),
        entry: |keys: &Keys, entry: &Entry| {
            let element = domain.signed_element(Signed {
                item: entry.item,
                negative: entry.value < 0.0,
            });
            bucket(keys, element)
        },
        padding: |keys: &Keys, index| bucket(keys, domain.signed_padding(index)),
    };
    let sparsity = domain.sparsity();
    buckets::observe(report, sparsity, &hashed, inputs, |held| {
        weight(collision, sparsity, exp, held, report)
    })
}

/// The reported bucket's probability, times the rule's Ω.
fn weight(
    collision: &Collision,
    sparsity: u32,
    exp: f64,
    held: &Held<'_>,
    report: &BucketReport,
) -> f64 {
    let t = collision.outcomes();
    let mut buckets = [held.entries.as_slice(), held.paddings].concat();
    buckets.sort_unstable();
    let counts = || buckets.chunk_by(|a, b| a == b);
    let occupied = counts().count() as u32;
    let here = buckets.iter().filter(|&&b| b == report.bucket).count();
    match collision.rule() {
        Rule::Occupied if here > 0 => exp,
        Rule::Occupied => {
            let total = f64::from(sparsity) * exp + f64::from(t - sparsity);
            (total - f64::from(occupied) * exp) / f64::from(t - occupied)
        }
        Rule::Heaviest { favoured } => {
            let stronger = counts().filter(|held| held.len() > here).count() as u32;
            let equal = match here {
                0 => t - occupied,
                _ => counts().filter(|held| held.len() == here).count() as u32,
            };
            1.0 + (exp - 1.0) * share(favoured, stronger, equal)
        }
    }
}
