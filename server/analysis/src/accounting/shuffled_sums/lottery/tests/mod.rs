//! Tests of the lottery, against independently computed numbers and exact sums.

mod exact;
mod least;
mod monotone;
mod reference;

use super::{LotteryBatch, LotteryNoise};

/// Factor 2⁶⁴ between a probability and its threshold.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// Creates one batch.
fn batch(cells: u32, own_messages: u32, honest_people: u64) -> LotteryBatch {
    LotteryBatch {
        cells,
        own_messages,
        honest_people,
        batches: 1,
    }
}

/// Creates the noise of draws that each send a message with probability ρ.
fn noise(draws: u32, rho: f64) -> LotteryNoise {
    LotteryNoise {
        draws,
        threshold: (rho * SCALE) as u128,
    }
}
