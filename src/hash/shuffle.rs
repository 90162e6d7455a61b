//! Random order of k elements, for small k, by the shuffle of Fisher and Yates. All orders are
//! equally likely, up to relative deviations of at most k²/2³².

use super::keys::HashKeys;
use crate::mix::nth_splitmix64_output;

/// Maximum number of buckets of a hash for windows, because a report names its bucket in one byte.
pub(crate) const MAX_WINDOWED_HASH_BUCKETS: u32 = 255;

/// Returns the final place of one element in the random order. Only this element is followed
/// through all exchanges.
pub(super) fn shuffled_position(keys: &HashKeys, count: u32, element: u32) -> u32 {
    let mut place = element;
    for last in (1..count).rev() {
        let drawn = exchange_index(keys, count, last);
        if place == drawn {
            return last;
        }
        if place == last {
            place = drawn;
        }
    }
    place
}

/// Returns the place that is exchanged with the place `last`. Places above `last` are already
/// final.
pub(super) fn exchange_index(keys: &HashKeys, count: u32, last: u32) -> u32 {
    let draw = nth_splitmix64_output(keys.seed, (count - last).into()) >> 32;
    ((draw * u64::from(last + 1)) >> 32) as u32
}
