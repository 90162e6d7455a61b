//! Kashin's frame: represents vectors of Euclidean length at most 1 by coefficients of similar
//! size.
//!
//! Source: Lyubarskii and Vershynin, "Uncertainty principles and vector quantization" (2010).
//!
//! The coefficients are not a linear function of the vector, for the following reason. Let U be a
//! matrix with 2d rows of d numbers and U^T·U = 1. The squared norms of its rows add up to d, so
//! one row has a norm of 0.7 or more. A unit vector along that row has a linear coefficient of 0.7
//! or more, for any d.

use alloc::vec::Vec;

use crate::mix::nth_splitmix64_output;

/// Maximum number of steps of the iteration that computes coefficients.
const MAX_COEFFICIENT_ITERATIONS: u32 = 60;

/// Length of the remainder at which the iteration ends early.
const REMAINDER_TOLERANCE: f64 = 1e-12;

/// Frame U = (1/√2)·\[H·S₀; H·S₁\], a matrix with D = 2d rows of d numbers. H is Hadamard's matrix
/// divided by √d. S₀ and S₁ are diagonal matrices of public signs. U^T·U = 1, and every row has the
/// squared norm 1/2.
///
/// ```
/// use hushbin::sums::KashinFrame;
///
/// let frame = KashinFrame::new(4, 7);
/// let coefficients = frame.vector_to_coefficients(&[1.0, 0.0, 0.0, 0.0]);
/// assert_eq!(coefficients.len(), 8);
/// let again = frame.coefficients_to_vector(&coefficients);
/// assert!((again[0] - 1.0).abs() < 1e-15 && again[1].abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KashinFrame {
    dimension: u32,
    seed: u64,
}

impl KashinFrame {
    /// Creates the frame of `dimension` d, with signs that depend on `seed`. Sign i of the matrix
    /// `S_c` is bit i mod 64 of word ⌊i/64⌋ of splitmix64 started at seed + c. A set bit means
    /// plus.
    ///
    /// # Panics
    /// If `dimension` is not a power of two.
    #[must_use]
    pub fn new(dimension: u32, seed: u64) -> Self {
        assert!(dimension.is_power_of_two(), "d is padded to a power of two");
        Self { dimension, seed }
    }

    /// Dimension d.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension as usize
    }

    /// Factor of the unnormalised transform, 1/√(2d).
    fn transform_scale(&self) -> f64 {
        libm::sqrt(0.5 / f64::from(self.dimension))
    }

    /// Multiplies numbers by the signs of S₀ or S₁. `copy` is 0 or 1.
    fn apply_signs(&self, copy: u64, numbers: &mut [f64]) {
        for (n, numbers) in (1..).zip(numbers.chunks_mut(64)) {
            let word = nth_splitmix64_output(self.seed.wrapping_add(copy), n);
            for (bit, number) in numbers.iter_mut().enumerate() {
                *number *= if word >> bit & 1 == 1 { 1.0 } else { -1.0 };
            }
        }
    }

    /// Computes U·v for a vector v, in O(d·log d) time.
    ///
    /// # Panics
    /// If `vector` does not have d numbers.
    #[must_use]
    pub fn vector_to_coefficients(&self, vector: &[f64]) -> Vec<f64> {
        assert_eq!(vector.len(), self.dimension());
        let mut all = vector.to_vec();
        all.extend(vector);
        for (copy, own) in (0..).zip(all.chunks_exact_mut(vector.len())) {
            self.apply_signs(copy, own);
            hadamard_transform(own);
        }
        let scale = self.transform_scale();
        all.iter_mut().for_each(|own| *own *= scale);
        all
    }

    /// Computes U^T·a for coefficients a, in O(d·log d) time.
    ///
    /// # Panics
    /// If there are not 2d coefficients.
    #[must_use]
    pub fn coefficients_to_vector(&self, coefficients: &[f64]) -> Vec<f64> {
        let dimension = self.dimension();
        assert_eq!(coefficients.len(), 2 * dimension);
        let (mut sum, scale) = (alloc::vec![0.0; dimension], self.transform_scale());
        for (copy, own) in (0..).zip(coefficients.chunks_exact(dimension)) {
            // H is symmetric, so the adjoint is the same transform followed by the signs.
            let mut own = own.to_vec();
            hadamard_transform(&mut own);
            self.apply_signs(copy, &mut own);
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum += own * scale;
            }
        }
        sum
    }

    /// Computes coefficients a of a vector v: U^T·a is close to v, and ‖a‖∞ is at most `bound`. U
    /// is the matrix of the [`KashinFrame`]. The iteration that computes a has at most 60 steps.
    /// Returns a, and the length ‖v − U^T·a‖₂ of the remainder. The coefficients are within the
    /// bound for every vector, even if a number of the vector is NaN.
    ///
    /// ```
    /// use hushbin::sums::KashinFrame;
    ///
    /// let (values, left) = KashinFrame::new(4, 7).bounded_coefficients(&[0.6, 0.0, 0.0, -0.8], 1.0);
    /// assert!(left < 1e-12);
    /// assert!(values.iter().all(|own| own.abs() <= 1.0));
    /// ```
    ///
    /// # Panics
    /// If `vector` does not have d numbers.
    #[must_use]
    pub fn bounded_coefficients(&self, vector: &[f64], bound: f64) -> (Vec<f64>, f64) {
        // If one operand is NaN, `max` and `min` return the other.
        let clip = |own: f64| own.max(-bound).min(bound);
        let mut values: Vec<f64> = self
            .vector_to_coefficients(vector)
            .into_iter()
            .map(clip)
            .collect();
        let mut steps = 0;
        loop {
            let again = self.coefficients_to_vector(&values);
            let rest: Vec<f64> = vector.iter().zip(again).map(|(v, own)| v - own).collect();
            let left = euclidean_length(&rest);
            if left <= REMAINDER_TOLERANCE || steps == MAX_COEFFICIENT_ITERATIONS {
                return (values, left);
            }
            // Project onto the coefficients with U^T·a = v, then onto the box of the bound.
            for (own, more) in values.iter_mut().zip(self.vector_to_coefficients(&rest)) {
                *own = clip(*own + more);
            }
            steps += 1;
        }
    }
}

/// Euclidean length ‖v‖₂.
pub(super) fn euclidean_length(vector: &[f64]) -> f64 {
    libm::sqrt(vector.iter().map(|own| own * own).sum())
}

/// Applies the fast Walsh–Hadamard transform, unnormalised.
fn hadamard_transform(numbers: &mut [f64]) {
    let mut half = 1;
    while half < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}
