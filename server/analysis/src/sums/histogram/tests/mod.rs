//! Tests of estimates from cells with noise, by enumeration and by simulated batches with fixed
//! seeds.

mod coverage;
mod exact;
mod tables;

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use super::BinTree;

/// Draws an integer below `count`.
fn below(rng: &mut ChaCha8Rng, count: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(count)) >> 64) as u64
}

/// Adds `total` noise messages to cells, each drawn uniformly.
fn add_noise(rng: &mut ChaCha8Rng, counts: &mut [u64], total: u64) {
    for _ in 0..total {
        let cell = below(rng, counts.len() as u64);
        counts[cell as usize] += 1;
    }
}

/// Draws the number of messages of `draws` draws that each send one with probability ρ.
fn noise_messages(rng: &mut ChaCha8Rng, draws: u64, rho: f64) -> u64 {
    let threshold = (rho * 2_f64.powi(64)) as u128;
    (0..draws)
        .map(|_| u64::from(u128::from(rng.next_u64()) < threshold))
        .sum()
}

/// Creates levels with these numbers of cells.
fn tree(widths: &[u32]) -> BinTree {
    let bins = widths[widths.len() - 1];
    let spans: Vec<u32> = widths[..widths.len() - 1]
        .iter()
        .map(|width| bins / width)
        .collect();
    BinTree::new(bins, &spans).unwrap()
}
