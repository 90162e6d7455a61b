//! Likelihood of a report under an input, for the mechanisms whose reports name a bucket (Collision
//! and CoCo).
//!
//! An input has entries, and under some rules padding elements. Each hash function maps every
//! element to a bucket. The buckets of all hash functions are numbered consecutively, function by
//! function.

use hushbin::Entry;
use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::HashFunctions;
use hushbin::mechanism::{BucketReport, FavouringRule, Subset};

use super::contract::{ExactProbabilities, ObservableMechanism};
use super::hypothesis::{Hypothesis, HypothesisPart};
use super::observation::{BucketRank, Observation, SeedPlacement};

/// Buckets of an input's entries and padding elements under all hash functions.
pub(super) struct HashedInput<'a> {
    pub(super) entries: Vec<ElementBuckets<'a>>,
    pub(super) paddings: Vec<ElementBuckets<'a>>,
}

/// Buckets of one element, one for each hash function.
#[derive(Clone, Copy)]
pub(super) struct ElementBuckets<'a> {
    /// Bucket under each hash function. Under CoCo, the bucket is the side that a positive value
    /// pushes towards.
    of_positive: &'a [u32],
    /// 1 if the element's value pushes towards the opposite sides, otherwise 0.
    turned: u32,
}

impl ElementBuckets<'_> {
    /// Returns the element's bucket under the hash function at index `function`. Buckets of each
    /// function are numbered from 0.
    #[inline]
    pub(super) fn bucket_under_function(&self, function: u32) -> u32 {
        self.of_positive[function as usize] ^ self.turned
    }
}

/// A rule for choosing favoured buckets, under which the likelihood of a report can be computed.
pub(super) trait RuleLikelihood: FavouringRule {
    /// Returns the number of elements to which an input is padded for this computation.
    fn padded_size(&self, sparsity: u32) -> u32 {
        sparsity
    }

    /// Replaces each pair of sides in `cells` by the side that a positive value pushes towards.
    /// `cells` contains one pair per hash function for each element. The default changes nothing:
    /// it is for rules whose cells have no sides.
    fn replace_pairs_by_sides(
        _: &HashFunctions,
        _: &Domain,
        _elements: &[u64],
        _cells: &mut [u32],
    ) {
    }

    /// Returns the report's likelihood under the input `held`, times the rule's normalising
    /// constant Ω. `exp` is e^ε.
    fn unnormalised_likelihood(
        subset: &Subset<Self>,
        sparsity: u32,
        exp: f64,
        held: &HashedInput<'_>,
        report: &BucketReport,
        strengths: &mut StrengthCounts,
    ) -> f64;

    /// Returns the exact bucket probabilities of the core's randomizer, for
    /// [`ObservableMechanism::exact_probabilities`](super::contract::ObservableMechanism::exact_probabilities).
    fn exact_probabilities(
        subset: &Subset<Self>,
        domain: &Domain,
        epsilon: f64,
    ) -> ExactProbabilities;
}

impl<R: RuleLikelihood> ObservableMechanism for Subset<R> {
    type Report = BucketReport;

    /// Compares the report's likelihoods under both inputs. Each likelihood is multiplied by the
    /// rule's normalising constant Ω.
    ///
    /// Ω is equal for all inputs. So the weight of a mixture is the weighted mean of the weights of
    /// its parts.
    fn observe_report(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &BucketReport,
    ) -> Observation {
        let (bucket, t, sides) = (report.bucket, self.buckets(), R::SIDES);
        // Buckets of all hash functions are numbered function by function.
        let function = bucket / t;
        let padded = self.rule().padded_size(domain.sparsity());
        let missing = |part: &HypothesisPart| padded.saturating_sub(part.kept.len() as u32);
        let parts = inputs.iter().flat_map(|input| input.parts());
        let paddings = parts.map(missing).max().unwrap_or(0);
        let rows = BucketTable::new(self, domain, report.seed, inputs, paddings);
        let exp = epsilon.exp();
        let mut strengths = StrengthCounts::new(self.hashes(), t / sides);
        let [(first, first_weight), (second, second_weight)] = [0, 1].map(|which| {
            let input = inputs[which];
            // Sides of a pair are 2k and 2k + 1, so xor 1 selects the opposite side.
            let turned = |entry: &Entry| u32::from(entry.value < 0.0 && sides > 1);
            let entries = input.entries().iter().zip(&rows.entries[which]);
            let entries: Vec<ElementBuckets<'_>> = entries
                .map(|(entry, &element)| ElementBuckets {
                    of_positive: rows.row_of_element(element),
                    turned: turned(entry),
                })
                .collect();
            let weights = input.parts().iter().map(|part| {
                let paddings = 0..missing(part) as usize;
                let held = HashedInput {
                    entries: part.kept.iter().map(|&index| entries[index]).collect(),
                    paddings: paddings.map(|index| rows.padding_buckets(index)).collect(),
                };
                let sparsity = domain.sparsity();
                part.probability
                    * R::unnormalised_likelihood(self, sparsity, exp, &held, report, &mut strengths)
            });
            let weight: f64 = weights.sum();
            // An element favours `width` consecutive buckets (cyclic), starting with its own.
            let own = |entry: &ElementBuckets<'_>| {
                let of_own = entry.bucket_under_function(function);
                let window =
                    (0..self.buckets_per_element()).map(move |behind| (of_own + behind) % t);
                window.map(|of_function| function * t + of_function)
            };
            (entries.iter().flat_map(own).collect::<Vec<u32>>(), weight)
        });
        let is_named = |held: &u32| *held == bucket;
        let first_entry = |own: &[u32]| own.iter().position(is_named).unwrap_or(own.len());
        let fall = |buckets: &[u32]| {
            let side = |&bucket: &u32| (bucket / sides, bucket % sides == 0 && sides > 1);
            SeedPlacement::new(buckets.iter().map(side))
        };
        Observation {
            log_ratio: (first_weight / second_weight).ln(),
            seed: report.seed,
            bucket: u64::from(bucket),
            first_entries: [first_entry(&first), first_entry(&second)],
            places: [bucket_rank(&first, bucket), bucket_rank(&second, bucket)],
            falls: [fall(&first), fall(&second)],
        }
    }

    fn exact_probabilities(&self, domain: &Domain, epsilon: f64) -> Option<ExactProbabilities> {
        Some(R::exact_probabilities(self, domain, epsilon))
    }
}

/// Table of the buckets of two inputs' elements and of padding elements, computed together.
///
/// Entries at the same index of both inputs usually have the same item, and then share one row.
struct BucketTable {
    functions: usize,
    /// Buckets of the elements, in rows. A row has one bucket for each hash function.
    buckets: Vec<u32>,
    /// Index of the row of each entry, for each of the two inputs.
    entries: [Vec<usize>; 2],
    /// Index of the row of the first padding element.
    paddings: usize,
}

impl BucketTable {
    fn new<R: RuleLikelihood>(
        subset: &Subset<R>,
        domain: &Domain,
        seed: u64,
        inputs: [&Hypothesis; 2],
        paddings: u32,
    ) -> Self {
        // If cells have sides, the sign is not part of the element.
        let domain = match R::SIDES {
            1 => *domain,
            _ => domain.without_signs(),
        };
        let element = |entry: &Entry| {
            domain.element_of_signed_item(SignedItem {
                item: entry.item,
                negative: entry.value < 0.0,
            })
        };
        let mut elements = Vec::new();
        let entries = inputs.map(|input| {
            let entries = input.entries().iter().map(element).enumerate();
            let index = |(index, element)| {
                // If the first input has the same element at this index, the second one uses its
                // row.
                if elements.get(index) == Some(&element) {
                    return index;
                }
                elements.push(element);
                elements.len() - 1
            };
            entries.map(index).collect()
        });
        let first_padding = elements.len();
        elements.extend((0..paddings).map(|index| domain.padding_element(index)));
        let functions = HashFunctions::from_seed(
            subset.hashing(),
            subset.elements(&domain),
            subset.buckets() / R::SIDES,
            subset.hashes(),
            seed,
        );
        let placed: Vec<u64> = elements
            .iter()
            .map(|&e| functions.prepare_element(e))
            .collect();
        let mut buckets = vec![0; elements.len() * functions.count()];
        functions.fill_buckets(&placed, &mut buckets);
        R::replace_pairs_by_sides(&functions, &domain, &elements, &mut buckets);
        Self {
            functions: functions.count(),
            buckets,
            entries,
            paddings: first_padding,
        }
    }

    fn row_of_element(&self, element: usize) -> &[u32] {
        &self.buckets[self.functions * element..self.functions * (element + 1)]
    }

    fn padding_buckets(&self, index: usize) -> ElementBuckets<'_> {
        ElementBuckets {
            of_positive: self.row_of_element(self.paddings + index),
            turned: 0,
        }
    }
}

fn bucket_rank(buckets: &[u32], bucket: u32) -> BucketRank {
    if !buckets.contains(&bucket) {
        return BucketRank::Elsewhere;
    }
    let lower = buckets.iter().any(|&other| other < bucket);
    let higher = buckets.iter().any(|&other| other > bucket);
    match (lower, higher) {
        (false, false) => BucketRank::Only,
        (false, true) => BucketRank::Lowest,
        (true, false) => BucketRank::Highest,
        (true, true) => BucketRank::Between,
    }
}

/// Number of cells of each strength, counted over all hash functions. A cell is a bucket, or under
/// CoCo a pair of sides. The strength of a cell is the absolute sum of the pushes on it.
pub(super) struct StrengthCounts {
    functions: u32,
    /// Sum of the pushes on each cell of one hash function. All sums are zero between calls.
    pushes: Vec<i32>,
    /// Number of cells that have strength 0, 1, 2, ….
    levels: Vec<u32>,
}

impl StrengthCounts {
    /// Creates counters for `functions` hash functions with `cells` cells each.
    pub(super) fn new(functions: u32, cells: u32) -> Self {
        Self {
            functions,
            pushes: vec![0; cells as usize],
            levels: Vec::new(),
        }
    }

    /// Counts the cells by strength. `push` converts an element's bucket to its cell and a push of
    /// 1 or −1.
    pub(super) fn count_by_strength(
        &mut self,
        elements: &[ElementBuckets<'_>],
        push: impl Fn(u32) -> (u32, i32),
    ) {
        self.levels.clear();
        self.levels.resize(elements.len() + 1, 0);
        for function in 0..self.functions {
            let pushes = || {
                elements
                    .iter()
                    .map(|element| push(element.bucket_under_function(function)))
            };
            for (cell, push) in pushes() {
                self.pushes[cell as usize] += push;
            }
            // `take` resets the cell. If several elements push it, later visits count it at
            // strength 0. That count is overwritten below.
            for (cell, _) in pushes() {
                let strength = std::mem::take(&mut self.pushes[cell as usize]);
                self.levels[strength.unsigned_abs() as usize] += 1;
            }
        }
        let strong: u32 = self.levels[1..].iter().sum();
        self.levels[0] = self.functions * self.pushes.len() as u32 - strong;
    }

    /// Returns the number of cells whose strength is `strength`.
    pub(super) fn count_equally_strong(&self, strength: u32) -> u32 {
        self.levels[strength as usize]
    }

    /// Returns the number of cells whose strength is greater than `strength`.
    pub(super) fn count_stronger(&self, strength: u32) -> u32 {
        self.levels[strength as usize + 1..].iter().sum()
    }
}

/// Returns the probability that a bucket is among the `favoured` strongest buckets.
///
/// `stronger` is the number of stronger buckets. `equal` is the number of buckets with the same
/// strength, including this one. Ties are broken uniformly at random.
pub(super) fn favoured_probability(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}
