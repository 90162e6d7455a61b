//! Hash-bin from its definition: sums of bins, rounding, and the loss of a report. Shares only the
//! hashes with the sampler; reference numbers check those.

use hushbin::hash::{
    BalancedHash, HashFamily, HashKeys, hashed_closed_element_sign, hashed_open_key_sign,
    independent_bucket,
};
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, RandomisedResponse};
use hushbin::sample::ExpLowerBound;
use hushbin::{Entry, Items, Randomizer, RatingsTaskFields, Report, Task, ValueKind};

use crate::generators::Scripted;

/// One set of parameters.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Number of items; `None` in open domains.
    pub items: Option<u32>,
    pub sparsity: u32,
    pub epsilon: f64,
    pub level: PrivacyLevel,
    pub hashing: HashFamily,
    pub bins: u32,
    pub grid: u32,
}

/// Units per 1 of a sum.
pub const UNIT: i128 = 1 << 42;

impl Model {
    pub fn hash_bin(&self) -> HashBin {
        HashBin::new(self.level, self.hashing, self.bins, self.grid).unwrap()
    }

    pub fn task(&self) -> Task {
        let items = match self.items {
            Some(items) => Items::Count(items),
            None => serde_json::from_str("\"open\"").unwrap(),
        };
        Task::new(RatingsTaskFields {
            id: "model".to_owned(),
            items,
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            value: ValueKind::Real,
            mechanism: Mechanism::HashBin(self.hash_bin()),
        })
        .unwrap()
    }

    /// Units per step of the grid.
    pub fn step(&self) -> i128 {
        UNIT / i128::from(self.grid)
    }

    /// Clip in steps, ηΓ, at user level.
    pub fn clip_steps(&self) -> Option<u32> {
        let clip = self.level.clipping_bound()?;
        Some((clip * f64::from(self.grid)) as u32)
    }

    /// Bin and sign of an item.
    pub fn place(&self, seed: u64, item: u64) -> (usize, i8) {
        let keys = HashKeys::new(seed);
        let bin = match (self.hashing, self.items) {
            (HashFamily::Balanced, Some(items)) => {
                BalancedHash::new(items, self.bins).bucket_of_slot(&keys, item as u32)
            }
            _ => independent_bucket(&keys, item, self.bins),
        };
        let sign = match self.items {
            Some(_) => hashed_closed_element_sign(&keys, item as u32),
            None => hashed_open_key_sign(&keys, item),
        };
        (bin as usize, sign)
    }

    /// Sum of each bin in units, clipped at user level.
    pub fn sums(&self, seed: u64, input: &[Entry]) -> Vec<i128> {
        let mut sums = vec![0; self.bins as usize];
        for entry in input {
            let (bin, sign) = self.place(seed, entry.item);
            // Multiplication by a power of two is exact; the rest is cut off.
            let value = (entry.value * UNIT as f64).trunc() as i128;
            sums[bin] += value * i128::from(sign);
        }
        if let Some(clip) = self.clip_steps() {
            let most = i128::from(clip) * self.step();
            sums[0] = sums[0].clamp(-most, most);
        }
        sums
    }

    /// Steps below a sum, and the number of 2⁶⁴ words that round it up.
    pub fn rounding(&self, sum: i128) -> (i64, u64) {
        let floor = sum.div_euclid(self.step());
        let rest = sum.rem_euclid(self.step());
        (floor as i64, ((rest << 64) / self.step()) as u64)
    }

    /// Number of 2⁶⁴ words that round each sum up.
    pub fn rounding_words(&self, sums: &[i128]) -> Vec<u64> {
        sums.iter().map(|&sum| self.rounding(sum).1).collect()
    }

    /// Deviation of P(plus) from 1/2 for a sum of `steps` steps, in units of 2⁻⁶⁴.
    pub fn lean(&self, steps: u32) -> u64 {
        let clip = self.clip_steps().unwrap();
        ExpLowerBound::new(self.epsilon).sign_probability_difference(steps, clip) >> 1
    }

    /// P(plus) of a sum of `steps` steps, in units of 2⁻⁶⁴, given its deviation from 1/2.
    pub fn plus_words(steps: i64, lean: impl Fn(u32) -> u64) -> u64 {
        let lean = lean(steps.unsigned_abs() as u32);
        let half = 1u64 << 63;
        if steps < 0 { half - lean } else { half + lean }
    }

    /// Returns the logarithm of the greatest likelihood ratio of the bins between two inputs with
    /// these sums, given the rate of the noise.
    ///
    /// A bin's value has the distribution (1 − r)·q^|y − f| + r·q^|y − f − 1|. Beyond both inputs'
    /// steps the ratio is constant, so only few y matter.
    pub fn loss(&self, rate: f64, first: &[i128], second: &[i128]) -> f64 {
        let log = |sum: i128, y: i64| {
            let (floor, words) = self.rounding(sum);
            let up = words as f64 / 2f64.powi(64);
            let distance = |steps: i64| -rate * (y - steps).abs() as f64;
            let (low, high) = (distance(floor), distance(floor + 1));
            let top = low.max(high);
            top + ((1.0 - up) * (low - top).exp() + up * (high - top).exp()).ln()
        };
        let of_bin = |(&a, &b): (&i128, &i128)| {
            let (low, high) = (self.rounding(a.min(b)).0, self.rounding(a.max(b)).0);
            let middle = i64::midpoint(low, high);
            // Between the steps of both sums the ratio is monotone.
            [low - 1, low, low + 1, middle, high, high + 1, high + 2]
                .into_iter()
                .map(|y| log(a, y) - log(b, y))
                .fold(0.0, f64::max)
        };
        first.iter().zip(second).map(of_bin).sum()
    }
}

/// Words that make the noise of a bin 0: a remainder of 0; kept; no whole quotient; and a plus.
const NO_NOISE: [u64; 4] = [0, 0, u32::MAX as u64, 0];

/// Returns the bins of the sampler's report under a seed, without noise. Each bin is rounded by its
/// word: down to the step below its sum, or up if the word is below the remainder.
pub fn rounded(
    model: &Model,
    randomizer: &mut Randomizer,
    seed: u64,
    input: &[Entry],
    words: &[u64],
) -> Vec<i64> {
    let mut script = vec![seed];
    let mut expected = Vec::new();
    for (&word, &sum) in words.iter().zip(&model.sums(seed, input)) {
        let (floor, up) = model.rounding(sum);
        script.extend((up > 0).then_some(word));
        script.extend(NO_NOISE);
        expected.push(floor + i64::from(word < up));
    }
    let mut rng = Scripted::new(&script);
    let report = randomizer.randomize(input, &mut rng).unwrap().report;
    assert_eq!(rng.taken, script.len());
    let Report::HashBin(report) = report else {
        unreachable!("the task is one of hash-bin")
    };
    assert_eq!(report.seed, seed);
    match report.response {
        RandomisedResponse::Bins(bins) => {
            assert_eq!(bins, expected);
            bins
        }
        RandomisedResponse::Sign(_) => unreachable!("the noise is Laplace"),
    }
}

/// Entries with these values, from item 0 on, without zeros.
pub fn entries(values: &[f64]) -> Vec<Entry> {
    let entries = (0..).zip(values);
    let entries = entries.filter(|(_, value)| **value != 0.0);
    entries
        .map(|(item, &value)| Entry { item, value })
        .collect()
}

/// Every input of `items` items with these values.
pub fn inputs(items: u32, values: &[f64]) -> Vec<Vec<f64>> {
    let mut inputs = vec![vec![]];
    for _ in 0..items {
        let longer = |input: Vec<f64>| {
            values.iter().map(move |&value| {
                let mut longer = input.clone();
                longer.push(value);
                longer
            })
        };
        inputs = inputs.into_iter().flat_map(longer).collect();
    }
    inputs
}
