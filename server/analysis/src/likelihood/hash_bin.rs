//! Likelihood of a hash-bin report under an input. The report contains the noisy sum of each bin.

use hushbin::domain::Domain;
use hushbin::hash::HashKeys;
use hushbin::mechanism::hash_bin::{
    HashBin, ItemBinLookup, PrivacyLevel, RandomisedResponse, Report,
};
use hushbin::{Entry, Question};

use super::contract::ObservableMechanism;
use super::hypothesis::Hypothesis;
use super::neighbours::{
    NeighbourPair, pairs_differing_in_one_item, pairs_of_any_two_inputs, pairs_within_distance,
};
use super::observation::{BucketRank, EntryCellSummary, Observation};

/// Maximum number of entries in a test input that is built to reach the clipping bound. More
/// entries would only take longer.
const MAX_TEST_INPUT_ENTRIES: f64 = 1024.0;

impl ObservableMechanism for HashBin {
    type Report = Report;

    fn observe_report(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let keys = HashKeys::new(report.seed);
        let support = self.item_bin_lookup(domain);
        let sums = inputs.map(|input| noiseless_bin_sums(self, &support, &keys, input.entries()));
        let fall = |input: &Hypothesis| {
            let push = |entry: &Entry| {
                let (bin, sign) = support.bin_and_sign(&keys, entry.item);
                (bin, (sign < 0) == (entry.value < 0.0))
            };
            EntryCellSummary::new(input.entries().iter().map(push))
        };
        Observation {
            log_likelihood_ratio: response_log_likelihood_ratio(
                self,
                epsilon,
                &sums,
                &report.response,
            ),
            seed: report.seed,
            bucket_ranks_by_input: [0, 1]
                .map(|which| exact_sums_match_rank(self, &sums[which], &report.response)),
            cell_summaries_by_input: inputs.map(fall),
            ..Observation::default()
        }
    }

    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        match self.privacy_level() {
            PrivacyLevel::Event => pairs_differing_in_one_item(question),
            PrivacyLevel::Neighbouring { distance, .. } => {
                pairs_within_distance(question, distance)
            }
            PrivacyLevel::User { clip, .. } => {
                // A sum of n fair signs has magnitude about √n, so 4η² entries reach the clipping
                // bound η.
                let reaching = (4.0 * clip * clip).min(MAX_TEST_INPUT_ENTRIES) as u32;
                let there = question.items().item_count().unwrap_or(u32::MAX);
                pairs_of_any_two_inputs(
                    question,
                    reaching.max(question.max_entries_per_report()).min(there),
                )
            }
        }
    }
}

/// Computes the noiseless sum of each bin. The sum is clipped if ε holds at user level.
fn noiseless_bin_sums(
    hash_bin: &HashBin,
    support: &ItemBinLookup,
    keys: &HashKeys,
    input: &[Entry],
) -> Vec<f64> {
    let mut sums = vec![0.0; hash_bin.bin_count() as usize];
    for entry in input {
        let (bin, sign) = support.bin_and_sign(keys, entry.item);
        sums[bin as usize] += f64::from(sign) * entry.value;
    }
    if let Some(clip) = hash_bin.privacy_level().clipping_bound() {
        sums[0] = sums[0].clamp(-clip, clip);
    }
    sums
}

/// Returns `BucketRank::Only` if the response consists of the noiseless sums, rounded to the grid.
/// Otherwise returns `BucketRank::Elsewhere`.
fn exact_sums_match_rank(
    hash_bin: &HashBin,
    sums: &[f64],
    response: &RandomisedResponse,
) -> BucketRank {
    let grid = f64::from(hash_bin.grid_steps());
    match response {
        RandomisedResponse::Bins(bins)
            if bins
                .iter()
                .zip(sums)
                .all(|(&bin, sum)| (bin as f64 - grid * sum).abs() < 1.0) =>
        {
            BucketRank::ContainsAllEntries
        }
        RandomisedResponse::Bins(_) | RandomisedResponse::Sign(_) => BucketRank::ContainsNoEntry,
    }
}

/// Returns the logarithm of a response's likelihood ratio. The ratio is the likelihood under the
/// first vector of noiseless sums, divided by the likelihood under the second vector.
fn response_log_likelihood_ratio(
    hash_bin: &HashBin,
    epsilon: f64,
    [first, second]: &[Vec<f64>; 2],
    response: &RandomisedResponse,
) -> f64 {
    match response {
        // P(plus) = (1 + B/A)/2, where B is the clipped sum and A = η(e + 1)/(e − 1). So 1/A =
        // tanh(ε/2)/η.
        RandomisedResponse::Sign(plus) => {
            let clip = hash_bin
                .privacy_level()
                .clipping_bound()
                .unwrap_or(f64::INFINITY);
            let lean = (0.5 * epsilon).tanh() / clip;
            let sign = if *plus { 1.0 } else { -1.0 };
            let [p, q] = [first, second].map(|sums| 1.0 + sign * lean * sums[0]);
            (p / q).ln()
        }
        RandomisedResponse::Bins(bins) => {
            let rate = epsilon / hash_bin.sensitivity() as f64;
            // For Laplace densities, the ratio depends only on the L1 distances between the
            // response and the sums.
            let grid = f64::from(hash_bin.grid_steps());
            let off = |sums: &[f64]| -> f64 {
                let pairs = bins.iter().zip(sums);
                pairs
                    .map(|(&bin, sum)| (bin as f64 - grid * sum).abs())
                    .sum()
            };
            rate * (off(second) - off(first))
        }
    }
}
