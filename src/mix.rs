//! Mixing of 64-bit words for public randomness.

/// Applies the finaliser of `splitmix64`: a bijection of 64-bit words.
#[inline]
#[must_use]
pub const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns the `n`-th output of `splitmix64` started at `seed`, counted from 1.
#[inline]
pub(crate) const fn nth_splitmix64_output(seed: u64, n: u64) -> u64 {
    mix64(seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
