//! Smallest worst-case variance of one report's estimate of a number, over all numbers.
//!
//! Numbers are from −1 to 1. Let g = tanh(ε/2) and e = exp(ε). The smallest worst-case variance is
//! coth(g)/g − 1 as long as 2g ≤ ln(1 + 2/e), that is, up to ε = 0.71. For some larger values of ε,
//! weak duality proves it within 0.1 per cent (see the tests of the window mechanism). Between two
//! of these values, its logarithm is interpolated.

/// Values of ε, each with the smallest worst-case variance. The first two are computed by the
/// formula.
const PROVEN_MINIMAX_VARIANCES: [[f64; 2]; 16] = [
    [0.6, 11.11516],
    [0.7, 8.168788],
    [0.75, 7.116345],
    [1.0, 3.989869],
    [1.25, 2.512285],
    [1.5, 1.690955],
    [2.0, 0.8653263],
    [2.5, 0.4931772],
    [2.75, 0.3848467],
    [3.0, 0.3039704],
    [3.5, 0.1931050],
    [4.0, 0.1270493],
    [4.5, 0.08468676],
    [5.0, 0.05734167],
    [5.5, 0.03918118],
    [6.0, 0.02707960],
];

/// Returns the smallest worst-case variance, and true if it is exact. Returns `None` if ε is above
/// the last value in [`PROVEN_MINIMAX_VARIANCES`].
pub(super) fn minimax_variance(epsilon: f64) -> Option<(f64, bool)> {
    let g = (0.5 * epsilon).tanh();
    if 2.0 * g <= (2.0 * (-epsilon).exp()).ln_1p() {
        return Some((1.0 / (g.tanh() * g) - 1.0, true));
    }
    let last = PROVEN_MINIMAX_VARIANCES.len() - 1;
    let above = PROVEN_MINIMAX_VARIANCES
        .iter()
        .position(|[own, _]| *own >= epsilon)?;
    // Cubic Lagrange interpolation through the four nearest values.
    let first = above.saturating_sub(2).min(last - 3);
    let near = &PROVEN_MINIMAX_VARIANCES[first..first + 4];
    let logarithm = near.iter().map(|[own, least]| {
        let others = near.iter().filter(|[other, _]| other != own);
        let weight: f64 = others
            .map(|[other, _]| (epsilon - other) / (own - other))
            .product();
        weight * least.ln()
    });
    Some((logarithm.sum::<f64>().exp(), false))
}
