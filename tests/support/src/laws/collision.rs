//! Collision from its definition, by brute force: favoured buckets, and the probability of each
//! bucket. Shares only the hash with the sampler; reference numbers check that.

use hushbin::domain::SignedItem;
use hushbin::hash::{BalancedHash, HashFamily, HashKeys, independent_bucket};
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::{Items, RatingsTaskFields, Task, ValueKind};
use num_bigint::BigUint;

use super::exact::Exact;
use super::share_places;

/// One set of parameters over a closed domain.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub items: u32,
    pub sparsity: u32,
    pub epsilon: f64,
    pub rule: FavouredBucketRule,
    pub hashing: HashFamily,
    /// Number of buckets t of each hash function.
    pub buckets: u32,
    /// Number of hash functions R.
    pub hashes: u32,
}

impl Model {
    pub fn collision(&self) -> Collision {
        Collision::new_with_hash_count(self.rule, self.hashing, self.buckets, self.hashes).unwrap()
    }

    pub fn task(&self) -> Task {
        Task::new(RatingsTaskFields {
            id: "model".to_owned(),
            items: Items::Count(self.items),
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            value: ValueKind::Sign,
            mechanism: Mechanism::Collision(self.collision()),
        })
        .unwrap()
    }

    /// The two rules at this t, with small, middle and large c that this s allows.
    pub fn rules(sparsity: u32, buckets: u32) -> Vec<FavouredBucketRule> {
        let mut favoured = vec![1, buckets / 2, sparsity.min(buckets - 1), buckets - 1];
        favoured.sort_unstable();
        favoured.dedup();
        let heaviest = favoured
            .into_iter()
            .map(|favoured| FavouredBucketRule::Heaviest { favoured });
        let occupied = (buckets > sparsity).then_some(FavouredBucketRule::Occupied);
        heaviest.chain(occupied).collect()
    }

    /// Number of buckets of all hash functions.
    pub fn outcomes(&self) -> u32 {
        self.hashes * self.buckets
    }

    /// Small parameters with 2 to 64 hash functions, and c from small to the greatest possible.
    pub fn with_several_hashes() -> Vec<Self> {
        let mut models = Vec::new();
        for (items, sparsity) in [(2, 1), (2, 2), (3, 2), (4, 3)] {
            for hashes in [2, 3, 5, 8, 16, 64] {
                for buckets in [2, 3, 5] {
                    let all = hashes * buckets;
                    let mut favoured = vec![1, all / 4, hashes * sparsity, all - 1];
                    favoured.retain(|c| (1..all).contains(c));
                    favoured.sort_unstable();
                    favoured.dedup();
                    for favoured in favoured {
                        for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                            models.extend([0.001, 1.0, 2.3, 12.0].map(|epsilon| Self {
                                items,
                                sparsity,
                                epsilon,
                                rule: FavouredBucketRule::Heaviest { favoured },
                                hashing,
                                buckets,
                                hashes,
                            }));
                        }
                    }
                }
            }
        }
        models
    }

    /// Every input: see [`inputs`].
    pub fn inputs(&self) -> Vec<Vec<SignedItem>> {
        inputs(self.items, self.sparsity)
    }

    /// Number of the input's s elements in each bucket under this seed.
    pub fn counts(&self, seed: u64, input: &[SignedItem]) -> Vec<u32> {
        let balanced = BalancedHash::new(2 * self.items + self.sparsity, self.buckets);
        let items = input
            .iter()
            .map(|signed| 2 * signed.item as u32 + u32::from(signed.is_negative));
        let paddings = (0..self.sparsity - input.len() as u32).map(|i| 2 * self.items + i);
        let elements: Vec<u32> = items.chain(paddings).collect();
        let mut counts = vec![0; self.outcomes() as usize];
        for function in 0..self.hashes {
            let keys = HashKeys::for_hash_function(seed, function);
            for &element in &elements {
                let bucket = match self.hashing {
                    HashFamily::Independent => {
                        independent_bucket(&keys, u64::from(element), self.buckets)
                    }
                    _ => balanced.bucket_of_slot(&keys, element),
                };
                counts[(function * self.buckets + bucket) as usize] += 1;
            }
        }
        counts
    }

    /// Probability of each bucket, given its number of elements and the threshold of reporting
    /// inside C.
    pub fn distribution(&self, counts: &[u32], inside: impl Fn(u32) -> BigUint) -> Vec<Exact> {
        let shares = shares(self.rule, counts);
        let occupied = counts.iter().filter(|&&count| count > 0).count() as u32;
        let size = match self.rule {
            FavouredBucketRule::Occupied => occupied,
            FavouredBucketRule::Heaviest { favoured } => favoured,
        };
        let whole = BigUint::from(1u8) << 64;
        let inside = inside(occupied);
        let outside = &whole - &inside;
        let others = self.outcomes() - size;
        shares
            .into_iter()
            .map(|[within, all]| {
                // The denominator is 2⁶⁴ · |C| · (t − |C|) · number of sets.
                let weight = &inside * others * within + &outside * size * (all - within);
                Exact::new_raw(weight, &whole * size * others * all)
            })
            .collect()
    }
}

/// Every input: all signed subsets of at most s items.
pub fn inputs(items: u32, sparsity: u32) -> Vec<Vec<SignedItem>> {
    let mut inputs = vec![vec![]];
    for item in 0..u64::from(items) {
        for index in 0..inputs.len() {
            if inputs[index].len() < sparsity as usize {
                for negative in [false, true] {
                    let mut longer: Vec<SignedItem> = inputs[index].clone();
                    longer.push(SignedItem {
                        item,
                        is_negative: negative,
                    });
                    inputs.push(longer);
                }
            }
        }
    }
    inputs
}

/// Returns for each bucket how many of the sets C that the rule may pick contain it, and the number
/// of all sets. Both are up to a common factor.
pub fn shares(rule: FavouredBucketRule, counts: &[u32]) -> Vec<[u32; 2]> {
    match rule {
        FavouredBucketRule::Occupied => counts.iter().map(|&n| [u32::from(n > 0), 1]).collect(),
        FavouredBucketRule::Heaviest { favoured } => {
            let strengths: Vec<i64> = counts.iter().map(|&count| count.into()).collect();
            share_places(favoured, &strengths)
        }
    }
}
