//! Whose reports attain P1's reduction: those of direct encoding, and of the window where
//! cells favour themselves alone.
//!
//! Where each element has a bucket of its own and exactly the buckets, or sides, of the s elements
//! are favoured, c = s, there are three inputs that favour disjoint sets: any s items with one
//! sign, the same with the other, and paddings; so t ≥ 3c. In a batch of people without items, but
//! for one who has the first input or the second, the numbers of reports in the two sets are
//! distributed as Theorem 1's pair (P1 Theorem 6), and are a function of the batch: it gives away
//! as much or more.
//!
//! Elsewhere that is not known, and often wrong. With c ≠ s ties are broken at random, and averaged
//! over that, which nobody sees, two inputs differ by less than α(e − 1) or by a smaller factor
//! than e. Where buckets are shared, favoured sets overlap under some seeds. With t < 3c there is
//! no third input, and a batch may well give away less: four reports that favour three of four
//! buckets, at ε = 2 and δ = 0.01, ε_c = 1.206 where Theorem 1 says 1.278.

use hushbin::hash::{Balanced, Hashing};

/// Whether no two elements, `None` being an open domain's, ever share a cell.
pub(super) fn one_element_each(hashing: Hashing, elements: Option<u32>, cells: u32) -> bool {
    let apart = |elements| Balanced::new(elements, cells).per_bucket() == 1;
    hashing.is_balanced() && elements.is_some_and(apart)
}
