//! Batch of people who send messages about cells, and the account of such a batch.

use hushbin::Error;
use hushbin::bounds::{ITEM_COUNT_RANGE, ParameterRange};

use super::pair::{CountPair, PairTotal};
use crate::accounting::composition::BoundSide;
use crate::accounting::ranges::{BATCH_COUNT_RANGE, CENTRAL_EPSILON_RANGE, DELTA_RANGE};
use crate::accounting::shuffled_sums::bounds::ProvenBounds;
use crate::accounting::shuffled_sums::noise::{NOISE_VARIANCE_RANGE, TWO_POW_64};
use crate::accounting::shuffled_sums::profile::{SumPrivacyProfile, omission_exponent};
use crate::accounting::shuffled_sums::senders::HONEST_PEOPLE_COUNT_RANGE;
use crate::numeric::binomial::{
    binomial_probability, poisson_probability, probability_relative_error_bound,
};

/// Permitted number of cells K: options and paddings, both sides of all flags, or all nodes of a
/// tree.
pub(super) const CELL_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "cells",
    min: 2.0,
    max: 2.0 * ITEM_COUNT_RANGE.max,
};
/// Permitted number r of draws that one person makes. The maximum limits the number of messages.
pub const DRAW_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "draws",
    min: 1.0,
    max: 64.0,
};
/// Threshold 2⁶⁴ of a draw that always sends a message.
pub(super) const ALWAYS: u128 = 1 << 64;

/// Batch of people who each send messages about cells, and the batches that contain messages of the
/// same person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotteryBatch {
    /// Number of cells K, from 2 to 2²¹. Noise messages are about each of them equally often.
    pub cells: u32,
    /// Number s of own messages of one person, from 1 to K/2. All of them are about different cells.
    pub own_messages: u32,
    /// Number n_h of honest people in a batch, from 1 to 10¹², including the person in question.
    /// Honest people make all r draws. The noise of other people is not counted.
    pub honest_people: u64,
    /// Number B of such batches to which the person contributes, from 1 to 10,000.
    pub batches: u32,
}

/// Noise that every person sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotteryNoise {
    /// Number r of draws of one person, within [`DRAW_COUNT_RANGE`].
    pub draws: u32,
    /// Threshold ρ·2⁶⁴, from 1 to 2⁶⁴: a draw sends a message if a uniform 64-bit word is below it.
    pub threshold: u128,
}

impl LotteryNoise {
    /// Returns the probability ρ that a draw sends a message.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.threshold as f64 / TWO_POW_64
    }
}

impl LotteryBatch {
    /// Checks that all numbers are within range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number is outside its range.
    pub(super) fn check_ranges(&self) -> Result<(), Error> {
        CELL_COUNT_RANGE.check_in_range(f64::from(self.cells))?;
        let own = ParameterRange {
            name: "own messages",
            min: 1.0,
            max: f64::from(self.cells / 2),
        };
        own.check_in_range(f64::from(self.own_messages))?;
        HONEST_PEOPLE_COUNT_RANGE.check_in_range(self.honest_people as f64)?;
        BATCH_COUNT_RANGE.check_in_range(f64::from(self.batches))
    }

    fn check_noise(&self, noise: LotteryNoise) -> Result<(), Error> {
        self.check_ranges()?;
        DRAW_COUNT_RANGE.check_in_range(f64::from(noise.draws))?;
        let threshold = ParameterRange {
            name: "threshold",
            min: 1.0,
            max: TWO_POW_64,
        };
        // A threshold just above 2⁶⁴ would be rounded to 2⁶⁴.
        let above = noise.threshold > ALWAYS;
        threshold.check_in_range(if above {
            f64::INFINITY
        } else {
            noise.threshold as f64
        })?;
        NOISE_VARIANCE_RANGE.check_in_range(self.mean_noise(noise))
    }

    /// Returns the mean λ = M·q of the number of noise messages about one cell, from all honest
    /// people together.
    #[must_use]
    pub fn mean_noise(&self, noise: LotteryNoise) -> f64 {
        self.total_draws(noise.draws) * noise.probability() / f64::from(self.cells)
    }

    /// Returns bounds on the smallest δ with which the counts are (`epsilon`, δ)-differentially
    /// private. The bounds are sharp for s = 1 and within a few per cent for small 2sq.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number of the batch or of the noise is outside its range, or if ε
    /// is not between 0 and 12.
    pub fn delta_bounds(&self, noise: LotteryNoise, epsilon: f64) -> Result<ProvenBounds, Error> {
        self.delta_bounds_near(noise, epsilon, DELTA_RANGE.min)
    }

    /// Returns the bounds of [`LotteryBatch::delta_bounds`], which are sharp for δ down to `least`.
    pub(super) fn delta_bounds_near(
        &self,
        noise: LotteryNoise,
        epsilon: f64,
        least: f64,
    ) -> Result<ProvenBounds, Error> {
        self.check_noise(noise)?;
        CENTRAL_EPSILON_RANGE.check_in_range(epsilon)?;
        let upper = |bound: PairsBound| bound.delta(BoundSide::Above, epsilon);
        let lower = |bound: PairsBound| bound.delta(BoundSide::Below, epsilon);
        Ok(ProvenBounds {
            upper: self
                .upper_bounds(noise, least)
                .map(upper)
                .fold(1.0, f64::min),
            lower: self
                .lower_bounds(noise, least)
                .map(lower)
                .fold(0.0, f64::max),
        })
    }

    /// Returns bounds on the smallest ε at `delta`. They are infinite if a cell without noise is
    /// likelier than `delta`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number of the batch or of the noise is outside its range, or if δ
    /// is not between 10⁻¹⁵ and 0.1.
    pub fn epsilon_bounds(&self, noise: LotteryNoise, delta: f64) -> Result<ProvenBounds, Error> {
        self.check_noise(noise)?;
        DELTA_RANGE.check_in_range(delta)?;
        let upper = |bound: &PairsBound| bound.epsilon(BoundSide::Above, delta);
        let lower = |bound: &PairsBound| bound.epsilon(BoundSide::Below, delta);
        Ok(ProvenBounds {
            upper: self
                .upper_bounds(noise, delta)
                .map(|own| upper(&own))
                .fold(f64::INFINITY, f64::min),
            lower: self
                .lower_bounds(noise, delta)
                .map(|own| lower(&own))
                .fold(0.0, f64::max),
        })
    }

    /// Returns true if δ of the counts is one sum, without a factor R.
    pub(super) fn is_exact(&self) -> bool {
        self.own_messages == 1
    }

    /// Returns the bounds from above whose minimum is the best one that is tried.
    fn upper_bounds(&self, noise: LotteryNoise, delta: f64) -> impl Iterator<Item = PairsBound> {
        let all = self.changed_cells_probability(noise.threshold);
        // With smaller probabilities, R is at most √2 and less noise is no better bound.
        let smaller = (2..=14).map(|i| 1.0 - 0.5_f64.powf(0.5 * f64::from(i)));
        let fewer = smaller
            .filter(move |p| !self.is_exact() && *p < all[0])
            .map(|p| {
                // Round down, so that 2sq is not exceeded.
                ((noise.threshold as f64 * (p / all[0])) as u128).max(1)
            });
        let thresholds: Vec<u128> = std::iter::once(noise.threshold).chain(fewer).collect();
        let batch = *self;
        thresholds
            .into_iter()
            .map(move |threshold| batch.upper_bound(LotteryNoise { threshold, ..noise }, delta))
    }

    /// Returns the bound from above for this very ρ.
    pub(super) fn upper_bound(&self, noise: LotteryNoise, delta: f64) -> PairsBound {
        if self.is_exact() {
            return self.one_change(noise, delta);
        }
        let draws = self.total_draws(noise.draws);
        let changed = self.changed_cells_probability(noise.threshold);
        let mean = draws * changed[0];
        let factor = poisson_factor(draws, changed).powi(self.batches as i32);
        // The power multiplies the relative error.
        let factor = factor * (1.0 + 4.0 * f64::EPSILON * f64::from(self.batches));
        let pair_mean = mean / f64::from(self.own_messages) * (1.0 - 4.0 * f64::EPSILON);
        self.pairs(
            PairTotal::Poisson { mean: pair_mean },
            self.own_messages,
            factor,
            delta,
        )
    }

    /// Returns the bounds from below whose maximum is the best one.
    fn lower_bounds(&self, noise: LotteryNoise, delta: f64) -> impl Iterator<Item = PairsBound> {
        let [changed, rest] = self.changed_cells_probability(noise.threshold);
        let several = (!self.is_exact() && rest > 0.0).then(|| {
            let log = if changed < 0.5 {
                (-changed).ln_1p()
            } else {
                rest.ln()
            };
            let mean = -self.total_draws(noise.draws) * log / f64::from(self.own_messages);
            let mean = mean * (1.0 + 16.0 * f64::EPSILON);
            self.pairs(PairTotal::Poisson { mean }, self.own_messages, 1.0, delta)
        });
        std::iter::once(self.one_change(noise, delta)).chain(several)
    }

    /// Returns the exact profile of a change of one cell up and one down.
    fn one_change(&self, noise: LotteryNoise, delta: f64) -> PairsBound {
        let total = PairTotal::Binomial {
            draws: self.total_draws(noise.draws),
            hit: hit_probability(noise.threshold, 2, self.cells),
        };
        self.pairs(total, 1, 1.0, delta)
    }

    fn pairs(&self, total: PairTotal, changes: u32, factor: f64, delta: f64) -> PairsBound {
        let parts = changes.saturating_mul(self.batches);
        let delta = delta / factor;
        let pair = CountPair::new(total, omission_exponent(parts, delta));
        PairsBound {
            profile: SumPrivacyProfile::of_parts(pair, parts, delta),
            factor,
        }
    }

    /// Returns the probability 2sq that a draw sends a message about a cell that changes, and its
    /// complement.
    pub(super) fn changed_cells_probability(&self, threshold: u128) -> [f64; 2] {
        hit_probability(threshold, 2 * self.own_messages, self.cells)
    }

    /// Returns the number M of draws of all honest people.
    pub(super) fn total_draws(&self, draws: u32) -> f64 {
        self.honest_people as f64 * f64::from(draws)
    }
}

/// Bound on δ: a factor, times the profile of several changed pairs.
#[derive(Debug)]
pub(super) struct PairsBound {
    profile: SumPrivacyProfile<CountPair>,
    factor: f64,
}

impl PairsBound {
    /// Returns the bound on δ on this side.
    pub(super) fn delta(&self, side: BoundSide, epsilon: f64) -> f64 {
        let [bound] = self.profile.bounded_on_sides([side]);
        (self.factor * bound.delta(epsilon)).min(1.0)
    }

    /// Returns the bound on ε on this side.
    fn epsilon(&self, side: BoundSide, delta: f64) -> f64 {
        let [bound] = self.profile.bounded_on_sides([side]);
        // Only bounds from above have a factor other than 1, which is an exact divisor.
        let rounded = if self.factor > 1.0 {
            1.0 - 2.0 * f64::EPSILON
        } else {
            1.0
        };
        bound.epsilon(delta / self.factor * rounded)
    }
}

/// Returns the probability that a draw sends a message about one of `hit` of the cells, and its
/// complement. Each is rounded at most twice.
fn hit_probability(threshold: u128, hit: u32, cells: u32) -> [f64; 2] {
    let all = u128::from(cells) << 64;
    let hits = threshold * u128::from(hit);
    [hits, all - hits].map(|part| part as f64 / all as f64)
}

/// Returns an upper bound on R, the maximum over m of P(Binomial(M, p) = m)/P(Poisson(M·p) = m).
///
/// The ratio increases with m as long as m ≤ M·p.
pub(super) fn poisson_factor(draws: f64, p: [f64; 2]) -> f64 {
    let mean = draws * p[0];
    let at = |m: f64| {
        let m = m.clamp(0.0, draws);
        let poisson = poisson_probability(m, mean);
        let error =
            2.0 * probability_relative_error_bound(poisson.min(binomial_probability(m, draws, p)));
        binomial_probability(m, draws, p) / poisson * (1.0 + error)
    };
    // The neighbours cover a mean that was rounded across an integer.
    let m = mean.floor() + 1.0;
    at(m - 1.0).max(at(m)).max(at(m + 1.0)).max(1.0)
}
