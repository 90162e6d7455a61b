//! Harmony: draws one of d coordinates and reports it by [`TwoPointMechanism`].

use hushbin::sample::draw_below;
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use crate::competitors::numbers::TwoPointMechanism;

/// Harmony (Nguyên et al., "Collecting and Analyzing Data from Smart Device Users with Local
/// Differential Privacy", 2016). A report draws one coordinate uniformly and names it openly. It
/// reports the coordinate's value by [`TwoPointMechanism`], whose scale is A. The estimate of this
/// coordinate is d·A times the reported sign.
///
/// ```
/// use hushbin_study::competitors::ratings::{HarmonyMechanism, RatingOracle, OracleSetting};
///
/// let setting = OracleSetting { item_count: 1378, sparsity: 6, epsilon: 0.5, delta: 0.0, protected_distance: 1.0 };
/// let harmony = HarmonyMechanism::new(&setting)?;
/// assert!((harmony.report_estimate_moments().mean_variances_by_presence()[1] - 22_972.351_867).abs() < 1e-5);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarmonyMechanism {
    item_count: u32,
    two_point_mechanism: TwoPointMechanism,
}

impl HarmonyMechanism {
    /// Creates the mechanism for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            item_count: setting.item_count,
            two_point_mechanism: TwoPointMechanism::new(&setting.budget_ignoring_delta()?),
        })
    }

    /// Mechanism that reports the value of the drawn coordinate.
    #[must_use]
    pub const fn two_point_mechanism(&self) -> &TwoPointMechanism {
        &self.two_point_mechanism
    }
}

impl RatingOracle for HarmonyMechanism {
    fn privacy_loss(&self) -> f64 {
        self.two_point_mechanism.privacy_loss()
    }

    fn report_bits(&self) -> f64 {
        // Bits for the index of the coordinate, and one bit for the sign.
        f64::from(self.item_count).log2().ceil() + 1.0
    }

    fn linear_estimator(&self) -> LinearEstimator {
        LinearEstimator::for_means_only(
            f64::from(self.item_count) * self.two_point_mechanism.estimate_scale(),
        )
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        let square = f64::from(self.item_count) * self.two_point_mechanism.estimate_scale().powi(2);
        EstimateMoments::for_means_only([square; 2])
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let drawn = u64::from(draw_below(rng, self.item_count));
        // A missing entry counts as 0, so either sign has probability 1/2.
        let own = entries.iter().find(|entry| entry.item == drawn);
        let up = self
            .two_point_mechanism
            .randomize_unchecked(own.map_or(0.0, |entry| entry.value), rng);
        sums.report_count += 1;
        sums.sign_sums[drawn as usize] += if up { 1.0 } else { -1.0 };
    }
}
