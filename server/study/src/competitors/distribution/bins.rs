//! Distribution of a number, estimated from the choice of one of several equally wide bins.

use hushbin::Error;
use rand_core::CryptoRng;

use crate::competitors::budget::Budget;
use crate::competitors::choice::SubsetSelection;

/// Subset selection over equally wide bins of [0, 1]. It estimates the shares of the bins without
/// bias. The share of people below an edge is the sum of several bins' shares, so its noise grows
/// with the number of bins.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::BinSelection};
///
/// let bins = BinSelection::new(4, &Budget::new(2.0, 0.0)?)?;
/// let first = bins.weighted_sum_variance(&[1.0, 0.0, 0.0, 0.0]);
/// assert!(bins.weighted_sum_variance(&[1.0, 1.0, 0.0, 0.0]) > first);
/// assert!(bins.weighted_sum_variance(&[1.0; 4]).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinSelection {
    subset_selection: SubsetSelection,
}

impl BinSelection {
    /// Returns the mechanism for `bins` bins.
    ///
    /// # Errors
    /// Same errors as [`SubsetSelection::new`].
    pub fn new(bins: u32, budget: &Budget) -> Result<Self, Error> {
        let choice = SubsetSelection::new(bins, budget)?;
        Ok(Self {
            subset_selection: choice,
        })
    }

    /// Number of bins, K.
    #[must_use]
    pub const fn bin_count(&self) -> usize {
        self.subset_selection.option_count() as usize
    }

    /// Draws a report for a number in [0, 1], and increments the count of each bin in the report.
    ///
    /// # Panics
    /// If there are fewer counts than bins.
    pub fn draw_report_into_counts<R: CryptoRng + ?Sized>(
        &self,
        number: f64,
        rng: &mut R,
        counts: &mut [u64],
    ) {
        // The number 1 belongs to the last bin.
        let bin = ((number * self.bin_count() as f64) as u32)
            .min(self.subset_selection.option_count() - 1);
        self.subset_selection
            .draw_report_into_counts(bin, rng, counts);
    }

    /// Returns unbiased estimates of the shares of people in the bins. The estimates sum to 1.
    /// `counts` has, for each bin, the number of reports that contain it.
    #[must_use]
    pub fn estimated_shares(&self, counts: &[u64], reports: u64) -> Vec<f64> {
        let rates = self.subset_selection.support_probabilities();
        let share = |count: &u64| rates.estimate_share(*count, reports);
        counts.iter().map(share).collect()
    }

    /// Returns the variance of one report's estimate of a weighted sum of the bins' shares, if
    /// people are spread evenly over the bins. It includes the variance from sampling people at
    /// random.
    #[must_use]
    pub fn weighted_sum_variance(&self, weights: &[f64]) -> f64 {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let spread: f64 = weights.iter().map(|own| (own - mean).powi(2)).sum();
        spread * self.subset_selection.unit_contrast_variance()
    }
}
