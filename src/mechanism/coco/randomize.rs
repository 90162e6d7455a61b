//! Sampling a report of CoCo, and its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::rule::Coco;
use super::thresholds::{Kind, Thresholds};
use crate::domain::{Domain, Entry, Signed};
use crate::hash::{Functions, Hash, element_sign};
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Cells, Drawn, Favoured};
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
    functions: Functions,
    thresholds: Thresholds,
    /// What is left of the entries, at most s.
    signed: Vec<Signed>,
    /// The s elements.
    elements: Vec<u64>,
    /// Whether each is negative.
    negative: Vec<bool>,
    /// Where the elements stand before they are hashed.
    placed: Vec<u64>,
    /// The side that each pushes to under each hash function.
    hashed: Vec<u32>,
    /// Sides that are pushed to on balance (rule `strongest`).
    cells: Cells,
    /// Of the s elements, ascending (rule `overwrite`).
    pushes: Vec<Push>,
    /// Pairs that are pushed, ascending (rule `overwrite`).
    pairs: Vec<u32>,
    /// Where each pair's pushes begin (rule `overwrite`).
    begins: Vec<u32>,
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
            functions: Functions::new(coco.hash(domain), coco.hashes(), 0),
            hash: coco.hash(domain),
            thresholds: coco.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            elements: Vec::with_capacity(capacity),
            negative: Vec::with_capacity(capacity),
            placed: Vec::with_capacity(capacity),
            hashed: alloc::vec![0; capacity * coco.hashes() as usize],
            cells: coco.tally(domain),
            pushes: Vec::with_capacity(capacity),
            pairs: Vec::with_capacity(capacity),
            begins: Vec::with_capacity(capacity),
        }
    }

    /// The exact probability of each bucket, the seed and the signs of the
    /// paddings being given (bit i of `paddings` set for a negative one), from
    /// the thresholds that [`crate::Randomizer::randomize`] draws against. Takes
    /// O(R·t): for tests and audits.
    ///
    /// # Panics
    /// If there are more than s signed items, or more than 64 paddings.
    #[cfg(feature = "analysis")]
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed], paddings: u64) -> Vec<f64> {
        assert!(self.missing(signed) <= 64, "one bit for each padding");
        self.gather(signed, |index| (paddings >> index) & 1 == 1);
        match self.thresholds.kind {
            Kind::Strongest { inside, favoured } => {
                let sides = 2 * self.thresholds.pairs;
                let favoured = self.favour(seed, favoured);
                let levels = favoured.levels(sides, inside);
                let mut probabilities = alloc::vec![favoured.level(&levels, 0); sides as usize];
                for (side, strength) in self.cells.strengths() {
                    probabilities[side as usize] = favoured.level(&levels, strength);
                    probabilities[opposite(side) as usize] = levels.outside;
                }
                probabilities
            }
            Kind::Overwrite { pair, decided, .. } => {
                self.find_pairs(seed);
                self.overwrite_probabilities(pair, decided)
            }
        }
    }

    fn missing(&self, signed: &[Signed]) -> u32 {
        self.domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries")
    }

    /// Lists the elements of the input and of its paddings.
    fn gather(&mut self, signed: &[Signed], mut padding_is_negative: impl FnMut(u32) -> bool) {
        self.elements.clear();
        self.negative.clear();
        for signed in signed {
            self.elements.push(signed.item);
            self.negative.push(signed.negative);
        }
        for index in 0..self.missing(signed) {
            self.elements.push(self.domain.padding(index));
            self.negative.push(padding_is_negative(index));
        }
        let place = |&element: &u64| self.hash.place(element);
        self.placed.clear();
        self.placed.extend(self.elements.iter().map(place));
    }

    /// Hashes the elements to pairs, and from there to the sides that they push to.
    fn push(&mut self, seed: u64) {
        self.functions.take_seed(seed);
        self.functions.buckets_of(&self.placed, &mut self.hashed);
        let functions = self.functions.count();
        for function in 0..functions {
            let keys = self.functions.keys(function);
            let pairs = self.hashed[function as usize..].iter_mut();
            let elements = self.elements.iter().zip(&self.negative);
            for (pair, (&element, &negative)) in pairs.step_by(functions as usize).zip(elements) {
                let minus = negative != (element_sign(&self.domain, &keys, element) < 0);
                *pair = 2 * *pair + u32::from(minus);
            }
        }
    }

    /// Ranks the sides by what is pushed to them on balance.
    fn favour(&mut self, seed: u64, favoured: u32) -> Favoured {
        self.push(seed);
        self.cells.clear();
        let functions = self.functions.count() as usize;
        for function in 0..functions {
            self.cells.add(&self.hashed[function..], functions);
        }
        Favoured::new(favoured, &self.cells, self.balanced())
    }

    /// How many sides belong to pairs in balance.
    fn balanced(&self) -> u32 {
        2 * (self.thresholds.pairs - self.cells.len())
    }

    fn strongest<R: CryptoRng + ?Sized>(
        &mut self,
        favoured: &Favoured,
        inside: Threshold,
        rng: &mut R,
    ) -> u32 {
        match favoured.sample(2 * self.thresholds.pairs, inside, rng) {
            Drawn::Ranked(rank) => self.cells.ranked(rank),
            Drawn::Zero(index) => self.cells.weak(index),
            // The sides that are neither ranked nor tied: the opposite sides of
            // the ranked, before them the balanced ones unless these tie.
            Drawn::Other(index) => {
                let balanced = if favoured.zeros_tie() {
                    0
                } else {
                    self.balanced()
                };
                match index.checked_sub(balanced) {
                    None => self.cells.weak(index),
                    Some(rank) => opposite(self.cells.ranked(rank)),
                }
            }
        }
    }

    fn overwrite<R: CryptoRng + ?Sized>(
        &mut self,
        pair: u64,
        decided: Threshold,
        rng: &mut R,
    ) -> u32 {
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
    fn find_pairs(&mut self, seed: u64) {
        self.push(seed);
        self.pushes.clear();
        self.pushes
            .extend(self.hashed.iter().map(|&side| Push::from(side)));
        sort(&mut self.pushes);
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
        self.gather(&signed, |index| {
            if index.is_multiple_of(64) {
                word = rng.next_u64();
            }
            (word >> (index % 64)) & 1 == 1
        });
        self.signed = signed;
        let bucket = match self.thresholds.kind {
            Kind::Strongest { inside, favoured } => {
                let favoured = self.favour(seed, favoured);
                self.strongest(&favoured, inside, rng)
            }
            Kind::Overwrite { pair, decided, .. } => {
                self.find_pairs(seed);
                self.overwrite(pair, decided, rng)
            }
        };
        *report = Report { seed, bucket };
        sampled_down
    }
}

/// The other side of the same pair.
const fn opposite(bucket: u32) -> u32 {
    bucket ^ 1
}
