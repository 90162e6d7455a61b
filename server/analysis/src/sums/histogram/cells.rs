//! Estimates of the number of people behind each cell, from the number of its messages.

use crate::estimate::{ConfidenceLevel, Estimate, PointEstimate};
use crate::numeric::binomial::smallest_rare_count;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Reason why counts of cells cannot be those of a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramCountsError {
    /// There are fewer messages than people's own messages.
    #[error("the cells have {messages} messages, expected at least {own} own messages of people")]
    TooFewMessages {
        /// Number of messages in the cells.
        messages: u128,
        /// Number of own messages of all people.
        own: u128,
    },
    /// There are more messages than 64-bit floating-point numbers can count.
    #[error("the cells have {messages} messages, expected at most 2^53")]
    TooManyMessages {
        /// Number of messages in the cells.
        messages: u128,
    },
    /// A number of cells or of levels differs from that of the task.
    #[error("there are {found} {what}, expected {expected}")]
    OtherNumber {
        /// Kind of things that are counted.
        what: &'static str,
        /// Number that was given.
        found: usize,
        /// Number that was expected.
        expected: usize,
    },
}

/// Returns the number T of noise messages among the messages of some cells. `own` is the number of
/// own messages of all people about these cells.
pub(super) fn noise_total(counts: &[u64], own: u128) -> Result<u64, HistogramCountsError> {
    let messages: u128 = counts.iter().map(|&count| u128::from(count)).sum();
    if messages > 1 << f64::MANTISSA_DIGITS {
        return Err(HistogramCountsError::TooManyMessages { messages });
    }
    let noise = messages.checked_sub(own);
    noise
        .map(|noise| noise as u64)
        .ok_or(HistogramCountsError::TooFewMessages { messages, own })
}

/// Returns the limit for an estimate that noise increases by W − `total`·p, where W has the
/// distribution Binomial(`total`, p), relative to the number of messages. `p` is the pair of p and
/// 1 − p. The interval of all W that are not too rare is exact.
pub(super) fn binomial_limit(
    total: u64,
    p: [f64; 2],
    failure: &TailThresholds,
    side: LimitSide,
) -> f64 {
    let rare = failure.probability();
    match side {
        LimitSide::Lower => 1.0 - smallest_rare_count(total, p, rare) as f64,
        LimitSide::Upper => {
            smallest_rare_count(total, [p[1], p[0]], rare) as f64 - 1.0 - total as f64
        }
    }
}

/// Estimates the number of people whose messages are about each cell, in the order of the cells.
///
/// `counts` has the number of valid messages of each of the K cells, paddings included and blanks
/// excluded. They are from `people` uploads, each with `own_messages` own messages. The simultaneous
/// intervals are for as many estimates as `confidence` was created for.
///
/// All intervals are exact, because the distribution of a known number of noise messages is known. A
/// normal approximation would fail in the far tails that simultaneous intervals need, even with
/// hundreds of noise messages in a cell.
///
/// ```
/// use hushbin_analysis::estimate::ConfidenceLevel;
/// use hushbin_analysis::sums::estimate_cells;
///
/// // 70 of these 170 messages are noise, about 35 in each cell.
/// let found = estimate_cells(&[125, 45], 100, 1, &ConfidenceLevel::new(0.95, 2)?)?;
/// assert_eq!(found[0].estimate, 90.0);
/// assert_eq!(found[0].interval, [82.0, 98.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`HistogramCountsError`] if the messages are fewer than people's own, or more than 2⁵³.
pub fn estimate_cells(
    counts: &[u64],
    people: u64,
    own_messages: u32,
    confidence: &ConfidenceLevel,
) -> Result<Vec<Estimate>, HistogramCountsError> {
    let own = u128::from(people) * u128::from(own_messages);
    let total = noise_total(counts, own)?;
    let share = 1.0 / counts.len() as f64;
    let p = [share, 1.0 - share];
    // All cells have the same noise, so the error bars are computed once and then shifted.
    let noise = PointEstimate {
        estimate: -(total as f64 * share),
        standard_error: (total as f64 * p[0] * p[1]).sqrt(),
    };
    let around_zero = confidence.estimate_with_intervals(noise, |failure, side| {
        binomial_limit(total, p, failure, side)
    });
    let shifted = |&count: &u64| {
        let count = count as f64;
        around_zero.rescale_to_range([count, count + 1.0])
    };
    Ok(counts.iter().map(shifted).collect())
}

/// Estimates the number of people who say yes to each flag. `pairs` has the number of messages that
/// say no and of those that say yes, for each flag. Every one of `people` uploads answers all flags.
///
/// The number of noise messages of each pair is known, so an estimate has half the variance of a
/// cell's noise.
///
/// # Errors
/// [`HistogramCountsError`] if a pair has fewer messages than people, or more than 2⁵³.
pub fn estimate_flags(
    pairs: &[[u64; 2]],
    people: u64,
    confidence: &ConfidenceLevel,
) -> Result<Vec<Estimate>, HistogramCountsError> {
    let yes = |pair: &[u64; 2]| Ok(estimate_cells(pair, people, 1, confidence)?[1]);
    pairs.iter().map(yes).collect()
}
