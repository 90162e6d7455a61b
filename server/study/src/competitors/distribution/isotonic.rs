//! Isotonic regression, which computes a distribution function from noisy shares of people below
//! edges. Quantiles of such a function.

/// Finds the distribution function that is nearest, in squared distance, to the estimates `below`,
/// and returns the share of each cell. `below` has the estimated share of people below each edge
/// between cells.
///
/// The algorithm pools adjacent violators (Ayer et al., 1955).
///
/// ```
/// use hushbin_study::competitors::distribution::shares_of_isotonic_cdf;
///
/// assert_eq!(shares_of_isotonic_cdf(&[0.5, 0.25]), [0.375, 0.0, 0.625]);
/// assert_eq!(shares_of_isotonic_cdf(&[-0.5, 1.25]), [0.0, 1.0, 0.0]);
/// ```
#[must_use]
pub fn shares_of_isotonic_cdf(below: &[f64]) -> Vec<f64> {
    // Sum and number of the adjacent estimates in each pool.
    let mut pools: Vec<(f64, f64)> = Vec::new();
    for &own in below {
        let mut pool = (own, 1.0);
        while let Some(&(sum, count)) = pools.last() {
            // Compares the means of the two pools without division.
            if sum * pool.1 <= pool.0 * count {
                break;
            }
            pool = (pool.0 + sum, pool.1 + count);
            pools.pop();
        }
        pools.push(pool);
    }
    let mut before = 0.0;
    let mut shares = Vec::with_capacity(below.len() + 1);
    for (sum, count) in pools {
        let level = (sum / count).clamp(0.0, 1.0);
        shares.push(level - before);
        // Edges of a pool have equal values, so the cells between them are empty.
        shares.extend((1..count as usize).map(|_| 0.0));
        before = level;
    }
    shares.push(1.0 - before);
    shares
}

/// Returns the quantile of a distribution on [0, 1]: the point below which the share `part` of
/// people lies. `shares` has the shares of equally wide cells; people are spread evenly within a
/// cell.
///
/// ```
/// use hushbin_study::competitors::distribution::histogram_quantile;
///
/// assert_eq!(histogram_quantile(&[0.25, 0.0, 0.75, 0.0], 0.625), 0.625);
/// assert_eq!(histogram_quantile(&[0.25, 0.0, 0.75, 0.0], 0.25), 0.25);
/// ```
#[must_use]
pub fn histogram_quantile(shares: &[f64], part: f64) -> f64 {
    let mut below = 0.0;
    for (cell, share) in shares.iter().enumerate() {
        if *share > 0.0 && below + share >= part {
            return (cell as f64 + (part - below) / share) / shares.len() as f64;
        }
        below += share;
    }
    1.0
}
