//! Binomial and Poisson probabilities, computed without cancellation between logarithms of
//! factorials.
//!
//! Source: Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000). With
//! Stirling's formula, the logarithm of a probability is a sum of deviances D(x, m) = x·ln(x/m) + m
//! − x and small corrections. Deviances are small unless the probability is small.

use std::f64::consts::TAU;

use super::roots::{bisect, integer_midpoint};

/// Returns an upper bound on the relative error of a result of [`binomial_probability`] or
/// [`poisson_probability`].
///
/// The error consists of 8 roundings of the exponent, which is at most −ln of the value, and the
/// errors of three Stirling corrections. The bound is valid even if the last bit of the success
/// probability is wrong.
pub(crate) fn probability_relative_error_bound(probability: f64) -> f64 {
    f64::EPSILON * (160.0 - 4.0 * probability.clamp(f64::MIN_POSITIVE, 1.0).ln())
}

/// Returns the error of Stirling's formula, ln(x!) − [ln √(2πx) + x·ln x − x], for x ≥ 1.
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        let factorial: f64 = (1..=x as u32).map(f64::from).product();
        return factorial.ln() - (0.5 * (TAU * x).ln() + x * x.ln() - x);
    }
    // The terms of the series alternate and decrease. So its error is below the first term left
    // out, 691/360360/x¹¹ < 2e-16.
    let y = 1.0 / (x * x);
    let series = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0));
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * series)) / x
}

/// Returns the deviance D(x, m) = x·ln(x/m) + m − x, which is at least 0.
fn deviance(x: f64, m: f64) -> f64 {
    let difference = x - m;
    if difference.abs() < 0.1 * (x + m) {
        // With v = (x − m)/(x + m): D = (x − m)·v + 2x·(v³/3 + v⁵/5 + ...).
        let v = difference / (x + m);
        let (mut sum, mut power, mut odd) = (difference * v, 2.0 * x * v, 1.0);
        loop {
            power *= v * v;
            odd += 2.0;
            let next = sum + power / odd;
            if next == sum {
                return sum;
            }
            sum = next;
        }
    }
    if x == 0.0 {
        m
    } else {
        x * (x / m).ln() - difference
    }
}

/// Returns the exponent E of Chernoff's bound exp(−E) on a tail of Binomial(`trials`, p). The tail
/// starts at x and leads away from the mean. `p` is the pair of p and 1 − p.
pub(crate) fn chernoff_exponent(x: f64, trials: f64, p: [f64; 2]) -> f64 {
    deviance(x, trials * p[0]) + deviance(trials - x, trials * p[1])
}

/// Returns P(X = x) for X ~ Binomial(`trials`, p) and an integer x from 0 to `trials`. `p` is the
/// pair of p and 1 − p.
pub(crate) fn binomial_probability(x: f64, trials: f64, p: [f64; 2]) -> f64 {
    let exponent = chernoff_exponent(x, trials, p);
    if x == 0.0 || x == trials {
        return (-exponent).exp();
    }
    let rest = trials - x;
    let stirling = stirling_error(trials) - stirling_error(x) - stirling_error(rest);
    (stirling - exponent).exp() * (trials / (TAU * x * rest)).sqrt()
}

/// Returns the exponent E of Chernoff's bound exp(−E) on a tail of Poisson(`mean`). The tail starts
/// at x and leads away from the mean.
pub(crate) fn poisson_chernoff_exponent(x: f64, mean: f64) -> f64 {
    deviance(x, mean)
}

/// Returns P(X = x) for X ~ Poisson(`mean`) and an integer x ≥ 0.
pub(crate) fn poisson_probability(x: f64, mean: f64) -> f64 {
    let exponent = deviance(x, mean);
    if x == 0.0 {
        return (-exponent).exp();
    }
    (-stirling_error(x) - exponent).exp() / (TAU * x).sqrt()
}

/// Number of nats by which the start of [`smallest_rare_count`]'s sum is rarer than the limit.
const OMITTED_TAIL_NATS: f64 = 40.0;

/// Returns the smallest integer x for which P(X ≥ x) ≤ `rare`, where X ~ Binomial(`trials`, p) and
/// `rare` ≤ 1/2. The result is `trials` + 1 if even x = `trials` is too likely. `p` is the pair of p
/// and 1 − p.
///
/// Sums are rounded up, so the result may be too large by 1 if a tail equals `rare` to nine digits.
pub(crate) fn smallest_rare_count(trials: u64, p: [f64; 2], rare: f64) -> u64 {
    let n = trials as f64;
    let negligible = |x: u64| chernoff_exponent(x as f64, n, p) >= OMITTED_TAIL_NATS - rare.ln();
    let mean = (n * p[0]) as u64;
    let mut x = bisect(trials + 1, mean.min(trials), integer_midpoint, negligible).0;
    let mut tail = rare * (-OMITTED_TAIL_NATS).exp();
    // Each probability follows from the next larger one, down to the first that is too much.
    let mut term = 0.0;
    while x > 0 {
        let next = (x - 1) as f64;
        term = if term > 0.0 {
            term * (next + 1.0) / (n - next) * (p[1] / p[0])
        } else {
            binomial_probability(next, n, p)
        };
        tail += term;
        if tail > rare * (1.0 - 1e-9) {
            break;
        }
        x -= 1;
    }
    x
}

/// Returns the ratio P(X ≥ x)/P(X = x) for X ~ Binomial(`trials`, 1/2), and the number of summed
/// terms. `x` must be at least (trials − 1)/2. Each term adds at most 4·2⁻⁵² to the relative error.
pub(crate) fn tail_to_probability_ratio(x: f64, trials: f64) -> (f64, f64) {
    let (mut sum, mut term, mut at) = (1.0, 1.0, x);
    while at < trials {
        let ratio = (trials - at) / (at + 1.0);
        term *= ratio;
        sum += term;
        at += 1.0;
        // The remainder is below a geometric series.
        if term * ratio <= f64::EPSILON * sum * (1.0 - ratio) {
            break;
        }
    }
    (sum, at - x + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns P(X = x) for every x from 0 on, computed by products.
    fn direct(trials: u32, p: f64) -> Vec<f64> {
        (0..=trials)
            .map(|x| {
                let factor = |i: u32| f64::from(trials - i) / f64::from(i + 1) * p;
                (0..x).map(factor).product::<f64>() * (1.0 - p).powi((trials - x) as i32)
            })
            .collect()
    }

    #[test]
    fn probabilities_are_those_of_products() {
        for trials in [1, 2, 15, 16, 17, 40, 300] {
            for p in [0.001, 0.1, 0.5, 0.83] {
                let all = direct(trials, p);
                let n = f64::from(trials);
                for (x, &expected) in all.iter().enumerate() {
                    let found = binomial_probability(x as f64, n, [p, 1.0 - p]);
                    if expected > 1e-280 {
                        let relative = found / expected - 1.0;
                        assert!(
                            relative.abs() < probability_relative_error_bound(found),
                            "{x} of {trials}, {p}: {relative}"
                        );
                    }
                    // Chernoff's bound is at least the exact tail, on either side of the mean.
                    let tail: f64 = if x as f64 >= n * p {
                        all[x..].iter().sum()
                    } else {
                        all[..=x].iter().sum()
                    };
                    let bound = (-chernoff_exponent(x as f64, n, [p, 1.0 - p])).exp();
                    assert!(tail <= bound * (1.0 + 1e-12), "{x} of {trials}, {p}");
                }
            }
        }
    }

    #[test]
    fn poisson_probabilities_are_those_of_products() {
        for mean in [0.01, 0.7, 5.0, 42.5, 300.0_f64] {
            let (mut expected, mut tail) = ((-mean).exp(), 1.0);
            for x in 0..600 {
                let found = poisson_probability(f64::from(x), mean);
                if expected > 1e-280 {
                    let bound = probability_relative_error_bound(found) + 1e-13;
                    assert!((found / expected - 1.0).abs() < bound, "{x}, {mean}");
                }
                if f64::from(x) > mean && tail > 1e-12 {
                    let bound = (-poisson_chernoff_exponent(f64::from(x), mean)).exp();
                    assert!(tail <= bound * (1.0 + 1e-9), "{x}, {mean}: {tail}");
                }
                tail -= expected;
                expected *= mean / f64::from(x + 1);
            }
        }
    }

    #[test]
    fn rare_counts_are_those_of_sums() {
        for trials in [0, 1, 2, 15, 40, 300] {
            for p in [0.001, 0.1, 0.5, 0.83, 1.0] {
                let all = direct(trials, p);
                for rare in [0.5, 0.025, 1e-3, 2e-9] {
                    let found = smallest_rare_count(u64::from(trials), [p, 1.0 - p], rare);
                    let tail = |x: u64| all[(x as usize).min(all.len())..].iter().sum::<f64>();
                    assert!(tail(found) <= rare, "{trials}, {p}, {rare}: {found}");
                    assert!(
                        found == 0 || tail(found - 1) > rare * (1.0 - 1e-8),
                        "{trials}, {p}, {rare}: {found}"
                    );
                }
            }
        }
    }

    /// Checks 10⁸ trials, which are nearly normal: P(X ≥ 50,009,800) is 0.025 at z = 1.96.
    #[test]
    fn rare_counts_of_many_trials_are_nearly_normal() {
        let found = smallest_rare_count(100_000_000, [0.5, 0.5], 0.025);
        assert!(found.abs_diff(50_009_800) <= 1, "{found}");
        let found = smallest_rare_count(100_000_000, [0.5, 0.5], 0.000_025);
        assert!(found.abs_diff(50_000_000 + 20_279) <= 3, "{found}");
    }

    #[test]
    fn large_probabilities_add_up() {
        let (n, p) = (1e8, [0.3, 0.7]);
        let mean = n * p[0];
        let deviation = f64::sqrt(mean * p[1]).round();
        let near = |x: i32| binomial_probability(mean + f64::from(x), n, p);
        let reach = 9 * deviation as i32;
        let sum: f64 = (-reach..=reach).map(near).sum();
        assert!((sum - 1.0).abs() < 1e-11, "{sum}");
    }

    #[test]
    fn tails_are_sums() {
        for trials in [0, 1, 2, 31, 200] {
            let all = direct(trials, 0.5);
            for x in (trials.saturating_sub(1)).div_ceil(2)..=trials {
                let (ratio, terms) = tail_to_probability_ratio(f64::from(x), f64::from(trials));
                let tail: f64 = all[x as usize..].iter().sum();
                let relative = ratio * all[x as usize] / tail - 1.0;
                assert!(relative.abs() < 1e-13, "{x} of {trials}: {relative}");
                assert!(terms <= f64::from(trials - x + 1));
            }
        }
    }
}
