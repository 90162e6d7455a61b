//! The one sort of this crate.

/// Sorts ascending. Everything that is sorted is packed into 64-bit keys, and
/// this is not inlined, because every instance of a sort is two kilobytes that
/// pages download.
#[inline(never)]
pub(crate) fn sort(keys: &mut [u64]) {
    keys.sort_unstable();
}
