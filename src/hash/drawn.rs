//! Which items of all a report's seed draws.

use crate::bounds;
use crate::mix::output;

/// Most items that are drawn.
const MOST: usize = bounds::DRAWN.max as usize;

/// Calls `visit` with `count` of so many items, all different, in the order in which
/// the seed draws them.
///
/// Every set of as many is as likely (Floyd's algorithm; Bentley, "Programming Pearls:
/// A Sample of Brilliance", 1987), up to 2⁻⁶⁴ of a probability for each draw. Draws are the
/// high halves of the seed's outputs of `splitmix64`, times the number of items drawn from.
///
/// # Panics
/// If `count` is above `items`, or above the greatest of [`bounds::DRAWN`].
///
/// ```
/// let mut drawn = Vec::new();
/// hushbin::hash::for_each_drawn(7, 10, 3, |item| drawn.push(item));
/// drawn.sort();
/// drawn.dedup();
/// assert!(drawn.len() == 3 && drawn[2] < 10);
/// ```
pub fn for_each_drawn(seed: u64, items: u32, count: u32, mut visit: impl FnMut(u32)) {
    assert!(count <= items, "items are drawn once");
    let mut drawn = [0; MOST];
    for (index, last) in (items - count..items).enumerate() {
        let word = output(seed, index as u64 + 1);
        let item = ((u128::from(word) * u128::from(last + 1)) >> 64) as u32;
        let again = drawn[..index].contains(&item);
        drawn[index] = if again { last } else { item };
        visit(drawn[index]);
    }
}
