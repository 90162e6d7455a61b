//! Common interface of the mechanisms for ratings.

use hushbin::bounds::{ITEM_COUNT_RANGE, NEIGHBOUR_DISTANCE_RANGE, ParameterRange, SPARSITY_RANGE};
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::report_sums::{LinearEstimator, ReportSums};
use crate::competitors::budget::Budget;

/// Parameters of a question, and the privacy requirement for the mechanisms that answer it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OracleSetting {
    /// Number of items, d.
    pub item_count: u32,
    /// Sparsity s. Inputs with fewer than s entries are padded to s. Of inputs with more than s
    /// entries, s random entries are kept.
    pub sparsity: u32,
    /// Local ε of one report.
    pub epsilon: f64,
    /// Failure probability δ of one report, for mechanisms that need one.
    pub delta: f64,
    /// Distance L, for mechanisms that protect inputs that are at most L apart. The distance of two
    /// inputs is the sum of the differences of their values.
    pub protected_distance: f64,
}

impl OracleSetting {
    /// Returns the budget (ε, δ) after checking all fields except the distance L, which most
    /// mechanisms ignore.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d is outside [`ITEM_COUNT_RANGE`], or s is outside [`SPARSITY_RANGE`] or above d.
    /// Otherwise the errors of [`Budget::new`].
    pub fn checked_budget(&self) -> Result<Budget, Error> {
        ITEM_COUNT_RANGE.check_in_range(f64::from(self.item_count))?;
        let most = SPARSITY_RANGE.max.min(f64::from(self.item_count));
        ParameterRange {
            max: most,
            ..SPARSITY_RANGE
        }
        .check_in_range(f64::from(self.sparsity))?;
        Budget::new(self.epsilon, self.delta)
    }

    /// Returns the budget with δ = 0, because most mechanisms ignore δ.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub(super) fn budget_ignoring_delta(&self) -> Result<Budget, Error> {
        Budget::new(self.checked_budget()?.epsilon(), 0.0)
    }

    /// Returns the distance L, or 2d if 2d is smaller, because no two inputs are more than 2d
    /// apart.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if L is outside [`NEIGHBOUR_DISTANCE_RANGE`].
    pub(super) fn checked_capped_distance(&self) -> Result<f64, Error> {
        NEIGHBOUR_DISTANCE_RANGE.check_in_range(self.protected_distance)?;
        Ok(self
            .protected_distance
            .min(2.0 * f64::from(self.item_count)))
    }
}

/// Mechanism for people who rate at most s of d items, each from −1 to 1. An oracle draws reports
/// and sums them up in [`ReportSums`].
///
/// An input's entries are in ascending order of items. For oracles that sample or pad, an input
/// should have at most s entries. An oracle that reports only signs rounds a value v to 1 with
/// probability (1 + v)/2, otherwise to −1.
pub trait RatingOracle: Send + Sync {
    /// Returns the least ε that a report satisfies, at the mechanism's δ if it has one. The result
    /// is at most the requested ε, and often less. The tests check the result by enumeration.
    fn privacy_loss(&self) -> f64;

    /// Length of a report in bits.
    fn report_bits(&self) -> f64;

    /// Returns the coefficients with which estimates are computed from the sums.
    fn linear_estimator(&self) -> LinearEstimator;

    /// Returns the second moments of one report's estimates, which determine the variances.
    fn report_estimate_moments(&self) -> EstimateMoments;

    /// Draws one person's report and adds it to the sums.
    ///
    /// # Panics
    /// If an entry's item is not below d, or `sums` has fewer than d items.
    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    );

    /// Draws the reports of many people and adds them to the sums. The sums have the same
    /// distribution as with [`draw_and_add_report`](Self::draw_and_add_report), but are often faster to draw. For an
    /// item whose reports are independent of everything else, the sum over all people is drawn at
    /// once.
    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        for entries in people {
            self.draw_and_add_report(entries, sums, rng);
        }
    }
}

/// Second moments of one report's estimate of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateMoments {
    /// Mean square E\[M²\], where M is one report's estimate of the item's mean. The first number
    /// is for a person with the item at ±1, the second for a person without the item.
    pub mean_square: [f64; 2],
    /// Moments of the estimated share of people who have the item, the non-missing frequency.
    /// `None` if the oracle does not estimate this share.
    pub presence_moments: Option<PresenceMoments>,
}

/// Moments of F, one report's estimate of the item's non-missing frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PresenceMoments {
    /// Variance of F, one report's estimate of the non-missing frequency: for a person with the
    /// item, and for a person without it.
    pub frequency_estimate_variances: [f64; 2],
    /// Mean product E\[F·M\] of one report's estimates of the non-missing frequency (F) and of the
    /// mean (M), for a person with the item at 1.
    pub frequency_mean_cross_moment: f64,
}

impl EstimateMoments {
    /// Returns the moments of an oracle that estimates only means.
    pub(super) const fn for_means_only(mean_square: [f64; 2]) -> Self {
        Self {
            mean_square,
            presence_moments: None,
        }
    }

    /// Returns the variance of one report's estimate of the mean, for a person with the item at ±1
    /// and for a person without it.
    #[must_use]
    pub fn mean_variances_by_presence(&self) -> [f64; 2] {
        [self.mean_square[0] - 1.0, self.mean_square[1]]
    }

    /// Returns the variance of one report's estimate of the share of people who have the item with
    /// a given sign. The three numbers are for a person with the item at this sign, with the item
    /// at the opposite sign, and without the item. The estimate is (F ± M)/2, from the estimates F
    /// of the non-missing frequency and M of the mean. Returns `None` if presence is not estimated.
    #[must_use]
    pub fn frequency_variances_by_sign(&self) -> Option<[f64; 3]> {
        let PresenceMoments {
            frequency_estimate_variances: variance,
            frequency_mean_cross_moment: product,
        } = self.presence_moments?;
        let of = |presence: f64, mean_square: f64, product: f64, truth: f64| {
            // E[((F ± M)/2)²] minus the squared mean.
            0.25 * (presence + mean_square + 2.0 * product) - truth * truth
        };
        // E[F²] of a person with the item, whose F has mean 1.
        let square = variance[0] + 1.0;
        Some([
            of(square, self.mean_square[0], product, 1.0),
            of(square, self.mean_square[0], -product, 0.0),
            of(variance[1], self.mean_square[1], 0.0, 0.0),
        ])
    }
}
