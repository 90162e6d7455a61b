//! Certified lower bounds of exp(ε). They are computed in integers, so they are equal on every
//! platform.

/// Lower bound of exp(ε), with a relative error of at most 2⁻⁵⁷. The bound is `mantissa` /
/// 2^`fraction_bits`.
///
/// exp(ε) = 2^q · exp(r) with q = floor(ε / ln 2) and 0 ≤ r < ln 2. Every step rounds down:
///
/// - ε is truncated to 2⁻⁶⁰.
/// - q·ln 2 is rounded up before it is subtracted.
/// - The Taylor series of exp(r) has positive terms only. It is cut off and evaluated with
///   truncating divisions.
///
/// ```
/// use hushbin::sample::ExpLowerBound;
///
/// let bound = ExpLowerBound::new(1.0).to_f64();
/// assert!((bound - core::f64::consts::E).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpLowerBound {
    pub(super) mantissa: u64,
    fraction_bits: u32,
}

/// Number of fraction bits of the fixed-point numbers in this file.
const FIXED_POINT_FRACTION_BITS: u32 = 60;
const FIXED_POINT_ONE: u64 = 1 << FIXED_POINT_FRACTION_BITS;
/// Constant ln 2 · 2⁶⁰, rounded up.
const LN_2_ROUNDED_UP: u64 = 799_144_290_325_165_979;
/// Number of Taylor terms: 1/22! is below 2⁻⁶⁹.
const TAYLOR_TERM_COUNT: u64 = 22;

impl ExpLowerBound {
    /// Computes the bound for ε in [0, 16).
    ///
    /// # Panics
    /// If `epsilon` is negative, not finite, or 16 or more.
    #[must_use]
    pub fn new(epsilon: f64) -> Self {
        assert!(
            (0.0..16.0).contains(&epsilon),
            "ε lies in [0, 16), by the bounds of a task"
        );
        // Multiplying by a power of two is exact; the conversion truncates.
        let fixed = (epsilon * FIXED_POINT_ONE as f64) as u64;
        let quotient = fixed / LN_2_ROUNDED_UP;
        let remainder = fixed - quotient * LN_2_ROUNDED_UP;
        let mut sum = FIXED_POINT_ONE;
        for term in (1..=TAYLOR_TERM_COUNT).rev() {
            let product =
                ((u128::from(sum) * u128::from(remainder)) >> FIXED_POINT_FRACTION_BITS) as u64;
            sum = FIXED_POINT_ONE + product / term;
        }
        // `sum` is in [1, 2)·2⁶⁰, so three bits are free on its left. The exponent moves the point;
        // `quotient` is at most 23.
        Self {
            mantissa: sum << 3,
            fraction_bits: FIXED_POINT_FRACTION_BITS + 3 - quotient as u32,
        }
    }

    /// Returns floor(2⁶⁴ · k·E / (a·E + b)) for k ≤ a, where E is this bound. Divided by 2⁶⁴, the
    /// result is the probability of a set, rounded down. The set has the weight k·E, and the total
    /// weight is a·E + b.
    ///
    /// Rounding E down and then the quotient down both lower the probability of the favoured set,
    /// so the realised loss is never above ε.
    ///
    /// # Panics
    /// If k > a, b = 0 or a + b > 2⁶⁴.
    #[must_use]
    pub fn favoured_probability(&self, k: u64, a: u64, b: u64) -> u64 {
        assert!(k <= a && b > 0, "some weight lies outside the favoured set");
        // In fixed point E and 1 are both below 2⁶⁴, and at most 2⁶⁴ of them are added.
        assert!(a.checked_add(b - 1).is_some(), "all weigh less than 2¹²⁸");
        let favoured = u128::from(self.mantissa) * u128::from(k);
        let total = u128::from(self.mantissa) * u128::from(a) + self.integer_to_fixed_point(b);
        ratio_to_binary_fraction(favoured, total)
    }

    /// Returns floor(2⁶⁴ · (E + 1) / (a·(E + 1) + b)), where E is this bound. Divided by 2⁶⁴, the
    /// result is the probability of one pair of outcomes with the weights E and 1. There are `a`
    /// such pairs, and the other outcomes have the total weight b. The probability is rounded down,
    /// as in [`ExpLowerBound::favoured_probability`].
    ///
    /// # Panics
    /// If a = 0 or b = 0.
    #[must_use]
    pub fn pair_probability(&self, a: u32, b: u32) -> u64 {
        assert!(a > 0 && b > 0, "some weight lies outside the pairs");
        let pair = u128::from(self.mantissa) + self.integer_to_fixed_point(1);
        ratio_to_binary_fraction(
            pair,
            pair * u128::from(a) + self.integer_to_fixed_point(b.into()),
        )
    }

    /// Returns floor(2⁶⁴ · (E − 1)/(E + 1) · part/whole), where E is this bound, and `part` is the
    /// magnitude of a number in [−whole, whole]. Divided by 2⁶⁴, the result is the probability of a
    /// response with the number's sign, minus the probability of the other sign.
    ///
    /// # Panics
    /// If part > whole, or `whole` is 0.
    #[must_use]
    pub fn sign_probability_difference(&self, part: u32, whole: u32) -> u64 {
        assert!(part <= whole && whole > 0, "numbers are clipped");
        let mantissa = u128::from(self.mantissa);
        ratio_to_binary_fraction(
            (mantissa - self.integer_to_fixed_point(1)) * u128::from(part),
            (mantissa + self.integer_to_fixed_point(1)) * u128::from(whole),
        )
    }

    /// Converts an integer to fixed point. The result has as many fraction bits as this bound, at
    /// most 63.
    pub(super) fn integer_to_fixed_point(self, integer: u64) -> u128 {
        u128::from(integer) << self.fraction_bits
    }

    /// Returns the bound as the nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        // A power of two, so the product is exact.
        let unit = f64::from_bits((1023 - u64::from(self.fraction_bits)) << 52);
        self.mantissa as f64 * unit
    }
}

/// Returns floor(2⁶⁴·part/whole) for part < whole, by long division, bit by bit.
fn ratio_to_binary_fraction(part: u128, whole: u128) -> u64 {
    let mut remainder = part;
    let mut quotient = 0u64;
    for _ in 0..64 {
        // The doubled remainder can take 129 bits. `carried` is the top one.
        let carried = remainder >> 127 == 1;
        remainder <<= 1;
        quotient <<= 1;
        if carried || remainder >= whole {
            remainder = remainder.wrapping_sub(whole);
            quotient |= 1;
        }
    }
    quotient
}
