//! Direct encoding: a condition under which some batch attains the reduction of P1's Theorem 1.
//!
//! The window mechanism attains the reduction, too, if each of its cells favours only itself.
//!
//! In direct encoding, each element has its own bucket. Exactly the buckets (or sides) of the s
//! elements of an input are favoured, so c = s. Then three inputs favour disjoint sets: any s items
//! with one sign, the same items with the opposite sign, and padding elements only. So t ≥ 3c.
//! Consider a batch of people without items, and one person who has the first or the second input.
//! Count the reports in the favoured sets of these two inputs. The two counts have the
//! distributions that Theorem 1 compares (P1 Theorem 6). They are a function of the batch, so the
//! batch reveals at least as much.
//!
//! In other cases it is not known whether a batch attains the reduction, and often none does:
//!
//! - If c ≠ s, ties are broken at random, and no observer sees how. Averaged over the ties, the
//!   report probabilities under two inputs have a total variation below α(e − 1), or a ratio below
//!   e.
//! - If several elements have the same bucket, favoured sets overlap under some seeds.
//! - If t < 3c, there is no third input, and a batch may reveal less. For example, take four
//!   reports that each favour three of four buckets, with ε = 2 and δ = 0.01. They have ε_c =
//!   1.206, while Theorem 1 gives 1.278.

use hushbin::hash::{BalancedHash, HashFamily};

/// Returns true if no two elements are ever mapped to the same cell. `elements` is the number of
/// elements, or `None` for an open domain.
pub(super) fn has_one_element_per_cell(
    hashing: HashFamily,
    elements: Option<u32>,
    cells: u32,
) -> bool {
    let apart = |elements| BalancedHash::new(elements, cells).slots_per_bucket() == 1;
    hashing.is_balanced() && elements.is_some_and(apart)
}
