//! Likelihood of a CoCo report under an input, from Algorithm 1 of Wang et al. and the definition
//! of the rule `strongest`.

use hushbin::domain::Domain;
use hushbin::hash::{HashFunctions, hashed_open_key_sign, sign_word_of_closed_elements};
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{Coco, FavouredSideRule, Randomizer};

use super::buckets::{
    BucketFavouringRuleLikelihood, CellStrengthCounts, ElementBuckets, InputBuckets,
    bucket_favoured_probability,
};
use super::contract::ExactProbabilities;

impl BucketFavouringRuleLikelihood for FavouredSideRule {
    /// Returns s, or 0 under the rule `strongest`, because its computation ignores padding
    /// elements.
    fn padded_input_size(&self, sparsity: u32) -> u32 {
        match self {
            Self::RandomEntryDecides => sparsity,
            Self::Strongest { .. } => 0,
        }
    }

    fn keep_positive_sides_of_pairs(
        functions: &HashFunctions,
        domain: &Domain,
        elements: &[u64],
        cells: &mut [u32],
    ) {
        let count = functions.function_count();
        for function in 0..count {
            let keys = functions.function_keys(function);
            // One word contains the signs of 64 elements. Elements are mostly in order, so keep the
            // last word.
            let mut word = (u32::MAX, 0);
            let pairs = cells.iter_mut().skip(function);
            for (pair, &element) in pairs.step_by(count).zip(elements) {
                let plus = if domain.item_count().is_some() {
                    let element = element as u32;
                    if word.0 != element / 64 {
                        word = (
                            element / 64,
                            sign_word_of_closed_elements(&keys, element / 64),
                        );
                    }
                    word.1 >> (element % 64) & 1 == 1
                } else {
                    hashed_open_key_sign(&keys, element) > 0
                };
                // Side 2k is the plus side of pair k, and 2k + 1 its minus side.
                *pair = 2 * *pair + u32::from(!plus);
            }
        }
    }

    fn unnormalised_likelihood(
        coco: &Coco,
        sparsity: u32,
        exp: f64,
        pushes: &InputBuckets<'_>,
        report: &BucketReport,
        strengths: &mut CellStrengthCounts,
    ) -> f64 {
        let (side, pair) = (report.bucket, report.bucket / 2);
        match coco.favouring_rule() {
            FavouredSideRule::RandomEntryDecides => {
                // The rule `overwrite` has a single hash function, number 0.
                let of_entries = pushes
                    .entry_buckets
                    .iter()
                    .map(|push| push.bucket_under_function(0) / 2);
                let of_paddings = pushes
                    .padding_buckets
                    .iter()
                    .map(|push| push.bucket_under_function(0) / 2);
                let mut pairs: Vec<u32> = of_entries.chain(of_paddings.clone()).collect();
                let here = pairs.iter().filter(|&&other| other == pair).count() as f64;
                pairs.sort_unstable();
                pairs.dedup();
                let pushed = pairs.len() as u32;
                if here > 0.0 {
                    // The sign of a padding element is random, so the element favours either side
                    // with probability 1/2.
                    let own = pushes
                        .entry_buckets
                        .iter()
                        .filter(|push| push.bucket_under_function(0) == side)
                        .count() as f64;
                    let paddings = of_paddings.filter(|&other| other == pair).count() as f64;
                    1.0 + (exp - 1.0) * (own + 0.5 * paddings) / here
                } else {
                    let t = coco.buckets_per_hash();
                    let total = f64::from(sparsity) * (exp + 1.0) + f64::from(t - 2 * sparsity);
                    // The two sides of a pushed pair have total weight e + 1. The rest of Ω is
                    // divided equally among all other sides.
                    (total - f64::from(pushed) * (exp + 1.0)) / f64::from(t - 2 * pushed)
                }
            }
            FavouredSideRule::Strongest { favoured } => {
                1.0 + (exp - 1.0)
                    * side_among_strongest_probability(
                        coco,
                        favoured,
                        pushes,
                        report.bucket,
                        strengths,
                    )
            }
        }
    }

    fn exact_bucket_probabilities(
        coco: &Coco,
        domain: &Domain,
        epsilon: f64,
    ) -> ExactProbabilities {
        let mut core = Randomizer::new(coco, domain, epsilon);
        let completing = core.clone();
        ExactProbabilities {
            bucket_count: coco.total_buckets(),
            count_padding_choices: Box::new(move |signed| {
                completing.input_completion_count(signed)
            }),
            bucket_probability_function: Box::new(move |seed, signed, completion| {
                core.exact_bucket_probabilities(seed, signed, completion)
            }),
        }
    }
}

/// Returns the probability that a side is among the `favoured` strongest sides, under the rule
/// `strongest`.
fn side_among_strongest_probability(
    coco: &Coco,
    favoured: u32,
    pushes: &InputBuckets<'_>,
    side: u32,
    strengths: &mut CellStrengthCounts,
) -> f64 {
    let (function, side) = (
        side / coco.buckets_per_hash(),
        side % coco.buckets_per_hash(),
    );
    let on = |push: &ElementBuckets<'_>| push.bucket_under_function(function);
    // Signed strength of the reported side. The opposite side has the negative of this strength.
    let here: i64 = pushes
        .entry_buckets
        .iter()
        .map(|push| match on(push) ^ side {
            0 => 1,
            1 => -1,
            _ => 0,
        })
        .sum();
    let push = |side| (side / 2, 1 - 2 * (side % 2) as i32);
    strengths.count_cells_by_strength(&pushes.entry_buckets, push);
    let strength = here.unsigned_abs() as u32;
    let (beyond, alike) = (
        strengths.count_stronger_cells(strength),
        strengths.count_cells_of_strength(strength),
    );
    // Each pair has one side with strength v and one with −v.
    let (stronger, equal) = match here.signum() {
        1 => (beyond, alike),
        0 => (beyond, 2 * alike),
        _ => (coco.total_buckets() - alike - beyond, alike),
    };
    bucket_favoured_probability(favoured, stronger, equal)
}
