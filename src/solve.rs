//! Linear equations with a symmetric positive definite matrix.

use alloc::vec::Vec;

/// Replaces the lower half of a symmetric positive definite matrix by its Cholesky factor. `size`
/// is the number of rows. If the matrix is not positive definite, the factor has tiny numbers on
/// its diagonal.
///
/// # Panics
/// If the matrix has fewer than size² numbers.
///
/// ```
/// use hushbin::solve::{cholesky_factorise, solve_with_cholesky_factor};
///
/// let mut matrix = [4.0, 2.0, 2.0, 10.0];
/// cholesky_factorise(&mut matrix, 2);
/// assert_eq!(solve_with_cholesky_factor(&matrix, &[8.0, 22.0]), [1.0, 2.0]);
/// ```
pub fn cholesky_factorise(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        for column in 0..=row {
            let mut sum = matrix[row * size + column];
            for at in 0..column {
                sum -= matrix[row * size + at] * matrix[column * size + at];
            }
            // A positive pivot, even if the matrix is not positive definite or rounding made the
            // sum negative.
            matrix[row * size + column] = if row == column {
                libm::sqrt(sum.max(f64::MIN_POSITIVE))
            } else {
                sum / matrix[column * size + column]
            };
        }
    }
}

/// Solves linear equations, given the Cholesky factor of the matrix (see [`cholesky_factorise`]).
/// `right` is the right-hand side, with one number for each row.
///
/// # Panics
/// If `right` has more numbers than the factor has rows.
#[must_use]
pub fn solve_with_cholesky_factor(factor: &[f64], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    // Forward substitution by the factor, then back substitution by its transpose.
    let mut solution = right.to_vec();
    for row in 0..size {
        for at in 0..row {
            solution[row] -= factor[row * size + at] * solution[at];
        }
        solution[row] /= factor[row * size + row];
    }
    for row in (0..size).rev() {
        for at in row + 1..size {
            solution[row] -= factor[at * size + row] * solution[at];
        }
        solution[row] /= factor[row * size + row];
    }
    solution
}
