//! Random draws, made from uniformly random words of 64 or 32 bits.

use rand_core::Rng;

/// Probability as an integer threshold. A draw is true with probability exactly threshold / 2⁶⁴.
///
/// ```
/// use hushbin::sample::Threshold;
///
/// let quarter = Threshold(1 << 62);
/// assert_eq!((quarter.probability(), quarter.false_probability()), (0.25, 0.75));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(pub u64);

/// Draws a 64-bit word. The function is inlined, except in the module that pages download, where a
/// single copy is smaller.
#[cfg_attr(not(target_arch = "wasm32"), inline)]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn draw_u64<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    rng.next_u64()
}

impl Threshold {
    /// Creates the threshold of a probability in [0, 1), rounded down to a multiple of 2⁻⁶⁴.
    pub(crate) fn from_probability(probability: f64) -> Self {
        Self((probability * TWO_POW_64) as u64)
    }

    /// Returns true with this probability, else false. Consumes one 64-bit word.
    #[inline]
    pub fn draw_bool<R: Rng + ?Sized>(self, rng: &mut R) -> bool {
        draw_u64(rng) < self.0
    }
}

/// Number of possible 64-bit words, 2⁶⁴.
pub(super) const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// Draws a uniform integer below `range`, without bias.
///
/// Source: Lemire, "Fast Random Integer Generation in an Interval" (2019), with 32-bit words. A
/// word is drawn again if the low half of word·range would make some results more likely. Consumes
/// one 32-bit word, rarely more.
///
/// # Panics
/// If `range` is 0.
#[cfg_attr(not(target_arch = "wasm32"), inline)]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub fn draw_below<R: Rng + ?Sized>(rng: &mut R, range: u32) -> u32 {
    assert!(range > 0, "no integer lies below 0");
    let mut product = u64::from(rng.next_u32()) * u64::from(range);
    if (product as u32) < range {
        // 2³² mod range. Products with a low half below this are rejected. Without that, some
        // results would have one word more than other results.
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
pub fn draw_with_probability<R: Rng + ?Sized>(rng: &mut R, value: f64) -> bool {
    let magnitude = value.abs();
    // A threshold cannot express probability 1.
    if magnitude >= 1.0 {
        return true;
    }
    if magnitude == 0.0 {
        return false;
    }
    Threshold::from_probability(magnitude).draw_bool(rng)
}

/// Moves a uniformly random subset of `keep` elements to the front of `items` (partial
/// Fisher–Yates). Consumes `keep` draws of [`draw_below`].
pub fn move_random_subset_to_front<R: Rng + ?Sized, T>(rng: &mut R, items: &mut [T], keep: usize) {
    let len = items.len();
    for front in 0..keep.min(len) {
        let offset = draw_below(rng, (len - front) as u32) as usize;
        items.swap(front, front + offset);
    }
}
