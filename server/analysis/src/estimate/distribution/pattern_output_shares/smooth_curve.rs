//! Fit of a smooth curve to the shares of bins.
//!
//! The curve consists of the logarithms of the shares. It maximises the likelihood of the reports
//! minus λ/2 times the squared second differences of the logarithms (Eilers, "Ill-posed problems
//! with counts, the composite link model and penalized likelihood", Statistical Modelling 7, 2007).
//! The penalty weight λ maximises the evidence (marginal likelihood) in Laplace's approximation.
//! The largest λ leaves an exponential distribution.

use hushbin::mechanism::pattern::PatternEstimator;
use hushbin::solve::{cholesky_factorise, solve_with_cholesky_factor};

use super::probability_matrix;

/// Exponents h of the penalty weights λ = 10^(h/2) that are tried. The weights run from 10⁻³ to
/// 10⁶.
const PENALTY_HALF_EXPONENTS: std::ops::RangeInclusive<i32> = -6..=12;
/// Weight of a second penalty, on the squared distance of each logarithm from its value for equal
/// shares. This penalty bounds the logarithms of bins about which the reports contain no
/// information.
const RIDGE_PENALTY_WEIGHT: f64 = 1e-6;
/// Maximum change of a logarithm in one Newton step.
const MAX_NEWTON_CHANGE: f64 = 3.0;
/// Threshold for the end of the iteration. The iteration stops after a Newton step in which no
/// logarithm changes by this much. The next step would change each logarithm by at most about the
/// square of the threshold.
const CONVERGENCE_THRESHOLD: f64 = 1e-4;
/// Maximum number of Newton steps. About five are usually enough.
const MAX_NEWTON_STEPS: usize = 60;
/// Maximum number of times that one step is halved to reach a higher penalised likelihood. Halving
/// is hardly ever needed.
const MAX_STEP_HALVINGS: i32 = 40;

/// Fits one curve for each penalty weight λ, from the largest (smoothest) to the smallest. Each fit
/// starts from the previous curve.
///
/// `shares` are the observed shares of outputs. Returns the λ with the largest evidence, and the
/// shares of bins under its curve. These shares sum to 1.
pub(super) fn fit_smooth_bin_shares(
    rates: &PatternEstimator,
    shares: &[f64],
    reports: f64,
) -> (f64, Vec<f64>) {
    let even = -(rates.cell_count() as f64).ln();
    let mut logs = vec![even; rates.cell_count()];
    let mut best = (f64::NEG_INFINITY, 0.0, logs.clone());
    for half in PENALTY_HALF_EXPONENTS.rev() {
        let curve = PenalisedLikelihood {
            pattern_probabilities: rates,
            observed_output_shares: shares,
            reports,
            log_equal_share: even,
            penalty_weight: 10_f64.powf(0.5 * f64::from(half)),
        };
        let evidence = curve.maximise_for_log_evidence(&mut logs);
        if evidence > best.0 {
            best = (evidence, curve.penalty_weight, logs.clone());
        }
    }
    let shares: Vec<f64> = best.2.iter().map(|log| log.exp()).collect();
    let total: f64 = shares.iter().sum();
    (best.1, shares.iter().map(|share| share / total).collect())
}

/// Penalised likelihood as a function of the logarithms of the bins' shares, for one penalty weight
/// λ. Counts of outputs have Poisson distributions.
struct PenalisedLikelihood<'a> {
    pattern_probabilities: &'a PatternEstimator,
    observed_output_shares: &'a [f64],
    reports: f64,
    /// Logarithm of the share of each bin if all are equal, ln(1/K) for K bins.
    log_equal_share: f64,
    penalty_weight: f64,
}

impl PenalisedLikelihood<'_> {
    /// Moves the logarithms to the maximum of the penalised likelihood by Newton's method. Returns
    /// the logarithm of the evidence there, up to a constant.
    fn maximise_for_log_evidence(&self, logs: &mut Vec<f64>) -> f64 {
        let (mut value, mut expected) = self.penalised_log_likelihood(logs);
        for _ in 0..MAX_NEWTON_STEPS {
            let step = self.newton_step(logs, &expected);
            let longest = step.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
            let scale = (MAX_NEWTON_CHANGE / longest).min(1.0);
            let higher = (0..MAX_STEP_HALVINGS).find_map(|halving| {
                let scale = scale * 0.5_f64.powi(halving);
                let moved = logs.iter().zip(&step).map(|(log, own)| log + scale * own);
                let moved: Vec<f64> = moved.collect();
                let at = self.penalised_log_likelihood(&moved);
                (at.0 > value).then_some((moved, at))
            });
            // Very close to the maximum, rounding errors hide any higher value.
            let Some((moved, at)) = higher else { break };
            *logs = moved;
            (value, expected) = at;
            if longest < CONVERGENCE_THRESHOLD {
                break;
            }
        }
        let factor = self.expected_curvature_cholesky(logs, &expected);
        let log_root: f64 = diagonal(&factor, logs.len()).map(f64::ln).sum();
        // Laplace's approximation: value − ½ ln det + ½(K − 2) ln λ, where det is the determinant
        // of the curvature. `log_root` is ½ ln det.
        let differences = logs.len().saturating_sub(2) as f64;
        value - log_root + 0.5 * differences * self.penalty_weight.ln()
    }

    /// Returns the Newton step from these logarithms. If the penalised likelihood is not concave
    /// there, the expected curvature replaces the observed one.
    fn newton_step(&self, logs: &[f64], expected: &[f64]) -> Vec<f64> {
        let pairs = || self.observed_output_shares.iter().zip(expected);
        let excess: Vec<f64> = pairs().map(|(share, own)| share / own - 1.0).collect();
        let weights: Vec<f64> = pairs().map(|(share, own)| share / (own * own)).collect();
        let mut slopes =
            probability_matrix::transposed_product(self.pattern_probabilities, &excess);
        for (slope, log) in slopes.iter_mut().zip(logs) {
            *slope *= self.reports * log.exp();
        }
        // A bin's share is the exponential of its logarithm. So the second derivative of the share
        // equals the first, and the slopes appear on the diagonal of the curvature.
        let mut factor = self.curvature_cholesky(logs, &weights, &slopes);
        // `cholesky_factorise` leaves at most this number on the diagonal if the matrix is not
        // positive definite.
        if diagonal(&factor, logs.len()).any(|own| own <= f64::MIN_POSITIVE.sqrt()) {
            factor = self.expected_curvature_cholesky(logs, expected);
        }
        for (slope, log) in slopes.iter_mut().zip(logs) {
            *slope -= RIDGE_PENALTY_WEIGHT * (log - self.log_equal_share);
        }
        for (first, own) in logs.windows(3).enumerate() {
            let second = second_difference(own);
            for (slope, weight) in slopes[first..].iter_mut().zip(SECOND_DIFFERENCE_WEIGHTS) {
                *slope -= self.penalty_weight * weight * second;
            }
        }
        solve_with_cholesky_factor(&factor, &slopes)
    }

    /// Returns the penalised log-likelihood up to a constant, and the expected shares of outputs.
    fn penalised_log_likelihood(&self, logs: &[f64]) -> (f64, Vec<f64>) {
        let bins: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let expected = probability_matrix::expected_outputs(self.pattern_probabilities, &bins);
        let likelihood: f64 = (self.observed_output_shares.iter().zip(&expected))
            .map(|(share, own)| share * own.ln() - own)
            .sum();
        let rough: f64 = logs
            .windows(3)
            .map(|own| second_difference(own).powi(2))
            .sum();
        let far: f64 = logs
            .iter()
            .map(|log| (log - self.log_equal_share).powi(2))
            .sum();
        let penalty = 0.5 * (self.penalty_weight * rough + RIDGE_PENALTY_WEIGHT * far);
        (self.reports * likelihood - penalty, expected)
    }

    /// Returns the Cholesky factor of the expected curvature at these logarithms.
    fn expected_curvature_cholesky(&self, logs: &[f64], expected: &[f64]) -> Vec<f64> {
        let over: Vec<f64> = expected.iter().map(|own| 1.0 / own).collect();
        self.curvature_cholesky(logs, &over, &[])
    }

    /// Returns the Cholesky factor of the curvature of the negative penalised log-likelihood.
    /// `weights` are the weights of outputs in this curvature. The numbers in `subtracted`, if any,
    /// are first subtracted from the diagonal.
    fn curvature_cholesky(&self, logs: &[f64], weights: &[f64], subtracted: &[f64]) -> Vec<f64> {
        let size = logs.len();
        let bins: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let mut curvature =
            probability_matrix::weighted_gram_matrix(self.pattern_probabilities, weights);
        for row in 0..size {
            let scale = self.reports * bins[row];
            for (own, bin) in curvature[row * size..][..=row].iter_mut().zip(&bins) {
                *own *= scale * bin;
            }
            curvature[row * size + row] +=
                RIDGE_PENALTY_WEIGHT - subtracted.get(row).unwrap_or(&0.0);
        }
        for first in 0..size.saturating_sub(2) {
            for (row, weight) in SECOND_DIFFERENCE_WEIGHTS.iter().enumerate() {
                let start = (first + row) * size + first;
                for (own, other) in curvature[start..]
                    .iter_mut()
                    .zip(&SECOND_DIFFERENCE_WEIGHTS[..=row])
                {
                    *own += self.penalty_weight * weight * other;
                }
            }
        }
        cholesky_factorise(&mut curvature, size);
        curvature
    }
}

/// Returns the diagonal of a square matrix.
fn diagonal(matrix: &[f64], size: usize) -> impl Iterator<Item = f64> {
    matrix.iter().step_by(size + 1).copied()
}

/// Coefficients of a second difference.
const SECOND_DIFFERENCE_WEIGHTS: [f64; 3] = [1.0, -2.0, 1.0];

fn second_difference(logs: &[f64]) -> f64 {
    logs.iter()
        .zip(SECOND_DIFFERENCE_WEIGHTS)
        .map(|(log, weight)| log * weight)
        .sum()
}
