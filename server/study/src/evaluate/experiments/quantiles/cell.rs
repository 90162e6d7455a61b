//! One crowd at one ε, by all mechanisms.

use rand_chacha::ChaCha8Rng;

use super::mechanisms::{CELLS, CHOICE, HIERARCHY, Mechanisms, PATTERN, WAVE};
use crate::evaluate::crowd::number::{Crowd, QUANTILES};
use crate::evaluate::crowd::random::stream;
use crate::evaluate::measure::experiment::{Measured, Point, StudyError};
use crate::evaluate::measure::measured::MSE;

/// Parameters of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) crowd: Crowd,
    pub(super) epsilon: f64,
    pub(super) people: u64,
}

/// Metric: whether an interval covers the quantile of the crowd.
pub(super) const COVERED: &str = "covered by the 95 % interval";
/// Metric: width of an interval, as a part of the scale.
pub(super) const WIDTH: &str = "width of the 95 % interval";
/// Metric: estimate less the quantile of the crowd, in parts of the range.
const BIAS: &str = "bias";
/// Metric: whether an estimate was moved into its interval.
const CLAMPED: &str = "moved into the interval";

impl Cell {
    /// Place of the cell in tables.
    pub(super) fn point(&self) -> Point {
        Point {
            people: self.people,
            items: CELLS,
            sparsity: 1,
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        }
    }

    /// Measures squared errors of quantiles in parts of the range, and intervals. The crowd is
    /// drawn from the generator's first stream, and reports from the streams after it.
    pub(super) fn simulate(
        &self,
        mechanisms: &Mechanisms,
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Measured>, StudyError> {
        let scale = self.crowd.scale();
        let numbers = self.crowd.draw(self.people, &mut stream(rng, 0));
        let places: Vec<f64> = numbers.iter().map(|own| scale.place(*own)).collect();
        let truth = QUANTILES.map(|part| self.crowd.quantile(part));
        let mut rows = Vec::new();
        let mut add = |at: usize, mechanism: &str, metric: &str, value: f64| {
            let estimand = self.crowd.estimands[at];
            rows.push(Measured::new(
                self.point(),
                mechanism,
                estimand,
                metric,
                value,
            ));
        };
        let found = mechanisms.pattern(&numbers, &mut stream(rng, 1))?;
        for (at, own) in found.iter().enumerate() {
            let [lower, upper] = own.interval;
            let covered = lower <= truth[at] && truth[at] <= upper;
            let width = scale.place(upper) - scale.place(lower);
            add(at, PATTERN, MSE, (own.estimate - truth[at]).powi(2));
            add(at, PATTERN, BIAS, own.estimate - truth[at]);
            add(at, PATTERN, COVERED, f64::from(u8::from(covered)));
            add(at, PATTERN, WIDTH, width);
            add(at, PATTERN, CLAMPED, f64::from(u8::from(own.clamped)));
        }
        let published = [
            (WAVE, mechanisms.wave(&places, &mut stream(rng, 2))),
            (
                HIERARCHY,
                mechanisms.hierarchy(&places, &mut stream(rng, 3)),
            ),
            (CHOICE, mechanisms.choice(&places, &mut stream(rng, 4))),
        ];
        for (mechanism, found) in published {
            for (at, place) in found.into_iter().enumerate() {
                let off = scale.at(place) - truth[at];
                add(at, mechanism, MSE, off.powi(2));
                add(at, mechanism, BIAS, off);
            }
        }
        Ok(rows)
    }
}
