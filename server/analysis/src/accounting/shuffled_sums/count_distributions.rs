//! Privacy profile of the two message counts of one coordinate, for a person whose value changes
//! from +L to −L.
//!
//! The number of noise messages is a binomial variable B = Binomial(N, q) for either sign,
//! independently. One input adds L messages +1, the other input adds L messages −1. Let u(k) = P(B
//! = k − L) and v(k) = P(B = k). Then the counts (a, b) of both signs have distribution u ⊗ v under
//! one input, and v ⊗ u under the other. Exchanging the inputs is the same as exchanging the
//! counts, so the pair of distributions is its own mirror image. The privacy loss of (a, b) is λ(a)
//! − λ(b), where λ = ln(u/v), and
//!
//! δ(ε) = Σ_a [u(a)·V(λ < λ(a) − ε) − exp(ε)·v(a)·U(λ < λ(a) − ε)],
//!
//! where U and V are probabilities under u and v. λ increases with k, by at least L/k per step:
//!
//! u(k)/v(k) = Π_{i < L} (k − i)/(N − k + i + 1)·(1 − q)/q.
//!
//! So in one pass over a, the end of the sum over b only moves forward. If a count is not in L ≤ k
//! ≤ N, one of u and v is 0, and the count identifies the input. The probability of such an
//! *identifying* outcome is 1 − M, where M = P(B ≥ L)·P(B ≤ N − L). All other outcomes, with
//! probabilities divided by M, are again a pair of distributions that is its own mirror image. The
//! profile of that pair is computed here.

use super::identifying_part::IdentifyingPart;
use super::noise::UnitMessageNoise;
use crate::accounting::composition::ComposedPart;
use crate::numeric::binomial::{
    binomial_probability, chernoff_exponent, probability_relative_error_bound,
};
use crate::numeric::roots::{bisect, integer_midpoint};

/// Minimum and maximum number of grid points at which the δ of one coordinate is computed.
const GRID_POINT_COUNT_RANGE: [f64; 2] = [256.0, 1024.0];
/// Approximate number of terms in the sums of all grid points together.
const TOTAL_TERM_COUNT: f64 = 3e7;

/// Distributions of the counts of one coordinate, for both signs. Identifying outcomes are treated
/// separately.
#[derive(Debug, Clone)]
pub(super) struct CountDistributions {
    /// Probabilities u(k) of consecutive counts k, for the sign to which the person adds L
    /// messages.
    level_shifted_probabilities: Vec<f64>,
    /// Probabilities v(k) of the same counts k, for the opposite sign, which has only noise.
    noise_probabilities: Vec<f64>,
    /// Sums of `level_shifted_probabilities` over all earlier indices.
    shifted_prefix_sums: Vec<f64>,
    /// Sums of `noise_probabilities` over all earlier indices.
    noise_prefix_sums: Vec<f64>,
    /// Log-ratios λ(k) = ln(u(k)/v(k)), with u from `level_shifted_probabilities` and v from
    /// `noise_probabilities`.
    log_probability_ratios: Vec<f64>,
    /// Upper bound on the probability that the sums omit.
    omitted_probability_bound: f64,
    /// Lower and upper bound on the probability that the counts identify the input.
    identification_bounds: [f64; 2],
    /// Upper bound on finite privacy losses.
    max_finite_loss: f64,
    /// Relative error of a sum of products of probabilities.
    sum_relative_error: f64,
    /// Absolute error of the log-ratios λ.
    log_ratio_error: f64,
    /// Approximate standard deviation of the privacy loss.
    loss_standard_deviation: f64,
}

impl CountDistributions {
    /// Computes the distributions. Sums omit a probability of about exp(−`far`).
    pub(super) fn new(noise: &UnitMessageNoise, far: f64) -> Self {
        let (trials, levels) = (noise.trials() as f64, f64::from(noise.levels()));
        let p = noise.probability_and_complement();
        let [low, high] = noise_count_range(noise, far);
        let (first, last) = (low.max(levels), (high + levels).min(trials));
        let size = (last - first + 1.0).max(0.0) as usize;
        let all: Vec<f64> = if size == 0 {
            Vec::new()
        } else {
            (0..size + noise.levels() as usize)
                .map(|i| binomial_probability(first - levels + i as f64, trials, p))
                .collect()
        };
        let (up, down) = (all[..size].to_vec(), all[all.len() - size..].to_vec());
        // `error` is largest for the smallest probability. q, 1 − q and N·q are rounded. This
        // changes a probability by |k − N·q| roundings, and u/v by L roundings.
        let own = probability_relative_error_bound(0.0);
        let each = own + 8.0 * f64::EPSILON * (high - low + levels + 64.0);
        Self {
            log_probability_ratios: pointwise_log_ratios(&up, &down),
            shifted_prefix_sums: prefix_sums(&up),
            noise_prefix_sums: prefix_sums(&down),
            level_shifted_probabilities: up,
            noise_probabilities: down,
            omitted_probability_bound: 8.0 * (-far).exp(),
            identification_bounds: identifying_probability_bounds(noise, each),
            max_finite_loss: largest_finite_loss(noise),
            sum_relative_error: 2.0 * each + 4.0 * f64::EPSILON * (size + 8) as f64,
            log_ratio_error: 2.0 * own + 8.0 * f64::EPSILON * (levels + 64.0),
            loss_standard_deviation: levels * (2.0 / noise.variance()).sqrt(),
        }
    }
}

impl IdentifyingPart for CountDistributions {
    fn identifying_bounds(&self) -> [f64; 2] {
        self.identification_bounds
    }

    fn loss_standard_deviation(&self) -> f64 {
        self.loss_standard_deviation
    }
}

impl ComposedPart for CountDistributions {
    fn largest_loss(&self) -> f64 {
        self.max_finite_loss
    }

    fn grid_point_count(&self) -> usize {
        (TOTAL_TERM_COUNT / self.log_probability_ratios.len() as f64)
            .clamp(GRID_POINT_COUNT_RANGE[0], GRID_POINT_COUNT_RANGE[1]) as usize
    }

    /// Returns a lower and an upper bound on δ, given that the outcome is not identifying.
    ///
    /// The lower bound is valid for the sum over any set of outcomes (a, b).
    fn delta_bounds(&self, epsilon: f64) -> (f64, f64) {
        let least = self
            .log_probability_ratios
            .first()
            .map_or(f64::INFINITY, |&loss| loss);
        let start = self
            .log_probability_ratios
            .partition_point(|&loss| loss - epsilon <= least);
        let (mut gain, mut lost, mut edge, mut b) = (0.0, 0.0, 0.0, 0);
        for (a, &loss) in self.log_probability_ratios.iter().enumerate().skip(start) {
            let level = loss - epsilon;
            // λ increases with its index, so b only moves forward.
            while self.log_probability_ratios[b] < level {
                b += 1;
            }
            gain += self.level_shifted_probabilities[a] * self.noise_prefix_sums[b];
            lost += self.noise_probabilities[a] * self.shifted_prefix_sums[b];
            // If a privacy loss is closer to ε than the error of λ, its outcome may wrongly be
            // included or not. For each a, this concerns at most one b, because λ increases by more
            // than twice its error per step. It changes δ by at most the error times the outcome's
            // probability.
            edge += self.level_shifted_probabilities[a] * self.noise_probabilities[b];
        }
        lost *= epsilon.exp();
        let rounded = 8.0 * f64::EPSILON * (epsilon + 1.0);
        let wrong = 2.0 * (self.log_ratio_error + rounded);
        // Terms that underflow sum to less than 10⁻²⁹⁰.
        let error = (self.sum_relative_error + wrong) * (gain + lost) + 1e-290;
        let [most, least] = self.identification_bounds.map(|outright| 1.0 - outright);
        let lower = (gain - lost - error) / most;
        let upper = (gain - lost + error + wrong * edge + self.omitted_probability_bound) / least;
        let slack = 8.0 * f64::EPSILON;
        (
            (lower * (1.0 - slack)).max(0.0),
            (upper * (1.0 + slack)).clamp(0.0, 1.0),
        )
    }
}

/// Returns a range of the number of noise messages in one count. By Chernoff's bound, the
/// probability below it and the probability above it are each less than exp(−`far`).
fn noise_count_range(noise: &UnitMessageNoise, far: f64) -> [f64; 2] {
    let (trials, p) = (noise.trials(), noise.probability_and_complement());
    let middle = noise.mean() as u64;
    let beyond = |x: u64| chernoff_exponent(x as f64, trials as f64, p) >= far;
    let low = if beyond(0) {
        bisect(0, middle, integer_midpoint, beyond).1
    } else {
        0
    };
    let high = if middle < trials && beyond(trials) {
        bisect(trials, middle + 1, integer_midpoint, beyond).1
    } else {
        trials
    };
    [low as f64, high as f64]
}

/// Returns the log-ratios λ = ln(u/v) of the probabilities u in `up` and v in `down`, one per
/// index. If both probabilities underflow, λ keeps its value from the previous index. Results do
/// not depend on this value, as long as λ does not decrease from one index to the next.
fn pointwise_log_ratios(up: &[f64], down: &[f64]) -> Vec<f64> {
    let mut last = f64::NEG_INFINITY;
    up.iter()
        .zip(down)
        .map(|(&up, &down)| {
            let loss = up.ln() - down.ln();
            last = if loss > last { loss } else { last };
            last
        })
        .collect()
}

/// Returns the sum of all earlier entries, for each index from 0 to the length.
fn prefix_sums(all: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = all.iter().map(|p| {
        sum += p;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Returns a lower and an upper bound on the probability that the counts identify the input. This
/// probability is 1 − P(B ≥ L)·P(B ≤ N − L). Here B is the number of noise messages in one count, N
/// is the number of trials, and L is the number of levels. `each` is the relative error of a
/// probability.
fn identifying_probability_bounds(noise: &UnitMessageNoise, each: f64) -> [f64; 2] {
    let (trials, levels) = (noise.trials(), u64::from(noise.levels()));
    if levels > trials {
        return [1.0, 1.0];
    }
    let law =
        |k: u64| binomial_probability(k as f64, trials as f64, noise.probability_and_complement());
    let low: f64 = (0..levels).map(law).sum();
    let high: f64 = (0..levels).map(|i| law(trials - i)).sum();
    let error = each + f64::EPSILON * (levels as f64 + 8.0);
    let told = |low: f64, high: f64| (low + high - low * high).min(1.0);
    [
        told(low * (1.0 - error), high * (1.0 - error)),
        told(low * (1.0 + error), high * (1.0 + error)) + 1e-290,
    ]
}

/// Returns a tight upper bound on the largest finite privacy loss, λ(N) − λ(L) = 2·ln C(N, L). N is
/// the number of trials and L the number of levels.
fn largest_finite_loss(noise: &UnitMessageNoise) -> f64 {
    let trials = noise.trials() as f64;
    let step = |i: u32| ((trials - f64::from(i)) / f64::from(i + 1)).ln();
    let whole: f64 = (0..noise.levels()).map(step).sum();
    2.0 * whole * (1.0 + 1e-9) + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn rows() -> Vec<Value> {
        let all = include_str!("../../../../../tests/reference/shuffle-sums.json");
        let all: Value = serde_json::from_str(all).unwrap();
        all["count"].as_array().unwrap().clone()
    }

    /// Compares the δ of each count with its reference value. Binomial noise with q = 2⁻³⁴ is
    /// nearly Poisson noise.
    #[test]
    fn either_count_is_the_reference() {
        let mut compared = 0;
        for row in rows().iter().filter(|row| row["delta_up"].is_f64()) {
            let shift = row["shift"].as_u64().unwrap() as u32;
            let scale = row["epsilon"].as_f64().unwrap().exp();
            let (noise, near) = match &row["parameters"] {
                Value::Number(mean) => {
                    let mean = mean.as_f64().unwrap() as u64;
                    (UnitMessageNoise::new(1, shift, mean << 34, 1 << 30), 1e-8)
                }
                of => {
                    let trials = of[0].as_u64().unwrap();
                    (UnitMessageNoise::new(1, shift, trials, 1 << 62), 1e-9)
                }
            };
            let noise = noise.unwrap();
            let counts = CountDistributions::new(&noise, 120.0);
            let trials = noise.trials();
            let law = |k: u64| {
                binomial_probability(k as f64, trials as f64, noise.probability_and_complement())
            };
            let sum = |p: &[f64], r: &[f64]| -> f64 {
                p.iter().zip(r).map(|(p, r)| (p - scale * r).max(0.0)).sum()
            };
            let shift = u64::from(shift);
            let told: [f64; 2] = [
                (trials - shift + 1..=trials).map(law).sum(),
                (0..shift).map(law).sum(),
            ];
            let up = sum(
                &counts.level_shifted_probabilities,
                &counts.noise_probabilities,
            ) + told[0];
            let down = sum(
                &counts.noise_probabilities,
                &counts.level_shifted_probabilities,
            ) + told[1];
            for (found, field) in [(up, "delta_up"), (down, "delta_down")] {
                let known = row[field].as_f64().unwrap();
                assert!((found / known - 1.0).abs() < near, "{row}: {found}");
                compared += 1;
            }
            let both = told[0] + told[1] - told[0] * told[1];
            let [low, high] = counts.identifying_bounds();
            assert!(low <= both * (1.0 + 1e-15) && both * (1.0 - 1e-15) <= high);
        }
        assert_eq!(compared, 24);
    }

    /// Checks the log-ratios λ and the largest loss against products of quotients.
    #[test]
    fn losses_are_products_of_quotients() {
        for (levels, trials, threshold) in [(1, 9, 1 << 62), (3, 50, 1 << 63), (7, 30, 1 << 61)] {
            let noise = UnitMessageNoise::new(1, levels, trials, threshold).unwrap();
            let counts = CountDistributions::new(&noise, 400.0);
            let [q, rest] = noise.probability_and_complement();
            let factor = |k: u64, i: u64| (k - i) as f64 / (trials - k + i + 1) as f64 * rest / q;
            assert_eq!(
                counts.log_probability_ratios.len() as u64,
                trials - u64::from(levels) + 1
            );
            for (k, loss) in (u64::from(levels)..).zip(&counts.log_probability_ratios) {
                let whole: f64 = (0..u64::from(levels)).map(|i| factor(k, i)).product();
                assert!(
                    (loss - whole.ln()).abs() <= counts.log_ratio_error,
                    "{levels}, {k}"
                );
            }
            let range =
                counts.log_probability_ratios.last().unwrap() - counts.log_probability_ratios[0];
            assert!(range <= counts.max_finite_loss && counts.max_finite_loss < range + 1e-6);
        }
    }
}
