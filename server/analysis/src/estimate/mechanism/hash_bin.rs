//! Estimates from reports of hash-bin. An item's response in a report is the reported value of the
//! bin to which the item is hashed, times the item's hashed sign. The estimate is the average
//! response.
//!
//! Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1.
//! The estimate is unbiased, because hashed signs are fair and independent. If ε holds at user
//! level, clipping biases it.

use hushbin::codec::append_u128;
use hushbin::domain::Domain;
use hushbin::hash::{HashKeys, sign_word_of_closed_elements};
use hushbin::mechanism::hash_bin::{
    BinDecoder, EstimateScaleAndVariance, HashBin, RandomisedResponse, Report, clipping_attenuation,
};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism, SquareStatistics};
use crate::estimate::counters::{SignAgreementCounter, TotalsError, TotalsReader, encoding};
use crate::estimate::distribution::{
    ContributionDistribution, HitDistribution, LaplaceResponseDistribution,
};
use crate::estimate::point::{Estimand, ItemPointEstimates, PointEstimate};

impl EstimatedMechanism for HashBin {
    type Report = Report;
    type Rates = EstimateScaleAndVariance;
    type Counts = Counts;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Mean]
    }

    fn rates(&self, domain: &Domain, epsilon: f64) -> EstimateScaleAndVariance {
        self.estimate_scale_and_variance(domain, epsilon)
    }

    fn empty_counts(&self, domain: &Domain, epsilon: f64, items: &[u64]) -> Counts {
        let support = self.bin_decoder(domain);
        let limit = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit();
        match (domain.item_count(), limit) {
            (Some(items), None) => Counts::Signs(SignAgreementCounter::new(items as usize)),
            (Some(items), Some(limit)) => Counts::All {
                support,
                sums: ResponseSums::new(items as usize, self.bin_count(), limit),
            },
            (None, _) => {
                let mut sums: Vec<_> = items.iter().map(|&item| (item, 0)).collect();
                sums.sort_unstable();
                Counts::Asked {
                    support,
                    sums,
                    squares: 0,
                }
            }
        }
    }

    fn add_report(counts: &mut Counts, report: &Report) {
        match (counts, &report.response) {
            (Counts::Signs(signs), RandomisedResponse::Sign(plus)) => {
                signs.add_report(HashKeys::new(report.seed), !plus);
            }
            (Counts::All { support, sums }, RandomisedResponse::Bins(bins)) => {
                sums.add_bins(support, report.seed, bins);
            }
            (
                Counts::Asked {
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
                *squares += bins.iter().map(square).sum::<u128>();
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
        Some(
            match self
                .response_distribution(domain.item_count(), epsilon)
                .noisy_bin_limit()
            {
                None => SignAgreementCounter::words_per_report(items as usize),
                Some(_) => items.into(),
            },
        )
    }

    fn merge(counts: &mut Counts, others: &Counts) {
        match (counts, others) {
            (Counts::Signs(signs), Counts::Signs(others)) => signs.merge(others),
            (Counts::All { sums, .. }, Counts::All { sums: others, .. }) => sums.merge(others),
            (
                Counts::Asked { sums, squares, .. },
                Counts::Asked {
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

    fn encode(counts: &Counts, bytes: &mut Vec<u8>) {
        match counts {
            Counts::Signs(signs) => signs.encode(bytes),
            Counts::All { sums, .. } => sums.encode(bytes),
            Counts::Asked { sums, .. } => encoding::check_no_items(sums),
        }
    }

    fn decode(
        counts: &mut Counts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        match counts {
            Counts::Signs(signs) => signs.decode(reports, bytes),
            Counts::All { sums, .. } => sums.decode(reports, bytes),
            Counts::Asked { .. } => Ok(()),
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
        let (rates, spread) = (seen.rates, ResponseStatistics::new(self, seen));
        if rates.is_two_point_response {
            // The reported sign agrees with the item's sign with probability (1 + v/A)/2, where A
            // is `scale`. Every person counts as having the item, at some value v.
            let person = |value: f64| {
                let plus = 0.5 + 0.5 * value / rates.estimate_scale;
                [1.0 - plus, 0.0, plus, 0.0]
            };
            let mean = points.mean.map_or(0.0, |mean| mean.estimate);
            return ContributionDistribution::Hits(HitDistribution::new(
                [-1.0, 0.0, 1.0].map(person),
                false,
                mean,
                1.0,
            ));
        }
        ContributionDistribution::Noise(LaplaceResponseDistribution {
            scale: rates.estimate_scale,
            noise: rates.noise_variance / (rates.estimate_scale * rates.estimate_scale),
            others: spread.other_items_variance(seen.sparsity),
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
        let rates = seen.rates;
        let squares = match seen.counts {
            Counts::Signs(_) => return None,
            Counts::All { sums, .. } => sums.squares,
            Counts::Asked { squares, .. } => *squares,
        };
        // The expected square of a bin is the noise variance, plus the sum of all entries' squares
        // divided by b. The reason is that items are hashed uniformly to b bins and signs are fair.
        let bins = f64::from(self.bin_count());
        let numbers = bins * seen.reports as f64;
        Some(SquareStatistics {
            mean: squares as f64 / numbers * rates.estimate_scale * rates.estimate_scale,
            most: rates.noise_variance + f64::from(seen.sparsity) / bins,
            numbers,
        })
    }

    /// Returns the variances of a response, for people [with, without] the item who have s full
    /// entries. Other entries in the same bin add variance, and clipping reduces the expected
    /// response.
    fn contribution_variances(
        rates: &EstimateScaleAndVariance,
        sparsity: u32,
        _: Estimand,
    ) -> [f64; 2] {
        let left = rates
            .clipping_bound
            .map_or(1.0, |clip| clipping_attenuation(sparsity, clip));
        [left, 0.0]
            .map(|expected| rates.value_variance(rates.sum_second_moment(sparsity), expected))
    }
}

/// Sum of responses for each item.
#[derive(Debug, Clone)]
pub(crate) enum Counts {
    /// Reports are signs, which agree or disagree with each item's hashed sign.
    Signs(SignAgreementCounter),
    /// Reports are bins over a closed domain.
    All {
        support: BinDecoder,
        sums: ResponseSums,
    },
    /// Reports over an open domain. Only the queried items are counted, in ascending order of their
    /// keys.
    Asked {
        support: BinDecoder,
        sums: Vec<(u64, i128)>,
        squares: u128,
    },
}

/// Sum of responses for each item of a closed domain. The sums are over all reports and in grid
/// steps.
#[derive(Debug, Clone)]
pub(crate) struct ResponseSums {
    /// Sums over the latest reports, by item. These sums fit into 64 bits.
    near: Vec<i64>,
    /// Sums over all earlier reports, by item.
    far: Vec<i128>,
    /// Number of reports in the sums `near`.
    held: u64,
    /// Maximum absolute value of a bin.
    limit: u64,
    /// Number of bins b.
    bins: u32,
    /// Sum of squared bins over all reports.
    squares: u128,
    /// Buffer for one report: the reported value of each item's bin. The items' signs are then
    /// applied to 64 items at a time.
    responses: Vec<i64>,
}

impl ResponseSums {
    fn new(items: usize, bins: u32, limit: i64) -> Self {
        Self {
            near: vec![0; items],
            far: vec![0; items],
            held: 0,
            limit: limit.unsigned_abs(),
            bins,
            squares: 0,
            responses: vec![0; items],
        }
    }

    fn add_bins(&mut self, support: &BinDecoder, seed: u64, bins: &[i64]) {
        // Flush the sums `near` before they could overflow.
        if self.held == i64::MAX.unsigned_abs() / self.limit {
            for (far, near) in self.far.iter_mut().zip(&mut self.near) {
                *far += i128::from(std::mem::take(near));
            }
            self.held = 0;
        }
        self.held += 1;
        self.squares += bins.iter().map(square).sum::<u128>();
        let keys = HashKeys::new(seed);
        match bins {
            [bin] => self.responses.fill(*bin),
            _ => support.for_each_item_and_bin(&keys, |item, bin| {
                self.responses[item as usize] = bins[bin as usize];
            }),
        }
        let words = self.near.chunks_mut(64).zip(self.responses.chunks(64));
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
        assert_eq!(self.far.len(), other.far.len(), "totals of one task");
        for (item, far) in self.far.iter_mut().enumerate() {
            *far += other.sum_of_item(item);
        }
        self.squares += other.squares;
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        append_u128(bytes, &self.squares);
        for item in 0..self.far.len() {
            append_u128(bytes, &self.sum_of_item(item));
        }
    }

    fn decode(&mut self, reports: u64, bytes: &mut TotalsReader<'_>) -> Result<(), TotalsError> {
        // Each report changes a sum by at most `limit`, and the squares by limit² per bin.
        let most = u128::from(reports) * u128::from(self.limit);
        let most_squares = most.saturating_mul(u128::from(self.limit) * u128::from(self.bins));
        self.squares = bytes.read_at_most("expected a sum of squares", most_squares)?;
        for far in &mut self.far {
            *far = bytes.read_signed_within("expected a sum of responses", most)?;
        }
        Ok(())
    }

    fn sum_of_item(&self, item: usize) -> i128 {
        self.far[item] + i128::from(self.near[item])
    }
}

fn square(bin: &i64) -> u128 {
    u128::from(bin.unsigned_abs()).pow(2)
}

impl Counts {
    /// Returns the sum of an item's responses, in grid steps (or signs).
    fn response_sum(&self, item: u64) -> f64 {
        match self {
            Self::Signs(signs) => {
                let [agree, differ] = signs.agreements_and_disagreements(item);
                agree as f64 - differ as f64
            }
            Self::All { sums, .. } => sums.sum_of_item(item as usize) as f64,
            Self::Asked { sums, .. } => {
                let index = sums
                    .binary_search_by_key(&item, |(asked, _)| *asked)
                    .expect("only items that are counted are asked for");
                sums[index].1 as f64
            }
        }
    }

    /// Returns the mean squared bin, in squared grid steps, over `reports` reports of `bins` bins
    /// each.
    fn mean_square(&self, bins: u32, reports: f64) -> f64 {
        match self {
            Self::Signs(_) => 1.0,
            Self::All {
                sums: ResponseSums { squares, .. },
                ..
            }
            | Self::Asked { squares, .. } => *squares as f64 / f64::from(bins) / reports,
        }
    }
}

/// Statistics of the responses, from which items are estimated.
#[derive(Debug, Clone, Copy)]
struct ResponseStatistics {
    rates: EstimateScaleAndVariance,
    reports: f64,
    bins: f64,
    /// Mean squared bin, in units of values.
    square: f64,
}

impl ResponseStatistics {
    fn new(hash_bin: &HashBin, seen: &CountedReports<'_, HashBin>) -> Self {
        let (rates, reports) = (seen.rates, seen.reports as f64);
        let square = seen.counts.mean_square(hash_bin.bin_count(), reports);
        Self {
            rates: *rates,
            reports,
            bins: f64::from(hash_bin.bin_count()),
            square: square * rates.estimate_scale * rates.estimate_scale,
        }
    }

    /// Estimates an item from the sum of its responses.
    fn estimate_item(&self, sum: f64) -> ItemPointEstimates {
        let estimate = sum / self.reports * self.rates.estimate_scale;
        // The expected mean square is the noise variance plus the sum of all entries' squares
        // divided by b. So it is at least the noise variance. For given people, the square of the
        // item's own entry is no part of the variance. With a single bin, the mean square contains
        // all of it, and its mean over people is at least the squared mean.
        let own = if self.rates.same_bin_probability == 1.0 {
            (estimate * estimate).min(1.0)
        } else {
            0.0
        };
        let variance = self.square.max(self.rates.noise_variance) - own;
        ItemPointEstimates {
            mean: Some(PointEstimate::new(estimate, variance, self.reports)),
            plus: None,
            minus: None,
            nonmissing: None,
            covariance: None,
            share: None,
        }
    }

    /// Returns an upper estimate of the variance that other items add to a response.
    ///
    /// The estimate is the excess of the mean squared bin over the noise variance, plus
    /// [`SAFETY_MARGIN`] standard errors. The standard error is computed for squares of Laplace
    /// noise plus normal noise. The estimate is at most the variance from s full entries, unless
    /// the excess itself is larger.
    fn other_items_variance(&self, sparsity: u32) -> f64 {
        let noise = self.rates.noise_variance;
        let others = (self.square - noise).max(0.0);
        let variance = 5.0 * noise * noise + 4.0 * noise * others + 2.0 * others * others;
        let error = (variance / (self.bins * self.reports)).sqrt();
        let most = others.max(self.rates.same_bin_probability * f64::from(sparsity));
        (others + SAFETY_MARGIN * error).min(most)
    }
}

/// Safety margin of the estimated variance from other items, in standard errors.
const SAFETY_MARGIN: f64 = 2.0;
