//! Statistics with which an attacker distinguishes two inputs.

use std::collections::HashMap;

use serde::Serialize;

use super::fast_hasher::FastHashBuilder;
use super::upload_view::AttackerUploadView;
use super::word_feature::{CountedWordFeature, CountsByInput, SeedAndIdWords, upload_id_halves};

/// Statistic of an upload, with which an attacker distinguishes two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackStatistic {
    /// Log-likelihood ratio of the two inputs, from the mechanism's definition. It is the best
    /// statistic against a randomizer that follows the definition.
    LikelihoodRatio,
    /// Learned score of the number of reports in the upload. If the collector refuses the upload,
    /// its length, first bytes and last byte are scored instead. This score detects data that is
    /// sent in addition to reports.
    Frame,
    /// Learned score of the upload's whole reports. It detects randomness that repeats.
    Report,
    /// Learned score of the seed. It detects a seed that depends on the input.
    Seed,
    /// Learned score of the upload's id. It detects an id that is made from the input.
    Id,
    /// Learned score of the likelihood ratio and the bucket. It detects a randomizer that adds the
    /// probability lost by rounding to one bucket.
    Bucket,
    /// Learned score of the likelihood ratio and, for each input, the first entry that is hashed to
    /// the reported bucket. It detects a preference among entries.
    Entry,
    /// Learned score of the likelihood ratio and, for each input, the position of the reported
    /// bucket among the buckets that contain entries. It detects a preference among buckets.
    Place,
    /// Learned score of two numbers for each input under the seed: the number of cells that contain
    /// entries, and the number of entries that push towards plus. It detects seeds that are chosen
    /// to suit the input.
    Fall,
    /// Learned score of the cell to which the seed maps the first entry of each input. It detects
    /// seeds that are chosen to suit the input.
    Cell,
    /// Learned score of the parity of some bits of one word. The word is the seed, a hash key or
    /// half of the id. It detects a word that contains a bit of the input.
    Parity,
    /// Learned score of a part of one word: a byte, a remainder or the number of ones. The word is
    /// the seed, a hash key or half of the id. It detects a word that contains a part of the input.
    Part,
}

/// Statistics in order of preference: of two that distinguish equally well, the first one wins.
pub(super) const STATISTICS_BY_PREFERENCE: [AttackStatistic; 12] = [
    AttackStatistic::LikelihoodRatio,
    AttackStatistic::Frame,
    AttackStatistic::Report,
    AttackStatistic::Seed,
    AttackStatistic::Id,
    AttackStatistic::Bucket,
    AttackStatistic::Entry,
    AttackStatistic::Place,
    AttackStatistic::Fall,
    AttackStatistic::Cell,
    AttackStatistic::Parity,
    AttackStatistic::Part,
];

/// Statistic and its value, as two words.
type StatisticValue = (AttackStatistic, u64, u64);

impl AttackStatistic {
    /// Returns the statistic's name as it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LikelihoodRatio => "log-likelihood ratio",
            Self::Report => "learned score of the whole report",
            Self::Seed => "learned score of the seed",
            Self::Id => "learned score of the upload's id",
            Self::Bucket => "learned score of the bucket",
            Self::Entry => "learned score of the entries in the bucket",
            Self::Place => "learned score of the bucket's position",
            Self::Frame => "learned score of the bytes around the report",
            Self::Fall => "learned score of the way the seed distributes the entries over buckets",
            Self::Cell => "learned score of the bucket to which the seed maps the first entry",
            Self::Parity => "learned score of a parity of the seed or the upload's id",
            Self::Part => "learned score of a part of the seed or the upload's id",
        }
    }

    /// Returns the number of standard deviations by which counts must differ before they add to the
    /// likelihood ratio.
    ///
    /// The limit applies to statistics that, given the seed, are independent of a correct report.
    /// The result is `None` for statistics whose counts have the likelihood ratio as their prior.
    const fn min_significant_deviations(self) -> Option<f64> {
        match self {
            Self::Frame | Self::Fall | Self::Cell | Self::Part => Some(3.0),
            // The parity was selected among ten thousand candidates, so chance alone deviates
            // further.
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

    /// Returns the value of the statistic; `None` if its values are not counted individually.
    fn statistic_value_in_upload(self, seen: &AttackerUploadView) -> Option<StatisticValue> {
        let pair = |[first, second]: [u64; 2]| first << 32 | second;
        let of = &seen.report_observation;
        let with_ratio = |value| Some((self, value, rounded_log_ratio(seen).to_bits()));
        match self {
            Self::LikelihoodRatio | Self::Parity | Self::Part => None,
            Self::Report => Some((self, seen.reports_hash, 0)),
            Self::Seed => Some((self, of.seed, 0)),
            Self::Id => {
                let [low, high] = upload_id_halves(seen.upload_id);
                Some((self, low, high))
            }
            Self::Bucket => with_ratio(of.reported_bucket),
            Self::Entry => with_ratio(pair(
                of.bucket_first_entry_indices.map(|entry| entry as u64),
            )),
            Self::Place => with_ratio(pair(of.bucket_ranks_by_input.map(|place| place as u64))),
            Self::Frame => Some((self, seen.non_report_hash, 0)),
            Self::Fall => {
                let [cells, pluses] = [
                    of.cell_summaries_by_input
                        .map(|fall| fall.occupied_cell_count),
                    of.cell_summaries_by_input
                        .map(|fall| fall.positive_push_count),
                ];
                Some((
                    self,
                    pair(cells.map(u64::from)),
                    pair(pluses.map(u64::from)),
                ))
            }
            Self::Cell => Some((
                self,
                pair(
                    of.cell_summaries_by_input
                        .map(|fall| u64::from(fall.first_entry_cell)),
                ),
                0,
            )),
        }
    }
}

/// Rounds the log-likelihood ratio to a grid of 2⁻³⁰, so that rounding errors do not separate equal
/// ratios.
fn rounded_log_ratio(seen: &AttackerUploadView) -> f64 {
    const LOG_RATIO_STEPS_PER_UNIT: f64 = (1 << 30) as f64;
    (seen.report_observation.log_likelihood_ratio * LOG_RATIO_STEPS_PER_UNIT).round()
        / LOG_RATIO_STEPS_PER_UNIT
}

/// Weight of the likelihood ratio as a prior, in trials. A value that was never counted is scored
/// by the prior alone.
const PRIOR_WEIGHT_IN_TRIALS: f64 = 16.0;

/// Learned scores: the number of times that each value of a statistic occurred under each input.
#[derive(Clone)]
pub(super) struct LearnedScores {
    value_counts: HashMap<StatisticValue, CountsByInput, FastHashBuilder>,
    parity_feature: CountedWordFeature,
    word_part_feature: CountedWordFeature,
}

impl LearnedScores {
    /// Counts the values of all learned statistics. Both inputs must have equally many trials. Also
    /// selects the parity and the part that best separate the two inputs, and counts the values.
    pub(super) fn new(trials: [&[AttackerUploadView]; 2]) -> Self {
        let mut values: HashMap<StatisticValue, CountsByInput, FastHashBuilder> =
            HashMap::default();
        for (which, trials) in trials.into_iter().enumerate() {
            for seen in trials {
                for value in STATISTICS_BY_PREFERENCE
                    .iter()
                    .filter_map(|of| of.statistic_value_in_upload(seen))
                {
                    values.entry(value).or_default()[which] += 1;
                }
            }
        }
        let words = trials.map(|trials| -> Vec<SeedAndIdWords> {
            trials.iter().map(|seen| seen.examined_words).collect()
        });
        let [first, second] = &words;
        Self {
            value_counts: values,
            parity_feature: CountedWordFeature::best_word_parity([first, second]),
            word_part_feature: CountedWordFeature::best_word_part([first, second]),
        }
    }

    /// Returns the score of an upload: the estimated log-likelihood ratio of the statistic's value
    /// in this upload.
    pub(super) fn score_upload(
        &self,
        statistic: AttackStatistic,
        seen: &AttackerUploadView,
    ) -> f64 {
        let ratio = rounded_log_ratio(seen);
        let counts = match statistic {
            AttackStatistic::Parity => Some(self.parity_feature.value_counts(&seen.examined_words)),
            AttackStatistic::Part => {
                Some(self.word_part_feature.value_counts(&seen.examined_words))
            }
            _ => statistic
                .statistic_value_in_upload(seen)
                .and_then(|value| self.value_counts.get(&value).copied()),
        };
        match (counts, statistic.min_significant_deviations()) {
            (None, _) => ratio,
            (Some(counts), None) => smoothed_log_ratio(counts, ratio),
            (Some(counts), Some(least)) if count_difference_in_deviations(counts) > least => {
                ratio + smoothed_log_ratio(counts, 0.0)
            }
            (Some(_), Some(_)) => ratio,
        }
    }
}

/// Returns the absolute difference of two counts, in standard deviations. The standard deviation
/// assumes that both inputs are equally likely.
fn count_difference_in_deviations([first, second]: CountsByInput) -> f64 {
    f64::from(first.abs_diff(second)) / f64::from(first + second).sqrt()
}

/// Returns the logarithm of the ratio of two counts. The result is shrunk towards the log ratio
/// `prior`.
fn smoothed_log_ratio([first, second]: CountsByInput, prior: f64) -> f64 {
    let share = 1.0 / (1.0 + (-prior).exp());
    let first = f64::from(first) + PRIOR_WEIGHT_IN_TRIALS * share;
    let second = f64::from(second) + PRIOR_WEIGHT_IN_TRIALS * (1.0 - share);
    (first / second).ln()
}
