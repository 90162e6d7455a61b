//! Likelihood of a Collision report under an input, from Definition 5 of Wang et al. and the
//! definition of the rule `heaviest`.

use hushbin::domain::Domain;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule, Randomizer};

use super::buckets::{
    BucketFavouringRuleLikelihood, CellStrengthCounts, ElementBuckets, InputBuckets,
    bucket_favoured_probability,
};
use super::contract::ExactProbabilities;

impl BucketFavouringRuleLikelihood for FavouredBucketRule {
    fn unnormalised_likelihood(
        collision: &Collision,
        sparsity: u32,
        exp: f64,
        held: &InputBuckets<'_>,
        report: &BucketReport,
        strengths: &mut CellStrengthCounts,
    ) -> f64 {
        let t = collision.buckets_per_hash();
        let elements = [held.entry_buckets.as_slice(), &held.padding_buckets].concat();
        let width = collision.buckets_per_element();
        // If an element favours several consecutive buckets (width > 1), the input has a single
        // element.
        if width > 1 {
            let behind = (report.bucket + t - elements[0].bucket_under_function(0)) % t;
            return if behind < width { exp } else { 1.0 };
        }
        let own = |element: &&ElementBuckets<'_>| {
            element.bucket_under_function(report.bucket / t) == report.bucket % t
        };
        let here = elements.iter().filter(own).count() as u32;
        strengths.count_cells_by_strength(&elements, |bucket| (bucket, 1));
        let (stronger, equal) = (
            strengths.count_stronger_cells(here),
            strengths.count_cells_of_strength(here),
        );
        match collision.favouring_rule() {
            // Every occupied bucket has weight e, however many elements it contains.
            FavouredBucketRule::Occupied if here > 0 => exp,
            FavouredBucketRule::Occupied => {
                // The reported bucket is empty. So all stronger buckets are occupied, and all
                // equally strong ones are empty.
                let total = f64::from(sparsity) * exp + f64::from(t - sparsity);
                (total - f64::from(stronger) * exp) / f64::from(equal)
            }
            FavouredBucketRule::Heaviest { favoured } => {
                1.0 + (exp - 1.0) * bucket_favoured_probability(favoured, stronger, equal)
            }
        }
    }

    fn exact_bucket_probabilities(
        collision: &Collision,
        domain: &Domain,
        epsilon: f64,
    ) -> ExactProbabilities {
        let mut core = Randomizer::new(collision, domain, epsilon);
        ExactProbabilities {
            bucket_count: collision.total_buckets(),
            count_padding_choices: Box::new(|_| Some(1)),
            bucket_probability_function: Box::new(move |seed, signed, _| {
                core.exact_bucket_probabilities(seed, signed)
            }),
        }
    }
}
