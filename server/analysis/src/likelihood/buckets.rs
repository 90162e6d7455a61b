//! What the mechanisms whose reports are buckets have in common.

use hushbin::Entry;
use hushbin::hash::{Balanced, Hashing, Keys, independent_bucket};
use hushbin::mechanism::BucketReport;

use super::hypothesis::{Hypothesis, Part};
use super::observation::{Fall, Observation, Place};

/// Buckets of an input's elements under Collision, of all hash functions; under CoCo
/// the sides that its entries push to, and the pairs of its paddings.
pub(super) struct Held<'a> {
    pub(super) entries: Vec<u32>,
    pub(super) paddings: &'a [u32],
}

/// The hashes of a report, with `sides` buckets to a cell.
pub(super) struct Hashed<E, P> {
    pub(super) sides: u32,
    /// t.
    pub(super) buckets: u32,
    /// Of each hash function.
    pub(super) keys: Vec<Keys>,
    /// The bucket of an entry among those of one function.
    pub(super) entry: E,
    /// That of a padding, by its number; under CoCo its pair.
    pub(super) padding: P,
}

impl<E: Fn(&Keys, &Entry) -> u32, P: Fn(&Keys, u32) -> u32> Hashed<E, P> {
    /// The buckets of an entry, of all functions.
    fn entry(&self, entry: &Entry) -> impl Iterator<Item = u32> {
        let own = self.keys.iter().map(|keys| (self.entry)(keys, entry));
        (0..)
            .zip(own)
            .map(|(function, bucket)| function * self.buckets + bucket)
    }

    /// Those of a padding, or its pairs.
    fn padding(&self, index: u32) -> impl Iterator<Item = u32> {
        let own = self
            .keys
            .iter()
            .map(move |keys| (self.padding)(keys, index));
        let cells = self.buckets / self.sides;
        (0..)
            .zip(own)
            .map(move |(function, cell)| function * cells + cell)
    }
}

/// The keys of so many hash functions of a seed.
pub(super) fn keys_of(seed: u64, hashes: u32) -> Vec<Keys> {
    let keys = |function| Keys::of_function(seed, function);
    (0..hashes).map(keys).collect()
}

/// Observation of a report by its hashes, and by the weight of the reported bucket,
/// which is its probability times the rule's Ω. That is the same for all inputs,
/// so a mixture has the mean of its parts' weights.
///
/// Inputs of fewer than `padded` entries have so many with their paddings.
pub(super) fn observe<E: Fn(&Keys, &Entry) -> u32, P: Fn(&Keys, u32) -> u32>(
    report: &BucketReport,
    padded: u32,
    hashed: &Hashed<E, P>,
    inputs: [&Hypothesis; 2],
    weight: impl Fn(&Held<'_>) -> f64,
) -> Observation {
    let bucket = report.bucket;
    let functions = hashed.keys.len();
    let [(first, first_weight), (second, second_weight)] = inputs.map(|input| {
        let entries: Vec<u32> = input
            .entries()
            .iter()
            .flat_map(|entry| hashed.entry(entry))
            .collect();
        let of_entry = |&index: &usize| &entries[functions * index..functions * (index + 1)];
        let missing = |part: &Part| padded.saturating_sub(part.kept.len() as u32);
        let paddings = input.parts().iter().map(missing).max().unwrap_or(0);
        let paddings: Vec<u32> = (0..paddings)
            .flat_map(|index| hashed.padding(index))
            .collect();
        let weights = input.parts().iter().map(|part| {
            let held = Held {
                entries: part.kept.iter().flat_map(of_entry).copied().collect(),
                paddings: &paddings[..functions * missing(part) as usize],
            };
            part.probability * weight(&held)
        });
        let weight: f64 = weights.sum();
        // Of the function that the report names a bucket of.
        let function = (bucket / hashed.buckets) as usize;
        let own = entries.iter().skip(function).step_by(functions);
        (own.copied().collect::<Vec<u32>>(), weight)
    });
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
    match elements {
        // Elements of a closed domain are numbered below 2³².
        Some(elements) if hashing.is_balanced() => {
            Balanced::new(elements, buckets).bucket(keys, key as u32)
        }
        _ => independent_bucket(keys, key, buckets),
    }
}

/// The share of a bucket in the c places of the favoured set, when so many
/// buckets are stronger and so many, itself included, equally strong.
pub(super) fn share(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}
