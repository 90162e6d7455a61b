//! CoCo from its definition, by brute force: pushed sides, favoured sides, and the probability of
//! each side. Shares only the hashes with the sampler; reference numbers check those.

use hushbin::domain::SignedItem;
use hushbin::hash::{
    BalancedHash, HashFamily, HashKeys, hashed_closed_element_sign, independent_bucket,
};
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::coco::{Coco, FavouredSideRule};
use hushbin::sample::ExpLowerBound;
use hushbin::{Items, RatingsTaskFields, Task, ValueKind};
use num_bigint::BigUint;

use super::collision;
use super::exact::Exact;
use super::share_places;

/// One set of parameters over a closed domain.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub items: u32,
    pub sparsity: u32,
    pub epsilon: f64,
    pub rule: FavouredSideRule,
    pub hashing: HashFamily,
    /// Number of pairs T of each hash function.
    pub pairs: u32,
    /// Number of hash functions R.
    pub hashes: u32,
}

/// Number of pushes of each side; bucket 2k is the plus side of pair k.
pub type Pushes = Vec<u32>;

/// Thresholds as integers out of 2⁶⁴.
#[derive(Debug, Clone)]
pub enum Words {
    /// Threshold of reporting inside C.
    Strongest { inside: BigUint },
    /// Thresholds of one pushed pair, and of the decided side given the pair.
    Overwrite { pair: BigUint, decided: BigUint },
}

fn whole() -> BigUint {
    BigUint::from(1u8) << 64
}

impl Model {
    pub fn coco(&self) -> Coco {
        Coco::new_with_hash_count(self.rule, self.hashing, 2 * self.pairs, self.hashes).unwrap()
    }

    /// Number of buckets of all hash functions.
    pub fn buckets(&self) -> u32 {
        2 * self.pairs * self.hashes
    }

    pub fn task(&self) -> Task {
        Task::new(RatingsTaskFields {
            id: "model".to_owned(),
            items: Items::Count(self.items),
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            value: ValueKind::Sign,
            mechanism: Mechanism::Coco(self.coco()),
        })
        .unwrap()
    }

    /// The two rules at this T, with small, middle and large c that this s allows.
    pub fn rules(sparsity: u32, pairs: u32) -> Vec<FavouredSideRule> {
        let mut favoured = vec![1, pairs.div_ceil(2), sparsity.min(pairs), pairs];
        favoured.sort_unstable();
        favoured.dedup();
        let strongest = favoured
            .into_iter()
            .map(|favoured| FavouredSideRule::Strongest { favoured });
        let overwrite = (pairs > sparsity).then_some(FavouredSideRule::RandomEntryDecides);
        strongest.chain(overwrite).collect()
    }

    /// Hash functions that a rule allows.
    fn hashings(rule: FavouredSideRule) -> Vec<HashFamily> {
        let mut hashings = vec![HashFamily::Balanced, HashFamily::Independent];
        if rule != FavouredSideRule::RandomEntryDecides {
            hashings.push(HashFamily::BalancedItems);
        }
        hashings
    }

    /// Every combination of these with small parameters.
    pub fn all(items: impl Iterator<Item = u32>, pairs: &[u32], epsilons: &[f64]) -> Vec<Self> {
        let mut models = Vec::new();
        for items in items {
            for sparsity in 1..=items.min(3) {
                for &pairs in pairs {
                    for rule in Self::rules(sparsity, pairs) {
                        for hashing in Self::hashings(rule) {
                            models.extend(epsilons.iter().map(|&epsilon| Self {
                                items,
                                sparsity,
                                epsilon,
                                rule,
                                hashing,
                                pairs,
                                hashes: 1,
                            }));
                        }
                    }
                }
            }
        }
        models
    }

    /// Small parameters with 2 to 64 hash functions, and c from small to the greatest possible.
    pub fn with_several_hashes() -> Vec<Self> {
        let mut models = Vec::new();
        for (items, sparsity) in [(2, 1), (2, 2), (3, 2), (4, 3)] {
            for hashes in [2, 3, 5, 8, 16, 64] {
                for pairs in [1, 2, 3] {
                    let all = hashes * pairs;
                    let mut favoured = vec![1, all / 3, hashes * sparsity.min(pairs), all];
                    favoured.retain(|c| (1..=all).contains(c));
                    favoured.sort_unstable();
                    favoured.dedup();
                    for favoured in favoured {
                        for hashing in Self::hashings(FavouredSideRule::Strongest { favoured }) {
                            models.extend([0.001, 1.0, 2.3, 12.0].map(|epsilon| Self {
                                items,
                                sparsity,
                                epsilon,
                                rule: FavouredSideRule::Strongest { favoured },
                                hashing,
                                pairs,
                                hashes,
                            }));
                        }
                    }
                }
            }
        }
        models
    }

    /// Every input: all signed subsets of at most s items.
    pub fn inputs(&self) -> Vec<Vec<SignedItem>> {
        collision::inputs(self.items, self.sparsity)
    }

    /// Number of hashed elements.
    pub fn elements(&self) -> u32 {
        match self.hashing {
            HashFamily::BalancedItems => self.items,
            _ => self.items + self.sparsity,
        }
    }

    /// Number of items that can be added to an input; `None` if no items are added.
    pub fn others(&self, input: &[SignedItem]) -> Option<u32> {
        let adds =
            self.hashing == HashFamily::BalancedItems && input.len() < self.sparsity as usize;
        adds.then_some(self.items - input.len() as u32)
    }

    /// Completions of the entries that an input lacks: bits for signs, and above them the first
    /// added item.
    pub fn completions(&self, input: &[SignedItem]) -> std::ops::Range<u64> {
        let firsts = self.others(input).unwrap_or(1);
        0..u64::from(firsts) << (self.sparsity as usize - input.len())
    }

    /// Elements of a completion: paddings, or cyclically the items that the input does not have.
    fn added(&self, input: &[SignedItem], completion: u64) -> Vec<u32> {
        let missing = self.sparsity as usize - input.len();
        if self.others(input).is_none() {
            return (self.items..).take(missing).collect();
        }
        let own: Vec<u64> = input.iter().map(|signed| signed.item).collect();
        let others = (0..self.items).filter(|&item| !own.contains(&item.into()));
        let others: Vec<u32> = others.collect();
        let first = (completion >> missing) as usize;
        others
            .iter()
            .copied()
            .cycle()
            .skip(first)
            .take(missing)
            .collect()
    }

    /// Number of pushes of each side under this seed. An added element is negative if its bit is
    /// set.
    pub fn pushes(&self, seed: u64, input: &[SignedItem], completion: u64) -> Pushes {
        let balanced = BalancedHash::new(self.elements(), self.pairs);
        let items = input
            .iter()
            .map(|signed| (signed.item as u32, if signed.is_negative { -1 } else { 1 }));
        let added = (0..).zip(self.added(input, completion));
        let added = added.map(|(i, element)| (element, 1 - 2 * (completion >> i & 1) as i8));
        let elements: Vec<_> = items.chain(added).collect();
        let mut pushes = vec![0; self.buckets() as usize];
        for function in 0..self.hashes {
            let keys = HashKeys::for_hash_function(seed, function);
            for &(element, sign) in &elements {
                let pair = match self.hashing {
                    HashFamily::Independent => {
                        independent_bucket(&keys, u64::from(element), self.pairs)
                    }
                    _ => balanced.bucket_of_slot(&keys, element),
                };
                let pair = function * self.pairs + pair;
                let minus = sign * hashed_closed_element_sign(&keys, element) < 0;
                pushes[2 * pair as usize + usize::from(minus)] += 1;
            }
        }
        pushes
    }

    /// Thresholds of the mechanism, by its definition of rounding.
    pub fn words(&self) -> Words {
        let e = ExpLowerBound::new(self.epsilon);
        let (s, t) = (self.sparsity, self.buckets());
        match self.rule {
            FavouredSideRule::Strongest { favoured: c } => Words::Strongest {
                inside: e
                    .favoured_probability(c.into(), c.into(), (t - c).into())
                    .into(),
            },
            FavouredSideRule::RandomEntryDecides => Words::Overwrite {
                pair: e.pair_probability(s, t - 2 * s).into(),
                decided: e.favoured_probability(1, 1, 1).into(),
            },
        }
    }

    /// Thresholds from e as a fraction, rounded down or up.
    pub fn words_of(&self, e: &Exact, up: bool) -> Words {
        let one = || Exact::from_integer(1u8.into());
        let integer = |n: u32| Exact::from_integer(n.into());
        let round = |p: Exact| {
            let p: Exact = p * whole();
            if up { p.ceil() } else { p.floor() }.to_integer()
        };
        let (s, t) = (self.sparsity, self.buckets());
        match self.rule {
            FavouredSideRule::Strongest { favoured: c } => {
                let favoured = e * integer(c);
                let inside = favoured.clone() / (favoured + integer(t - c));
                Words::Strongest {
                    inside: round(inside),
                }
            }
            FavouredSideRule::RandomEntryDecides => {
                let both = e + one();
                let all = both.clone() * integer(s) + integer(t - 2 * s);
                Words::Overwrite {
                    pair: round(both.clone() / all),
                    decided: round(e / both),
                }
            }
        }
    }

    /// Probability of each side, given the pushes.
    pub fn distribution(&self, pushes: &Pushes, words: &Words) -> Vec<Exact> {
        match (self.rule, words) {
            (FavouredSideRule::Strongest { favoured }, Words::Strongest { inside }) => {
                let outside = whole() - inside;
                let others = self.buckets() - favoured;
                shares(favoured, pushes)
                    .into_iter()
                    .map(|[within, all]| {
                        // The denominator is 2⁶⁴ · c · (t − c) · number of sets.
                        let weight =
                            inside * others * within + &outside * favoured * (all - within);
                        Exact::new_raw(weight, whole() * favoured * others * all)
                    })
                    .collect()
            }
            (FavouredSideRule::RandomEntryDecides, Words::Overwrite { pair, decided }) => {
                let pushed = pushes
                    .chunks(2)
                    .filter(|sides| sides[0] + sides[1] > 0)
                    .count();
                let elsewhere = Exact::new_raw(
                    whole() - pair * pushed,
                    whole() * (self.buckets() - 2 * pushed as u32),
                );
                let other = whole() - decided;
                (0..pushes.len())
                    .map(|bucket| {
                        let (own, opposite) = (pushes[bucket], pushes[bucket ^ 1]);
                        if own + opposite == 0 {
                            return elsewhere.clone();
                        }
                        let side = decided * own + &other * opposite;
                        Exact::new_raw(pair * side, whole() * whole() * (own + opposite))
                    })
                    .collect()
            }
            _ => unreachable!("words are of the rule"),
        }
    }
}

/// Excess of a side's pushes over those of its opposite side.
pub fn strength(pushes: &Pushes, side: usize) -> i64 {
    i64::from(pushes[side]) - i64::from(pushes[side ^ 1])
}

/// Returns for each side how many of the sets that the rule `strongest` may pick contain it, and
/// the number of all sets. Both are up to a common factor.
///
/// Sides of equal strength that tie for the last places are in equally many sets.
pub fn shares(favoured: u32, pushes: &Pushes) -> Vec<[u32; 2]> {
    let strengths = (0..pushes.len()).map(|side| strength(pushes, side));
    share_places(favoured, &strengths.collect::<Vec<_>>())
}
