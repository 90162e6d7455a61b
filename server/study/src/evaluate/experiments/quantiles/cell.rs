//! Simulation of one crowd at one ε, with all mechanisms.

use hushbin_analysis::estimate::QuantileEstimate;
use rand_chacha::ChaCha8Rng;

use super::mechanisms::{
    BIN_CHOICE_NAME, CELL_COUNT, HIERARCHY_NAME, PATTERN_NAME, QuantileMechanisms, SQUARE_WAVE_NAME,
};
use crate::evaluate::crowd::number::{NumberCrowd, QUANTILE_LEVELS};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{Measurement, MeasurementPoint, StudyError};
use crate::evaluate::measure::measurement::MSE;

/// Parameters of a simulation: crowd, ε and number of people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SimulatedCell {
    pub(super) crowd: NumberCrowd,
    pub(super) epsilon: f64,
    pub(super) people_count: u64,
}

/// Metric: 1 if an interval covers the true quantile of the crowd's distribution, otherwise 0.
pub(super) const COVERAGE_METRIC: &str = "covered by the 95 % interval";
/// Metric: width of an interval, as a fraction of the whole scale.
pub(super) const INTERVAL_WIDTH_METRIC: &str = "width of the 95 % interval";
/// Metric: estimate minus the true quantile of the crowd, as a fraction of the range.
const BIAS: &str = "bias";
/// Metric: 1 if an estimate was moved into its interval, otherwise 0.
const CLAMPED_TO_INTERVAL_METRIC: &str = "moved into the interval";

impl SimulatedCell {
    /// Returns the point of the cell in tables.
    pub(super) fn point(&self) -> MeasurementPoint {
        MeasurementPoint {
            people: self.people_count,
            items: CELL_COUNT,
            sparsity: 1,
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        }
    }

    fn measurement(&self, at: usize, mechanism: &str, metric: &str, value: f64) -> Measurement {
        let estimand = self.crowd.quantile_estimand_names[at];
        Measurement::new(self.point(), mechanism, estimand, metric, value)
    }

    /// Measures the intervals of the pattern mechanism: whether an interval covers the true
    /// quantile, its width, and whether the estimate was moved into it.
    fn interval_measurements(
        &self,
        found: &[QuantileEstimate],
        truth: &[f64; 3],
    ) -> Vec<Measurement> {
        let scale = self.crowd.scale();
        let mut rows = Vec::new();
        for (at, own) in found.iter().enumerate() {
            let [lower, upper] = own.interval;
            let covered = lower <= truth[at] && truth[at] <= upper;
            for (metric, value) in [
                (COVERAGE_METRIC, f64::from(u8::from(covered))),
                (
                    INTERVAL_WIDTH_METRIC,
                    scale.scale_position(upper) - scale.scale_position(lower),
                ),
                (CLAMPED_TO_INTERVAL_METRIC, f64::from(u8::from(own.clamped))),
            ] {
                rows.push(self.measurement(at, PATTERN_NAME, metric, value));
            }
        }
        rows
    }

    /// Simulates the crowd, and measures the errors of quantiles, as fractions of the range, and
    /// the intervals. In addition, `more` crowds are drawn only to measure intervals. One stream of
    /// the generator draws a crowd, and one stream draws each mechanism's reports.
    pub(super) fn simulate(
        &self,
        mechanisms: &QuantileMechanisms,
        more: u64,
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Measurement>, StudyError> {
        let scale = self.crowd.scale();
        let numbers = self
            .crowd
            .draw_numbers(self.people_count, &mut generator_stream(rng, 0));
        let places: Vec<f64> = numbers
            .iter()
            .map(|own| scale.scale_position(*own))
            .collect();
        let truth = QUANTILE_LEVELS.map(|part| self.crowd.true_quantile(part));
        let found = mechanisms.simulate_pattern(&numbers, &mut generator_stream(rng, 1))?;
        let mut rows = self.interval_measurements(&found, &truth);
        let mut add = |mechanism: &str, at: usize, found: f64| {
            let off = found - truth[at];
            rows.push(self.measurement(at, mechanism, MSE, off.powi(2)));
            rows.push(self.measurement(at, mechanism, BIAS, off));
        };
        for (at, own) in found.iter().enumerate() {
            add(PATTERN_NAME, at, own.estimate);
        }
        let published = [
            (
                SQUARE_WAVE_NAME,
                mechanisms.simulate_square_wave(&places, &mut generator_stream(rng, 2)),
            ),
            (
                HIERARCHY_NAME,
                mechanisms.simulate_hierarchy(&places, &mut generator_stream(rng, 3)),
            ),
            (
                BIN_CHOICE_NAME,
                mechanisms.simulate_bin_choice(&places, &mut generator_stream(rng, 4)),
            ),
        ];
        for (mechanism, found) in published {
            for (at, place) in found.into_iter().enumerate() {
                add(mechanism, at, scale.number_at_position(place));
            }
        }
        for crowd in 0..more {
            // Streams 0 to 4 belong to the first crowd and its mechanisms.
            let [people, reports] = [5, 6].map(|first| generator_stream(rng, first + 2 * crowd));
            let numbers = self.crowd.draw_numbers(self.people_count, &mut { people });
            let found = mechanisms.simulate_pattern(&numbers, &mut { reports })?;
            rows.extend(self.interval_measurements(&found, &truth));
        }
        Ok(rows)
    }
}
