//! A random order of few elements: all are equally likely, up to k²/2³² (Fisher and Yates).

use super::keys::Keys;
use crate::mix::output;

/// The greatest number of buckets that elements have windows of: one byte of a report.
pub(crate) const MOST_WINDOWED: u32 = 255;

/// Returns the place of an element in the order.
pub(super) fn place(keys: &Keys, count: u32, element: u32) -> u32 {
    let mut place = element;
    for last in (1..count).rev() {
        let drawn = drawn(keys, count, last);
        if place == drawn {
            return last;
        }
        if place == last {
            place = drawn;
        }
    }
    place
}

/// The place that is exchanged with the last of those that are not settled.
pub(super) fn drawn(keys: &Keys, count: u32, last: u32) -> u32 {
    let draw = output(keys.seed, (count - last).into()) >> 32;
    ((draw * u64::from(last + 1)) >> 32) as u32
}
