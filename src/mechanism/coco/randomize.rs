//! Sampling a report of CoCo, and its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::rule::Coco;
use super::thresholds::{Kind, Thresholds};
use crate::domain::{Domain, Entry, Signed};
use crate::hash::{Hash, Keys, element_sign};
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Drawn, Favoured, Ranked};
use crate::sample::{Threshold, below};
use crate::sort::sort;

/// An element's push on its pair: the bucket it pushes to, which is a side of
/// the pair. Sorted, those of one pair lie together.
type Push = u64;

const fn pair_of(push: Push) -> u32 {
    (push / 2) as u32
}

/// The sampler of CoCo's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Randomizer, Rule};
///
/// let rule = Rule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, Hashing::Balanced, 12).unwrap();
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// let mut randomizer = Randomizer::new(&coco, &task.domain(), 1.0);
/// // Of an input without entries, under the seed 7; all paddings push alike.
/// let probabilities = randomizer.probabilities(7, &[], 0);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    hash: Hash,
    thresholds: Thresholds,
    /// What is left of the entries, at most s.
    signed: Vec<Signed>,
    /// The pair of each element.
    hashed: Vec<u64>,
    /// Of the s elements, ascending.
    pushes: Vec<Push>,
    /// Pairs that are pushed (rule `overwrite`), or pushed off balance
    /// (`strongest`), ascending.
    pairs: Vec<u32>,
    /// Where each pair's pushes begin (rule `overwrite`).
    begins: Vec<u32>,
    /// Sides that are pushed to, by falling strength, as keys of [`Ranked`]
    /// (rule `strongest`).
    ranked: Vec<u64>,
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    ///
    /// # Panics
    /// If rule `overwrite` has no more pairs than the domain's sparsity.
    #[must_use]
    pub fn new(coco: &Coco, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        Self {
            domain: *domain,
            hash: coco.hash(domain),
            thresholds: coco.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            hashed: Vec::with_capacity(capacity),
            pushes: Vec::with_capacity(capacity),
            pairs: Vec::with_capacity(capacity),
            begins: Vec::with_capacity(capacity),
            ranked: Vec::with_capacity(capacity),
        }
    }

    /// The exact probability of each bucket, the seed and the signs of the
    /// paddings being given (bit i of `paddings` set for a negative one), from
    /// the thresholds that [`crate::Randomizer::randomize`] draws against. Takes
    /// O(t): for tests and audits.
    ///
    /// # Panics
    /// If there are more than s signed items, or more than 64 paddings.
    #[cfg(feature = "analysis")]
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed], paddings: u64) -> Vec<f64> {
        assert!(self.missing(signed) <= 64, "one bit for each padding");
        self.push(seed, signed, |index| (paddings >> index) & 1 == 1);
        match self.thresholds.kind {
            Kind::Strongest { inside, favoured } => {
                let buckets = 2 * self.thresholds.pairs;
                let favoured = self.favour(favoured);
                let levels = favoured.levels(buckets, inside);
                let mut probabilities = alloc::vec![favoured.zero_level(&levels); buckets as usize];
                for (rank, &key) in (0..).zip(&self.ranked) {
                    let bucket = Ranked::from_key(key).bucket();
                    probabilities[bucket as usize] = favoured.level(&levels, rank);
                    probabilities[opposite(bucket) as usize] = levels.outside;
                }
                probabilities
            }
            Kind::Overwrite { pair, decided, .. } => self.overwrite_probabilities(pair, decided),
        }
    }

    fn missing(&self, signed: &[Signed]) -> u32 {
        self.domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries")
    }

    /// Hashes the input and its paddings, and sorts the pushes by pair.
    fn push(
        &mut self,
        seed: u64,
        signed: &[Signed],
        mut padding_is_negative: impl FnMut(u32) -> bool,
    ) {
        let keys = Keys::new(seed);
        let missing = self.missing(signed);
        let domain = &self.domain;
        let elements = signed
            .iter()
            .map(|signed| (signed.item, signed.negative))
            .chain((0..missing).map(|index| (domain.padding(index), padding_is_negative(index))));
        self.hashed.clear();
        self.pushes.clear();
        for (element, negative) in elements {
            let minus = negative != (element_sign(domain, &keys, element) < 0);
            self.hashed.push(element);
            self.pushes.push(Push::from(minus));
        }
        self.hash.replace(&keys, &mut self.hashed);
        for (push, pair) in self.pushes.iter_mut().zip(&self.hashed) {
            *push += 2 * pair;
        }
        sort(&mut self.pushes);
    }

    /// Ranks the sides by what is pushed to them on balance.
    fn favour(&mut self, favoured: u32) -> Favoured {
        self.pairs.clear();
        self.ranked.clear();
        for pushes in self.pushes.chunk_by(|&a, &b| pair_of(a) == pair_of(b)) {
            let plus = pushes.partition_point(|push| push % 2 == 0);
            let minus = pushes.len() - plus;
            if plus != minus {
                let pair = pair_of(pushes[0]);
                self.pairs.push(pair);
                let bucket = 2 * pair + u32::from(minus > plus);
                let strength = plus.abs_diff(minus) as u32;
                self.ranked.push(Ranked::new(bucket, strength).key());
            }
        }
        sort(&mut self.ranked);
        let balanced = 2 * (self.thresholds.pairs - self.pairs.len() as u32);
        Favoured::new(favoured, &self.ranked, balanced)
    }

    fn strongest<R: CryptoRng + ?Sized>(
        &mut self,
        favoured: u32,
        inside: Threshold,
        rng: &mut R,
    ) -> u32 {
        let favoured = self.favour(favoured);
        match favoured.sample(2 * self.thresholds.pairs, inside, rng) {
            Drawn::Ranked(rank) => self.ranked_side(rank),
            Drawn::Zero(index) => self.side_elsewhere(index),
            // The sides that are neither ranked nor tied: the opposite sides of
            // the ranked, before them the balanced ones unless these tie.
            Drawn::Other(index) => {
                let balanced = if favoured.zeros_tie() {
                    0
                } else {
                    2 * (self.thresholds.pairs - self.pairs.len() as u32)
                };
                match index.checked_sub(balanced) {
                    None => self.side_elsewhere(index),
                    Some(rank) => opposite(self.ranked_side(rank)),
                }
            }
        }
    }

    fn ranked_side(&self, rank: u32) -> u32 {
        Ranked::from_key(self.ranked[rank as usize]).bucket()
    }

    fn overwrite<R: CryptoRng + ?Sized>(
        &mut self,
        pair: u64,
        decided: Threshold,
        rng: &mut R,
    ) -> u32 {
        self.find_pairs();
        let pushed = self.pairs.len() as u32;
        // k·pair ≤ 2⁶⁴·s(e + 1)/Ω is below 2⁶⁴.
        let inside = Threshold(u64::from(pushed) * pair);
        if inside.sample(rng) {
            let pushes = self.pushes_of(below(rng, pushed) as usize);
            // Buckets are below t < 2³².
            let side = pushes[below(rng, pushes.len() as u32) as usize] as u32;
            if decided.sample(rng) {
                side
            } else {
                opposite(side)
            }
        } else {
            let elsewhere = 2 * (self.thresholds.pairs - pushed);
            self.side_elsewhere(below(rng, elsewhere))
        }
    }

    #[cfg(feature = "analysis")]
    fn overwrite_probabilities(&mut self, pair: u64, decided: Threshold) -> Vec<f64> {
        self.find_pairs();
        let pushed = self.pairs.len() as u32;
        let pairs = self.thresholds.pairs;
        let inside = Threshold(u64::from(pushed) * pair);
        let elsewhere = inside.complement() / f64::from(2 * (pairs - pushed));
        let mut probabilities = alloc::vec![elsewhere; 2 * pairs as usize];
        for index in 0..self.pairs.len() {
            let pushes = self.pushes_of(index);
            let minus = pushes.iter().filter(|push| *push % 2 == 1).count() as f64;
            let minus = minus / pushes.len() as f64;
            let plus_side = (1.0 - minus) * decided.probability() + minus * decided.complement();
            let minus_side = minus * decided.probability() + (1.0 - minus) * decided.complement();
            let pair_probability = Threshold(pair).probability();
            let plus = 2 * self.pairs[index] as usize;
            probabilities[plus] = pair_probability * plus_side;
            probabilities[plus + 1] = pair_probability * minus_side;
        }
        probabilities
    }

    /// Lists the pushed pairs and where their pushes begin.
    fn find_pairs(&mut self) {
        self.pairs.clear();
        self.begins.clear();
        for (index, &push) in (0..).zip(&self.pushes) {
            if self.pairs.last() != Some(&pair_of(push)) {
                self.pairs.push(pair_of(push));
                self.begins.push(index);
            }
        }
    }

    fn pushes_of(&self, index: usize) -> &[Push] {
        let begin = self.begins[index] as usize;
        let end = self
            .begins
            .get(index + 1)
            .map_or(self.pushes.len(), |&end| end as usize);
        &self.pushes[begin..end]
    }

    /// The `index`-th side, ascending, of the pairs that are not listed.
    fn side_elsewhere(&self, index: u32) -> u32 {
        let mut pair = index / 2;
        for &listed in &self.pairs {
            if listed > pair {
                break;
            }
            pair += 1;
        }
        2 * pair + index % 2
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order: what ternarisation and sampling down need; the seed
    /// (64 bits); the signs of the paddings, 64 to a word; inside or outside (64
    /// bits); then, under `strongest`, a rank and, where it falls among tied
    /// sides, one of them; under `overwrite`, a pair, the entry that decides in
    /// it and its side (64 bits), or a bucket elsewhere.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let mut signed = core::mem::take(&mut self.signed);
        let sampled_down = self.domain.draw_signed(entries, rng, &mut signed);
        let seed = rng.next_u64();
        let mut word = 0;
        self.push(seed, &signed, |index| {
            if index.is_multiple_of(64) {
                word = rng.next_u64();
            }
            (word >> (index % 64)) & 1 == 1
        });
        self.signed = signed;
        let bucket = match self.thresholds.kind {
            Kind::Strongest { inside, favoured } => self.strongest(favoured, inside, rng),
            Kind::Overwrite { pair, decided, .. } => self.overwrite(pair, decided, rng),
        };
        *report = Report { seed, bucket };
        sampled_down
    }
}

/// The other side of the same pair.
const fn opposite(bucket: u32) -> u32 {
    bucket ^ 1
}
