//! Effect of clipping a bin's sum on the estimates of values.

/// Proportion of each entry's value that survives clipping: E\[clip(B)·B\]/k, in (0, 1]. B is the
/// sum of k = `entries` values of ±1 with fair signs, and clip(B) is B clipped to [−η, η], where
/// η = `clip`. The proportion is 1 if η ≥ k. For large k it is the probability that a normal
/// variate is within η/√k standard deviations.
///
/// Source: B = k − 2K, where K is binomial. Zhou et al. do not state the proportion. The published
/// code of that paper sets η = √(k·ln n)/2.5, which gives 0.83 for k = 64 and n = 10⁵.
///
/// ```
/// use hushbin::mechanism::hash_bin::share_surviving_clipping;
///
/// assert_eq!(share_surviving_clipping(4, 4.0), 1.0);
/// // B is ±2 or 0, and 2 is cut to 1.
/// assert_eq!(share_surviving_clipping(2, 1.0), 0.5);
/// ```
#[must_use]
pub fn share_surviving_clipping(entries: u32, clip: f64) -> f64 {
    let k = f64::from(entries);
    if clip >= k {
        return 1.0;
    }
    (expectation_over_sign_sums(entries, |sum| sum * sum.min(clip)) / k).min(1.0)
}

/// Second moment E\[clip(B)²\] of the clipped sum of k = `entries` values. As in [`share_surviving_clipping`], B
/// is the sum of these values, each ±1 with equal probability. clip(B) is B clipped to [−η, η],
/// where η = `clip`. The second moment is k if η ≥ k.
///
/// ```
/// use hushbin::mechanism::hash_bin::clipped_sum_second_moment;
///
/// assert_eq!(clipped_sum_second_moment(4, 4.0), 4.0);
/// // B is ±2 or 0, and 2 is cut to 1.
/// assert_eq!(clipped_sum_second_moment(2, 1.0), 0.5);
/// ```
#[must_use]
pub fn clipped_sum_second_moment(entries: u32, clip: f64) -> f64 {
    let k = f64::from(entries);
    if clip >= k {
        return k;
    }
    expectation_over_sign_sums(entries, |sum| sum.min(clip) * sum.min(clip))
}

/// Computes the expectation E\[f(|B|)\], where B is the sum of k = `entries` fair signs and f =
/// `of` is at most k².
///
/// Adds the terms of B and −B together, from B near 0 outwards. Values near 0 have the greatest
/// probabilities. Each probability is the previous one times a ratio.
fn expectation_over_sign_sums(entries: u32, of: impl Fn(f64) -> f64) -> f64 {
    let k = f64::from(entries);
    let mut ups = entries / 2;
    let mut probability = central_binomial_probability(entries);
    let mut sum = 0.0;
    loop {
        let distance = k - 2.0 * f64::from(ups);
        let weight = if distance == 0.0 { 1.0 } else { 2.0 };
        sum += weight * probability * of(distance);
        // The remaining terms are negligible.
        if ups == 0 || probability < 1e-40 {
            return sum;
        }
        // C(k, u − 1) = C(k, u)·u/(k − u + 1).
        let up = f64::from(ups);
        probability *= up / (k - up + 1.0);
        ups -= 1;
    }
}

/// Computes the central binomial probability C(k, ⌊k/2⌋)/2^k for k = `entries`, as a product of
/// factors near 1 or by Stirling's series. The series is used where its next term is below 10⁻¹⁶.
fn central_binomial_probability(entries: u32) -> f64 {
    let half = entries / 2;
    let even = if half < 512 {
        (1..=half).fold(1.0, |product, i| {
            product * (1.0 - 1.0 / (2.0 * f64::from(i)))
        })
    } else {
        let i = 1.0 / f64::from(half);
        let series =
            1.0 + i * (-1.0 / 8.0 + i * (1.0 / 128.0 + i * (5.0 / 1024.0 - i * 21.0 / 32768.0)));
        series * libm::sqrt(i / core::f64::consts::PI)
    };
    // `even` is C(2h, h)/4^h. C(2h + 1, h)/2^(2h + 1) is (2h + 1)/(2h + 2) times that.
    if entries.is_multiple_of(2) {
        even
    } else {
        even * f64::from(entries) / f64::from(entries + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attenuation_is_that_of_all_sign_patterns() {
        for entries in 1..=12u32 {
            for clip in [0.25, 1.0, 1.5, 2.0, 3.7, 11.0, 12.0] {
                let patterns = 1u32 << entries;
                let sums = || {
                    (0..patterns)
                        .map(|pattern| f64::from(2 * pattern.count_ones()) - f64::from(entries))
                };
                let clipped = |sum: f64| sum.clamp(-clip, clip);
                let square: f64 = sums().map(|sum| clipped(sum).powi(2)).sum();
                let off = clipped_sum_second_moment(entries, clip) - square / f64::from(patterns);
                assert!(off.abs() < 1e-12, "{entries} {clip}: {off}");
                let exact: f64 = sums().map(|sum| clipped(sum) * sum).sum::<f64>()
                    / f64::from(patterns)
                    / f64::from(entries);
                let ours = share_surviving_clipping(entries, clip);
                assert!(
                    (ours - exact).abs() < 1e-13,
                    "{entries} {clip}: {ours} {exact}"
                );
            }
        }
    }

    /// Checks that series and product give equal results where the series begins. Also checks that
    /// all probabilities sum to 1: the proportion must then be nearly 1 for a clipping bound just
    /// below k.
    #[test]
    fn attenuation_of_many_entries_is_that_of_all_sums() {
        for entries in [1000u32, 1022, 1023, 1024, 1025, 1026, 5000, 1 << 20] {
            let half = entries / 2;
            let product = (1..=half).fold(1.0, |product, i| {
                product * (1.0 - 1.0 / (2.0 * f64::from(i)))
            });
            let odd = f64::from(entries) / f64::from(entries + 1);
            let product = product * if entries.is_multiple_of(2) { 1.0 } else { odd };
            let ours = central_binomial_probability(entries);
            assert!((ours / product - 1.0).abs() < 1e-11, "{entries}: {ours}");
            let clip = f64::from(entries) - 0.5;
            assert!(
                (share_surviving_clipping(entries, clip) - 1.0).abs() < 1e-11,
                "{entries}"
            );
        }
    }

    #[test]
    fn the_clip_of_the_published_code_leaves_five_sixths() {
        let clip = libm::sqrt(64.0 * libm::log(1e5)) / 2.5;
        assert!((share_surviving_clipping(64, clip) - 0.83).abs() < 0.005);
    }
}
