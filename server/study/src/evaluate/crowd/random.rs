//! Random numbers in floating point. They are for simulated crowds and never randomise reports.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use rand_distr::Distribution;

/// Draws a uniform number from 0 to 1, excluding 1.
pub(crate) fn draw_uniform(rng: &mut ChaCha8Rng) -> f64 {
    // A double holds 53 bits.
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a copy of the generator that uses the stream `index`. The streams of a generator are
/// independent of each other.
pub(crate) fn generator_stream(rng: &ChaCha8Rng, index: u64) -> ChaCha8Rng {
    let mut own = rng.clone();
    own.set_stream(index);
    own
}

/// Zipf's distribution over the items 0 to k − 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ZipfItemDistribution(rand_distr::Zipf<f64>);

impl ZipfItemDistribution {
    /// Creates the distribution: the probability of item i is proportional to (i + 1)^−`exponent`.
    pub(crate) fn new(items: u32, exponent: f64) -> Self {
        let law = rand_distr::Zipf::new(items.into(), exponent);
        Self(law.expect("there are items, and the exponent is not negative"))
    }

    /// Draws an item.
    pub(crate) fn draw_item<R: Rng + ?Sized>(self, rng: &mut R) -> u32 {
        // The distribution counts ranks from 1.
        self.0.sample(rng) as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use hushbin_tests::generators::seeded;
    use hushbin_tests::significance::assert_distributed;

    use super::*;

    #[test]
    fn items_are_drawn_by_their_popularity() {
        for (items, exponent) in [(6, 1.4), (9, 1.3), (40, 1.1)] {
            let weights = (1..=items).map(|rank| f64::from(rank).powf(-exponent));
            let all: f64 = weights.clone().sum();
            let law: Vec<f64> = weights.map(|weight| weight / all).collect();
            let zipf = ZipfItemDistribution::new(items, exponent);
            let (mut counts, rng) = (vec![0; items as usize], &mut seeded(1));
            for _ in 0..100_000 {
                counts[zipf.draw_item(rng) as usize] += 1;
            }
            assert_distributed(&counts, &law, "Zipf");
        }
    }
}
