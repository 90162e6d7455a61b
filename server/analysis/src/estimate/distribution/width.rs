//! Expected width of a quantile's interval, simulated before any report exists.
//!
//! No formula is accurate enough. The ends of an interval are edges of bins, so they change in
//! jumps. In a sparse tail of the distribution, the slope of the distribution function at the
//! quantile does not determine the ends.

use std::sync::Arc;

use chacha20::ChaCha8Rng;
use hushbin::mechanism::pattern::PatternEstimator;
use rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

use super::pattern_output_shares::{PatternEdgeWeights, PatternOutputShares, expected_outputs};
use crate::estimate::point::SamplingModel;

/// Simulated crowds for measuring the width of a quantile's interval.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedIntervalWidth {
    edge_weights: Arc<PatternEdgeWeights>,
    quantile: f64,
    failure: f64,
    /// Simulated data of each crowd: the probability of each output, and the deviations of the
    /// output counts from the expectations, divided by √n.
    simulated_crowd_outputs: Vec<[Vec<f64>; 2]>,
}

impl SimulatedIntervalWidth {
    /// Simulates `crowds`. Each crowd is described by its shares of bins, which sum to 1. `failure`
    /// is the maximum probability that one end of the interval fails to cover the quantile.
    pub(crate) fn new(
        rates: PatternEstimator,
        crowds: impl Iterator<Item = Vec<f64>>,
        quantile: f64,
        failure: f64,
    ) -> Self {
        // A fixed seed gives the same deviations for every n, so that the width falls with n.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let simulated = crowds.map(|shares| {
            let chances = expected_outputs(&rates, &shares);
            let deviations = draw_output_count_deviations(&chances, &mut rng);
            [chances, deviations]
        });
        Self {
            simulated_crowd_outputs: simulated.collect(),
            edge_weights: Arc::new(PatternEdgeWeights::new(rates)),
            quantile,
            failure,
        }
    }

    /// Returns half of the interval's width, averaged over the simulated crowds, if each crowd
    /// sends `reports` reports. Bin b lies between the numbers `edges[b]` and `edges[b + 1]`.
    pub(crate) fn mean_half_width(&self, reports: f64, edges: &[f64]) -> f64 {
        let width = |[chances, deviations]: &[Vec<f64>; 2]| {
            let count = |(chance, deviation): (&f64, &f64)| {
                (reports * chance + reports.sqrt() * deviation).round() as u64
            };
            let counts: Vec<u64> = chances.iter().zip(deviations).map(count).collect();
            // Without reports, the interval is the whole range.
            let crowd = PatternOutputShares::new(
                Arc::clone(&self.edge_weights),
                SamplingModel::RandomSample,
                &counts,
            );
            let interval =
                crowd.map(|own| own.edges_of_quantile_intervals(&[self.quantile], self.failure)[0]);
            let [lower, upper] = interval.unwrap_or([0, edges.len() - 1]);
            edges[upper] - edges[lower]
        };
        let sum: f64 = self.simulated_crowd_outputs.iter().map(width).sum();
        0.5 * sum / self.simulated_crowd_outputs.len() as f64
    }
}

/// Draws deviations of output counts, divided by √n, from the normal limit of the multinomial
/// distribution.
fn draw_output_count_deviations(chances: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let normal = Normal::standard();
    let mut draw = |chance: &f64| {
        // The middle of one of 2⁵³ cells keeps the normal quantile finite.
        let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        chance.sqrt() * normal.inverse_cdf(uniform)
    };
    let independent: Vec<f64> = chances.iter().map(&mut draw).collect();
    // Output counts sum to n, so the deviations must sum to 0.
    let sum: f64 = independent.iter().sum();
    let of_output = |(own, chance): (f64, &f64)| own - chance * sum;
    independent
        .into_iter()
        .zip(chances)
        .map(of_output)
        .collect()
}
