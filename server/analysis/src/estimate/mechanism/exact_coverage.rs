//! Exact coverage of an item's confidence limits, summed over all possible numbers of hits. It is
//! used in tests of the mechanisms that count hits.

use crate::estimate::counters::HitsBySign;
use crate::estimate::distribution::{HitDistribution, SideHitProbabilities};
use crate::estimate::point::{Estimand, ItemPointEstimates};
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Tolerated ratio of the miss rate to its nominal value. At a nominal coverage of 95 per cent, the
/// actual coverage is then at least 94.5 per cent.
const MAX_MISS_RATE_RATIO: f64 = 1.1;

/// Shares of people who have the item at 1 and at −1, for each tested crowd.
const SIGN_SHARES_BY_CROWD: [[f64; 2]; 7] = [
    [0.0, 0.0],
    [0.02, 0.02],
    [0.05, 0.3],
    [0.2, 0.0],
    [0.5, 0.5],
    [0.9, 0.1],
    [1.0, 0.0],
];

/// Maximum number of hits on one side that the sum includes. Crowds that need more are skipped.
const SIDE_HIT_CUTOFF: usize = 130;

/// One item of a mechanism. `of` computes the item's point estimates and hit distribution from the
/// item's hits and the number of reports.
pub(crate) struct Item<'a> {
    pub(crate) probabilities_by_true_sign: [SideHitProbabilities; 3],
    pub(crate) estimands: &'a [Estimand],
    pub(crate) estimate_from_hits:
        &'a dyn Fn(HitsBySign, u64) -> (ItemPointEstimates, HitDistribution),
}

/// Checks the coverage of this item's intervals: single intervals at 90, 95 and 99 per cent, and
/// one of `together` simultaneous intervals at 95 per cent.
pub(crate) fn check(what: &str, item: &Item, together: f64) {
    for n in [1, 5, 20, 100, 400] {
        for shares in SIGN_SHARES_BY_CROWD {
            let [plus, minus] = shares.map(|share| (share * n as f64).round() as usize);
            let minus = minus.min(n - plus);
            let counts = [minus, n - plus - minus, plus];
            let most = most_hits(&item.probabilities_by_true_sign, counts);
            if most > SIDE_HIT_CUTOFF {
                continue;
            }
            let joint = joint_side_hit_distribution(&item.probabilities_by_true_sign, counts, most);
            let total: f64 = joint.iter().sum();
            assert!(total > 1.0 - 1e-9, "{what}: {total}");
            for failure in [0.05, 0.025, 0.005, 0.025 / together] {
                for &estimand in item.estimands {
                    let truth = true_sum(estimand, plus, minus) / n as f64;
                    let missed = miss_probability(item, n as u64, &joint, estimand, truth, failure);
                    assert!(
                        missed < MAX_MISS_RATE_RATIO * 2.0 * failure,
                        "{what}, {estimand:?}, {shares:?} of {n} people: {missed:e} at {failure:e}"
                    );
                }
            }
        }
    }
}

fn true_sum(estimand: Estimand, plus: usize, minus: usize) -> f64 {
    let (plus, minus) = (plus as f64, minus as f64);
    match estimand {
        Estimand::Mean => plus - minus,
        Estimand::Plus | Estimand::Share => plus,
        Estimand::Minus => minus,
        Estimand::Nonmissing => plus + minus,
    }
}

/// Returns a number of hits on one side that is exceeded with a probability of about 10⁻¹⁰.
fn most_hits(people: &[SideHitProbabilities; 3], counts: [usize; 3]) -> usize {
    let mean = |side: usize| -> f64 {
        let hits = people.iter().map(|outcomes| outcomes[side] + outcomes[3]);
        hits.zip(counts).map(|(p, count)| p * count as f64).sum()
    };
    let mean = mean(0).max(mean(2));
    let most = (mean + 7.0 * mean.sqrt() + 8.0) as usize;
    most.min(counts.iter().sum())
}

/// Returns the joint distribution of the hits on both sides. P(plus hits = a, minus hits = b) is at
/// index a·(`most` + 1) + b.
fn joint_side_hit_distribution(
    people: &[SideHitProbabilities; 3],
    counts: [usize; 3],
    most: usize,
) -> Vec<f64> {
    let width = most + 1;
    let mut all = vec![0.0; width * width];
    all[0] = 1.0;
    for (&[minus, none, plus, both], count) in people.iter().zip(counts) {
        for _ in 0..count {
            for a in (0..width).rev() {
                for b in (0..width).rev() {
                    let at = a * width + b;
                    let mut p = all[at] * none;
                    if a > 0 {
                        p += all[at - width] * plus;
                    }
                    if b > 0 {
                        p += all[at - 1] * minus;
                    }
                    if a > 0 && b > 0 {
                        p += all[at - width - 1] * both;
                    }
                    all[at] = p;
                }
            }
        }
    }
    all
}

/// Returns the probability that the interval misses the truth.
fn miss_probability(
    item: &Item,
    reports: u64,
    joint: &[f64],
    estimand: Estimand,
    truth: f64,
    failure: f64,
) -> f64 {
    const NEGLIGIBLE: f64 = 1e-12;
    let failure = TailThresholds::new(failure);
    let width = joint.len().isqrt();
    let hit = joint.iter().enumerate().filter(|(_, p)| **p > NEGLIGIBLE);
    let misses = |(at, p): (usize, &f64)| {
        let hits = [(at / width) as u64, (at % width) as u64];
        let (points, law) = (item.estimate_from_hits)(hits, reports);
        let point = points.get(estimand).expect("the estimand is estimated");
        assert!(point.standard_error > 0.0, "{hits:?}: {point:?}");
        let [low, high] = [LimitSide::Lower, LimitSide::Upper]
            .map(|side| law.confidence_limit(estimand, point, reports as f64, &failure, side));
        assert!(
            low < point.estimate && point.estimate < high,
            "{hits:?}: {low} {point:?} {high}"
        );
        let missed = truth < low - 1e-9 || truth > high + 1e-9;
        f64::from(u8::from(missed)) * p
    };
    hit.map(misses).sum()
}
