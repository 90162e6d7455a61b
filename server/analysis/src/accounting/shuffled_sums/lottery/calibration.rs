//! Calibration of the lottery: fewest draws r, and then the least probability ρ.

use hushbin::Error;

use super::batch::{ALWAYS, DRAW_COUNT_RANGE, LotteryBatch, LotteryNoise};
use crate::accounting::composition::BoundSide;
use crate::accounting::ranges::{CENTRAL_EPSILON_RANGE, DELTA_RANGE};
use crate::accounting::shuffled_sums::bounds::ProvenBounds;
use crate::accounting::shuffled_sums::calibration::required_gaussian_variance;
use crate::accounting::shuffled_sums::noise::TWO_POW_64;
use crate::accounting::shuffled_sums::senders::HONEST_PEOPLE_COUNT_RANGE;
use crate::numeric::roots::{bisect, find_root_by_secant, integer_midpoint};

/// Maximum mean noise in a cell that is tried. It limits the computing time.
const MAX_MEAN_NOISE: f64 = 1e8;
/// Part of δ that is left, so that the account of ε at δ, which is rounded up, is at most the target.
pub(super) const ROUNDING_SHARE: f64 = 1e-9;
/// Relative precision of ρ if δ is composed.
const PROBABILITY_PRECISION: f64 = 1e-7;

/// Smallest noise that suffices for a target (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibratedLottery {
    /// Noise with which the counts are (ε, δ)-differentially private.
    pub noise: LotteryNoise,
    /// Mean λ of the number of noise messages about one cell, from all honest people together.
    pub mean: f64,
    /// Bounds on δ at the target ε.
    pub delta: ProvenBounds,
}

/// Finds the fewest draws r for which some ρ ≤ 1 makes the counts (`epsilon`, `delta`)-differentially
/// private, and then the least such ρ.
///
/// For one own message and one batch, ρ is the least threshold that the upper bound on δ permits.
/// Otherwise its relative distance from the least one is at most 10⁻⁷.
///
/// ```
/// use hushbin_analysis::accounting::{LotteryBatch, calibrate_lottery};
///
/// let batch = LotteryBatch { cells: 16, own_messages: 1, honest_people: 90_000, batches: 1 };
/// let found = calibrate_lottery(&batch, 1.0, 1e-6)?;
/// assert_eq!(found.noise.draws, 1);
/// assert!((found.noise.probability() - 0.007_583).abs() < 1e-6);
/// // Fewer than 43 noise messages about each option, from all people together, are enough.
/// assert!(42.6 < found.mean && found.mean < 42.7);
/// # Ok::<(), hushbin::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if a number of the batch, ε or δ is outside its range. If even 64 draws
/// are not enough, the error states the number of honest people, to three digits, with which they
/// would be.
pub fn calibrate_lottery(
    batch: &LotteryBatch,
    epsilon: f64,
    delta: f64,
) -> Result<CalibratedLottery, Error> {
    batch.check_ranges()?;
    CENTRAL_EPSILON_RANGE.check_in_range(epsilon)?;
    DELTA_RANGE.check_in_range(delta)?;
    let changes = batch.own_messages.saturating_mul(batch.batches);
    let least_mean = required_gaussian_variance(changes, 1, epsilon, delta);
    let goal = LotteryTarget {
        batch,
        epsilon,
        delta,
        // An empty cell identifies the input, so noise has to be rarely absent in all of them.
        ample_mean: 2.0 * least_mean + 4.0 * (f64::from(changes) / delta).ln(),
    };
    let most = DRAW_COUNT_RANGE.max as u64;
    let enough = |draws: u64| {
        let best = goal.best_threshold(draws as u32);
        (goal.excess(best) <= 0.0).then_some(best)
    };
    // The Gaussian limit is too little noise, so its number of draws is usually just enough.
    let near = least_mean * f64::from(batch.cells) / batch.honest_people as f64;
    let near = (near.ceil() as u64).clamp(1, most);
    let draws = if enough(near).is_some() {
        bisect(near, 0, integer_midpoint, |draws| enough(draws).is_some()).0
    } else if near < most && enough(most).is_some() {
        bisect(most, near, integer_midpoint, |draws| {
            enough(draws).is_some()
        })
        .0
    } else {
        return Err(goal.out_of_reach_error(most as u32));
    };
    let best = enough(draws).expect("the number of draws is enough");
    let noise = goal.least_noise(best, least_mean);
    Ok(CalibratedLottery {
        noise,
        mean: batch.mean_noise(noise),
        delta: batch.delta_bounds_near(noise, epsilon, delta)?,
    })
}

/// Target (ε, δ) of a calibration.
#[derive(Debug)]
struct LotteryTarget<'a> {
    batch: &'a LotteryBatch,
    epsilon: f64,
    delta: f64,
    /// Mean noise in a cell that is more than enough.
    ample_mean: f64,
}

impl LotteryTarget<'_> {
    /// Returns the logarithm of δ relative to the target, less [`ROUNDING_SHARE`]. It is at most 0 if
    /// the noise is enough.
    fn excess(&self, noise: LotteryNoise) -> f64 {
        let bound = self.batch.upper_bound(noise, self.delta);
        let target = self.delta * (1.0 - ROUNDING_SHARE);
        (bound.delta(BoundSide::Above, self.epsilon) / target).ln()
    }

    /// Returns the noise of this number of draws whose bound on δ is least.
    ///
    /// This is ρ = 1, unless nearly all draws are about cells that change. There R falls with 1 − 2sq,
    /// and a golden-section search on its logarithm finds the minimum.
    fn best_threshold(&self, draws: u32) -> LotteryNoise {
        let most = self.largest_threshold(draws);
        let whole = LotteryNoise {
            draws,
            threshold: most,
        };
        let [changed, _] = self.batch.changed_cells_probability(most);
        if self.batch.is_exact() || changed <= 0.5 {
            return whole;
        }
        let at = |log: f64| LotteryNoise {
            draws,
            threshold: ((most as f64 * ((1.0 - log.exp()) / changed)) as u128).clamp(1, most),
        };
        let value = |log: f64| self.excess(at(log));
        let part = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = ((1.0 - changed).max(1e-4).ln(), 0.5_f64.ln());
        let [mut a, mut b] = [high - part * (high - low), low + part * (high - low)];
        let [mut at_a, mut at_b] = [value(a), value(b)];
        // Twelve steps leave 1/300 of the range, where the bound is flat.
        for _ in 0..12 {
            if at_a < at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - part * (high - low);
                at_a = value(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + part * (high - low);
                at_b = value(b);
            }
        }
        let found = at(if at_a < at_b { a } else { b });
        if self.excess(whole) < at_a.min(at_b) {
            whole
        } else {
            found
        }
    }

    /// Returns the largest threshold that is tried. More noise than [`LotteryTarget::ample_mean`] or
    /// [`MAX_MEAN_NOISE`] would only take longer to sum.
    fn largest_threshold(&self, draws: u32) -> u128 {
        let always = LotteryNoise {
            draws,
            threshold: ALWAYS,
        };
        let most = self.ample_mean.min(MAX_MEAN_NOISE);
        let part = most / self.batch.mean_noise(always);
        if part < 1.0 {
            (part * TWO_POW_64 * (1.0 - 1e-9)) as u128
        } else {
            ALWAYS
        }
    }

    /// Returns the least noise up to `best` that is enough. `near` is about its mean in a cell.
    fn least_noise(&self, best: LotteryNoise, near: f64) -> LotteryNoise {
        let noise = |threshold: u128| LotteryNoise { threshold, ..best };
        let at = |rho: f64| noise(((rho * TWO_POW_64).ceil() as u128).clamp(1, best.threshold));
        let most = best.probability();
        let near = near / self.batch.mean_noise(best) * most;
        // Noise that is too little: halve ρ until it is.
        let enough = |rho: f64| self.excess(at(rho)) <= 0.0;
        let mut low = (0.9 * near).min(0.5 * most);
        while low > 1.0 / TWO_POW_64 && enough(low) {
            low *= 0.5;
        }
        let low = low.max(1.0 / TWO_POW_64);
        let excess = |rho: f64| Ok::<_, std::convert::Infallible>(self.excess(at(rho)));
        let Ok(found) = find_root_by_secant(
            &excess,
            [low, most],
            near.clamp(low, most),
            PROBABILITY_PRECISION,
        );
        let found = at(found.unwrap_or(most));
        if !self.batch.is_exact() || self.batch.batches > 1 {
            return found;
        }
        // One sum is fast enough to find the very threshold. Integers up to 2⁶⁴ are one more than
        // 64-bit words.
        let word = |threshold: u128| (threshold - 1) as u64;
        let below = word(
            found
                .threshold
                .saturating_sub((found.threshold as f64 * 2e-7) as u128)
                .max(1),
        );
        let enough = |word: u64| self.excess(noise(u128::from(word) + 1)) <= 0.0;
        if enough(below) {
            return noise(u128::from(below) + 1);
        }
        let word = bisect(word(found.threshold), below, integer_midpoint, enough).0;
        noise(u128::from(word) + 1)
    }

    /// Returns the error for a target that `draws` draws with any ρ miss. It states the number of
    /// honest people with which they would reach it.
    fn out_of_reach_error(&self, draws: u32) -> Error {
        let enough = |people: u64| {
            let batch = LotteryBatch {
                honest_people: people,
                ..*self.batch
            };
            let goal = LotteryTarget {
                batch: &batch,
                ..*self
            };
            goal.excess(goal.best_threshold(draws)) <= 0.0
        };
        let (few, many) = (
            self.batch.honest_people,
            HONEST_PEOPLE_COUNT_RANGE.max as u64,
        );
        if !enough(many) {
            // Only an ε near 0 needs more noise than the accounting can sum.
            let at = self
                .batch
                .epsilon_bounds(self.best_threshold(draws), self.delta);
            return at.map_or_else(std::convert::identity, |bounds| Error::OutOfRange {
                name: CENTRAL_EPSILON_RANGE.name,
                value: self.epsilon,
                min: bounds.upper,
                max: CENTRAL_EPSILON_RANGE.max,
            });
        }
        let three_digits = |a: u64, b: u64| (a > b + b / 1000 + 1).then(|| a.midpoint(b));
        Error::OutOfRange {
            name: HONEST_PEOPLE_COUNT_RANGE.name,
            value: few as f64,
            min: bisect(many, few, three_digits, enough).0 as f64,
            max: HONEST_PEOPLE_COUNT_RANGE.max,
        }
    }
}
