//! Noise coins with a cap: the design of hushbin's sums, applied to a histogram.
//!
//! A person sends the own message. For each of K cells, the person also makes w trials, each of
//! which sends a noise message about the cell with probability q. If these are more than B messages,
//! all of them are drawn again. Blank messages fill up every upload to 1 + B messages.
//!
//! A change of one choice moves the counts of two cells by 1. This is a sum task of K/2 coordinates
//! with one level, of which a person reports one: the two directions of a coordinate are two cells.
//! So the account of sums is the account of this histogram.

use hushbin::Error;
use hushbin::sample::Threshold;
use hushbin::sums::{SumTask, SumTaskFields, SummedQuantity, UnitStepParameters};
use hushbin::task::{NumberLimits, ReportBudget};
use hushbin_analysis::sums::central_epsilon_bounds;

use crate::competitors::budget::Budget;
use crate::roots::bisect;

/// Part of δ that is left for the cap on noise messages.
const CAP_DELTA_FRACTION: f64 = 1e-6;
/// Maximum number of noise messages of one person that is tried.
const MAX_NOISE_MESSAGES: u32 = 4000;
/// Relative precision of the noise probability q.
const NOISE_PROBABILITY_PRECISION: f64 = 1e-6;

/// Noise coins of every person, calibrated to a central (ε, δ).
///
/// ```
/// use hushbin_study::competitors::{Budget, shuffled_counts::CappedCoins};
///
/// let coins = CappedCoins::calibrate(16, 100_000, 0.9, &Budget::new(1.0, 1e-6)?)?;
/// assert_eq!(coins.max_messages(), 1 + 6);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CappedCoins {
    cell_count: u32,
    trials_per_cell: u32,
    noise_threshold: Threshold,
    max_noise_messages: u32,
}

impl CappedCoins {
    /// Finds the fewest trials w with which some q ≤ 1/2 suffices, then the least q, then the least
    /// cap B. K is `cells`, an even number up to 2048. A fraction `honest_fraction` of `people`
    /// people is honest.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if K is odd. [`Error::OutOfRange`] if a parameter is out of
    /// range, or if even the maximum number of trials is not enough.
    pub fn calibrate(
        cells: u32,
        people: u64,
        honest_fraction: f64,
        budget: &Budget,
    ) -> Result<Self, Error> {
        if cells == 0 || !cells.is_multiple_of(2) {
            return Err(Error::InvalidCombination {
                reason: "the coins of a histogram need an even number of cells",
            });
        }
        let names = (0..cells / 2).map(|index| index.to_string()).collect();
        let limits = vec![NumberLimits::new(-1.0, 1.0, None)?; cells as usize / 2];
        let fields = SumTaskFields {
            id: "coins".to_owned(),
            summed_quantity: SummedQuantity::from_numbers(names, limits)?,
            central_epsilon: budget.epsilon(),
            delta: budget.delta(),
            min_people: people,
            honest_fraction,
            report_budget: ReportBudget::default(),
        };
        let coins = |trials, threshold, most| Self {
            cell_count: cells,
            trials_per_cell: trials,
            noise_threshold: threshold,
            max_noise_messages: most,
        };
        // The search for q needs noise that is practically never drawn again.
        let uncapped = SumTaskFields {
            delta: budget.delta() * (1.0 - CAP_DELTA_FRACTION),
            ..fields.clone()
        };
        let most = |trials: u32| cells.saturating_mul(trials).min(MAX_NOISE_MESSAGES);
        let half = Threshold(1 << 63);
        let mut trials = 1;
        while !coins(trials, half, most(trials)).is_private(&uncapped)? {
            trials += 1;
        }
        let q = bisect(0.5, 1e-9, NOISE_PROBABILITY_PRECISION, |q| {
            let own = coins(trials, threshold_from_probability(q), most(trials));
            // Noise that is too rare for the account is not enough.
            own.is_private(&uncapped).unwrap_or(false)
        });
        let threshold = threshold_from_probability(q);
        let (mut low, mut high) = (0, most(trials));
        while low + 1 < high {
            let middle = low.midpoint(high);
            if coins(trials, threshold, middle).is_private(&fields)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(coins(trials, threshold, high))
    }

    /// Returns true if the account proves the ε of these fields.
    fn is_private(&self, fields: &SumTaskFields) -> Result<bool, Error> {
        let steps = UnitStepParameters::new(
            1,
            1,
            self.trials_per_cell,
            self.noise_threshold,
            self.max_noise_messages,
        )?;
        let task = SumTask::new(fields.clone(), steps)?;
        Ok(central_epsilon_bounds(&task)?.upper <= fields.central_epsilon)
    }

    /// Maximum number of messages of one person, 1 + B. Blank messages fill up to this number.
    #[must_use]
    pub const fn max_messages(&self) -> u32 {
        1 + self.max_noise_messages
    }

    /// Mean number K·w·q of noise messages of one person.
    #[must_use]
    pub fn mean_noise_messages(&self) -> f64 {
        f64::from(self.cell_count) * self.trials_per_cell() * self.noise_probability()
    }

    /// Number w of trials of one person for each cell.
    fn trials_per_cell(&self) -> f64 {
        f64::from(self.trials_per_cell)
    }

    /// Probability q of a noise message.
    #[must_use]
    pub fn noise_probability(&self) -> f64 {
        self.noise_threshold.probability()
    }

    /// Number n·w of trials of `people` people for one cell.
    #[must_use]
    pub fn trials_of_people(&self, people: u64) -> u64 {
        people * u64::from(self.trials_per_cell)
    }

    /// Standard error of the share of one cell, √(n·w·q·(1 − q)·(1 − 1/K))/n for n = `people`
    /// people. The analyser knows the total of the noise, and subtracts its mean from each count.
    #[must_use]
    pub fn share_error(&self, people: u64) -> f64 {
        let (n, q) = (people as f64, self.noise_probability());
        let variance = n * self.trials_per_cell() * q * (1.0 - q);
        (variance * (1.0 - 1.0 / f64::from(self.cell_count))).sqrt() / n
    }
}

/// Converts the noise probability q, from 10⁻⁹ to 1/2, to a 64-bit threshold.
fn threshold_from_probability(q: f64) -> Threshold {
    Threshold((q * 2_f64.powi(64)) as u64)
}
