//! Collision's reports, by Definition 5 of P1 and the rule `heaviest`.

use hushbin::Entry;
use hushbin::domain::{Domain, Signed};
use hushbin::hash::Functions;
use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
use hushbin::mechanism::{BucketReport, Rule as _};

use super::buckets::{self, Buckets, Hashed, Held, Strengths, share};
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
        let functions = Functions::of_seed(
            self.hashing(),
            domain.elements(),
            self.buckets(),
            self.hashes(),
            report.seed,
        );
        let hashed = Hashed {
            sides: Rule::SIDES,
            buckets: self.buckets(),
            functions: self.hashes(),
            width: self.width(),
            hash: |elements: &[u64]| buckets::hash(&functions, elements),
            entry: |entry: &Entry| {
                domain.element(Signed {
                    item: entry.item,
                    negative: entry.value < 0.0,
                })
            },
            padding: |index| domain.padding(index),
        };
        let sparsity = domain.sparsity();
        let exp = epsilon.exp();
        let mut strengths = Strengths::new(self.hashes(), self.buckets());
        buckets::observe(report, sparsity, &hashed, inputs, |held| {
            weight(self, sparsity, exp, held, report, &mut strengths)
        })
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

/// The reported bucket's probability, times the rule's Ω.
fn weight(
    collision: &Collision,
    sparsity: u32,
    exp: f64,
    held: &Held<'_>,
    report: &BucketReport,
    strengths: &mut Strengths,
) -> f64 {
    let t = collision.buckets();
    let elements = [held.entries.as_slice(), &held.paddings].concat();
    let width = collision.width();
    if width > 1 {
        let behind = (report.bucket + t - elements[0].of(0)) % t;
        return if behind < width { exp } else { 1.0 };
    }
    let own = |element: &&Buckets<'_>| element.of(report.bucket / t) == report.bucket % t;
    let here = elements.iter().filter(own).count() as u32;
    strengths.count(&elements, |bucket| (bucket, 1));
    let (stronger, equal) = (strengths.stronger(here), strengths.equal(here));
    match collision.rule() {
        Rule::Occupied if here > 0 => exp,
        Rule::Occupied => {
            // Where nothing is, all that is occupied is stronger.
            let total = f64::from(sparsity) * exp + f64::from(t - sparsity);
            (total - f64::from(stronger) * exp) / f64::from(equal)
        }
        Rule::Heaviest { favoured } => 1.0 + (exp - 1.0) * share(favoured, stronger, equal),
    }
}
