//! What the mechanisms whose reports are buckets have in common.

use hushbin::Entry;
use hushbin::hash::{Balanced, Hashing, Keys, independent_bucket};
use hushbin::mechanism::BucketReport;

use super::hypothesis::{Hypothesis, Part};
use super::observation::{Fall, Observation, Place};

/// Buckets of an input's elements under Collision; under CoCo the sides that
/// its entries push to, and the pairs of its paddings.
pub(super) struct Held<'a> {
    pub(super) entries: Vec<u32>,
    pub(super) paddings: &'a [u32],
}

/// The hashes of a report, which `sides` buckets to a cell.
pub(super) struct Hashed<E, P> {
    pub(super) sides: u32,
    /// The bucket of an entry.
    pub(super) entry: E,
    /// That of a padding, by its number; under CoCo its pair.
    pub(super) padding: P,
}

/// Observation of a report by its hashes, and by the weight of the reported bucket,
/// which is its probability times the rule's Ω. That is the same for all inputs,
/// so a mixture has the mean of its parts' weights.
pub(super) fn observe<E: Fn(&Entry) -> u32, P: Fn(u32) -> u32>(
    report: &BucketReport,
    sparsity: u32,
    hashed: &Hashed<E, P>,
    inputs: [&Hypothesis; 2],
    weight: impl Fn(&Held<'_>) -> f64,
) -> Observation {
    let [(first, first_weight), (second, second_weight)] = inputs.map(|input| {
        let entries: Vec<u32> = input.entries().iter().map(&hashed.entry).collect();
        let missing = |part: &Part| sparsity - part.kept.len() as u32;
        let paddings = input.parts().iter().map(missing).max().unwrap_or(0);
        let paddings: Vec<u32> = (0..paddings).map(&hashed.padding).collect();
        let weights = input.parts().iter().map(|part| {
            let held = Held {
                entries: part.kept.iter().map(|&index| entries[index]).collect(),
                paddings: &paddings[..missing(part) as usize],
            };
            part.probability * weight(&held)
        });
        let weight: f64 = weights.sum();
        (entries, weight)
    });
    let bucket = report.bucket;
    let first_entry = |buckets: &[u32]| {
        let found = buckets.iter().position(|&held| held == bucket);
        found.unwrap_or(buckets.len())
    };
    let sides = hashed.sides;
    let fall = |buckets: &[u32]| {
        let side = |&bucket: &u32| (bucket / sides, bucket % sides == 0 && sides > 1);
        Fall::new(buckets.iter().map(side))
    };
    Observation {
        log_ratio: (first_weight / second_weight).ln(),
        seed: report.seed,
        bucket: u64::from(bucket),
        first_entries: [first_entry(&first), first_entry(&second)],
        places: [place(&first, bucket), place(&second, bucket)],
        falls: [fall(&first), fall(&second)],
    }
}

fn place(buckets: &[u32], bucket: u32) -> Place {
    if !buckets.contains(&bucket) {
        return Place::Elsewhere;
    }
    let lower = buckets.iter().any(|&other| other < bucket);
    let higher = buckets.iter().any(|&other| other > bucket);
    match (lower, higher) {
        (false, false) => Place::Only,
        (false, true) => Place::Lowest,
        (true, false) => Place::Highest,
        (true, true) => Place::Between,
    }
}

/// The bucket of an element, of `elements` if the domain is closed.
pub(super) fn bucket_of(
    hashing: Hashing,
    elements: Option<u32>,
    buckets: u32,
    keys: &Keys,
    key: u64,
) -> u32 {
    match (hashing, elements) {
        // Elements of a closed domain are numbered below 2³².
        (Hashing::Balanced, Some(elements)) => {
            Balanced::new(elements, buckets).bucket(keys, key as u32)
        }
        (Hashing::Balanced | Hashing::Independent, _) => independent_bucket(keys, key, buckets),
    }
}

/// The share of a bucket in the c places of the favoured set, when so many
/// buckets are stronger and so many, itself included, equally strong.
pub(super) fn share(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}
