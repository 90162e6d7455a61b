//! Random subset of the items, determined by a report's seed.

use crate::bounds;
use crate::mix::nth_splitmix64_output;

/// Maximum number of items drawn.
const MAX_DRAWN_ITEMS: usize = bounds::DRAWN_ATTRIBUTE_COUNT_RANGE.max as usize;

/// Draws `count` different items below `items`, and calls `visit` once for each of them. The seed
/// determines the items and the order.
///
/// Each set of `count` items is equally likely, with an error of at most 2⁻⁶⁴ for each draw. The
/// method is Floyd's algorithm (Bentley, "Programming Pearls: A Sample of Brilliance", 1987). A
/// draw multiplies an output of `splitmix64` by the number of items to draw from, and takes the
/// high half of the product.
///
/// # Panics
/// If `count` is above `items`, or above the maximum of [`bounds::DRAWN_ATTRIBUTE_COUNT_RANGE`].
///
/// ```
/// let mut drawn = Vec::new();
/// hushbin::hash::for_each_drawn_item(7, 10, 3, |item| drawn.push(item));
/// drawn.sort();
/// drawn.dedup();
/// assert!(drawn.len() == 3 && drawn[2] < 10);
/// ```
pub fn for_each_drawn_item(seed: u64, items: u32, count: u32, mut visit: impl FnMut(u32)) {
    assert!(count <= items, "items are drawn once");
    let mut drawn = [0; MAX_DRAWN_ITEMS];
    for (index, last) in (items - count..items).enumerate() {
        let word = nth_splitmix64_output(seed, index as u64 + 1);
        let item = ((u128::from(word) * u128::from(last + 1)) >> 64) as u32;
        // Floyd's step: `last` cannot have been drawn earlier, so it replaces a repeated item.
        let again = drawn[..index].contains(&item);
        drawn[index] = if again { last } else { item };
        visit(drawn[index]);
    }
}
