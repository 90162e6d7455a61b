//! Numbers by which an attacker tells two inputs apart.

use std::collections::HashMap;

use serde::Serialize;

use super::feature::{Count, Feature, Words, halves};
use super::mixer::Mixing;
use super::seen::Seen;

/// A number read off an upload, by which an attacker tells two inputs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The logarithm of the likelihood ratio of the two inputs, from the
    /// mechanism's definition: best against a randomizer that follows it.
    LikelihoodRatio,
    /// How many reports there are, or what an upload that no collector takes
    /// shows around them, learned: against what is sent beside reports.
    Frame,
    /// All reports, learned: against randomness that repeats.
    Report,
    /// The seed, learned: against one that depends on the input.
    Seed,
    /// The upload's id, learned: against one that is made from the input.
    Id,
    /// The likelihood ratio and the bucket, learned: against one that draws the remainder of a sum.
    Bucket,
    /// The likelihood ratio and which entry of either input lies in the bucket,
    /// learned: against favourites among entries.
    Entry,
    /// The likelihood ratio and where the bucket stands among those of either
    /// input, learned: against favourites among buckets.
    Place,
    /// Into how many cells the seed lets the entries of either input fall, and how many it lets
    /// push towards plus, learned: against seeds that suit the input.
    Fall,
    /// The cell of the first entry of either input under the seed, learned: against the same.
    Cell,
    /// A parity of up to two bits, bytes or words of the seed, of its hashes' keys
    /// or of the id, learned: against a bit of the input in either.
    Parity,
    /// A byte of these, a remainder or the number of ones, learned: against the same.
    Part,
}

/// All of them; of two that tell equally much the first is named.
pub(super) const STATISTICS: [Statistic; 12] = [
    Statistic::LikelihoodRatio,
    Statistic::Frame,
    Statistic::Report,
    Statistic::Seed,
    Statistic::Id,
    Statistic::Bucket,
    Statistic::Entry,
    Statistic::Place,
    Statistic::Fall,
    Statistic::Cell,
    Statistic::Parity,
    Statistic::Part,
];

/// A statistic and its value; those that go with it.
type Value = (Statistic, u64, u64);

impl Statistic {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LikelihoodRatio => "log-likelihood ratio",
            Self::Report => "learned score of the whole report",
            Self::Seed => "learned score of the seed",
            Self::Id => "learned score of the upload's id",
            Self::Bucket => "learned score of the bucket",
            Self::Entry => "learned score of the entries in the bucket",
            Self::Place => "learned score of the bucket's place",
            Self::Frame => "learned score of what surrounds the report",
            Self::Fall => "learned score of how the seed spreads the entries",
            Self::Cell => "learned score of where the seed puts the first entry",
            Self::Parity => "learned score of a parity of the seed or the upload's id",
            Self::Part => "learned score of a part of the seed or the upload's id",
        }
    }

    /// For those that have nothing to do with what a report says under its seed, if the randomizer
    /// does what it says: by how many standard deviations counts have to differ to say something on
    /// top of the likelihood ratio. More of a parity, which was searched for among ten thousand.
    /// `None` for those that are learned together with the likelihood ratio.
    const fn least_deviation(self) -> Option<f64> {
        match self {
            Self::Frame | Self::Fall | Self::Cell | Self::Part => Some(3.0),
            Self::Parity => Some(5.0),
            Self::LikelihoodRatio
            | Self::Report
            | Self::Seed
            | Self::Id
            | Self::Bucket
            | Self::Entry
            | Self::Place => None,
        }
    }

    /// Its value, where values are counted one by one.
    fn value(self, seen: &Seen) -> Option<Value> {
        let pair = |[first, second]: [u64; 2]| first << 32 | second;
        let of = &seen.observation;
        let with_ratio = |value| Some((self, value, log_ratio(seen).to_bits()));
        match self {
            Self::LikelihoodRatio | Self::Parity | Self::Part => None,
            Self::Report => Some((self, seen.reports, 0)),
            Self::Seed => Some((self, of.seed, 0)),
            Self::Id => {
                let [low, high] = halves(seen.id);
                Some((self, low, high))
            }
            Self::Bucket => with_ratio(of.bucket),
            Self::Entry => with_ratio(pair(of.first_entries.map(|entry| entry as u64))),
            Self::Place => with_ratio(pair(of.places.map(|place| place as u64))),
            Self::Frame => Some((self, seen.frame, 0)),
            Self::Fall => {
                let [cells, pluses] = [
                    of.falls.map(|fall| fall.cells),
                    of.falls.map(|fall| fall.pluses),
                ];
                Some((
                    self,
                    pair(cells.map(u64::from)),
                    pair(pluses.map(u64::from)),
                ))
            }
            Self::Cell => Some((self, pair(of.falls.map(|fall| u64::from(fall.first))), 0)),
        }
    }
}

/// Equal ratios that rounding tells apart are made equal.
fn log_ratio(seen: &Seen) -> f64 {
    const GRID: f64 = (1 << 30) as f64;
    (seen.observation.log_ratio * GRID).round() / GRID
}

/// Trials that the likelihood ratio is worth, against what was counted of a
/// value: values that never came are scored by it.
const PRIOR: f64 = 16.0;

/// Counts of the values of the learned statistics, under either input.
#[derive(Clone)]
pub(super) struct Learned {
    values: HashMap<Value, Count, Mixing>,
    parity: Feature,
    part: Feature,
}

impl Learned {
    /// From equally many trials of either input. Which parity and which part of seed and id are
    /// looked at is learned, too: once that is settled, each is one statistic among the others.
    pub(super) fn new(trials: [&[Seen]; 2]) -> Self {
        let mut values: HashMap<Value, Count, Mixing> = HashMap::default();
        for (which, trials) in trials.into_iter().enumerate() {
            for seen in trials {
                for value in STATISTICS.iter().filter_map(|of| of.value(seen)) {
                    values.entry(value).or_default()[which] += 1;
                }
            }
        }
        let words =
            trials.map(|trials| -> Vec<Words> { trials.iter().map(|seen| seen.words).collect() });
        let [first, second] = &words;
        Self {
            values,
            parity: Feature::best_parity([first, second]),
            part: Feature::best_part([first, second]),
        }
    }

    /// The logarithm of the ratio at which the value came under either input.
    pub(super) fn score(&self, statistic: Statistic, seen: &Seen) -> f64 {
        let ratio = log_ratio(seen);
        let counts = match statistic {
            Statistic::Parity => Some(self.parity.count(&seen.words)),
            Statistic::Part => Some(self.part.count(&seen.words)),
            _ => statistic
                .value(seen)
                .and_then(|value| self.values.get(&value).copied()),
        };
        match (counts, statistic.least_deviation()) {
            (None, _) => ratio,
            (Some(counts), None) => counted(counts, ratio),
            (Some(counts), Some(least)) if deviation(counts) > least => {
                ratio + counted(counts, 0.0)
            }
            (Some(_), Some(_)) => ratio,
        }
    }
}

/// By how many standard deviations counts differ that are as likely under either input.
fn deviation([first, second]: Count) -> f64 {
    f64::from(first.abs_diff(second)) / f64::from(first + second).sqrt()
}

/// The logarithm of the ratio of counts, `prior` being what is expected of it.
fn counted([first, second]: Count, prior: f64) -> f64 {
    let share = 1.0 / (1.0 + (-prior).exp());
    let first = f64::from(first) + PRIOR * share;
    let second = f64::from(second) + PRIOR * (1.0 - share);
    (first / second).ln()
}
