//! Square Wave: reports a point that is probably near the number, but can be anywhere in the range
//! of reports.

use hushbin::Error;
use rand_core::Rng;
use rand_distr::{Distribution, StandardUniform};

use crate::competitors::budget::Budget;

/// Square Wave of Li et al., "Estimating Numerical Distributions under Local Differential Privacy",
/// SIGMOD 2020. A report of a number v in [0, 1] lies in [−b, 1 + b]. Its density is p = exp(ε)·q
/// within a distance b of v (the raised interval), and q elsewhere. The half width b is chosen such
/// that a report has the most information about v.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::SquareWaveMechanism};
///
/// let wave = SquareWaveMechanism::new(&Budget::new(1.0, 0.0)?)?;
/// assert!((wave.half_width() - 0.2561).abs() < 1e-4);
/// assert!((wave.report_density(0.5, 0.6) / wave.report_density(0.5, 0.9) - 1.0_f64.exp()).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquareWaveMechanism {
    half_width: f64,
    /// Density q outside the raised interval.
    base_density: f64,
    /// Density p inside the raised interval.
    raised_density: f64,
}

/// Transition matrix: the probability of each output cell, for each input cell. Numbers are assumed
/// to be uniform within an input cell.
#[derive(Debug, Clone)]
pub struct TransitionMatrix {
    /// Probability of an output cell that the raised interval does not touch.
    base_probability: f64,
    /// Columns of the matrix, one for each input cell: the index of the first output cell whose
    /// probability exceeds `base`, and the excesses over `base` from this cell on.
    column_excess_bands: Vec<(usize, Vec<f64>)>,
    /// Rows of the matrix, one for each output cell: the index of the first input cell for which
    /// the output cell's probability exceeds `base`, and the excesses over `base` from this cell
    /// on.
    row_excess_bands: Vec<(usize, Vec<f64>)>,
}

impl SquareWaveMechanism {
    /// Returns the mechanism with the budget's ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is below the minimum of [`Budget::new`].
    pub fn new(budget: &Budget) -> Result<Self, Error> {
        let (epsilon, e) = (budget.epsilon(), budget.exp_epsilon());
        hushbin::bounds::EPSILON_RANGE.check_in_range(epsilon)?;
        let half_width = (epsilon * e - budget.exp_m1_epsilon())
            / (2.0 * e * (budget.exp_m1_epsilon() - epsilon));
        // The raised interval has length 2b and the rest of the range has length 1, so q·(2b·e + 1)
        // = 1.
        let base = 1.0 / (2.0 * half_width * e + 1.0);
        Ok(Self {
            half_width,
            base_density: base,
            raised_density: e * base,
        })
    }

    /// Half the width b of the raised interval, in which reports are likelier.
    #[must_use]
    pub const fn half_width(&self) -> f64 {
        self.half_width
    }

    /// Returns the density of a report in [−b, 1 + b], for a number in [0, 1].
    #[must_use]
    pub fn report_density(&self, number: f64, report: f64) -> f64 {
        if (report - number).abs() <= self.half_width {
            self.raised_density
        } else {
            self.base_density
        }
    }

    /// Draws a report for a number in [0, 1].
    pub fn randomize<R: Rng + ?Sized>(&self, number: f64, rng: &mut R) -> f64 {
        let (choice, place): (f64, f64) =
            (StandardUniform.sample(rng), StandardUniform.sample(rng));
        if choice < 2.0 * self.half_width * self.raised_density {
            return number + (2.0 * place - 1.0) * self.half_width;
        }
        // The range outside the raised interval has total length 1. The part below the interval has
        // length `number`.
        let beyond = if place < number { -1.0 } else { 1.0 };
        place + beyond * self.half_width
    }

    /// Returns the index of the output cell that contains a report. The `cells` cells divide the
    /// range of reports equally.
    #[must_use]
    pub fn output_cell(&self, report: f64, cells: usize) -> usize {
        let part = (report + self.half_width) / (1.0 + 2.0 * self.half_width);
        ((part * cells as f64) as usize).min(cells - 1)
    }

    /// Returns the transition matrix from `cells` equally wide input cells to `cells` equally wide
    /// output cells.
    #[must_use]
    pub fn transition_matrix(&self, cells: usize) -> TransitionMatrix {
        let b = self.half_width;
        let (input, output) = (1.0 / cells as f64, (1.0 + 2.0 * b) / cells as f64);
        // Integral of t ↦ clamp(t, −b, b).
        let integral = |t: f64| {
            if t.abs() <= b {
                0.5 * t * t
            } else {
                b * t.abs() - 0.5 * b * b
            }
        };
        // Mean length of the part of output cell r that lies in the raised interval, averaged over
        // numbers in input cell i.
        let overlap = |r: usize, i: usize| {
            let (lower, upper) = (r as f64 * output - b, (r + 1) as f64 * output - b);
            let mean = |end: f64| {
                let distance = end - i as f64 * input;
                (integral(distance) - integral(distance - input)) / input
            };
            (mean(upper) - mean(lower)).max(0.0)
        };
        let above = |r, i| (self.raised_density - self.base_density) * overlap(r, i);
        let all = 0..cells;
        TransitionMatrix {
            base_probability: self.base_density * output,
            column_excess_bands: (all.clone())
                .map(|i| nonzero_band(all.clone().map(|r| above(r, i))))
                .collect(),
            row_excess_bands: (all.clone())
                .map(|r| nonzero_band(all.clone().map(|i| above(r, i))))
                .collect(),
        }
    }
}

/// Returns the index of the first non-zero number, and all numbers from the first to the last
/// non-zero one.
fn nonzero_band(numbers: impl Iterator<Item = f64>) -> (usize, Vec<f64>) {
    // Largest number that counts as zero: differences of integrals leave rounding errors.
    const ROUNDING_TOLERANCE: f64 = 1e-13;
    let mut numbers: Vec<f64> = numbers.collect();
    let is_some = |own: &f64| *own > ROUNDING_TOLERANCE;
    let first = numbers.iter().position(is_some).unwrap_or(0);
    let end = numbers
        .iter()
        .rposition(is_some)
        .map_or(first, |last| last + 1);
    numbers.truncate(end);
    (first, numbers.split_off(first))
}

/// Multiplies a matrix by the vector `weights`. Each column of the matrix is `base` everywhere,
/// plus a band of further values from the row `first` on.
fn banded_matrix_times_vector(bands: &[(usize, Vec<f64>)], weights: &[f64], base: f64) -> Vec<f64> {
    let mut sums = vec![base * weights.iter().sum::<f64>(); weights.len()];
    for ((first, band), weight) in bands.iter().zip(weights) {
        for (sum, own) in sums[*first..].iter_mut().zip(band) {
            *sum += weight * own;
        }
    }
    sums
}

impl TransitionMatrix {
    /// Number of input cells, equal to the number of output cells.
    #[must_use]
    pub const fn cell_count(&self) -> usize {
        self.column_excess_bands.len()
    }

    /// Returns the probability that the report is in the output cell `output` if the number is in
    /// the input cell `input`.
    #[must_use]
    pub fn transition_probability(&self, output: usize, input: usize) -> f64 {
        let (first, band) = &self.column_excess_bands[input];
        let above = output.checked_sub(*first).and_then(|place| band.get(place));
        self.base_probability + above.unwrap_or(&0.0)
    }

    /// Returns the probability of each output cell if the input cells have these `shares` of all
    /// people.
    #[must_use]
    pub fn output_probabilities(&self, shares: &[f64]) -> Vec<f64> {
        banded_matrix_times_vector(&self.column_excess_bands, shares, self.base_probability)
    }

    /// Returns, for each input cell, the mean weight of the output cell: the sum, over output
    /// cells, of probability times weight.
    #[must_use]
    pub fn expected_weight_by_input(&self, weights: &[f64]) -> Vec<f64> {
        banded_matrix_times_vector(&self.row_excess_bands, weights, self.base_probability)
    }
}
