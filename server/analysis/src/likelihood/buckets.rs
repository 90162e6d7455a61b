//! Likelihood of a report under an input, for the mechanisms whose reports name a bucket (Collision
//! and CoCo).
//!
//! An input has entries, and under some rules padding elements. Each hash function maps every
//! element to a bucket. The buckets of all hash functions are numbered consecutively, function by
//! function.

use hushbin::Entry;
use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::HashFunctions;
use hushbin::mechanism::{BucketFavouringRule, BucketReport, HashedSubsetSelection};

use super::contract::{ExactProbabilities, ObservableMechanism};
use super::hypothesis::{Hypothesis, HypothesisMixturePart};
use super::observation::{BucketRank, EntryCellSummary, Observation};

/// Buckets of an input's entries and padding elements under all hash functions.
pub(super) struct InputBuckets<'a> {
    pub(super) entry_buckets: Vec<ElementBuckets<'a>>,
    pub(super) padding_buckets: Vec<ElementBuckets<'a>>,
}

/// Buckets of one element, one for each hash function.
#[derive(Clone, Copy)]
pub(super) struct ElementBuckets<'a> {
    /// Bucket under each hash function. Under CoCo, the bucket is the side that a positive value
    /// pushes towards.
    positive_value_buckets: &'a [u32],
    /// 1 if the element's value pushes towards the opposite sides, otherwise 0.
    side_flip_bit: u32,
}

impl ElementBuckets<'_> {
    /// Returns the element's bucket under the hash function at index `function`. Buckets of each
    /// function are numbered from 0.
    #[inline]
    pub(super) fn bucket_under_function(&self, function: u32) -> u32 {
        self.positive_value_buckets[function as usize] ^ self.side_flip_bit
    }
}

/// A rule for choosing favoured buckets, under which the likelihood of a report can be computed.
pub(super) trait BucketFavouringRuleLikelihood: BucketFavouringRule {
    /// Returns the number of elements to which an input is padded for this computation.
    fn padded_input_size(&self, sparsity: u32) -> u32 {
        sparsity
    }

    /// Replaces each pair of sides in `cells` by the side that a positive value pushes towards.
    /// `cells` contains one pair per hash function for each element. The default changes nothing:
    /// it is for rules whose cells have no sides.
    fn keep_positive_sides_of_pairs(
        _: &HashFunctions,
        _: &Domain,
        _elements: &[u64],
        _cells: &mut [u32],
    ) {
    }

    /// Returns the report's likelihood under the input `held`, times the rule's normalising
    /// constant Ω. `exp` is e^ε.
    fn unnormalised_likelihood(
        subset: &HashedSubsetSelection<Self>,
        sparsity: u32,
        exp: f64,
        held: &InputBuckets<'_>,
        report: &BucketReport,
        strengths: &mut CellStrengthCounts,
    ) -> f64;

    /// Returns the exact bucket probabilities of the core's randomizer, for
    /// [`ObservableMechanism::exact_probabilities`](super::contract::ObservableMechanism::exact_probabilities).
    fn exact_bucket_probabilities(
        subset: &HashedSubsetSelection<Self>,
        domain: &Domain,
        epsilon: f64,
    ) -> ExactProbabilities;
}

impl<R: BucketFavouringRuleLikelihood> ObservableMechanism for HashedSubsetSelection<R> {
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
        let (bucket, t, sides) = (report.bucket, self.buckets_per_hash(), R::SIDES_PER_CELL);
        // Buckets of all hash functions are numbered function by function.
        let function = bucket / t;
        let padded = self.favouring_rule().padded_input_size(domain.sparsity());
        let missing = |part: &HypothesisMixturePart| {
            padded.saturating_sub(part.kept_entry_indices.len() as u32)
        };
        let parts = inputs.iter().flat_map(|input| input.mixture_parts());
        let paddings = parts.map(missing).max().unwrap_or(0);
        let rows = BucketTable::new(self, domain, report.seed, inputs, paddings);
        let exp = epsilon.exp();
        let mut strengths = CellStrengthCounts::new(self.hash_count(), t / sides);
        let [(first, first_weight), (second, second_weight)] = [0, 1].map(|which| {
            let input = inputs[which];
            // Sides of a pair are 2k and 2k + 1, so xor 1 selects the opposite side.
            let turned = |entry: &Entry| u32::from(entry.value < 0.0 && sides > 1);
            let entries = input.entries().iter().zip(&rows.entry_row_indices[which]);
            let entries: Vec<ElementBuckets<'_>> = entries
                .map(|(entry, &element)| ElementBuckets {
                    positive_value_buckets: rows.buckets_of_element(element),
                    side_flip_bit: turned(entry),
                })
                .collect();
            let weights = input.mixture_parts().iter().map(|part| {
                let paddings = 0..missing(part) as usize;
                let kept = part.kept_entry_indices.iter();
                let held = InputBuckets {
                    entry_buckets: kept.map(|&index| entries[index]).collect(),
                    padding_buckets: paddings.map(|index| rows.padding_buckets(index)).collect(),
                };
                let sparsity = domain.sparsity();
                part.probability
                    * R::unnormalised_likelihood(self, sparsity, exp, &held, report, &mut strengths)
            });
            let weight: f64 = weights.sum();
            // An element favours `buckets_per_element` consecutive buckets (cyclic), starting with its own.
            let own = |entry: &ElementBuckets<'_>| {
                let of_own = entry.bucket_under_function(function);
                let window =
                    (0..self.buckets_per_element()).map(move |behind| (of_own + behind) % t);
                window.map(|of_function| function * t + of_function)
            };
            (entries.iter().flat_map(own).collect::<Vec<u32>>(), weight)
        });
        let first_entry =
            |own: &[u32]| (own.iter().position(|held| *held == bucket)).unwrap_or(own.len());
        let fall = |buckets: &[u32]| EntryCellSummary::for_buckets(buckets, sides);
        Observation {
            log_likelihood_ratio: (first_weight / second_weight).ln(),
            seed: report.seed,
            reported_bucket: u64::from(bucket),
            bucket_first_entry_indices: [first_entry(&first), first_entry(&second)],
            bucket_ranks_by_input: [bucket_rank(&first, bucket), bucket_rank(&second, bucket)],
            cell_summaries_by_input: [fall(&first), fall(&second)],
        }
    }

    fn exact_probabilities(&self, domain: &Domain, epsilon: f64) -> Option<ExactProbabilities> {
        Some(R::exact_bucket_probabilities(self, domain, epsilon))
    }
}

/// Table of the buckets of two inputs' elements and of padding elements, computed together.
///
/// Entries at the same index of both inputs usually have the same item, and then share one row.
struct BucketTable {
    hash_function_count: usize,
    /// Buckets of the elements, in rows. A row has one bucket for each hash function.
    bucket_rows: Vec<u32>,
    /// Index of the row of each entry, for each of the two inputs.
    entry_row_indices: [Vec<usize>; 2],
    /// Index of the row of the first padding element.
    first_padding_row: usize,
}

impl BucketTable {
    fn new<R: BucketFavouringRuleLikelihood>(
        subset: &HashedSubsetSelection<R>,
        domain: &Domain,
        seed: u64,
        inputs: [&Hypothesis; 2],
        paddings: u32,
    ) -> Self {
        // If cells have sides, the sign is not part of the element.
        let domain = match R::SIDES_PER_CELL {
            1 => *domain,
            _ => domain.without_signs(),
        };
        let element = |entry: &Entry| {
            domain.element_of_signed_item(SignedItem {
                item: entry.item,
                is_negative: entry.value < 0.0,
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
            subset.hash_family(),
            subset.domain_element_count(&domain),
            subset.buckets_per_hash() / R::SIDES_PER_CELL,
            subset.hash_count(),
            seed,
        );
        let placed: Vec<u64> = elements
            .iter()
            .map(|&e| functions.prepare_element(e))
            .collect();
        let mut buckets = vec![0; elements.len() * functions.function_count()];
        functions.fill_buckets(&placed, &mut buckets);
        R::keep_positive_sides_of_pairs(&functions, &domain, &elements, &mut buckets);
        Self {
            hash_function_count: functions.function_count(),
            bucket_rows: buckets,
            entry_row_indices: entries,
            first_padding_row: first_padding,
        }
    }

    fn buckets_of_element(&self, element: usize) -> &[u32] {
        &self.bucket_rows
            [self.hash_function_count * element..self.hash_function_count * (element + 1)]
    }

    fn padding_buckets(&self, index: usize) -> ElementBuckets<'_> {
        ElementBuckets {
            positive_value_buckets: self.buckets_of_element(self.first_padding_row + index),
            side_flip_bit: 0,
        }
    }
}

fn bucket_rank(buckets: &[u32], bucket: u32) -> BucketRank {
    if !buckets.contains(&bucket) {
        return BucketRank::ContainsNoEntry;
    }
    let lower = buckets.iter().any(|&other| other < bucket);
    let higher = buckets.iter().any(|&other| other > bucket);
    match (lower, higher) {
        (false, false) => BucketRank::ContainsAllEntries,
        (false, true) => BucketRank::LowestOccupiedBucket,
        (true, false) => BucketRank::HighestOccupiedBucket,
        (true, true) => BucketRank::MiddleOccupiedBucket,
    }
}

/// Number of cells of each strength, counted over all hash functions. A cell is a bucket, or under
/// CoCo a pair of sides. The strength of a cell is the absolute sum of the pushes on it.
pub(super) struct CellStrengthCounts {
    hash_function_count: u32,
    /// Sum of the pushes on each cell of one hash function. All sums are zero between calls.
    push_sums: Vec<i32>,
    /// Number of cells that have strength 0, 1, 2, ….
    cell_counts_by_strength: Vec<u32>,
}

impl CellStrengthCounts {
    /// Creates counters for `functions` hash functions with `cells` cells each.
    pub(super) fn new(functions: u32, cells: u32) -> Self {
        Self {
            hash_function_count: functions,
            push_sums: vec![0; cells as usize],
            cell_counts_by_strength: Vec::new(),
        }
    }

    /// Counts the cells by strength. `push` converts an element's bucket to its cell and a push of
    /// 1 or −1.
    pub(super) fn count_cells_by_strength(
        &mut self,
        elements: &[ElementBuckets<'_>],
        push: impl Fn(u32) -> (u32, i32),
    ) {
        self.cell_counts_by_strength.clear();
        self.cell_counts_by_strength.resize(elements.len() + 1, 0);
        for function in 0..self.hash_function_count {
            let pushes = || {
                elements
                    .iter()
                    .map(|element| push(element.bucket_under_function(function)))
            };
            for (cell, push) in pushes() {
                self.push_sums[cell as usize] += push;
            }
            // `take` resets the cell. If several elements push it, later visits count it at
            // strength 0. That count is overwritten below.
            for (cell, _) in pushes() {
                let strength = std::mem::take(&mut self.push_sums[cell as usize]);
                self.cell_counts_by_strength[strength.unsigned_abs() as usize] += 1;
            }
        }
        let strong: u32 = self.cell_counts_by_strength[1..].iter().sum();
        self.cell_counts_by_strength[0] =
            self.hash_function_count * self.push_sums.len() as u32 - strong;
    }

    /// Returns the number of cells whose strength is `strength`.
    pub(super) fn count_cells_of_strength(&self, strength: u32) -> u32 {
        self.cell_counts_by_strength[strength as usize]
    }

    /// Returns the number of cells whose strength is greater than `strength`.
    pub(super) fn count_stronger_cells(&self, strength: u32) -> u32 {
        self.cell_counts_by_strength[strength as usize + 1..]
            .iter()
            .sum()
    }
}

/// Returns the probability that a bucket is among the `favoured` strongest buckets.
///
/// `stronger` is the number of stronger buckets. `equal` is the number of buckets with the same
/// strength, including this one. Ties are broken uniformly at random.
pub(super) fn bucket_favoured_probability(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}
