//! What the mechanisms whose reports are buckets have in common.

use hushbin::Entry;
use hushbin::hash::{Balanced, Hashing, Keys, independent_bucket};
use hushbin::mechanism::BucketReport;

use super::observation::{Observation, Place};

/// Buckets of an input's elements under Collision; under CoCo the sides that
/// its entries push to, and the pairs of its paddings.
pub(super) struct Held {
    pub(super) entries: Vec<u32>,
    pub(super) paddings: Vec<u32>,
}

/// Observation of a report from the buckets of each input's entries and the weight
/// of the reported one.
pub(super) fn observe(
    report: &BucketReport,
    inputs: [&[Entry]; 2],
    read: impl Fn(&[Entry]) -> (Vec<u32>, f64),
) -> Observation {
    let [(first, first_weight), (second, second_weight)] = inputs.map(read);
    let bucket = report.bucket;
    let first_entry = |buckets: &[u32]| {
        let found = buckets.iter().position(|&held| held == bucket);
        found.unwrap_or(buckets.len())
    };
    Observation {
        log_ratio: (first_weight / second_weight).ln(),
        seed: report.seed,
        bucket: u64::from(bucket),
        first_entries: [first_entry(&first), first_entry(&second)],
        places: [place(&first, bucket), place(&second, bucket)],
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
