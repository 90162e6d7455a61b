//! Width of a quantile's interval in the unit of the number, if people's numbers are normally
//! distributed.

use hushbin::{Mechanism, Question, task::QuestionKind};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::estimate::{DEFAULT_CONFIDENCE, PredictedQuantity, SimulatedIntervalWidth};
use crate::plan::goal::QuestionGoal;

/// Number of simulated crowds.
const SIMULATED_CROWD_COUNT: u32 = 200;

/// Simulated width of a quantile's interval. People's numbers have a normal distribution around the
/// middle bin. Numbers outside the range are moved to its ends.
#[derive(Debug, Clone)]
pub(super) struct QuantileWidth {
    interval_width: SimulatedIntervalWidth,
    bin_edges: Vec<f64>,
    number_step: f64,
}

impl QuantileWidth {
    /// Simulates the interval of a quantile. Returns `None` unless the mechanism is a pattern, the
    /// goal is a quantile, and the standard deviation `spread` is given.
    pub(super) fn new(
        question: &Question,
        goal: &QuestionGoal,
        spread: Option<f64>,
    ) -> Option<Self> {
        let (
            Mechanism::Pattern(pattern),
            QuestionKind::Number(scale),
            PredictedQuantity::DistributionFunction(part),
        ) = (
            question.mechanism(),
            question.kind(),
            goal.predicted_quantity,
        )
        else {
            return None;
        };
        let spread = spread?;
        let edges = scale.edges()?.to_vec();
        let bin = (edges.len() - 1) / 2;
        let (middle, wide) = (edges[bin], edges[bin + 1] - edges[bin]);
        let crowd = |number: u32| {
            // Shift each crowd by another fraction of a bin, because a quantile on an edge has a
            // wider interval than one between two edges.
            let place = (f64::from(number) + 0.5) / f64::from(SIMULATED_CROWD_COUNT) - 0.5;
            let normal = Normal::new(middle + place * wide, spread).expect("a spread is above 0");
            normal_bin_shares(&normal, &edges)
        };
        let rates = pattern.share_estimator(edges.len() as u32 - 1, question.epsilon());
        let failure = 0.5 * (1.0 - DEFAULT_CONFIDENCE);
        let width = SimulatedIntervalWidth::new(
            rates,
            (0..SIMULATED_CROWD_COUNT).map(crowd),
            part,
            failure,
        );
        let step = scale.value_step();
        Some(Self {
            interval_width: width,
            bin_edges: edges,
            number_step: step,
        })
    }

    /// Returns half of the mean width at `reports` reports, in the unit of the number. If the
    /// question states a step, the width between the smallest and the largest possible number is
    /// one step less than the width between the edges.
    pub(super) fn half_width(&self, reports: f64) -> f64 {
        self.interval_width
            .mean_half_width(reports, &self.bin_edges)
            - 0.5 * self.number_step
    }
}

/// Returns the share of each bin under a normal distribution.
fn normal_bin_shares(normal: &Normal, edges: &[f64]) -> Vec<f64> {
    let inside = edges[1..edges.len() - 1].iter();
    let inside = inside.map(|edge| normal.cdf(*edge));
    let below: Vec<f64> = [0.0].into_iter().chain(inside).chain([1.0]).collect();
    below.windows(2).map(|pair| pair[1] - pair[0]).collect()
}
