//! Kashin's frame: vectors of Euclidean length at most 1 as coefficients none of which is
//! much larger than the others.
//!
//! Lyubarskii and Vershynin, "Uncertainty principles and vector quantization" (2010). The
//! coefficients are no linear function of the vector: of no frame with U^T·U = 1 can they be
//! (its 2d rows have squared norms of sum d, so that a vector along one of them has a
//! coefficient of 0.7 or more, for any d).

use alloc::vec::Vec;

use crate::mix::output;

/// Steps of the iteration at most.
const STEPS: u32 = 60;

/// What may be left of a vector when the iteration ends early.
const ENOUGH: f64 = 1e-12;

/// U = (1/√2)·\[H·S₀; H·S₁\], D = 2d rows of d numbers: H is Hadamard's matrix over √d, S₀ and
/// S₁ are diagonals of public signs. U^T·U = 1, and every row has the squared norm 1/2.
///
/// ```
/// use hushbin::sums::Frame;
///
/// let frame = Frame::new(4, 7);
/// let coefficients = frame.apply(&[1.0, 0.0, 0.0, 0.0]);
/// assert_eq!(coefficients.len(), 8);
/// let again = frame.adjoint(&coefficients);
/// assert!((again[0] - 1.0).abs() < 1e-15 && again[1].abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    dimension: u32,
    seed: u64,
}

impl Frame {
    /// The frame of `dimension` d with the signs of `seed`: sign i of copy c is bit i mod 64
    /// of word ⌊i/64⌋ of splitmix64 started at seed + c, set for plus.
    ///
    /// # Panics
    /// If `dimension` is no power of two.
    #[must_use]
    pub fn new(dimension: u32, seed: u64) -> Self {
        assert!(dimension.is_power_of_two(), "d is padded to a power of two");
        Self { dimension, seed }
    }

    /// d.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension as usize
    }

    /// 1/√(2d).
    fn scale(&self) -> f64 {
        libm::sqrt(0.5 / f64::from(self.dimension))
    }

    /// Multiplies numbers by the signs of a copy.
    fn sign(&self, copy: u64, numbers: &mut [f64]) {
        for (n, numbers) in (1..).zip(numbers.chunks_mut(64)) {
            let word = output(self.seed.wrapping_add(copy), n);
            for (bit, number) in numbers.iter_mut().enumerate() {
                *number *= if word >> bit & 1 == 1 { 1.0 } else { -1.0 };
            }
        }
    }

    /// U·v, in O(d·log d).
    ///
    /// # Panics
    /// If `vector` has not d numbers.
    #[must_use]
    pub fn apply(&self, vector: &[f64]) -> Vec<f64> {
        assert_eq!(vector.len(), self.dimension());
        let mut all = vector.to_vec();
        all.extend(vector);
        for (copy, own) in (0..).zip(all.chunks_exact_mut(vector.len())) {
            self.sign(copy, own);
            hadamard(own);
        }
        let scale = self.scale();
        all.iter_mut().for_each(|own| *own *= scale);
        all
    }

    /// U^T·a, in O(d·log d).
    ///
    /// # Panics
    /// If there are not 2d coefficients.
    #[must_use]
    pub fn adjoint(&self, coefficients: &[f64]) -> Vec<f64> {
        let dimension = self.dimension();
        assert_eq!(coefficients.len(), 2 * dimension);
        let (mut sum, scale) = (alloc::vec![0.0; dimension], self.scale());
        for (copy, own) in (0..).zip(coefficients.chunks_exact(dimension)) {
            let mut own = own.to_vec();
            hadamard(&mut own);
            self.sign(copy, &mut own);
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum += own * scale;
            }
        }
        sum
    }

    /// Coefficients a of a vector v, ‖a‖∞ ≤ `bound`, with U^T·a = v as nearly as 60 steps come, and
    /// ‖v − U^T·a‖₂, which they leave of it: each step projects on those that are v's, and then on
    /// the box. They are in the box whatever the vector is, also of one that holds NaN.
    ///
    /// ```
    /// use hushbin::sums::Frame;
    ///
    /// let (values, left) = Frame::new(4, 7).coefficients(&[0.6, 0.0, 0.0, -0.8], 1.0);
    /// assert!(left < 1e-12);
    /// assert!(values.iter().all(|own| own.abs() <= 1.0));
    /// ```
    ///
    /// # Panics
    /// If `vector` has not d numbers.
    #[must_use]
    pub fn coefficients(&self, vector: &[f64], bound: f64) -> (Vec<f64>, f64) {
        // Of NaN and a number `max` and `min` give the number.
        let clip = |own: f64| own.max(-bound).min(bound);
        let mut values: Vec<f64> = self.apply(vector).into_iter().map(clip).collect();
        let mut steps = 0;
        loop {
            let again = self.adjoint(&values);
            let rest: Vec<f64> = vector.iter().zip(again).map(|(v, own)| v - own).collect();
            let left = length(&rest);
            if left <= ENOUGH || steps == STEPS {
                return (values, left);
            }
            for (own, more) in values.iter_mut().zip(self.apply(&rest)) {
                *own = clip(*own + more);
            }
            steps += 1;
        }
    }
}

/// ‖v‖₂.
pub(super) fn length(vector: &[f64]) -> f64 {
    libm::sqrt(vector.iter().map(|own| own * own).sum())
}

/// The fast Walsh–Hadamard transform, without a scale.
fn hadamard(numbers: &mut [f64]) {
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
