//! Draws from words of 64 bits.

use rand_core::Rng;

/// Probability as an integer threshold: true with probability exactly threshold / 2⁶⁴.
///
/// ```
/// use hushbin::sample::Threshold;
///
/// let quarter = Threshold(1 << 62);
/// assert_eq!((quarter.probability(), quarter.complement()), (0.25, 0.75));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(pub u64);

/// Draws a 64-bit word. Generators are inlined, except in the module that pages download, where one
/// copy is smaller.
#[cfg_attr(not(target_arch = "wasm32"), inline)]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn word<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    rng.next_u64()
}

impl Threshold {
    /// Draws once. Consumes one 64-bit word.
    #[inline]
    pub fn sample<R: Rng + ?Sized>(self, rng: &mut R) -> bool {
        word(rng) < self.0
    }
}

/// Number of 64-bit words, 2⁶⁴.
pub(super) const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Draws a uniform integer below `range`, without bias.
///
/// Source: Lemire, "Fast Random Integer Generation in an Interval" (2019), on 32-bit words. The low
/// half of word·range is rejected if it would favour some results. Consumes one word, seldom more.
///
/// # Panics
/// If `range` is 0.
#[cfg_attr(not(target_arch = "wasm32"), inline)]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub fn below<R: Rng + ?Sized>(rng: &mut R, range: u32) -> u32 {
    assert!(range > 0, "no integer lies below 0");
    let mut product = u64::from(rng.next_u32()) * u64::from(range);
    if (product as u32) < range {
        // 2³² mod range: results whose low half is below it are hit once too often.
        let surplus = range.wrapping_neg() % range;
        while (product as u32) < surplus {
            product = u64::from(rng.next_u32()) * u64::from(range);
        }
    }
    (product >> 32) as u32
}

/// Returns true with probability |`value`|, for `value` in [-1, 1].
///
/// Exact if |value| is a multiple of 2⁻⁶⁴, as every double above 2⁻¹² is. Below that the
/// probability is rounded down by less than 2⁻⁶⁴. Consumes a word unless |value| is 0 or 1.
#[cfg_attr(not(target_arch = "wasm32"), inline)]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub fn with_probability<R: Rng + ?Sized>(rng: &mut R, value: f64) -> bool {
    let magnitude = value.abs();
    // A threshold cannot express probability 1.
    if magnitude >= 1.0 {
        return true;
    }
    if magnitude == 0.0 {
        return false;
    }
    Threshold((magnitude * TWO_64) as u64).sample(rng)
}

/// Moves a uniformly random `keep`-subset of `items` to its front (partial Fisher–Yates). Consumes
/// `keep` draws of [`below`].
pub fn choose_front<R: Rng + ?Sized, T>(rng: &mut R, items: &mut [T], keep: usize) {
    let len = items.len();
    for front in 0..keep.min(len) {
        let offset = below(rng, (len - front) as u32) as usize;
        items.swap(front, front + offset);
    }
}
