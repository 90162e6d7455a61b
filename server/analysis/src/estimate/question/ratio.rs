//! Ratios of sums of shares: conditional shares and means within one row of a cross-tabulation.
//!
//! Let the row's cells have positions x in [0, 1] and shares f. The ratio is R = Σ x·f/Σ f. It
//! equals m exactly if the sum Σ (x − m)·f (a *contrast*) is 0. This sum is linear in the shares,
//! so the distribution of its estimate is known.
//!
//! A confidence interval contains every m for which a test does not reject that the contrast is 0.
//! This is Fieller's method (1954), with the variance at m, as in Wilson's interval for a share. If
//! the share of people in the row may be 0, no m is rejected and the interval is the whole range.

use std::ops::Range;

use serde::Serialize;

use super::contrast::{Contrast, WeightedCells};
use crate::estimate::distribution::{
    MAX_ARGUMENT_TIMES_SCORE, ScoreDistribution, SingleAnswerHits,
};
use crate::estimate::point::PointEstimate;
use crate::estimate::query::ConfidenceLevel;
use crate::numeric::confidence_limits::{LimitSide, SumForConfidenceLimits, TailThresholds};
use crate::numeric::roots::bisect;
use crate::numeric::simplex_projection::{SumConstraint, project_to_simplex};

/// A conditional share or mean with its error bars.
///
/// The estimate is biased, because it is a ratio of two unbiased estimates. The bias is larger for
/// rows with fewer people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// Ratio of the raw estimates, clamped to the range of possible values. `None` if the share of
    /// people in the row may be 0.
    pub estimate: Option<f64>,
    /// Standard error of the ratio, to first order (delta method). `None` if there is no estimate.
    pub standard_error: Option<f64>,
    /// Confidence interval for this ratio alone, within the range.
    pub interval: [f64; 2],
    /// Simultaneous confidence interval (Bonferroni): for the means of all rows at once, or the
    /// shares of all cells at once.
    pub simultaneous_interval: [f64; 2],
    /// True if `interval` is the whole range because the share of people in the row is not
    /// significantly above 0.
    pub(crate) whole_range: bool,
}

impl RatioEstimate {
    /// Converts an estimate of a relative position, from 0 at `min` to 1 at `max`, to a value in
    /// the range.
    pub(crate) fn rescale_to_range(self, [min, max]: [f64; 2]) -> Self {
        let at = |place: f64| min + (max - min) * place;
        Self {
            estimate: self.estimate.map(at),
            standard_error: self.standard_error.map(|error| (max - min) * error),
            interval: self.interval.map(at),
            simultaneous_interval: self.simultaneous_interval.map(at),
            whole_range: self.whole_range,
        }
    }
}

/// Cells of one row of a cross-tabulation, with the estimated share of people in the row.
pub(crate) struct CrossRow<'a> {
    answer_hits: &'a SingleAnswerHits,
    cell_indices: Range<usize>,
    /// Raw estimates of the cells' shares.
    raw_shares: Vec<f64>,
    /// Possible (non-negative) shares close to the raw estimates.
    projected_shares: Vec<f64>,
    row_share: (PointEstimate, ScoreDistribution),
}

impl<'a> CrossRow<'a> {
    /// Creates a row from the indices of its cells. `share` is the estimated share of people in the
    /// row.
    pub(crate) fn new(
        answers: &'a SingleAnswerHits,
        share: (PointEstimate, ScoreDistribution),
        cells: Range<usize>,
    ) -> Self {
        let raw: Vec<f64> = cells
            .clone()
            .map(|cell| answers.share_estimate(cell))
            .collect();
        let mut likely = raw.clone();
        project_to_simplex(
            &mut likely,
            SumConstraint::Exactly(share.0.estimate.clamp(0.0, 1.0)),
        );
        Self {
            answer_hits: answers,
            cell_indices: cells,
            raw_shares: raw,
            projected_shares: likely,
            row_share: share,
        }
    }

    fn cell_group(&self, columns: Range<usize>, place: f64) -> CellGroup {
        let hits = &self.answer_hits.hits_by_answer[self.cell_indices.clone()][columns.clone()];
        CellGroup {
            position: place,
            cell_count: columns.len() as f64,
            raw_share: self.raw_shares[columns.clone()].iter().sum(),
            projected_share: self.projected_shares[columns].iter().sum(),
            hit_count: hits.iter().sum::<u64>() as f64,
        }
    }

    /// Estimates the mean position of the people in the row. The positions of the row's cells are
    /// evenly spaced from 0 to 1.
    pub(crate) fn conditional_mean(&self, confidence: &ConfidenceLevel) -> RatioEstimate {
        let steps = self.raw_shares.len() as f64 - 1.0;
        let class = |column| self.cell_group(column..column + 1, column as f64 / steps);
        self.ratio_estimator((0..self.raw_shares.len()).map(class).collect(), 1.0 / steps)
            .estimate_ratio(confidence)
    }

    /// Estimates the share of a column among the people in the row.
    pub(crate) fn conditional_share(
        &self,
        column: usize,
        confidence: &ConfidenceLevel,
    ) -> RatioEstimate {
        self.share_estimator(column..column + 1)
            .estimate_ratio(confidence)
    }

    /// Tests a quantile of the people in the row, whose columns are the bins of a number. `below` is
    /// the number of bins below an edge. Returns whether the quantile `part` is significantly at
    /// least the edge, and whether it is significantly at most the edge.
    pub(crate) fn claims_about_quantile(
        &self,
        below: usize,
        part: f64,
        failure: &TailThresholds,
    ) -> [bool; 2] {
        if !self.is_share_significant(failure) {
            return [false; 2];
        }
        let share_below = self.share_estimator(0..below);
        // The share below the edge is less than `part` if a share of `part` is rejected as too high.
        [LimitSide::Upper, LimitSide::Lower]
            .map(|side| share_below.rejects_ratio(part, failure, side))
    }

    /// Returns the estimator of the share of these columns among the people in the row.
    fn share_estimator(&self, columns: Range<usize>) -> RatioEstimator<'_> {
        let all = self.cell_group(0..self.raw_shares.len(), 0.0);
        let own = self.cell_group(columns, 1.0);
        let others = CellGroup {
            position: 0.0,
            cell_count: all.cell_count - own.cell_count,
            raw_share: all.raw_share - own.raw_share,
            projected_share: all.projected_share - own.projected_share,
            hit_count: all.hit_count - own.hit_count,
        };
        self.ratio_estimator(vec![own, others], 1.0)
    }

    fn ratio_estimator(&self, classes: Vec<CellGroup>, step: f64) -> RatioEstimator<'_> {
        RatioEstimator {
            row: self,
            groups_by_position: classes,
            position_step: step,
        }
    }

    /// Returns true if the share of people in the row is significantly above 0 at this failure
    /// probability.
    fn is_share_significant(&self, failure: &TailThresholds) -> bool {
        let (point, law) = &self.row_share;
        law.confidence_limit(*point, self.answer_hits.reports, failure, LimitSide::Lower) > 0.0
    }
}

/// Group of a row's cells that have the same position.
struct CellGroup {
    position: f64,
    /// Number of cells.
    cell_count: f64,
    /// Raw estimate of the cells' total share.
    raw_share: f64,
    /// Possible (non-negative) total share of the cells.
    projected_share: f64,
    hit_count: f64,
}

/// Mean of positions within a row. Positions differ by multiples of `step`.
struct RatioEstimator<'a> {
    row: &'a CrossRow<'a>,
    groups_by_position: Vec<CellGroup>,
    position_step: f64,
}

/// Precision of confidence limits, on the scale of positions from 0 to 1.
const LIMIT_PRECISION: f64 = 1e-6;

impl RatioEstimator<'_> {
    fn estimate_ratio(&self, confidence: &ConfidenceLevel) -> RatioEstimate {
        let weighed: f64 = self
            .groups_by_position
            .iter()
            .map(|own| own.position * own.raw_share)
            .sum();
        let share = self.row.row_share.0.estimate;
        let there = self
            .row
            .is_share_significant(confidence.interval_side_thresholds());
        let ratio = weighed / share;
        // 0.5 is a placeholder. If the row's share is not significantly above 0, no estimate is
        // returned.
        let held = if there { ratio.clamp(0.0, 1.0) } else { 0.5 };
        let answers = self.row.answer_hits;
        let reports = answers.reports as f64;
        let variance = self
            .contrast_for_ratio(held)
            .contribution_variance(&answers.hit_probabilities, answers.sampling_model)
            .max(0.0);
        let point = PointEstimate {
            estimate: ratio,
            standard_error: self.position_step * (variance / reports).sqrt() / share,
        };
        let found = confidence.estimate_with_intervals(point, |failure, side| {
            self.confidence_limit(held, failure, side)
        });
        RatioEstimate {
            estimate: there.then_some(held),
            standard_error: there.then_some(point.standard_error),
            interval: found.interval,
            simultaneous_interval: found.simultaneous_interval,
            whole_range: !there,
        }
    }

    /// Returns the confidence limit on this side. It is a rejected ratio within [`LIMIT_PRECISION`] of a ratio
    /// that is not rejected. Returns the end of the range if that end is not rejected, or if the
    /// row's share is not significantly above 0.
    fn confidence_limit(&self, held: f64, failure: &TailThresholds, side: LimitSide) -> f64 {
        let end = match side {
            LimitSide::Lower => 0.0,
            LimitSide::Upper => 1.0,
        };
        let rejects = |m: f64| self.rejects_ratio(m, failure, side);
        if !self.row.is_share_significant(failure) || !rejects(end) {
            return end;
        }
        // `end` is rejected and `held` is not: bisect between them.
        let near = |a: f64, b: f64| ((b - a).abs() > LIMIT_PRECISION).then_some(0.5 * (a + b));
        bisect(end, held, near, rejects).0
    }

    /// Returns true if the test rejects the ratio m. `side` is the side of the estimate on which m
    /// lies.
    fn rejects_ratio(&self, m: f64, failure: &TailThresholds, side: LimitSide) -> bool {
        let (answers, contrast) = (self.row.answer_hits, self.contrast_for_ratio(m));
        let n = answers.reports as f64;
        let deviation = contrast
            .contribution_variance(&answers.hit_probabilities, answers.sampling_model)
            .max(0.0)
            .sqrt();
        let sum = |number: fn(&CellGroup) -> f64| -> f64 {
            let weighed = contrast.cell_groups.iter().zip(&self.groups_by_position);
            weighed
                .map(|(part, own)| part.cell_weight * number(own))
                .sum()
        };
        // If every cell has its own bucket (one slot per bucket), a report hits exactly one cell,
        // and its exact distribution is used. Otherwise use the normal approximation.
        if answers.hit_and_total_slots.is_none_or(|[m, _]| m > 1) {
            return side.sign() * sum(|own| own.raw_share)
                < -failure.normal_quantile() * deviation / n.sqrt();
        }
        let weights = contrast
            .cell_groups
            .iter()
            .map(|part| part.cell_weight.abs());
        let observed = SumForConfidenceLimits {
            observed_sum: sum(|own| own.hit_count),
            continuity_correction: 1.0,
            // The deviation is positive at every finite ε. The lower bound avoids a division by 0
            // after underflow.
            standard_deviation: answers.hit_probabilities.hit_probability_gap()
                * deviation.max(f64::MIN_POSITIVE)
                * n.sqrt(),
            max_cumulant_argument: MAX_ARGUMENT_TIMES_SCORE / weights.fold(1.0, f64::max),
        };
        observed.rules_out_distribution(failure, side, |t| {
            n * contrast.score_cumulant_bound(&answers.hit_probabilities, answers.sampling_model, t)
        })
    }

    /// Returns the contrast that tests whether the ratio is m. Its assumed shares are close to the
    /// likely shares, and make the contrast 0.
    fn contrast_for_ratio(&self, m: f64) -> Contrast {
        let part = |own: &CellGroup| WeightedCells {
            cell_weight: (own.position - m) / self.position_step,
            cell_count: own.cell_count,
            total_share: own.projected_share,
        };
        let mut parts: Vec<WeightedCells> = self.groups_by_position.iter().map(part).collect();
        let total: f64 = parts.iter().map(|part| part.total_share).sum();
        let off: f64 = parts
            .iter()
            .map(|part| part.total_share * part.cell_weight)
            .sum();
        // Move a fraction of all shares to the position that is farthest on the opposite side of m.
        let far = |part: &WeightedCells| -off * part.cell_weight;
        let end = (0..parts.len()).max_by(|&a, &b| far(&parts[a]).total_cmp(&far(&parts[b])));
        let end = end.expect("a row has cells");
        let pull = total * parts[end].cell_weight;
        // Solve (1 − moved)·off + moved·pull = 0.
        if off != 0.0 && off * pull <= 0.0 {
            let moved = off / (off - pull);
            parts
                .iter_mut()
                .for_each(|part| part.total_share *= 1.0 - moved);
            parts[end].total_share += moved * total;
        }
        Contrast { cell_groups: parts }
    }
}

#[cfg(test)]
mod tests {
    use hushbin::domain::Domain;
    use hushbin::hash::HashFamily;
    use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::estimate::point::SamplingModel;

    /// A table of people in rows and columns, with the mechanism that randomises their answers.
    struct Case {
        /// Number of people by row and column.
        people: &'static [&'static [u64]],
        buckets: u32,
        epsilon: f64,
        whose: SamplingModel,
    }

    impl Case {
        fn columns(&self) -> usize {
            self.people[0].len()
        }

        fn cells(&self) -> Vec<u64> {
            self.people.concat()
        }

        fn answers(&self) -> SingleAnswerHits {
            let cells = self.cells();
            let domain = Domain::with_exact_entry_count(cells.len() as u32, 1);
            let rule = FavouredBucketRule::Heaviest { favoured: 1 };
            let collision = Collision::new(rule, HashFamily::Balanced, self.buckets).unwrap();
            let slots = collision.hit_decoder(&domain).visitable_slot_count() as u32;
            SingleAnswerHits {
                hit_probabilities: collision.hit_probabilities(&domain, self.epsilon),
                sampling_model: self.whose,
                hits_by_answer: vec![0; cells.len()],
                reports: cells.iter().sum(),
                hit_and_total_slots: Some([slots / self.buckets, slots]),
            }
        }

        /// Simulates the hits of all these people's reports.
        fn reported(&self, rng: &mut ChaCha20Rng) -> SingleAnswerHits {
            let mut answers = self.answers();
            let [m, slots] = answers.hit_and_total_slots.unwrap();
            let mut order: Vec<usize> = (0..slots as usize).collect();
            for (own, count) in self.cells().into_iter().enumerate() {
                for _ in 0..count {
                    let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                    let hit = uniform < answers.hit_probabilities.p_true;
                    let at = order.iter().position(|slot| *slot == own).unwrap();
                    order.swap(0, at);
                    // Number of other slots that the report hits: m − 1 if it hits the person's own
                    // slot, otherwise m.
                    let drawn = if hit { m - 1 } else { m } as usize;
                    for index in 1..=drawn {
                        let left = (order.len() - index) as u64;
                        let other = index + (rng.next_u64() % left) as usize;
                        order.swap(index, other);
                    }
                    let own = usize::from(!hit);
                    for &slot in &order[own..=drawn] {
                        if let Some(hits) = answers.hits_by_answer.get_mut(slot) {
                            *hits += 1;
                        }
                    }
                }
            }
            answers
        }
    }

    fn case(
        people: &'static [&'static [u64]],
        buckets: u32,
        epsilon: f64,
        whose: SamplingModel,
    ) -> Case {
        Case {
            people,
            buckets,
            epsilon,
            whose,
        }
    }

    const RUNS: u64 = 1500;

    /// Counts how many intervals of the last row miss the truth at 90, 95 and 99 per cent, and how
    /// many are the whole range.
    fn missed(case: &Case, mean: bool) -> ([u64; 3], u64) {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let row = case.people[case.people.len() - 1];
        let there: u64 = row.iter().sum();
        let steps = row.len() as f64 - 1.0;
        let places: f64 = row
            .iter()
            .zip(0..)
            .map(|(n, at)| *n as f64 * f64::from(at))
            .sum();
        let truth = if mean {
            places / steps / there as f64
        } else {
            row[0] as f64 / there as f64
        };
        let levels = [0.9, 0.95, 0.99].map(|level| ConfidenceLevel::new(level, 1).unwrap());
        let (mut missed, mut whole) = ([0; 3], 0);
        for _ in 0..RUNS {
            let answers = case.reported(&mut rng);
            let last = answers.hits_by_answer.len();
            let cells = last - case.columns()..last;
            let row = CrossRow::new(
                &answers,
                answers.share_and_score_distribution(cells.clone()),
                cells,
            );
            for (missed, level) in missed.iter_mut().zip(&levels) {
                let found = if mean {
                    row.conditional_mean(level)
                } else {
                    row.conditional_share(0, level)
                };
                let [low, high] = found.interval;
                assert!(0.0 <= low && low <= high && high <= 1.0);
                assert_eq!(found.estimate.is_none(), found.whole_range);
                assert!(found.estimate.is_none_or(|own| low <= own && own <= high));
                assert!(!found.whole_range || found.interval == [0.0, 1.0]);
                *missed += u64::from(truth < low || truth > high);
            }
            whole += u64::from(row.conditional_share(0, &levels[1]).whole_range);
        }
        (missed, whole)
    }

    /// Intervals miss the truth at most at the nominal rate. Each case fails by chance with
    /// probability 5·10⁻⁷ (one-sided, normal approximation).
    #[test]
    fn intervals_cover_conditional_shares_and_means() {
        use SamplingModel::{FixedPopulation, RandomSample};
        let even: &[&[u64]] = &[&[250, 250], &[250, 250]];
        let small: &[&[u64]] = &[&[600, 900, 460], &[10, 25, 5]];
        let tiny: &[&[u64]] = &[&[100, 200, 92, 100], &[1, 0, 3, 4]];
        let end: &[&[u64]] = &[&[700, 800], &[0, 30]];
        for (case, mean) in [
            (case(even, 4, 1.0, FixedPopulation), false),
            (case(even, 4, 4.0, FixedPopulation), true),
            (case(small, 6, 2.0, FixedPopulation), false),
            (case(small, 6, 4.0, RandomSample), true),
            (case(small, 6, 6.0, FixedPopulation), false),
            (case(small, 6, 9.0, FixedPopulation), false),
            (case(small, 3, 3.0, FixedPopulation), false),
            (case(small, 3, 3.0, RandomSample), true),
            (case(tiny, 8, 5.0, FixedPopulation), false),
            (case(tiny, 8, 7.0, RandomSample), true),
            (case(tiny, 4, 5.0, FixedPopulation), false),
            (case(end, 4, 5.0, FixedPopulation), false),
            (case(end, 4, 8.0, RandomSample), true),
        ] {
            let (missed, whole) = missed(&case, mean);
            let what = format!(
                "{:?} at ε = {} over {} buckets: {missed:?} missed, {whole} whole of {RUNS}",
                case.people, case.epsilon, case.buckets
            );
            for (missed, level) in missed.into_iter().zip([0.1, 0.05, 0.01]) {
                let runs = RUNS as f64;
                let most = runs * level + 4.9 * (runs * level * (1.0 - level)).sqrt();
                assert!((missed as f64) < most, "{what}");
            }
        }
    }
}
