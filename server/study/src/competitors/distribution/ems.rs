//! Expectation maximisation with smoothing (EMS).

use super::square_wave::TransitionMatrix;

/// Change of the log-likelihood below which the loop ends, as in Li et al.
const MIN_LOG_LIKELIHOOD_GAIN: f64 = 1e-3;
/// Maximum number of steps, as in the program of Li et al.
const MAX_ITERATIONS: u32 = 10_000;

/// Estimates the shares of people in the input cells by the EMS of Li et al. `counts` has the
/// number of reports in each output cell.
///
/// The algorithm starts with equal shares. Each iteration does one step of expectation
/// maximisation. It then replaces each share by the weighted mean of itself (weight 2) and its two
/// neighbours (weight 1). At the ends the missing neighbour is left out.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::{SquareWaveMechanism, expectation_maximization_shares}};
///
/// let wave = SquareWaveMechanism::new(&Budget::new(4.0, 0.0)?)?;
/// let mut counts = [100; 16];
/// counts[5] = 2000;
/// let shares = expectation_maximization_shares(&wave.transition_matrix(16), &counts);
/// assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// assert!(shares[5] > 2.0 * shares[9]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn expectation_maximization_shares(transition: &TransitionMatrix, counts: &[u64]) -> Vec<f64> {
    let cells = transition.cell_count();
    let mut shares = vec![1.0 / cells as f64; cells];
    let mut expected = transition.output_probabilities(&shares);
    let mut before = f64::NEG_INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let pairs = counts.iter().zip(&expected);
        let ratios: Vec<f64> = pairs.map(|(count, own)| *count as f64 / own).collect();
        for (share, factor) in shares
            .iter_mut()
            .zip(transition.expected_weight_by_input(&ratios))
        {
            *share *= factor;
        }
        shares = smooth_with_neighbours(&shares);
        // Smoothing does not keep the sum, because the ends have fewer neighbours.
        let total: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= total;
        }
        expected = transition.output_probabilities(&shares);
        let pairs = counts.iter().zip(&expected);
        let likelihood: f64 = pairs.map(|(count, own)| *count as f64 * own.ln()).sum();
        // The absolute value is compared, because smoothing can lower the likelihood.
        if (likelihood - before).abs() < MIN_LOG_LIKELIHOOD_GAIN {
            break;
        }
        before = likelihood;
    }
    shares
}

/// Replaces each share by the weighted mean of itself (weight 2) and its neighbours (weight 1).
fn smooth_with_neighbours(shares: &[f64]) -> Vec<f64> {
    let last = shares.len() - 1;
    let mean = |cell: usize| {
        let (mut sum, mut weight) = (2.0 * shares[cell], 2.0);
        if cell > 0 {
            (sum, weight) = (sum + shares[cell - 1], weight + 1.0);
        }
        if cell < last {
            (sum, weight) = (sum + shares[cell + 1], weight + 1.0);
        }
        sum / weight
    };
    (0..=last).map(mean).collect()
}
