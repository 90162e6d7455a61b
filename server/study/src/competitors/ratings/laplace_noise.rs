//! Laplace mechanism: adds Laplace noise to every coordinate.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;
use rand_distr::{Distribution, Gamma};

use super::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};

/// Laplace mechanism on all d coordinates (Dwork, McSherry, Nissim and Smith 2006), which protects
/// inputs that are at most a distance L apart. A missing entry is 0.
///
/// The noise of a coordinate has density exp(−|x|/β)/2β with β = L/ε. Moving the vector by Δ
/// changes the density of a report by a factor of at most exp(‖Δ‖₁/β). This is exp(ε) if ‖Δ‖₁ = L.
/// Inputs may have any number of entries.
///
/// This is for simulations only: noise in floating point reveals more than ε (Mironov, "On
/// Significance of the Least Significant Bits for Differential Privacy", CCS 2012).
///
/// ```
/// use hushbin_study::competitors::ratings::{LaplaceMechanism, RatingOracle, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 64, epsilon: 0.5, delta: 0.0, protected_distance: 3.0 };
/// let laplace = LaplaceMechanism::new(&setting)?;
/// assert_eq!((laplace.noise_scale(), laplace.variance()), (6.0, 72.0));
/// assert_eq!((laplace.privacy_loss(), laplace.report_bits()), (0.5, 3200.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaplaceMechanism {
    item_count: u32,
    /// Distance L up to which two inputs are ε-indistinguishable.
    protected_distance: f64,
    /// Scale β of a coordinate's noise.
    noise_scale: f64,
}

impl LaplaceMechanism {
    /// Creates the mechanism for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`]. [`Error::OutOfRange`] if L is outside
    /// [`NEIGHBOUR_DISTANCE_RANGE`](hushbin::bounds::NEIGHBOUR_DISTANCE_RANGE).
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        let budget = setting.budget_ignoring_delta()?;
        let distance = setting.checked_capped_distance()?;
        Ok(Self {
            item_count: setting.item_count,
            protected_distance: distance,
            noise_scale: distance / budget.epsilon(),
        })
    }

    /// Scale β of a coordinate's noise.
    #[must_use]
    pub const fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    /// Variance 2β² of one report's estimate of a coordinate, where β is
    /// [`noise_scale`](Self::noise_scale). It is the same for every value of the coordinate.
    #[must_use]
    pub fn variance(&self) -> f64 {
        2.0 * self.noise_scale * self.noise_scale
    }

    /// Adds the total noise of `reports` reports to the sum of every coordinate.
    fn add_noise_of_reports(&self, reports: u64, sums: &mut ReportSums, rng: &mut dyn CryptoRng) {
        if reports == 0 {
            return;
        }
        // Laplace noise of scale β is the difference of two exponential variables of that scale.
        // The sum of n exponential variables is a gamma variable of shape n. The noise of n reports
        // is therefore exactly the difference of two gamma variables.
        let law =
            Gamma::new(reports as f64, self.noise_scale).expect("shape and scale are above 0");
        for sum in &mut sums.sign_sums {
            *sum += law.sample(rng) - law.sample(rng);
        }
        sums.report_count += reports;
    }
}

/// Adds one person's entries to the sums, without noise.
fn add_exact_entries(entries: &[Entry], sums: &mut ReportSums) {
    for entry in entries {
        sums.sign_sums[entry.item as usize] += entry.value;
    }
}

impl RatingOracle for LaplaceMechanism {
    fn privacy_loss(&self) -> f64 {
        self.protected_distance / self.noise_scale
    }

    /// Length of a report: four bytes for each coordinate.
    fn report_bits(&self) -> f64 {
        32.0 * f64::from(self.item_count)
    }

    fn linear_estimator(&self) -> LinearEstimator {
        LinearEstimator::for_means_only(1.0)
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        let variance = self.variance();
        // A value of ±1 adds 1 to the mean square.
        EstimateMoments::for_means_only([variance + 1.0, variance])
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        add_exact_entries(entries, sums);
        self.add_noise_of_reports(1, sums, rng);
    }

    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        for entries in people {
            add_exact_entries(entries, sums);
        }
        self.add_noise_of_reports(people.len() as u64, sums, rng);
    }
}
