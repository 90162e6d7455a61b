//! Certified bounds of exp(ε), in integers: the same on every platform.

/// A number never above exp(ε), within a relative 2⁻⁵⁷ of it:
/// `mantissa` / 2^`fraction_bits`.
///
/// exp(ε) = 2^q · exp(r) with q = floor(ε / ln 2) and 0 ≤ r < ln 2. Every step
/// rounds down: ε is truncated to 2⁻⁶⁰, q·ln 2 is rounded up before it is
/// subtracted, and the Taylor series of exp(r), which has positive terms only,
/// is cut off and evaluated with truncating divisions.
///
/// ```
/// use hushbin::sample::ExpLowerBound;
///
/// let bound = ExpLowerBound::new(1.0).to_f64();
/// assert!((bound - core::f64::consts::E).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpLowerBound {
    mantissa: u64,
    fraction_bits: u32,
}

/// Fraction bits of the fixed-point numbers below.
const SCALE: u32 = 60;
const ONE: u64 = 1 << SCALE;
/// ln 2 · 2⁶⁰, rounded up.
const LN_2_UP: u64 = 799_144_290_325_165_979;
/// 1/22! is below 2⁻⁶⁹.
const TERMS: u64 = 22;

impl ExpLowerBound {
    /// The bound for ε in [0, 16).
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
        let fixed = (epsilon * ONE as f64) as u64;
        let quotient = fixed / LN_2_UP;
        let remainder = fixed - quotient * LN_2_UP;
        let mut sum = ONE;
        for term in (1..=TERMS).rev() {
            let product = ((u128::from(sum) * u128::from(remainder)) >> SCALE) as u64;
            sum = ONE + product / term;
        }
        // sum is in [1, 2) · 2⁶⁰ and quotient at most 23: three bits to spare
        // on the left are used, the exponent moves the point.
        Self {
            mantissa: sum << 3,
            fraction_bits: SCALE + 3 - quotient as u32,
        }
    }

    /// floor(2⁶⁴ · k·E / (a·E + b)), E being this bound, for k ≤ a: the
    /// probability of landing in a set of weight k·E when all weighs a·E + b.
    ///
    /// Rounding E down and then the quotient down both lower the probability of
    /// the favoured set, so the realised loss is never above ε.
    ///
    /// # Panics
    /// If k > a, b = 0 or a + b > 2⁶⁴.
    #[must_use]
    pub fn share(&self, k: u64, a: u64, b: u64) -> u64 {
        assert!(k <= a && b > 0, "some weight lies outside the favoured set");
        // Each weighs less than 2⁶⁴.
        assert!(a.checked_add(b - 1).is_some(), "all weigh less than 2¹²⁸");
        let favoured = u128::from(self.mantissa) * u128::from(k);
        let total = u128::from(self.mantissa) * u128::from(a) + self.fixed(b);
        fraction(favoured, total)
    }

    /// floor(2⁶⁴ · (E + 1) / (a·(E + 1) + b)): the probability of one pair of
    /// weights E and 1 among a such pairs and a weight of b elsewhere; rounded
    /// to the safe side as in [`ExpLowerBound::share`].
    ///
    /// # Panics
    /// If a = 0 or b = 0.
    #[must_use]
    pub fn pair_share(&self, a: u32, b: u32) -> u64 {
        assert!(a > 0 && b > 0, "some weight lies outside the pairs");
        let pair = u128::from(self.mantissa) + self.fixed(1);
        fraction(pair, pair * u128::from(a) + self.fixed(b.into()))
    }

    /// floor(2⁶⁴ · (E − 1)/(E + 1) · part/whole): how far the response to a
    /// number in [−whole, whole] leans towards its sign.
    ///
    /// # Panics
    /// If part > whole, or `whole` is 0.
    #[must_use]
    pub fn lean(&self, part: u32, whole: u32) -> u64 {
        assert!(part <= whole && whole > 0, "numbers are clipped");
        let mantissa = u128::from(self.mantissa);
        fraction(
            (mantissa - self.fixed(1)) * u128::from(part),
            (mantissa + self.fixed(1)) * u128::from(whole),
        )
    }

    /// An integer with this bound's fraction bits, at most 63.
    fn fixed(&self, integer: u64) -> u128 {
        u128::from(integer) << self.fraction_bits
    }

    /// Whether numerator / denominator is at most this bound, decided exactly.
    #[must_use]
    pub fn covers(&self, numerator: Factors, denominator: Factors) -> bool {
        // numerator · 2^fraction ≤ denominator · mantissa: factors of at most
        // 128 bits on either side.
        wide_product(numerator.0, self.fixed(numerator.1))
            <= wide_product(
                denominator.0,
                u128::from(denominator.1) * u128::from(self.mantissa),
            )
    }

    /// The bound as the nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        libm::scalbn(self.mantissa as f64, -(self.fraction_bits as i32))
    }
}

/// floor(2⁶⁴·part/whole) for part < whole: long division, bit by bit.
fn fraction(part: u128, whole: u128) -> u64 {
    let mut remainder = part;
    let mut quotient = 0u64;
    for _ in 0..64 {
        // Twice the remainder, of 129 bits.
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

/// A probability weight with a count: a product of the two, or a quotient.
///
/// ```
/// use hushbin::sample::{Factors, realised_epsilon};
///
/// // Two buckets, one with a weight of 5, one with 2: ln 2.5 lies above 0.9.
/// let weights = [Factors(5, 1), Factors(2, 1)];
/// let epsilon = realised_epsilon(weights.into_iter(), 1.0);
/// assert!((0.9..=1.0).contains(&epsilon));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Factors(pub u128, pub u64);

/// The privacy loss of a mechanism whose buckets have these probabilities over
/// all inputs, each a weight divided by a count, up to a common factor: the
/// logarithm of the greatest over the least, rounded up, never above
/// `requested`.
///
/// # Panics
/// If there are none, or as [`least_epsilon_covering`].
#[must_use]
pub fn realised_epsilon(probabilities: impl Iterator<Item = Factors>, requested: f64) -> f64 {
    // a.0 / a.1 < b.0 / b.1, cross-multiplied so that it is exact.
    let less = |a: &Factors, b: &Factors| {
        wide_product(a.0, u128::from(b.1)) < wide_product(b.0, u128::from(a.1))
    };
    let (least, most) = probabilities
        .map(|probability| (probability, probability))
        .reduce(|(least, most), (next, _)| {
            let least = if less(&next, &least) { next } else { least };
            let most = if less(&most, &next) { next } else { most };
            (least, most)
        })
        .expect("every input gives some bucket a probability");
    least_epsilon_covering(
        Factors(most.0, least.1),
        Factors(least.0, most.1),
        requested,
    )
}

/// a·b as (high, low) 128-bit halves.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let middle_low = a0 * b1 + (middle & LOW);
    (
        a1 * b1 + (middle >> 64) + (middle_low >> 64),
        (middle_low << 64) | (low & LOW),
    )
}

/// The privacy loss ln(numerator / denominator), rounded up to a double, never
/// above `requested`.
///
/// A double x is an upper bound of the loss once a lower bound of exp(x) covers
/// the ratio. The search starts just below the floating-point logarithm and
/// climbs; thresholds are made so that `requested` itself covers the ratio.
///
/// # Panics
/// If `requested` does not cover the ratio: the thresholds would be wrong.
#[must_use]
pub fn least_epsilon_covering(numerator: Factors, denominator: Factors, requested: f64) -> f64 {
    let product = |Factors(weight, count)| weight as f64 * count as f64;
    let ratio = product(numerator) / product(denominator);
    // Six units in the last place of the logarithm: 2 for libm, 4 for the ratio
    // (whose relative error adds absolutely to the logarithm).
    let start = libm::log(ratio) - 8.0 * f64::EPSILON;
    let mut candidate = start.clamp(0.0, requested);
    let mut step = f64::EPSILON / 4.0;
    while !ExpLowerBound::new(candidate).covers(numerator, denominator) {
        assert!(
            candidate < requested,
            "thresholds are rounded so that the requested ε covers the loss"
        );
        candidate = (candidate + step).max(candidate.next_up()).min(requested);
        step *= 1.5;
    }
    candidate
}
