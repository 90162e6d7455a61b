//! Square Wave: reports a point near the number or anywhere in the range.

use hushbin::Error;
use rand_core::Rng;
use rand_distr::{Distribution, StandardUniform};

use crate::competitors::budget::Budget;

/// Square Wave of Li et al., "Estimating Numerical Distributions under Local Differential Privacy",
/// SIGMOD 2020. A report of a number v in [0, 1] lies in [−b, 1 + b]. Its density is p = e·q within
/// b of v, and q elsewhere. The half width b maximises the information of a report about v.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::SquareWave};
///
/// let wave = SquareWave::new(&Budget::new(1.0, 0.0)?)?;
/// assert!((wave.half_width() - 0.2561).abs() < 1e-4);
/// assert!((wave.density(0.5, 0.6) / wave.density(0.5, 0.9) - 1.0_f64.exp()).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquareWave {
    half_width: f64,
    /// Density outside the window, q.
    base: f64,
    /// Density inside the window, p.
    raised: f64,
}

/// Probabilities of output cells for each input cell. Numbers are uniform within an input cell.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Probability of an output cell outside every window.
    base: f64,
    /// Excess over the base for each input cell: the first output cell with an excess, and the
    /// values from there.
    columns: Vec<(usize, Vec<f64>)>,
    /// Excess over the base for each output cell: the first input cell with an excess, and the
    /// values from there.
    rows: Vec<(usize, Vec<f64>)>,
}

impl SquareWave {
    /// Returns the mechanism with the budget's ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is below the minimum of [`Budget::new`].
    pub fn new(budget: &Budget) -> Result<Self, Error> {
        let (epsilon, e) = (budget.epsilon(), budget.e());
        hushbin::bounds::EPSILON.check(epsilon)?;
        let half_width =
            (epsilon * e - budget.e_minus_1()) / (2.0 * e * (budget.e_minus_1() - epsilon));
        // The window has length 2b and the rest of the range length 1: q·(2b·e + 1) = 1.
        let base = 1.0 / (2.0 * half_width * e + 1.0);
        Ok(Self {
            half_width,
            base,
            raised: e * base,
        })
    }

    /// Half width of the window, b.
    #[must_use]
    pub const fn half_width(&self) -> f64 {
        self.half_width
    }

    /// Returns the density of a report in [−b, 1 + b], for a number in [0, 1].
    #[must_use]
    pub fn density(&self, number: f64, report: f64) -> f64 {
        if (report - number).abs() <= self.half_width {
            self.raised
        } else {
            self.base
        }
    }

    /// Draws a report of a number in [0, 1].
    pub fn randomize<R: Rng + ?Sized>(&self, number: f64, rng: &mut R) -> f64 {
        let (choice, place): (f64, f64) =
            (StandardUniform.sample(rng), StandardUniform.sample(rng));
        if choice < 2.0 * self.half_width * self.raised {
            return number + (2.0 * place - 1.0) * self.half_width;
        }
        // The range outside the window has total length 1. A part of length `number` of it lies
        // below the window.
        let beyond = if place < number { -1.0 } else { 1.0 };
        place + beyond * self.half_width
    }

    /// Returns the output cell of a report, among `cells` equally wide ones.
    #[must_use]
    pub fn cell(&self, report: f64, cells: usize) -> usize {
        let part = (report + self.half_width) / (1.0 + 2.0 * self.half_width);
        ((part * cells as f64) as usize).min(cells - 1)
    }

    /// Returns the probabilities of output cells, for equal numbers of input and output cells.
    #[must_use]
    pub fn transition(&self, cells: usize) -> Transition {
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
        // Mean length of the overlap of output cell r with the window, over numbers in input cell
        // i.
        let overlap = |r: usize, i: usize| {
            let (lower, upper) = (r as f64 * output - b, (r + 1) as f64 * output - b);
            let mean = |end: f64| {
                let distance = end - i as f64 * input;
                (integral(distance) - integral(distance - input)) / input
            };
            (mean(upper) - mean(lower)).max(0.0)
        };
        let above = |r, i| (self.raised - self.base) * overlap(r, i);
        let all = 0..cells;
        Transition {
            base: self.base * output,
            columns: (all.clone())
                .map(|i| band(all.clone().map(|r| above(r, i))))
                .collect(),
            rows: (all.clone())
                .map(|r| band(all.clone().map(|i| above(r, i))))
                .collect(),
        }
    }
}

/// Returns the index of the first non-zero number, and the numbers from there to the last non-zero
/// one.
fn band(numbers: impl Iterator<Item = f64>) -> (usize, Vec<f64>) {
    // Differences of integrals leave rounding errors in place of zeros.
    const ROUNDING: f64 = 1e-13;
    let mut numbers: Vec<f64> = numbers.collect();
    let is_some = |own: &f64| *own > ROUNDING;
    let first = numbers.iter().position(is_some).unwrap_or(0);
    let end = numbers
        .iter()
        .rposition(is_some)
        .map_or(first, |last| last + 1);
    numbers.truncate(end);
    (first, numbers.split_off(first))
}

/// Returns the weighted sum of bands plus the base times the sum of weights.
fn combined(bands: &[(usize, Vec<f64>)], weights: &[f64], base: f64) -> Vec<f64> {
    let mut sums = vec![base * weights.iter().sum::<f64>(); weights.len()];
    for ((first, band), weight) in bands.iter().zip(weights) {
        for (sum, own) in sums[*first..].iter_mut().zip(band) {
            *sum += weight * own;
        }
    }
    sums
}

impl Transition {
    /// Number of input cells, equal to the number of output cells.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.columns.len()
    }

    /// Returns the probability of an output cell for an input cell.
    #[must_use]
    pub fn probability(&self, output: usize, input: usize) -> f64 {
        let (first, band) = &self.columns[input];
        let above = output.checked_sub(*first).and_then(|place| band.get(place));
        self.base + above.unwrap_or(&0.0)
    }

    /// Returns the probabilities of output cells, for shares of input cells.
    #[must_use]
    pub fn outputs(&self, shares: &[f64]) -> Vec<f64> {
        combined(&self.columns, shares, self.base)
    }

    /// Returns the weighted sum of output probabilities for each input cell, with a weight for each
    /// output cell.
    #[must_use]
    pub fn inputs(&self, weights: &[f64]) -> Vec<f64> {
        combined(&self.rows, weights, self.base)
    }
}
