//! Approximate expected sums over the strongest cells. K_v is the number of cells of strength v or
//! more, as in [the module above](super).

use alloc::vec::Vec;

use super::count_distribution::NEGLIGIBLE_PROBABILITY;
use super::strength_distributions::StrengthDistributions;
use super::top_sums::{StrongestCellSums, mean_element_increase};

/// Approximate expected sums over the c strongest cells. For each v, K_v is the number of cells of
/// strength v or more. The sums are computed as if K_v were normally distributed.
#[derive(Debug, Clone)]
pub(crate) struct ApproximateCellSums {
    /// Moments of K_v, the number of cells of strength v or more, for each v ≥ 1.
    count_moments_by_strength: Vec<CellCountMoments>,
    /// Expected number of elements in a cell of strength 0.
    zero_strength_mean_elements: f64,
}

#[derive(Debug, Clone, Copy)]
struct CellCountMoments {
    mean: f64,
    standard_deviation: f64,
    mean_element_increase: f64,
}

impl ApproximateCellSums {
    pub(super) fn new(cells: u32, strengths: &StrengthDistributions) -> Self {
        let levels = (1..strengths.independent_cell_occupancy.len())
            .map(|v| {
                let (mean, variance) = strong_cell_count_moments(
                    cells,
                    &strengths.cell_occupancy_distribution,
                    &strengths.reach_probabilities[v],
                );
                CellCountMoments {
                    mean,
                    standard_deviation: libm::sqrt(variance),
                    mean_element_increase: mean_element_increase(
                        v,
                        &strengths.mean_elements_by_strength,
                    ),
                }
            })
            .take_while(|level| level.mean > NEGLIGIBLE_PROBABILITY)
            .collect();
        Self {
            count_moments_by_strength: levels,
            zero_strength_mean_elements: strengths.mean_elements_by_strength[0],
        }
    }

    /// Returns the sums for the cells of `functions` independent hash functions. `self` is for one
    /// hash function.
    pub(crate) fn for_several_hash_functions(&self, functions: u32) -> Self {
        let functions = f64::from(functions);
        let mut sums = self.clone();
        for level in &mut sums.count_moments_by_strength {
            level.mean *= functions;
            level.standard_deviation *= libm::sqrt(functions);
        }
        sums
    }

    /// Returns the approximate expected sums over the c strongest cells.
    pub(crate) fn sums_over_strongest_cells(&self, c: u32) -> StrongestCellSums {
        let mut top = StrongestCellSums {
            strength_sum: 0.0,
            squared_strength_sum: 0.0,
            element_load: 0.0,
        };
        let c = f64::from(c);
        // Expected number of cells with any strength among the c strongest.
        let mut strong = c;
        for (v, level) in (1..).zip(&self.count_moments_by_strength) {
            let cells = level.expected_capped_count(c);
            if v == 1 {
                strong = cells;
            }
            top.add_strength_contribution(v, level.mean_element_increase, cells);
        }
        top.element_load += (c - strong) * self.zero_strength_mean_elements;
        top
    }
}

impl CellCountMoments {
    /// Computes E\[min(c, K)\] for a normally distributed number K of cells with mean μ and
    /// standard deviation σ. The result is μ − σ·(φ(z) − z·(1 − Φ(z))), where z = (c − μ)/σ. φ is
    /// the density and Φ the distribution function of a standard normal variate.
    fn expected_capped_count(&self, c: f64) -> f64 {
        // K is constant up to rounding, and a division by σ would fail.
        if self.standard_deviation < 1e-9 {
            return self.mean.min(c);
        }
        let z = (c - self.mean) / self.standard_deviation;
        let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * core::f64::consts::PI);
        let above = 0.5 * libm::erfc(z * core::f64::consts::FRAC_1_SQRT_2);
        (self.mean - self.standard_deviation * (density - z * above)).max(0.0)
    }
}

/// Computes the mean and the variance of the number of cells that reach a given strength. There are
/// T = `cells` cells in all. `counts` is the distribution of one cell's count. `reach[n]` is the
/// probability r that a cell with a count of n reaches the strength.
///
/// Var = T·E\[r(1 − r)\] + Σ_j T·(1 + (T − 1)·(−1/(T − 1))^j)·a_j². The a_j are the coefficients of
/// r in the orthogonal polynomials of the distribution. The j-th polynomials of two counts of a
/// multinomial distribution have the correlation (−1/(T − 1))^j (Lancaster's expansion).
///
/// The term of j = 1 is 0. The approximation gives all terms with j > 2 the factor of j = 2, which
/// is T/(T − 1).
fn strong_cell_count_moments(cells: u32, counts: &[f64], reach: &[f64]) -> (f64, f64) {
    let mean = |value: &dyn Fn(f64, f64) -> f64| -> f64 {
        let terms = (0..).map(f64::from).zip(counts).zip(reach);
        terms.map(|((n, p), &r)| p * value(n, r)).sum()
    };
    let cells = f64::from(cells);
    let (r, n) = (mean(&|_, r| r), mean(&|n, _| n));
    let within = mean(&|_, r| r * (1.0 - r));
    let spread = mean(&|m, _| (m - n) * (m - n));
    let covariance = mean(&|m, x| (m - n) * (x - r));
    let between = mean(&|_, x| (x - r) * (x - r));
    let beyond = if cells > 1.0 && spread > 0.0 {
        (between - covariance * covariance / spread).max(0.0) * cells / (cells - 1.0)
    } else {
        0.0
    };
    (cells * r, cells * (within + beyond))
}
