//! Random numbers in floating point, for crowds and their simulation; not for reports.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

/// A number from 0 to 1, below 1.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    // 53 bits.
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The same generator in a stream of its own.
pub(super) fn stream(rng: &ChaCha8Rng, index: u64) -> ChaCha8Rng {
    let mut own = rng.clone();
    own.set_stream(index);
    own
}

/// A law over 0 to k − 1, drawn from by search.
#[derive(Debug, Clone)]
pub(super) struct Law {
    /// P(at most i), by i.
    at_most: Vec<f64>,
}

impl Law {
    /// Zipf's: i has a part in proportion to (i + 1)^−exponent.
    pub(super) fn zipf(values: u32, exponent: f64) -> Self {
        let weight = |i: u32| f64::from(i + 1).powf(-exponent);
        let all: f64 = (0..values).map(weight).sum();
        let mut sum = 0.0;
        let mut next = |i| {
            sum += weight(i) / all;
            sum
        };
        Self {
            at_most: (0..values).map(&mut next).collect(),
        }
    }

    /// A value.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> u32 {
        let drawn = uniform(rng);
        let last = self.at_most.len() - 1;
        self.at_most.partition_point(|sum| *sum <= drawn).min(last) as u32
    }

    /// P(i), by i.
    #[cfg(test)]
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let before = std::iter::once(&0.0).chain(&self.at_most);
        let both = self.at_most.iter().zip(before);
        both.map(|(sum, before)| sum - before).collect()
    }
}
