//! Sums over reports, and the estimates, which are linear functions of these sums.

/// Sums over reports. For every item, they have the number of reports that name the item, and the
/// sum of the item's reported signs.
///
/// ```
/// use hushbin_study::competitors::ratings::{ReportSums, LinearEstimator};
///
/// let mut sums = ReportSums::new(2);
/// sums.report_count = 4;
/// sums.presence_counts[1] += 3.0;
/// sums.sign_sums[1] -= 1.0;
/// let linear = LinearEstimator { mean_factor: 2.0, presence_factor_and_offset: Some([2.0, 0.5]) };
/// assert_eq!(linear.means(&sums), [0.0, -0.5]);
/// assert_eq!(linear.nonmissing_frequencies(&sums).unwrap(), [-1.0, 0.5]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSums {
    /// Number of reports.
    pub report_count: u64,
    /// Number of reports that name an item as present, for each item. Oracles that ask each person
    /// about one random item subtract the number of such reports that they expect from people
    /// without the item.
    pub presence_counts: Vec<f64>,
    /// Sum of the reported signs or noisy values of each item.
    pub sign_sums: Vec<f64>,
}

impl ReportSums {
    /// Returns zero sums for `items` items.
    #[must_use]
    pub fn new(items: u32) -> Self {
        Self {
            report_count: 0,
            presence_counts: vec![0.0; items as usize],
            sign_sums: vec![0.0; items as usize],
        }
    }
}

/// Coefficients of the unbiased estimates, which are linear functions of the sums in
/// [`ReportSums`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearEstimator {
    /// Factor for the estimated mean, which is factor·(average reported sign).
    pub mean_factor: f64,
    /// Factor and offset of the estimated non-missing frequency, which is factor·(average presence
    /// − offset). `None` if the oracle does not report presence.
    pub presence_factor_and_offset: Option<[f64; 2]>,
}

impl LinearEstimator {
    /// Returns the coefficients of an oracle that estimates only means. `mean` is the factor by
    /// which it multiplies the average reported sign.
    pub(super) const fn for_means_only(mean: f64) -> Self {
        Self {
            mean_factor: mean,
            presence_factor_and_offset: None,
        }
    }

    /// Returns the estimated mean of every item. A missing entry counts as 0.
    #[must_use]
    pub fn means(&self, sums: &ReportSums) -> Vec<f64> {
        let scale = self.mean_factor / sums.report_count as f64;
        sums.sign_sums.iter().map(|sum| scale * sum).collect()
    }

    /// Returns the estimated non-missing frequency of every item: the share of people who have it.
    /// Returns `None` if the oracle does not estimate it.
    #[must_use]
    pub fn nonmissing_frequencies(&self, sums: &ReportSums) -> Option<Vec<f64>> {
        let [scale, offset] = self.presence_factor_and_offset?;
        let reports = sums.report_count as f64;
        let presence = |sum: &f64| scale * (sum / reports - offset);
        Some(sums.presence_counts.iter().map(presence).collect())
    }

    /// Returns, for every item, the estimated frequencies of a positive and of a negative value.
    /// These frequencies are half the sum and half the difference of the non-missing frequency and
    /// the mean. Returns `None` if the oracle does not estimate presence.
    #[must_use]
    pub fn sign_frequencies(&self, sums: &ReportSums) -> Option<[Vec<f64>; 2]> {
        let (presences, means) = (self.nonmissing_frequencies(sums)?, self.means(sums));
        let of = |sign: f64| {
            let both = presences.iter().zip(&means);
            both.map(|(presence, mean)| 0.5 * (presence + sign * mean))
                .collect()
        };
        Some([of(1.0), of(-1.0)])
    }
}
