//! Which items of all a report's seed draws.

use crate::bounds;
use crate::mix::output;

/// Most items that are drawn.
const MOST: usize = bounds::DRAWN.max as usize;

/// Calls `visit` with `count` of so many items, all different, in the order in which
/// the seed draws them.
///
/// Every set of as many is as likely (Floyd's algorithm; Bentley, "Programming Pearls:
/// A Sample of Brilliance", 1987): let S be a uniform set of j of the first m items, and
/// draw one of the first m + 1. It joins S, or where it is in S already the last one
/// does, m. A set of j + 1 that does not hold m comes about when one of its items is
/// drawn last: of the j + 1 sets without it with a probability of 1/(m + 1) each. One
/// that holds m comes about of the set of its others when one of these or m is drawn, j +
/// 1 of m + 1. With 1/C(m, j) for each set both are (j + 1)/((m + 1)·C(m, j)) =
/// 1/C(m + 1, j + 1).
///
/// Draws are the high halves of the seed's outputs of `splitmix64`, the first for the
/// first and so on, times the number of items that are drawn from, at most 2⁻⁶⁴ of a
/// probability off for each: outputs are bijections of the seed.
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
