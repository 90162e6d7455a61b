//! Estimates of the number of people behind each cell, from the number of its messages.

use crate::estimate::{ConfidenceLevel, Estimate, PointEstimate};
use crate::numeric::binomial::smallest_rare_count;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Reason why counts of cells cannot be those of a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramCountsError {
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

/// Noise among the messages of some cells about which all people have a known number of own
/// messages, of which up to D are missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellNoise {
    /// Number of messages minus that of people's own ones. It is negative if more own messages are
    /// missing than there is noise.
    excess: i128,
    /// Maximum number D of own messages that are missing.
    missing: i128,
}

impl CellNoise {
    /// Creates the noise of cells with these numbers of messages. `own` is the number of own
    /// messages of all people about the cells. Up to `missing` of them are missing, and in any case
    /// those that the counts lack.
    pub(super) fn new(
        counts: &[u64],
        own: u128,
        missing: u64,
    ) -> Result<Self, HistogramCountsError> {
        let messages: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        if messages > 1 << f64::MANTISSA_DIGITS {
            return Err(HistogramCountsError::TooManyMessages { messages });
        }
        // At most 2⁹⁶.
        let own = own.cast_signed();
        let excess = messages.cast_signed() - own;
        Ok(Self {
            excess,
            missing: i128::from(missing).min(own).max(-excess),
        })
    }

    /// Returns the number of messages minus that of people's own ones.
    pub(super) const fn excess(&self) -> f64 {
        self.excess as f64
    }

    /// Returns the maximum number T of noise messages. There are as many if D own messages are
    /// missing.
    pub(super) const fn max_total(&self) -> u64 {
        // At most the number of messages, since D is at most the number of own messages.
        (self.excess + self.missing) as u64
    }

    /// Returns the number by which a limit for a sum of cells increases, because own messages are
    /// missing. `extremes` are the weights of a missing message that decrease and increase the sum
    /// most.
    pub(super) fn missing_part(&self, extremes: [f64; 2], side: LimitSide) -> f64 {
        let [lowest, highest] = extremes;
        let missing = self.missing as f64;
        match side {
            LimitSide::Lower => missing * lowest,
            LimitSide::Upper => missing * highest,
        }
    }
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
/// Up to `missing` own messages may be missing, about any of the cells. If the counts lack more than
/// that, these are missing too. For each own message that is missing, there is one more of noise.
/// The intervals are valid for any number up to `missing`, and even if one cell lacks them all. The
/// estimate is that of missing messages spread evenly over the cells. The standard error is that of
/// the noise alone.
///
/// ```
/// use hushbin_analysis::estimate::ConfidenceLevel;
/// use hushbin_analysis::sums::estimate_cells;
///
/// // 70 of these 170 messages are noise, about 35 in each cell.
/// let found = estimate_cells(&[125, 45], 100, 1, 0, &ConfidenceLevel::new(0.95, 2)?)?;
/// assert_eq!(found[0].estimate, 90.0);
/// assert_eq!(found[0].interval, [82.0, 98.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`HistogramCountsError`] if there are more messages than 2⁵³.
pub fn estimate_cells(
    counts: &[u64],
    people: u64,
    own_messages: u32,
    missing: u64,
    confidence: &ConfidenceLevel,
) -> Result<Vec<Estimate>, HistogramCountsError> {
    let own = u128::from(people) * u128::from(own_messages);
    let noise = CellNoise::new(counts, own, missing)?;
    let total = noise.max_total();
    let share = 1.0 / counts.len() as f64;
    let p = [share, 1.0 - share];
    // All cells have the same noise, so the error bars are computed once and then shifted.
    let point = PointEstimate {
        estimate: -(noise.excess() * share),
        standard_error: (total as f64 * p[0] * p[1]).sqrt(),
    };
    let around_zero = confidence.estimate_with_intervals(point, |failure, side| {
        // A missing message is that of a person in this cell or in another one.
        binomial_limit(total, p, failure, side) + noise.missing_part([0.0, 1.0], side)
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
/// cell's noise. Up to `missing` own messages of each pair may be missing, as in
/// [`estimate_cells`].
///
/// # Errors
/// [`HistogramCountsError`] if a pair has more messages than 2⁵³.
pub fn estimate_flags(
    pairs: &[[u64; 2]],
    people: u64,
    missing: u64,
    confidence: &ConfidenceLevel,
) -> Result<Vec<Estimate>, HistogramCountsError> {
    let yes = |pair: &[u64; 2]| Ok(estimate_cells(pair, people, 1, missing, confidence)?[1]);
    pairs.iter().map(yes).collect()
}
