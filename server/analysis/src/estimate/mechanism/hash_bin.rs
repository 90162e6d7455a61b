//! Estimates from reports of hash-bin. An item's response in a report is the reported value of the
//! bin to which the item is hashed, times the item's hashed sign. The estimate is the average
//! response.
//!
//! Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1.
//! The estimate is unbiased, because hashed signs are fair and independent. If ε holds at user
//! level, clipping biases it.

use hushbin::codec::append_varint_u128;
use hushbin::domain::Domain;
use hushbin::hash::{HashKeys, sign_word_of_closed_elements};
use hushbin::mechanism::hash_bin::{
    EstimateScaleAndVariance, HashBin, ItemBinLookup, RandomisedResponse, Report,
    share_surviving_clipping,
};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism, SquareStatistics};
use crate::estimate::counters::{ItemSignAgreementCounter, TotalsError, TotalsReader, encoding};
use crate::estimate::distribution::{
    ContributionDistribution, HitDistribution, LaplaceResponseDistribution,
};
use crate::estimate::point::{Estimand, ItemPointEstimates, PointEstimate};

impl EstimatedMechanism for HashBin {
    type Report = Report;
    type EstimationParameters = EstimateScaleAndVariance;
    type Counts = HashBinCounts;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Mean]
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> EstimateScaleAndVariance {
        self.estimate_scale_and_variance(domain, epsilon)
    }

    fn empty_counts(&self, domain: &Domain, epsilon: f64, items: &[u64]) -> HashBinCounts {
        let support = self.item_bin_lookup(domain);
        let limit = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit();
        match (domain.item_count(), limit) {
            (Some(items), None) => {
                HashBinCounts::SignAgreements(ItemSignAgreementCounter::new(items as usize))
            }
            (Some(items), Some(limit)) => HashBinCounts::AllItemSums {
                support,
                sums: ResponseSums::new(items as usize, self.bin_count(), limit),
            },
            (None, _) => {
                let mut sums: Vec<_> = items.iter().map(|&item| (item, 0)).collect();
                sums.sort_unstable();
                HashBinCounts::QueriedItemSums {
                    support,
                    sums,
                    squares: 0,
                }
            }
        }
    }

    fn add_report(counts: &mut HashBinCounts, report: &Report) {
        match (counts, &report.response) {
            (HashBinCounts::SignAgreements(signs), RandomisedResponse::Sign(plus)) => {
                signs.add_report(HashKeys::new(report.seed), !plus);
            }
            (HashBinCounts::AllItemSums { support, sums }, RandomisedResponse::Bins(bins)) => {
                sums.add_report_bins(support, report.seed, bins);
            }
            (
                HashBinCounts::QueriedItemSums {
                    support,
                    sums,
                    squares,
                },
                response,
            ) => {
                let sign = |plus: &bool| if *plus { [1] } else { [-1] };
                let one;
                let bins = match response {
                    RandomisedResponse::Sign(plus) => {
                        one = sign(plus);
                        &one[..]
                    }
                    RandomisedResponse::Bins(bins) => bins,
                };
                *squares += bins.iter().map(squared_bin).sum::<u128>();
                let keys = HashKeys::new(report.seed);
                for (item, sum) in sums {
                    let (bin, sign) = support.bin_and_sign(&keys, *item);
                    *sum += i128::from(bins[bin as usize]) * i128::from(sign);
                }
            }
            _ => panic!("reports are decoded under the task of the totals"),
        }
    }

    fn counter_updates_per_report(&self, domain: &Domain, epsilon: f64) -> Option<u64> {
        let items = domain.item_count()?;
        let responses = self.response_distribution(domain.item_count(), epsilon);
        Some(match responses.noisy_bin_limit() {
            None => ItemSignAgreementCounter::words_per_report(items as usize),
            Some(_) => items.into(),
        })
    }

    fn merge(counts: &mut HashBinCounts, others: &HashBinCounts) {
        match (counts, others) {
            (HashBinCounts::SignAgreements(signs), HashBinCounts::SignAgreements(others)) => {
                signs.merge(others);
            }
            (
                HashBinCounts::AllItemSums { sums, .. },
                HashBinCounts::AllItemSums { sums: others, .. },
            ) => sums.merge(others),
            (
                HashBinCounts::QueriedItemSums { sums, squares, .. },
                HashBinCounts::QueriedItemSums {
                    sums: others,
                    squares: more,
                    ..
                },
            ) => {
                assert_eq!(sums.len(), others.len(), "totals of the same items");
                for ((item, sum), (other, more)) in sums.iter_mut().zip(others) {
                    assert_eq!(item, other, "totals of the same items");
                    *sum += more;
                }
                *squares += more;
            }
            _ => panic!("totals of one task are of one shape"),
        }
    }

    fn encode(counts: &HashBinCounts, bytes: &mut Vec<u8>) {
        match counts {
            HashBinCounts::SignAgreements(signs) => signs.encode(bytes),
            HashBinCounts::AllItemSums { sums, .. } => sums.encode(bytes),
            HashBinCounts::QueriedItemSums { sums, .. } => encoding::assert_no_counted_items(sums),
        }
    }

    fn decode(
        counts: &mut HashBinCounts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        match counts {
            HashBinCounts::SignAgreements(signs) => signs.decode(reports, bytes),
            HashBinCounts::AllItemSums { sums, .. } => sums.decode(reports, bytes),
            HashBinCounts::QueriedItemSums { .. } => Ok(()),
        }
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let spread = ResponseStatistics::new(self, seen);
        let point = |&item| spread.estimate_item(seen.counts.response_sum(item));
        items.iter().map(point).collect()
    }

    fn contribution_distribution(
        &self,
        seen: &CountedReports<'_, Self>,
        _: u64,
        points: &ItemPointEstimates,
    ) -> ContributionDistribution {
        let rates = seen.estimation_parameters;
        let spread = ResponseStatistics::new(self, seen);
        if rates.is_two_point_response {
            // The reported sign agrees with the item's sign with probability (1 + v/A)/2, where A
            // is `scale`. Every person counts as having the item, at some value v.
            let person = |value: f64| {
                let plus = 0.5 + 0.5 * value / rates.estimate_scale;
                [1.0 - plus, 0.0, plus, 0.0]
            };
            let mean = points.mean.map_or(0.0, |mean| mean.estimate);
            let people = [-1.0, 0.0, 1.0].map(person);
            let hits = HitDistribution::new(people, false, mean, 1.0);
            return ContributionDistribution::Hits(hits);
        }
        ContributionDistribution::Noise(LaplaceResponseDistribution {
            grid_step: rates.estimate_scale,
            noise_variance: rates.empty_input_variance / rates.estimate_scale.powi(2),
            bin_collision_variance: spread.bin_collision_variance(seen.sparsity),
        })
    }

    fn contribution_range(
        &self,
        rates: &EstimateScaleAndVariance,
        domain: &Domain,
        epsilon: f64,
        _: Estimand,
    ) -> [f64; 2] {
        // A response is a sign, or a bin whose absolute value is at most `limit`.
        let limit = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit();
        let most = rates.estimate_scale * limit.map_or(1.0, |limit| limit as f64);
        [-most, most]
    }

    fn uniform_outcome_count(&self, domain: &Domain, epsilon: f64) -> u32 {
        let is_sign = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit()
            .is_none();
        2 * u32::from(is_sign)
    }

    /// Returns the reported sign. It is fair, because the hashed signs of items are fair.
    fn uniform_outcome(report: &Report) -> Option<u32> {
        match report.response {
            RandomisedResponse::Sign(plus) => Some(plus.into()),
            RandomisedResponse::Bins(_) => None,
        }
    }

    /// Returns the observed mean squared bin, and an upper bound on the expected squared bin of
    /// honest reports.
    fn square_statistics(&self, seen: &CountedReports<'_, Self>) -> Option<SquareStatistics> {
        let rates = seen.estimation_parameters;
        let squares = match seen.counts {
            HashBinCounts::SignAgreements(_) => return None,
            HashBinCounts::AllItemSums { sums, .. } => sums.sum_of_squared_bins,
            HashBinCounts::QueriedItemSums { squares, .. } => *squares,
        };
        // The expected square of a bin is the noise variance, plus the sum of all entries' squares
        // divided by b. The reason is that items are hashed uniformly to b bins and signs are fair.
        let bins = f64::from(self.bin_count());
        let numbers = bins * seen.reports as f64;
        Some(SquareStatistics {
            mean: squares as f64 / numbers * rates.estimate_scale * rates.estimate_scale,
            max_expected_mean_square: rates.empty_input_variance + f64::from(seen.sparsity) / bins,
            square_count: numbers,
        })
    }

    /// Returns the variances of a response, for people [with, without] the item who have s full
    /// entries. Other entries in the same bin add variance, and clipping reduces the expected
    /// response.
    fn variances_with_and_without(
        rates: &EstimateScaleAndVariance,
        sparsity: u32,
        _: Estimand,
    ) -> [f64; 2] {
        let left = rates
            .clipping_bound
            .map_or(1.0, |clip| share_surviving_clipping(sparsity, clip));
        [left, 0.0]
            .map(|expected| rates.value_variance(rates.input_sum_second_moment(sparsity), expected))
    }
}

/// Sum of responses for each item.
#[derive(Debug, Clone)]
pub(crate) enum HashBinCounts {
    /// Reports are signs, which agree or disagree with each item's hashed sign.
    SignAgreements(ItemSignAgreementCounter),
    /// Reports are bins over a closed domain.
    AllItemSums {
        support: ItemBinLookup,
        sums: ResponseSums,
    },
    /// Reports over an open domain. Only the queried items are counted, in ascending order of their
    /// keys.
    QueriedItemSums {
        support: ItemBinLookup,
        sums: Vec<(u64, i128)>,
        squares: u128,
    },
}

/// Sum of responses for each item of a closed domain. The sums are over all reports and in grid
/// steps.
#[derive(Debug, Clone)]
pub(crate) struct ResponseSums {
    /// Sums over the latest reports, by item. These sums fit into 64 bits.
    recent_sums: Vec<i64>,
    /// Sums over all earlier reports, by item.
    earlier_sums: Vec<i128>,
    /// Number of reports in the sums `near`.
    recent_report_count: u64,
    /// Maximum absolute value of a bin.
    max_absolute_bin: u64,
    /// Number of bins b.
    bin_count: u32,
    /// Sum of squared bins over all reports.
    sum_of_squared_bins: u128,
    /// Buffer for one report: the reported value of each item's bin. The items' signs are then
    /// applied to 64 items at a time.
    response_buffer: Vec<i64>,
}

impl ResponseSums {
    fn new(items: usize, bins: u32, limit: i64) -> Self {
        Self {
            recent_sums: vec![0; items],
            earlier_sums: vec![0; items],
            recent_report_count: 0,
            max_absolute_bin: limit.unsigned_abs(),
            bin_count: bins,
            sum_of_squared_bins: 0,
            response_buffer: vec![0; items],
        }
    }

    fn add_report_bins(&mut self, support: &ItemBinLookup, seed: u64, bins: &[i64]) {
        // Flush the sums `near` before they could overflow.
        if self.recent_report_count == i64::MAX.unsigned_abs() / self.max_absolute_bin {
            for (far, near) in self.earlier_sums.iter_mut().zip(&mut self.recent_sums) {
                *far += i128::from(std::mem::take(near));
            }
            self.recent_report_count = 0;
        }
        self.recent_report_count += 1;
        self.sum_of_squared_bins += bins.iter().map(squared_bin).sum::<u128>();
        let keys = HashKeys::new(seed);
        match bins {
            [bin] => self.response_buffer.fill(*bin),
            _ => support.for_each_item_and_bin(&keys, |item, bin| {
                self.response_buffer[item as usize] = bins[bin as usize];
            }),
        }
        let words = self
            .recent_sums
            .chunks_mut(64)
            .zip(self.response_buffer.chunks(64));
        for (word, (sums, responses)) in (0..).zip(words) {
            let signs = sign_word_of_closed_elements(&keys, word);
            for (bit, (sum, response)) in sums.iter_mut().zip(responses).enumerate() {
                // `negative` is −1 (all ones) or 0. If it is −1, this complements `response` and
                // adds 1, which negates it.
                let negative = (signs >> bit & 1) as i64 - 1;
                *sum += (response ^ negative) - negative;
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        assert_eq!(
            self.earlier_sums.len(),
            other.earlier_sums.len(),
            "totals of one task"
        );
        for (item, far) in self.earlier_sums.iter_mut().enumerate() {
            *far += other.sum_of_item(item);
        }
        self.sum_of_squared_bins += other.sum_of_squared_bins;
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        append_varint_u128(bytes, &self.sum_of_squared_bins);
        for item in 0..self.earlier_sums.len() {
            append_varint_u128(bytes, &self.sum_of_item(item));
        }
    }

    fn decode(&mut self, reports: u64, bytes: &mut TotalsReader<'_>) -> Result<(), TotalsError> {
        // Each report changes a sum by at most `limit`, and the squares by limit² per bin.
        let most = u128::from(reports) * u128::from(self.max_absolute_bin);
        let most_squares =
            most.saturating_mul(u128::from(self.max_absolute_bin) * u128::from(self.bin_count));
        self.sum_of_squared_bins = bytes.read_at_most("expected a sum of squares", most_squares)?;
        for far in &mut self.earlier_sums {
            *far = bytes.read_signed_within("expected a sum of responses", most)?;
        }
        Ok(())
    }

    fn sum_of_item(&self, item: usize) -> i128 {
        self.earlier_sums[item] + i128::from(self.recent_sums[item])
    }
}

fn squared_bin(bin: &i64) -> u128 {
    u128::from(bin.unsigned_abs()).pow(2)
}

impl HashBinCounts {
    /// Returns the sum of an item's responses, in grid steps (or signs).
    fn response_sum(&self, item: u64) -> f64 {
        match self {
            Self::SignAgreements(signs) => {
                let [agree, differ] = signs.agreements_and_disagreements(item);
                agree as f64 - differ as f64
            }
            Self::AllItemSums { sums, .. } => sums.sum_of_item(item as usize) as f64,
            Self::QueriedItemSums { sums, .. } => {
                let index = sums
                    .binary_search_by_key(&item, |(asked, _)| *asked)
                    .expect("only items that are counted are asked for");
                sums[index].1 as f64
            }
        }
    }

    /// Returns the mean squared bin, in squared grid steps, over `reports` reports of `bins` bins
    /// each.
    fn mean_squared_bin(&self, bins: u32, reports: f64) -> f64 {
        match self {
            Self::SignAgreements(_) => 1.0,
            Self::AllItemSums {
                sums:
                    ResponseSums {
                        sum_of_squared_bins: squares,
                        ..
                    },
                ..
            }
            | Self::QueriedItemSums { squares, .. } => *squares as f64 / f64::from(bins) / reports,
        }
    }
}

/// Statistics of the responses, from which items are estimated.
#[derive(Debug, Clone, Copy)]
struct ResponseStatistics {
    estimate_scale_and_variance: EstimateScaleAndVariance,
    report_count: f64,
    bin_count: f64,
    /// Mean squared bin, in units of values.
    mean_squared_bin: f64,
}

impl ResponseStatistics {
    fn new(hash_bin: &HashBin, seen: &CountedReports<'_, HashBin>) -> Self {
        let (rates, reports) = (seen.estimation_parameters, seen.reports as f64);
        let square = seen.counts.mean_squared_bin(hash_bin.bin_count(), reports);
        Self {
            estimate_scale_and_variance: *rates,
            report_count: reports,
            bin_count: f64::from(hash_bin.bin_count()),
            mean_squared_bin: square * rates.estimate_scale * rates.estimate_scale,
        }
    }

    /// Estimates an item from the sum of its responses.
    fn estimate_item(&self, sum: f64) -> ItemPointEstimates {
        let estimate = sum / self.report_count * self.estimate_scale_and_variance.estimate_scale;
        // The expected mean square is the noise variance plus the sum of all entries' squares
        // divided by b. So it is at least the noise variance. For given people, the square of the
        // item's own entry is no part of the variance. With a single bin, the mean square contains
        // all of it, and its mean over people is at least the squared mean.
        let own = if self.estimate_scale_and_variance.same_bin_probability == 1.0 {
            (estimate * estimate).min(1.0)
        } else {
            0.0
        };
        let variance = self
            .mean_squared_bin
            .max(self.estimate_scale_and_variance.empty_input_variance)
            - own;
        ItemPointEstimates {
            mean: Some(PointEstimate::new(estimate, variance, self.report_count)),
            positive_frequency: None,
            negative_frequency: None,
            nonmissing_frequency: None,
            mean_nonmissing_covariance: None,
            estimated_answer_share: None,
        }
    }

    /// Returns an upper estimate of the variance that other items add to a response.
    ///
    /// The estimate is the excess of the mean squared bin over the noise variance, plus
    /// [`SAFETY_STANDARD_ERRORS`] standard errors. The standard error is computed for squares of Laplace
    /// noise plus normal noise. The estimate is at most the variance from s full entries, unless
    /// the excess itself is larger.
    fn bin_collision_variance(&self, sparsity: u32) -> f64 {
        let noise = self.estimate_scale_and_variance.empty_input_variance;
        let others = (self.mean_squared_bin - noise).max(0.0);
        let variance = 5.0 * noise * noise + 4.0 * noise * others + 2.0 * others * others;
        let error = (variance / (self.bin_count * self.report_count)).sqrt();
        let most =
            others.max(self.estimate_scale_and_variance.same_bin_probability * f64::from(sparsity));
        (others + SAFETY_STANDARD_ERRORS * error).min(most)
    }
}

/// Safety margin of the estimated variance from other items, in standard errors.
const SAFETY_STANDARD_ERRORS: f64 = 2.0;
