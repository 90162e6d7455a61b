//! Hadamard response: each answer belongs to a block of outputs, and makes half of the block's
//! outputs likelier.

use hushbin::Error;

use super::rates::check_options;
use crate::competitors::budget::Budget;

/// Hadamard response over k answers (Acharya, Sun, Zhang, "Hadamard Response: Estimating
/// Distributions Privately, Efficiently, and with Little Communication", 2019). It ignores the δ of
/// a budget.
///
/// There are B blocks. Each has b outputs and serves at most b − 1 answers. An answer favours b/2
/// outputs of its block, given by a row of the Hadamard matrix. B and b are powers of 2. The
/// constructor chooses the B with the least variance, averaged over answers.
///
/// ```
/// use hushbin_study::competitors::{Budget, HadamardResponse};
///
/// let own = HadamardResponse::new(100, &Budget::new(3.0, 0.0)?)?;
/// assert_eq!((own.block_count(), own.output_count()), (8, 128));
/// assert!(own.average_variance() < own.worst_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HadamardResponse {
    option_count: u32,
    block_count: u32,
    /// Number b of outputs in a block.
    outputs_per_block: u32,
    /// Ratio e = exp(ε): a favoured output is e times as likely as any other output.
    exp_epsilon: f64,
}

impl HadamardResponse {
    /// Returns the mechanism for k `options`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE).
    pub fn new(options: u32, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        let e = budget.epsilon().exp();
        let of = |exponent: u32| {
            let blocks = 1 << exponent;
            Self {
                option_count: options,
                block_count: blocks,
                // One more than the answers: the first row of the matrix is not used.
                outputs_per_block: (options.div_ceil(blocks) + 1).next_power_of_two(),
                exp_epsilon: e,
            }
        };
        // With more blocks than answers some blocks would be empty.
        let all = (0..=options.ilog2()).map(of);
        let best = all.min_by(|a, b| a.average_variance().total_cmp(&b.average_variance()));
        Ok(best.expect("one block is tried"))
    }

    /// Number of blocks B.
    #[must_use]
    pub const fn block_count(&self) -> u32 {
        self.block_count
    }

    /// Number of outputs: B blocks with b outputs each.
    #[must_use]
    pub const fn output_count(&self) -> u32 {
        self.block_count * self.outputs_per_block
    }

    /// Returns the probability of each output, given the person's answer, which must be below k.
    ///
    /// Answer x is in block x mod B and uses row ⌊x/B⌋ + 1 of the matrix. The first row favours the
    /// whole block and is not used.
    #[must_use]
    pub fn output_distribution(&self, answer: u32) -> Vec<f64> {
        let favoured = |output: &u32| self.hadamard_entry(answer, *output) > 0;
        // All outputs have weight 1; the b/2 favoured ones have e − 1 more.
        let sum = f64::from(self.output_count())
            + 0.5 * (self.exp_epsilon - 1.0) * f64::from(self.outputs_per_block);
        let weight = |output| {
            if favoured(&output) {
                self.exp_epsilon
            } else {
                1.0
            }
        };
        (0..self.output_count())
            .map(|output| weight(output) / sum)
            .collect()
    }

    /// Returns the estimate, from one report, of the share of people who gave `answer`. The report
    /// is `output`.
    #[must_use]
    pub fn share_estimate_from_report(&self, answer: u32, output: u32) -> f64 {
        f64::from(self.hadamard_entry(answer, output)) * self.estimate_scale()
    }

    /// Maximum variance of one report's estimate of an answer's share. The maximum is over the
    /// reporting person's answer and over the estimated answer.
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        let all = self
            .variance_by_pair_relation()
            .into_iter()
            .zip(self.answer_pair_counts());
        let found = all.filter(|(_, pairs)| *pairs > 0.0).map(|own| own.0);
        found.fold(0.0, f64::max)
    }

    /// Variance of one report's estimate of an answer's share, averaged over the reporting person's
    /// answer and over the estimated answer.
    #[must_use]
    pub fn average_variance(&self) -> f64 {
        let pairs = self.answer_pair_counts();
        let all = self.variance_by_pair_relation().into_iter().zip(pairs);
        all.map(|(own, pairs)| own * pairs).sum::<f64>() / pairs.iter().sum::<f64>()
    }

    /// Counts the pairs of answers in three groups: equal answers, different answers of the same
    /// block, and answers of different blocks.
    fn answer_pair_counts(&self) -> [f64; 3] {
        let k = f64::from(self.option_count);
        let of_block = |block: u32| {
            let members = f64::from(
                self.option_count
                    .saturating_sub(block)
                    .div_ceil(self.block_count),
            );
            members * members
        };
        let near: f64 = (0..self.block_count).map(of_block).sum();
        [k, near - k, k * k - near]
    }

    /// Returns the variances of the estimate of an answer's share, in the order of [`Self::pairs`].
    /// The person's answer is the estimated answer, a different answer of the same block, or an
    /// answer of another block.
    fn variance_by_pair_relation(&self) -> [f64; 3] {
        // Mean squares: `estimate_scale`² times the probability of an output in the estimated answer's
        // block.
        let square = self.estimate_scale().powi(2);
        let all = self.exp_epsilon - 1.0 + 2.0 * f64::from(self.block_count);
        let near = square * (self.exp_epsilon + 1.0) / all;
        [near - 1.0, near, square * 2.0 / all]
    }

    /// Factor (e − 1 + 2B)/(e − 1) that makes the estimate unbiased.
    fn estimate_scale(&self) -> f64 {
        1.0 + 2.0 * f64::from(self.block_count) / (self.exp_epsilon - 1.0)
    }

    /// Returns the entry of the Hadamard matrix for this answer and output: 1 or −1 if the output
    /// is in the answer's block, otherwise 0.
    const fn hadamard_entry(&self, answer: u32, output: u32) -> i32 {
        if answer % self.block_count != output / self.outputs_per_block {
            return 0;
        }
        let row = answer / self.block_count + 1;
        // Sylvester's matrix: the entry is the parity of the common bits of row and column.
        let odd = (row & (output % self.outputs_per_block)).count_ones() % 2;
        1 - 2 * odd as i32
    }
}
