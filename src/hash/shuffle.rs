//! Random order of few elements. All orders are equally likely, up to k²/2³² (Fisher and Yates).

use super::keys::HashKeys;
use crate::mix::output;

/// Maximum number of buckets for windows: a report names its bucket in one byte.
pub(crate) const MAX_WINDOW_BUCKETS: u32 = 255;

/// Returns the place of an element in the order, by following that one element through all
/// exchanges.
pub(super) fn position(keys: &HashKeys, count: u32, element: u32) -> u32 {
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

/// Returns the place that is exchanged with `last`, the last place that is not final yet.
pub(super) fn exchange_index(keys: &HashKeys, count: u32, last: u32) -> u32 {
    let draw = output(keys.seed, (count - last).into()) >> 32;
    ((draw * u64::from(last + 1)) >> 32) as u32
}
