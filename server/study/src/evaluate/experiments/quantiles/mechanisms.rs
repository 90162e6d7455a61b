//! Mechanisms for quantiles, prepared for one ε and one scale: hushbin's pattern mechanism as in
//! production, and published mechanisms.

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    EstimateOptions, EstimateQuery, Estimator, QuantileEstimate, Totals,
};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::competitors::Budget;
use crate::competitors::distribution::{
    BinSelection, HierarchicalHistogram, SquareWaveMechanism, TransitionMatrix,
    expectation_maximization_shares, histogram_quantile, shares_of_isotonic_cdf,
};
use crate::evaluate::crowd::number::{LOG_SCALE_LOWER_END, NumberScale, QUANTILE_LEVELS};
use crate::evaluate::measure::experiment::StudyError;

/// Name of the pattern mechanism in tables.
pub(super) const PATTERN_NAME: &str = "hushbin, pattern";
/// Name of Square Wave with its estimator EMS.
pub(super) const SQUARE_WAVE_NAME: &str = "Square Wave, EMS";
/// Name of the hierarchy in tables.
pub(super) const HIERARCHY_NAME: &str = "hierarchy";
/// Name, in tables, of the choice among [`BIN_COUNT`] bins.
pub(super) const BIN_CHOICE_NAME: &str = "choice of 32";

/// Number of cells of the pattern mechanism and of the hierarchy.
pub(super) const CELL_COUNT: u32 = 64;
const HIERARCHY_HEIGHT: usize = 6;
const BIN_COUNT: u32 = 32;
/// Number of cells into which Square Wave divides its input range, and also its output range.
const SQUARE_WAVE_CELL_COUNT: usize = 256;

/// Set of all compared mechanisms, with parameters for one ε and one scale.
pub(super) struct QuantileMechanisms {
    task: Task,
    estimator: Estimator,
    query: EstimateQuery,
    wave: SquareWaveMechanism,
    transition_matrix: TransitionMatrix,
    bin_choice_mechanism: BinSelection,
    hierarchy: HierarchicalHistogram,
}

/// Returns a task with one question, which asks for the quantiles of a number. The number's range
/// is divided into `cells` cells.
pub(super) fn quantile_task(
    cells: u32,
    epsilon: f64,
    scale: NumberScale,
) -> Result<Task, StudyError> {
    let (least, spacing) = match scale {
        NumberScale::Linear => (0.0, "even"),
        NumberScale::Logarithmic => (LOG_SCALE_LOWER_END, "logarithmic"),
    };
    let draft = json!({
        "id": "quantiles", "epsilon": epsilon,
        "questions": [{
            "name": "number", "kind": "number", "want": "quantiles",
            "min": least, "max": 1, "spacing": spacing, "bins": cells,
        }],
    });
    let draft: TaskDraft = serde_json::from_value(draft)
        .map_err(|error| StudyError::invalid_draft(PATTERN_NAME, &error))?;
    Ok(draft.resolve_task()?)
}

impl QuantileMechanisms {
    /// Chooses the parameters of all mechanisms for this ε and this scale.
    pub(super) fn new(epsilon: f64, scale: NumberScale) -> Result<Self, StudyError> {
        let budget = Budget::new(epsilon, 0.0)?;
        let task = quantile_task(CELL_COUNT, epsilon, scale)?;
        let options = EstimateOptions {
            quantiles: Some(QUANTILE_LEVELS.to_vec()),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(&task, &options)
            .map_err(|error| StudyError::invalid_draft(PATTERN_NAME, &error))?;
        let wave = SquareWaveMechanism::new(&budget)?;
        Ok(Self {
            estimator: Estimator::for_task(task.clone()),
            task,
            query,
            transition_matrix: wave.transition_matrix(SQUARE_WAVE_CELL_COUNT),
            wave,
            bin_choice_mechanism: BinSelection::new(BIN_COUNT, &budget)?,
            hierarchy: HierarchicalHistogram::new(HIERARCHY_HEIGHT, &budget)?,
        })
    }

    /// Draws a report for each number by the pattern mechanism, and returns the estimated
    /// quantiles. Reports are encoded and estimated as in production.
    pub(super) fn simulate_pattern(
        &self,
        numbers: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<QuantileEstimate>, StudyError> {
        let (mut randomizer, mut totals) = (Randomizer::new(&self.task), Totals::new(&self.task));
        for &value in numbers {
            let answer = [Entry { item: 0, value }];
            totals.add_report(&randomizer.randomize(&answer, rng)?.report);
        }
        let answer = self.estimator.lazy_estimates(&totals, &self.query);
        let number = answer.number.expect("the task asks for a number");
        Ok(number.quantiles)
    }

    /// Draws a report for each position on the scale by Square Wave, and returns the quantiles that
    /// EMS estimates.
    pub(super) fn simulate_square_wave(&self, places: &[f64], rng: &mut ChaCha8Rng) -> [f64; 3] {
        let mut counts = vec![0; SQUARE_WAVE_CELL_COUNT];
        for &place in places {
            let report = self.wave.randomize(place, rng);
            counts[self.wave.output_cell(report, SQUARE_WAVE_CELL_COUNT)] += 1;
        }
        let shares = expectation_maximization_shares(&self.transition_matrix, &counts);
        QUANTILE_LEVELS.map(|part| histogram_quantile(&shares, part))
    }

    /// Draws a report for each position on the scale by a choice among [`BIN_COUNT`] bins, and returns
    /// the estimated quantiles.
    pub(super) fn simulate_bin_choice(&self, places: &[f64], rng: &mut ChaCha8Rng) -> [f64; 3] {
        let mut counts = vec![0; self.bin_choice_mechanism.bin_count()];
        for &place in places {
            self.bin_choice_mechanism
                .draw_report_into_counts(place, rng, &mut counts);
        }
        quantiles_of_shares(
            &self
                .bin_choice_mechanism
                .estimated_shares(&counts, places.len() as u64),
        )
    }

    /// Draws a report for each position on the scale by the hierarchy, and returns the estimated
    /// quantiles.
    pub(super) fn simulate_hierarchy(&self, places: &[f64], rng: &mut ChaCha8Rng) -> [f64; 3] {
        let levels = self.hierarchy.level_mechanisms();
        let mut counts: Vec<Vec<u64>> = (levels.iter())
            .map(|level| vec![0; level.option_count() as usize])
            .collect();
        let mut reports = vec![0; levels.len()];
        for &place in places {
            reports[self
                .hierarchy
                .draw_report_into_counts(place, rng, &mut counts)] += 1;
        }
        quantiles_of_shares(&self.hierarchy.estimated_shares(&counts, &reports))
    }
}

/// Returns quantiles from the shares of bins, which may be noisy. The function first finds the
/// distribution function that is nearest to the cumulated shares. It then returns the quantiles of
/// this function.
fn quantiles_of_shares(shares: &[f64]) -> [f64; 3] {
    let below: Vec<f64> = (shares[..shares.len() - 1].iter())
        .scan(0.0, |sum, own| {
            *sum += own;
            Some(*sum)
        })
        .collect();
    let shares = shares_of_isotonic_cdf(&below);
    QUANTILE_LEVELS.map(|part| histogram_quantile(&shares, part))
}
