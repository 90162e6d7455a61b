//! Rational bounds of exp(x), from its series alone.

use num_bigint::BigUint;
use num_rational::Ratio;

/// Probabilities and ratios without rounding.
pub type Exact = Ratio<BigUint>;

/// Bounds low / 2²⁵⁶ ≤ exp(x) ≤ high / 2²⁵⁶.
pub struct Exp {
    pub low: BigUint,
    pub high: BigUint,
}

const FRACTION_BITS: u32 = 256;

impl Exp {
    /// Computes bounds of exp(x), where x is exactly the double.
    pub fn of(x: f64) -> Self {
        assert!((0.0..16.0).contains(&x));
        // x = mantissa / 2^shift.
        let exponent = ((x.to_bits() >> 52) as u32).max(1);
        let hidden = u64::from(x >= f64::MIN_POSITIVE) << 52;
        let mantissa = (x.to_bits() & ((1 << 52) - 1)) | hidden;
        let shift = 1075 - exponent;

        let one = BigUint::from(1u8);
        let mut low_term = &one << FRACTION_BITS;
        let mut high_term = low_term.clone();
        let (mut low, mut high) = (low_term.clone(), high_term.clone());
        for n in 1u32.. {
            // Term n is term n − 1 times x/n, rounded down and up.
            let divisor = BigUint::from(n) << shift;
            low_term = low_term * mantissa / &divisor;
            high_term = (high_term * mantissa + &divisor - &one) / &divisor;
            low += &low_term;
            high += &high_term;
            // From here on each term is at most half the previous one, so the cut tail is at most
            // this term.
            if f64::from(n) > 2.0 * x + 2.0 && high_term <= one {
                high += &one;
                break;
            }
        }
        Self { low, high }
    }

    /// Returns the lower bound as a fraction.
    pub fn low_ratio(&self) -> Exact {
        Exact::new_raw(self.low.clone(), BigUint::from(1u8) << FRACTION_BITS)
    }

    /// Returns the upper bound as a fraction.
    pub fn high_ratio(&self) -> Exact {
        Exact::new_raw(self.high.clone(), BigUint::from(1u8) << FRACTION_BITS)
    }
}
