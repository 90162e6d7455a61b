//! Confidence bounds on the probability of an event, computed from the number of trials in which
//! the event occurred.
//!
//! Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case
//! of the Binomial" (1934). The bounds are valid for every number of trials, without a normal
//! approximation.

use statrs::function::beta::beta_reg;

use super::roots::{arithmetic_midpoint_function, bisect, integer_midpoint};

/// Relative reduction of `failure` that covers the rounding errors of tail probabilities. Tail
/// probabilities are computed from differences of ln Γ, with relative errors below 10⁻⁴ for up to
/// 10⁹ trials.
const ROUNDING_SAFETY_MARGIN: f64 = 1e-4;

/// Returns a lower confidence bound on the probability of an event that occurred in `hits` out of
/// `trials` trials.
///
/// The bound exceeds the true probability with a chance of at most `failure`. The bound is the
/// greatest p under which `hits` or more occurrences have a probability of at most `failure`.
///
/// # Panics
/// If `hits` is more than `trials`, or `failure` is not in (0, 0.5].
#[must_use]
pub fn lower_confidence_bound(hits: u64, trials: u64, failure: f64) -> f64 {
    assert!(hits <= trials, "{hits} hits in {trials} trials");
    assert!(failure > 0.0 && failure <= 0.5, "failure is {failure}");
    if hits == 0 {
        return 0.0;
    }
    // P(X ≥ k) = I_p(k, n − k + 1) for X ~ Binomial(n, p). The library's inverse of I does not
    // terminate for 100 hits in 10⁸ trials. This bisection ends at neighbouring doubles, and its
    // lower end is on the safe side.
    let failure = failure * (1.0 - ROUNDING_SAFETY_MARGIN);
    let (a, b) = (hits as f64, (trials - hits + 1) as f64);
    let rare = |p: f64| beta_reg(a, b, p) <= failure;
    bisect(
        0.0,
        hits as f64 / trials as f64,
        arithmetic_midpoint_function(0.0),
        rare,
    )
    .0
}

/// Returns the smallest number of hits in `trials` trials whose [`lower_confidence_bound`] is at least `p`.
/// Returns `trials` + 1 if even `trials` hits are not enough.
///
/// # Panics
/// If `failure` is not in (0, 0.5].
#[must_use]
pub(crate) fn critical_hit_count(trials: u64, p: f64, failure: f64) -> u64 {
    assert!(failure > 0.0 && failure <= 0.5, "failure is {failure}");
    let failure = failure * (1.0 - ROUNDING_SAFETY_MARGIN);
    let rare = |hits: u64| beta_reg(hits as f64, (trials - hits + 1) as f64, p) <= failure;
    bisect(trials + 1, 0, integer_midpoint, rare).0
}

/// Returns an upper confidence bound on the probability of an event: 1 minus the [`lower_confidence_bound`]
/// for the opposite event.
///
/// # Panics
/// If `hits` is more than `trials`, or `failure` is not in (0, 0.5].
#[must_use]
pub fn upper_confidence_bound(hits: u64, trials: u64, failure: f64) -> f64 {
    assert!(hits <= trials, "{hits} hits in {trials} trials");
    // Round up to the next double, because the subtraction may have rounded down.
    (1.0 - lower_confidence_bound(trials - hits, trials, failure))
        .next_up()
        .min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of 15 or more heads in 20 coin tosses is 2 per cent, and that of 14 or more
    /// is 6 per cent.
    #[test]
    fn fifteen_heads_of_twenty_are_rare() {
        assert_eq!(critical_hit_count(20, 0.5, 0.05), 15);
    }

    /// Bounds agree with reference values. These were bisected to 30 decimal digits, in arithmetic
    /// with 60 digits.
    #[test]
    fn bounds_are_those_of_exact_arithmetic() {
        // (hits, trials, failure, lower, upper)
        let known = [
            (8, 20, 0.025, 0.1911900607253072, 0.6394574126925103),
            (0, 10, 0.025, 0.0, 0.30849710781876083),
            (1, 10, 0.025, 0.0025285785444617843, 0.44501611702819543),
            (10, 10, 0.025, 0.6915028921812392, 1.0),
            (5, 1000, 0.0005, 0.0006335584778436643, 0.01730291723657872),
            (400, 1000, 0.0005, 0.349437350724267, 0.4520884001726938),
            (
                28_000,
                100_000,
                0.0005,
                0.2753396766624267,
                0.2846936005529484,
            ),
            (
                3,
                150_000,
                0.0005,
                9.980318216844769e-7,
                9.289010241246436e-5,
            ),
            (
                60_000,
                150_000,
                5e-6,
                0.3944184240759049,
                0.4055993786114365,
            ),
            (
                149_990,
                150_000,
                0.0005,
                0.999831638165933,
                0.9999820060680256,
            ),
        ];
        for (hits, trials, failure, lower, upper) in known {
            for (ours, exact) in [
                (lower_confidence_bound(hits, trials, failure), lower),
                (upper_confidence_bound(hits, trials, failure), upper),
            ] {
                // The reduction of `failure` by `ROUNDING_SAFETY_MARGIN` changes a bound by less than this.
                assert!(
                    (ours - exact).abs() <= 2e-4 * exact.min(1.0 - exact) + 1e-15,
                    "{hits} of {trials}: {ours}, not {exact}"
                );
            }
            assert!(lower_confidence_bound(hits, trials, failure) <= lower);
            assert!(upper_confidence_bound(hits, trials, failure) >= upper);
        }
    }

    /// Bounds for rare events agree with bounds on a Poisson rate, which were computed with 50
    /// digits. At a rate of 70.330, the probability of 100 or more events is 0.0005. At a rate of
    /// 137.375, the probability of 100 or fewer events is 0.0005.
    #[test]
    fn rare_events_of_many_trials_are_bounded() {
        let [lower, upper] =
            [lower_confidence_bound, upper_confidence_bound].map(|f| f(100, 100_000_000, 0.0005));
        assert!((lower * 1e8 - 70.330).abs() < 0.01, "{lower}");
        assert!((upper * 1e8 - 137.375).abs() < 0.01, "{upper}");
    }

    /// The critical count agrees with sums of exact probabilities, and with the corresponding lower
    /// bound.
    #[test]
    fn as_rare_is_what_no_fewer_are() {
        for trials in [0, 1, 7, 40_u64] {
            for p in [0.01, 0.27, 0.5, 0.9] {
                for failure in [1e-9, 0.001, 0.2] {
                    let hits = critical_hit_count(trials, p, failure);
                    let of = |x: u64| {
                        let choose = (0..x).map(|i| (trials - i) as f64 / (i + 1) as f64);
                        choose.product::<f64>()
                            * p.powi(x as i32)
                            * (1.0 - p).powi((trials - x) as i32)
                    };
                    let tail = |from: u64| (from..=trials).map(of).sum::<f64>();
                    assert!(tail(hits) <= failure, "{trials} {p} {failure}: {hits}");
                    assert!(tail(hits - 1) > failure * (1.0 - 2.0 * ROUNDING_SAFETY_MARGIN));
                    if hits <= trials {
                        assert!(lower_confidence_bound(hits, trials, failure) >= p * (1.0 - 1e-12));
                    }
                    assert!(hits == 1 || lower_confidence_bound(hits - 1, trials, failure) < p);
                }
            }
        }
    }

    /// The exact probability that a bound fails is at most the stated one, for every n up to 40 and
    /// every p on a grid. For some p it is nearly the stated one.
    #[test]
    fn bounds_fail_as_seldom_as_they_say() {
        for failure in [0.0005, 0.025, 0.2] {
            let mut worst: f64 = 0.0;
            for n in 1..=40_u64 {
                let lower: Vec<f64> = (0..=n)
                    .map(|k| lower_confidence_bound(k, n, failure))
                    .collect();
                let upper: Vec<f64> = (0..=n)
                    .map(|k| upper_confidence_bound(k, n, failure))
                    .collect();
                // A bound fails most often if p is next to one of its possible values.
                let grid = (1..200).map(|i| f64::from(i) / 200.0);
                let below = lower.iter().map(|p| p.next_down());
                let above = upper.iter().map(|p| p.next_up());
                for p in grid
                    .chain(below)
                    .chain(above)
                    .filter(|&p| p > 0.0 && p < 1.0)
                {
                    let (mut too_high, mut too_low) = (0.0, 0.0);
                    let mut pmf = (1.0 - p).powi(n as i32);
                    for k in 0..=n {
                        too_high += if lower[k as usize] > p { pmf } else { 0.0 };
                        too_low += if upper[k as usize] < p { pmf } else { 0.0 };
                        pmf *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
                    }
                    assert!(too_high <= failure * (1.0 + 1e-12), "n = {n}, p = {p}");
                    assert!(too_low <= failure * (1.0 + 1e-12), "n = {n}, p = {p}");
                    worst = worst.max(too_high).max(too_low);
                }
            }
            assert!(worst > 0.9 * failure, "{worst} of {failure}");
        }
    }
}
