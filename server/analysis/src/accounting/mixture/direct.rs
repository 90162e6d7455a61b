//! Condition under which reports attain P1's reduction: direct encoding. The window also attains it
//! if cells favour only themselves.
//!
//! In direct encoding each element has a bucket to itself, and exactly the s buckets or sides of
//! the elements are favoured, c = s. Then three inputs favour disjoint sets: any s items with one
//! sign, the same with the other sign, and paddings. So t ≥ 3c. Take a batch of people without
//! items, and one person with the first or the second input. The numbers of reports in the two sets
//! are distributed as Theorem 1's pair (P1 Theorem 6). They are a function of the batch, so the
//! batch reveals at least as much.
//!
//! Elsewhere this is not known, and often wrong:
//!
//! - If c ≠ s, ties are broken at random, and no observer sees how. Averaged over the ties, two
//!   inputs differ by less than α(e − 1) or by a factor below e.
//! - If buckets are shared, favoured sets overlap under some seeds.
//! - If t < 3c, there is no third input, and a batch may well reveal less. Four reports that favour
//!   three of four buckets, at ε = 2 and δ = 0.01, have ε_c = 1.206; Theorem 1 gives 1.278.

use hushbin::hash::{Balanced, Hashing};

/// Returns whether no two elements ever share a cell. `elements` is `None` for an open domain.
pub(super) fn has_one_element_per_cell(
    hashing: Hashing,
    elements: Option<u32>,
    cells: u32,
) -> bool {
    let apart = |elements| Balanced::new(elements, cells).per_bucket() == 1;
    hashing.is_balanced() && elements.is_some_and(apart)
}
