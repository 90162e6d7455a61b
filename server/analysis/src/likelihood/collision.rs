//! Likelihood of a Collision report under an input, from Definition 5 of Wang et al. and the
//! definition of the rule `heaviest`.

use hushbin::domain::Domain;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::collision::{Collision, Randomizer, Rule};

use super::buckets::{
    ElementBuckets, HashedInput, RuleLikelihood, StrengthCounts, favoured_probability,
};
use super::contract::ExactProbabilities;

impl RuleLikelihood for Rule {
    fn unnormalised_likelihood(
        collision: &Collision,
        sparsity: u32,
        exp: f64,
        held: &HashedInput<'_>,
        report: &BucketReport,
        strengths: &mut StrengthCounts,
    ) -> f64 {
        let t = collision.buckets();
        let elements = [held.entries.as_slice(), &held.paddings].concat();
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
        strengths.count_by_strength(&elements, |bucket| (bucket, 1));
        let (stronger, equal) = (
            strengths.count_stronger(here),
            strengths.count_equally_strong(here),
        );
        match collision.rule() {
            // Every occupied bucket has weight e, however many elements it contains.
            Rule::Occupied if here > 0 => exp,
            Rule::Occupied => {
                // The reported bucket is empty. So all stronger buckets are occupied, and all
                // equally strong ones are empty.
                let total = f64::from(sparsity) * exp + f64::from(t - sparsity);
                (total - f64::from(stronger) * exp) / f64::from(equal)
            }
            Rule::Heaviest { favoured } => {
                1.0 + (exp - 1.0) * favoured_probability(favoured, stronger, equal)
            }
        }
    }

    fn exact_probabilities(
        collision: &Collision,
        domain: &Domain,
        epsilon: f64,
    ) -> ExactProbabilities {
        let mut core = Randomizer::new(collision, domain, epsilon);
        ExactProbabilities {
            buckets: collision.total_buckets(),
            completions: Box::new(|_| Some(1)),
            probabilities: Box::new(move |seed, signed, _| {
                core.exact_bucket_probabilities(seed, signed)
            }),
        }
    }
}
