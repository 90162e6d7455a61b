//! Gaussian mechanism: adds normal noise to every coordinate. Δ is the sensitivity: the maximum
//! Euclidean distance between the vectors of two neighbouring inputs.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;
use rand_distr::{Distribution, StandardNormal};

use super::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::sample_entries_up_to_limit;
use crate::competitors::budget::least_epsilon;
use crate::competitors::gaussian::GaussianMechanism;

/// [`GaussianMechanism`] mechanism, which adds noise to all d coordinates under (ε, δ) (P3 §5). A missing
/// entry is 0.
///
/// ```
/// use hushbin_study::competitors::ratings::{GaussianRatingMechanism, RatingOracle, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 64, epsilon: 0.5, delta: 1e-5, protected_distance: 1.0 };
/// let [best, coded] = [GaussianRatingMechanism::with_user_level_privacy(&setting)?, GaussianRatingMechanism::user_level_with_classical_sigma(&setting)?];
/// let times = coded.gaussian_mechanism().sigma() / best.gaussian_mechanism().sigma();
/// assert!((times - 1.38).abs() < 0.01);
/// // More noise than the budget needs.
/// assert!(coded.privacy_loss() < 0.36 && best.privacy_loss() > 0.5 - 1e-9);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianRatingMechanism {
    item_count: u32,
    gaussian_mechanism: GaussianMechanism,
    delta: f64,
    /// Maximum number k of entries at user level. If an input has more entries, k random entries
    /// are kept. `None` at other levels.
    max_entries: Option<u32>,
}

impl GaussianRatingMechanism {
    /// Returns the mechanism at event level. The sensitivity is Δ = 2, for one entry that changes
    /// from −1 to 1. Inputs may have any number of entries.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`]. [`Error::OutOfRange`] if δ is below 10⁻¹⁵.
    pub fn with_event_level_privacy(setting: &OracleSetting) -> Result<Self, Error> {
        let gaussian = GaussianMechanism::new(2.0, &setting.checked_budget()?)?;
        Ok(Self::new(setting, None, gaussian))
    }

    /// Returns the mechanism at user level. The sensitivity is Δ = 2√k, for k = s entries that
    /// change from −1 to 1, where s is the sparsity. Replacing k entries by entries of k different
    /// items moves the vector only by √(2k).
    ///
    /// # Errors
    /// Same errors as [`GaussianRatingMechanism::with_event_level_privacy`].
    pub fn with_user_level_privacy(setting: &OracleSetting) -> Result<Self, Error> {
        let gaussian =
            GaussianMechanism::new(user_level_sensitivity(setting), &setting.checked_budget()?)?;
        Ok(Self::new(setting, Some(setting.sparsity), gaussian))
    }

    /// Returns the mechanism that protects inputs at most a distance L apart. Inputs may have any
    /// number of entries.
    ///
    /// # Errors
    /// Same errors as [`GaussianRatingMechanism::with_event_level_privacy`]. [`Error::OutOfRange`] if L is outside
    /// [`NEIGHBOUR_DISTANCE_RANGE`](hushbin::bounds::NEIGHBOUR_DISTANCE_RANGE).
    ///
    /// ```
    /// use hushbin_study::competitors::ratings::{GaussianRatingMechanism, OracleSetting};
    ///
    /// let setting =
    ///     |protected_distance| OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 1e-5, protected_distance };
    /// let sensitivity = |distance| {
    ///     GaussianRatingMechanism::with_distance_privacy(&setting(distance)).map(|noise| noise.gaussian_mechanism().sensitivity())
    /// };
    /// // One entry moves by 1.5; one moves by 2 and another by 1; four move by 2.
    /// assert_eq!(sensitivity(1.5)?, 1.5);
    /// assert_eq!(sensitivity(3.0)?, 5.0_f64.sqrt());
    /// assert_eq!(sensitivity(8.0)?, 4.0);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    pub fn with_distance_privacy(setting: &OracleSetting) -> Result<Self, Error> {
        let budget = setting.checked_budget()?;
        let gaussian = GaussianMechanism::new(
            sensitivity_within_distance(setting.checked_capped_distance()?),
            &budget,
        )?;
        Ok(Self::new(setting, None, gaussian))
    }

    /// Returns the mechanism at user level as in P3's code, with the standard deviation σ =
    /// Δ·√(2·ln(1.25/δ))/ε and the sensitivity Δ of [`with_user_level_privacy`](Self::with_user_level_privacy). The noise is larger
    /// than necessary, and its privacy is proven only for ε below 1.
    ///
    /// # Errors
    /// Same errors as [`GaussianRatingMechanism::with_event_level_privacy`].
    pub fn user_level_with_classical_sigma(setting: &OracleSetting) -> Result<Self, Error> {
        let gaussian = GaussianMechanism::with_classical_sigma(
            user_level_sensitivity(setting),
            &setting.checked_budget()?,
        )?;
        Ok(Self::new(setting, Some(setting.sparsity), gaussian))
    }

    /// Returns the mechanism that adds the noise of `gaussian`.
    const fn new(
        setting: &OracleSetting,
        entries: Option<u32>,
        gaussian: GaussianMechanism,
    ) -> Self {
        Self {
            item_count: setting.item_count,
            gaussian_mechanism: gaussian,
            delta: setting.delta,
            max_entries: entries,
        }
    }

    /// Gaussian mechanism that adds the noise to every coordinate.
    #[must_use]
    pub const fn gaussian_mechanism(&self) -> &GaussianMechanism {
        &self.gaussian_mechanism
    }

    /// Adds the total noise of `reports` reports to the sum of every coordinate.
    fn add_noise_of_reports(&self, reports: u64, sums: &mut ReportSums, rng: &mut dyn CryptoRng) {
        let sigma = self.gaussian_mechanism.sigma() * (reports as f64).sqrt();
        for sum in &mut sums.sign_sums {
            let standard: f64 = StandardNormal.sample(rng);
            *sum += sigma * standard;
        }
        sums.report_count += reports;
    }

    /// Adds one person's entries to the sums, without noise.
    fn add_exact_entries(&self, entries: &[Entry], sums: &mut ReportSums, rng: &mut dyn CryptoRng) {
        for entry in sample_entries_up_to_limit(entries, self.max_entries, rng) {
            sums.sign_sums[entry.item as usize] += entry.value;
        }
    }
}

/// Returns the sensitivity at user level: 2√k, where k is the setting's sparsity.
fn user_level_sensitivity(setting: &OracleSetting) -> f64 {
    2.0 * f64::from(setting.sparsity).sqrt()
}

/// Returns the sensitivity √(4⌊L/2⌋ + r²), where r is the remainder of L divided by 2. It is the
/// maximum Euclidean distance between two vectors in [−1, 1]^d whose coordinates differ by at most
/// L in total.
fn sensitivity_within_distance(distance: f64) -> f64 {
    // Let two coordinates differ by 0 < x ≤ y < 2. Decreasing x by t and increasing y by t keeps
    // the sum and increases the sum of squares by 2t(y − x) + 2t². Therefore, at the maximum, all
    // coordinates but one differ by 0 or by 2. ⌊L/2⌋ coordinates differ by 2, and one differs by r.
    // There are enough coordinates because L is at most 2d.
    //
    // Each square is at most 2 times the difference, and the differences add up to at most L. Hence
    // the sensitivity is at most √(L·min(L, 2)). It reaches this value if L is at most 2, or if L
    // is even.
    let rest = distance % 2.0;
    // 4⌊L/2⌋ is 2·(L − r).
    (2.0 * (distance - rest) + rest * rest).sqrt()
}

impl RatingOracle for GaussianRatingMechanism {
    fn privacy_loss(&self) -> f64 {
        least_epsilon(self.delta, |epsilon| {
            self.gaussian_mechanism.delta_at(epsilon)
        })
    }

    /// Length of a report: four bytes for each coordinate.
    fn report_bits(&self) -> f64 {
        32.0 * f64::from(self.item_count)
    }

    fn linear_estimator(&self) -> LinearEstimator {
        LinearEstimator::for_means_only(1.0)
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        let variance = self.gaussian_mechanism.variance();
        // A value of ±1 adds 1 to the mean square.
        EstimateMoments::for_means_only([variance + 1.0, variance])
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        self.add_exact_entries(entries, sums, rng);
        self.add_noise_of_reports(1, sums, rng);
    }

    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        for entries in people {
            self.add_exact_entries(entries, sums, rng);
        }
        // The sum of the noise of n reports is normal with variance nσ².
        self.add_noise_of_reports(people.len() as u64, sums, rng);
    }
}
