//! CoCo's reports, by Algorithm 1 of Zhou et al. and the rule `strongest`.

use hushbin::Entry;
use hushbin::domain::Domain;
use hushbin::hash::{Keys, closed_sign, open_sign};
use hushbin::mechanism::coco::{Coco, Randomizer, Rule};
use hushbin::mechanism::{BucketReport, Rule as _};

use super::buckets::{self, Hashed, Held, bucket_of, keys_of, share};
use super::contract::{Enumerable, Observed};
use super::hypothesis::Hypothesis;
use super::observation::Observation;

impl Observed for Coco {
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
        let completing = core.clone();
        Some(Enumerable {
            buckets: self.outcomes(),
            completions: Box::new(move |signed| completing.completions(signed)),
            probabilities: Box::new(move |seed, signed, completion| {
                core.probabilities(seed, signed, completion)
            }),
        })
    }
}

/// Observation of a report, at exp(ε).
fn observe(
    coco: &Coco,
    domain: &Domain,
    exp: f64,
    inputs: [&Hypothesis; 2],
    report: &BucketReport,
) -> Observation {
    let elements = coco.elements(domain);
    let pair =
        |keys: &Keys, element| bucket_of(coco.hashing(), elements, coco.pairs(), keys, element);
    let hashed = Hashed {
        sides: Rule::SIDES,
        buckets: coco.buckets(),
        keys: keys_of(report.seed, coco.hashes()),
        entry: |keys: &Keys, entry: &Entry| {
            let sign = match domain.items() {
                Some(_) => closed_sign(keys, entry.item as u32),
                None => open_sign(keys, entry.item),
            };
            2 * pair(keys, entry.item) + u32::from((entry.value < 0.0) != (sign < 0))
        },
        padding: |keys: &Keys, index| pair(keys, domain.padding(index)),
    };
    let sparsity = domain.sparsity();
    // Left out where they push to either side.
    let padded = match coco.rule() {
        Rule::Overwrite => sparsity,
        Rule::Strongest { .. } => 0,
    };
    buckets::observe(report, padded, &hashed, inputs, |pushes| {
        weight(coco, sparsity, exp, pushes, report)
    })
}

/// The reported side's probability, times the rule's Ω.
fn weight(coco: &Coco, sparsity: u32, exp: f64, pushes: &Held<'_>, report: &BucketReport) -> f64 {
    let (side, pair) = (report.bucket, report.bucket / 2);
    match coco.rule() {
        Rule::Overwrite => {
            let of_entries = pushes.entries.iter().map(|side| side / 2);
            let mut pairs: Vec<u32> = of_entries.chain(pushes.paddings.iter().copied()).collect();
            let here = pairs.iter().filter(|&&other| other == pair).count() as f64;
            pairs.sort_unstable();
            pairs.dedup();
            let pushed = pairs.len() as u32;
            if here > 0.0 {
                // A padding decides for either side equally often.
                let own = pushes.entries.iter().filter(|&&p| p == side).count() as f64;
                let paddings = pushes.paddings.iter().filter(|&&p| p == pair).count() as f64;
                1.0 + (exp - 1.0) * (own + 0.5 * paddings) / here
            } else {
                let t = coco.buckets();
                let total = f64::from(sparsity) * (exp + 1.0) + f64::from(t - 2 * sparsity);
                (total - f64::from(pushed) * (exp + 1.0)) / f64::from(t - 2 * pushed)
            }
        }
        Rule::Strongest { favoured } => {
            1.0 + (exp - 1.0) * strongest_share(coco, favoured, pushes, report.bucket)
        }
    }
}

/// The share of a side in the places of the favoured set under `strongest`.
fn strongest_share(coco: &Coco, favoured: u32, pushes: &Held<'_>, side: u32) -> f64 {
    let pair = side / 2;
    let mut sides = pushes.entries.clone();
    sides.sort_unstable();
    // Of the plus side; the minus side has the opposite.
    let strengths = || {
        sides.chunk_by(|a, b| a / 2 == b / 2).map(|sides| {
            let plus = sides.iter().filter(|&side| side % 2 == 0).count() as i64;
            (sides[0] / 2, 2 * plus - sides.len() as i64)
        })
    };
    let plus = strengths()
        .find(|&(other, _)| other == pair)
        .map_or(0, |(_, strength)| strength);
    let here = if side.is_multiple_of(2) { plus } else { -plus };
    let sides = || strengths().flat_map(|(_, plus)| [plus, -plus]);
    let untouched = coco.outcomes() - sides().count() as u32;
    let count = |of: &dyn Fn(i64) -> bool| {
        let pushed = sides().filter(|&strength| of(strength)).count() as u32;
        pushed + if of(0) { untouched } else { 0 }
    };
    let stronger = count(&|strength| strength > here);
    let equal = count(&|strength| strength == here);
    share(favoured, stronger, equal)
}
