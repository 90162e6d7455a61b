//! Shuffled reports, each of which names one cell of a grid: PVME's Algorithms 5 and 6, corrected.
//! n is the number of people.
//!
//! A vector in [0, 1]^d is rounded without bias to the grid {0, 1/r, …, 1}^d of M = (r + 1)^d
//! cells. With probability γ a uniform cell is reported instead. This is randomised response over M
//! answers at local ε = ln(1 + M·(1 − γ)/γ). Of the n reports, an expected number γ·n are uniform
//! cells. They hide each person's report.

use std::collections::BTreeMap;

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};

use hushbin_analysis::accounting::{
    ReportMixture, compute_batch_privacy, delta_bounds, mixture_at_largest_epsilon,
};
use statrs::distribution::{Binomial, Discrete};

use crate::competitors::budget::{Budget, hockey_stick_divergence};

/// Allowed range of γ, the probability that a report is a uniform cell.
const UNIFORM_PROBABILITY_RANGE: ParameterRange = ParameterRange {
    name: "gamma",
    min: 1e-12,
    max: 1.0,
};

/// Returns the paper's constant c = max(14·ln(2/δ)/ε², 27/ε), from which
/// [`closed_form_uniform_probability`] follows.
///
/// Source: Balle, Bell, Gascón, Nissim 2019, Theorem 3.1, for ε ≤ 1.
#[must_use]
pub fn paper_probability_constant(budget: &Budget) -> f64 {
    let epsilon = budget.epsilon();
    let bennett = 14.0 * (2.0 / budget.delta()).ln() / (epsilon * epsilon);
    bennett.max(27.0 / epsilon)
}

/// Returns the probability γ of a uniform cell for a central (ε, δ), by the closed form c·M/(n −
/// 1). Here c is the [`paper_probability_constant`], M is `cells` and n is `people`. If the result is above 1,
/// the closed form promises no privacy.
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::grid_cell_reports};
///
/// let gamma = grid_cell_reports::closed_form_uniform_probability(25, 100_000, &Budget::new(1.0, 1e-6)?);
/// assert!((gamma - 0.050_781).abs() < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn closed_form_uniform_probability(cells: u32, people: u64, budget: &Budget) -> f64 {
    paper_probability_constant(budget) * f64::from(cells) / (people as f64 - 1.0)
}

/// Returns the local ε of one report, ln(1 + M·(1 − γ)/γ), where M is `cells` and γ is the
/// probability of a uniform cell.
#[must_use]
pub fn local_epsilon(cells: u32, gamma: f64) -> f64 {
    (f64::from(cells) * (1.0 - gamma) / gamma).ln_1p()
}

/// Returns the reports as a mixture, which is the form that the privacy accounting of shuffled
/// batches uses. A report at local ε `epsilon` is a collision report with one favoured bucket among
/// M = `cells` buckets.
///
/// # Errors
/// [`Error::OutOfRange`] if M or ε is out of range.
pub fn cell_report_mixture(cells: u32, epsilon: f64) -> Result<ReportMixture, Error> {
    let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    let of_cells = Collision::new(rule, HashFamily::Balanced, cells)?;
    ReportMixture::for_collision(&of_cells, 1, epsilon)
}

/// Returns the least probability γ of a uniform cell for which n shuffled reports are proven (ε, δ)
/// private. The search finds the local ε to about one part in 10⁹. The search tries no local ε
/// above 12, so the result is at least the γ for a local ε of 12.
///
/// # Errors
/// [`Error::OutOfRange`] if M, n or δ is out of the range of [`compute_batch_privacy`], or if even
/// the γ of the least local ε is not enough.
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::grid_cell_reports};
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// let times = grid_cell_reports::closed_form_uniform_probability(2, 10_000, &budget) / grid_cell_reports::least_uniform_probability(2, 10_000, &budget)?;
/// assert!(4.0 < times && times < 8.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn least_uniform_probability(cells: u32, people: u64, budget: &Budget) -> Result<f64, Error> {
    let (central, delta) = (budget.epsilon(), budget.delta());
    let at = |epsilon| cell_report_mixture(cells, epsilon);
    let found = mixture_at_largest_epsilon(at, people, 1.0, delta, central)?;
    let m = f64::from(cells);
    // Inverse of `local_epsilon`.
    Ok(m / (found.epsilon().exp_m1() + m))
}

/// Returns the proven central ε of n shuffled reports at δ, in the worst case over people's values.
/// `gamma` is the probability γ of a uniform cell.
///
/// # Errors
/// Same errors as [`compute_batch_privacy`]. [`Error::OutOfRange`] if γ is not from 10⁻¹² to 1.
pub fn central_epsilon(cells: u32, gamma: f64, people: u64, delta: f64) -> Result<f64, Error> {
    UNIFORM_PROBABILITY_RANGE.check_in_range(gamma)?;
    let mixture = cell_report_mixture(cells, local_epsilon(cells, gamma))?;
    Ok(compute_batch_privacy(&mixture, people, 1.0, delta)?.central_epsilon)
}

/// Returns a proven upper bound on the δ of n shuffled reports at ε, in the worst case over
/// people's values. `gamma` is the probability γ of a uniform cell.
///
/// # Errors
/// Same errors as [`central_epsilon`].
pub fn proven_delta_upper_bound(
    cells: u32,
    gamma: f64,
    people: u64,
    epsilon: f64,
) -> Result<f64, Error> {
    UNIFORM_PROBABILITY_RANGE.check_in_range(gamma)?;
    let local = local_epsilon(cells, gamma);
    // One report alone is already ε-private.
    if local <= epsilon {
        return Ok(0.0);
    }
    Ok(delta_bounds(&cell_report_mixture(cells, local)?, people, epsilon)?.proven_upper_delta)
}

/// Returns a lower bound on the δ of n shuffled reports at ε. The probability γ of a uniform cell
/// is from 10⁻¹² to 1.
///
/// The bound comes from one attack. One person's value is in the first or the second cell, and the
/// values of all other people are in a third cell. The attacker counts the reports of the first two
/// cells.
///
/// # Errors
/// [`Error::OutOfRange`] if there are fewer than 3 cells or 2 people, or γ is out of range.
pub fn attack_delta_lower_bound(
    cells: u32,
    gamma: f64,
    people: u64,
    epsilon: f64,
) -> Result<f64, Error> {
    UNIFORM_PROBABILITY_RANGE.check_in_range(gamma)?;
    let range = |name, min| ParameterRange {
        name,
        min,
        max: 1e9,
    };
    range("cells", 3.0).check_in_range(f64::from(cells))?;
    range("people", 2.0).check_in_range(people as f64)?;
    let (others, p) = (people as f64 - 1.0, gamma / f64::from(cells));
    // Counts more than 12 standard deviations above the mean are left out. They could only raise
    // the bound.
    let most = (others * p + 12.0 * (others * p).sqrt() + 60.0).min(others) as usize;
    // Probability that the other people report the first cell i times and the second j times.
    let both = |i: f64, j: f64| {
        let left = others - i;
        if i < 0.0 || j < 0.0 || j > left {
            return 0.0;
        }
        binomial_probability(i, others, p) * binomial_probability(j, left, p / (1.0 - p))
    };
    // Probability that the person reports the cell of the person's value.
    let own = 1.0 - gamma + p;
    let outcome = |i: usize, j: usize| {
        let (i, j) = (i as f64, j as f64);
        let [neither, first, second] = [both(i, j), both(i - 1.0, j), both(i, j - 1.0)];
        // Probability of the outcome if the person reports neither of the two cells.
        let rest = (1.0 - own - p) * neither;
        (
            own * first + p * second + rest,
            own * second + p * first + rest,
        )
    };
    let all = (0..=most).flat_map(|i| (0..=most).map(move |j| (i, j)));
    Ok(hockey_stick_divergence(
        all.map(|(i, j)| outcome(i, j)),
        epsilon,
    ))
}

/// Returns the probability of this number of successes in `trials` trials, if each trial succeeds
/// with probability `p`.
fn binomial_probability(successes: f64, trials: f64, p: f64) -> f64 {
    let trials = Binomial::new(p, trials as u64).expect("p is a probability");
    trials.pmf(successes as u64)
}

/// Returns the exact δ of n shuffled reports at ε. The worst case is over the two values of one
/// person and over the values of all other people. The function enumerates all multisets of n
/// cells.
///
/// # Errors
/// [`Error::InvalidCombination`] if there are more than 16 cells, 15 people or 20,000 multisets, or fewer
/// than 2 cells. [`Error::OutOfRange`] if γ is not from 10⁻¹² to 1.
///
/// ```
/// use hushbin_study::competitors::sums::grid_cell_reports;
///
/// // Two bits, each replaced by a fair coin with probability 1/2.
/// let delta = grid_cell_reports::exact_shuffled_delta(2, 0.5, 2, 1.0)?;
/// assert!((delta - 0.052_8).abs() < 1e-4);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn exact_shuffled_delta(
    cells: u32,
    gamma: f64,
    people: u32,
    epsilon: f64,
) -> Result<f64, Error> {
    UNIFORM_PROBABILITY_RANGE.check_in_range(gamma)?;
    let multisets = (1..=people).map(|i| f64::from(cells + i - 1) / f64::from(i));
    // A multiset is encoded in 64 bits: four for each of 16 cells, with counts up to 15.
    let few = (2..=16).contains(&cells) && (1..=15).contains(&people);
    if !few || multisets.product::<f64>() > 20_000.5 {
        return Err(Error::InvalidCombination {
            reason: "too many cells or people to list all batches of",
        });
    }
    let report = |batch: &MultisetDistribution, cell| batch.with_added_report(cell, cells, gamma);
    let mut worst = 0.0_f64;
    for others in possible_other_people_cells(cells, people - 1) {
        let empty = MultisetDistribution(BTreeMap::from([(0, 1.0)]));
        let told = others
            .iter()
            .fold(empty, |batch, &cell| report(&batch, cell));
        let [own, other] = [report(&told, 0), report(&told, 1)];
        // Both maps have the same keys in the same order: every multiset of n cells.
        let pairs = own.0.into_values().zip(other.0.into_values());
        worst = worst.max(hockey_stick_divergence(pairs, epsilon));
    }
    Ok(worst)
}

/// Distribution of a shuffled batch: the probability of each multiset of cells. A multiset is
/// encoded with four bits for the count of each cell.
#[derive(Debug)]
struct MultisetDistribution(BTreeMap<u64, f64>);

impl MultisetDistribution {
    /// Returns the distribution after adding a report whose true cell is `own`.
    fn with_added_report(&self, own: u32, cells: u32, gamma: f64) -> Self {
        let uniform = gamma / f64::from(cells);
        let mut more = BTreeMap::new();
        for (batch, probability) in &self.0 {
            for cell in 0..cells {
                let kept = if cell == own { 1.0 - gamma } else { 0.0 };
                *more.entry(batch + (1 << (4 * cell))).or_insert(0.0) +=
                    probability * (uniform + kept);
            }
        }
        Self(more)
    }
}

/// Lists the possible cells of the other people's values, up to symmetry. The order of people does
/// not matter. The attacked person's value is in cell 0 or 1, so exchanging two of the remaining
/// cells makes no difference.
fn possible_other_people_cells(cells: u32, others: u32) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for first in 0..=others {
        for second in 0..=others - first {
            let mut start = vec![0; first as usize];
            start.extend(std::iter::repeat_n(1, second as usize));
            enumerate_cell_lists(&start, 2, others - first - second, others, cells, &mut all);
        }
    }
    all
}

/// Extends the list `start` of people's cells by `left` people, whose cells are from `cell` on.
/// Pushes every such list to `all` in which the numbers of people per new cell do not increase, and
/// are at most `most`.
fn enumerate_cell_lists(
    start: &[u32],
    cell: u32,
    left: u32,
    most: u32,
    cells: u32,
    all: &mut Vec<Vec<u32>>,
) {
    if left == 0 {
        all.push(start.to_vec());
        return;
    }
    if cell == cells {
        return;
    }
    for count in 1..=left.min(most) {
        let mut next = start.to_vec();
        next.extend(std::iter::repeat_n(cell, count as usize));
        enumerate_cell_lists(&next, cell + 1, left - count, count, cells, all);
    }
}
