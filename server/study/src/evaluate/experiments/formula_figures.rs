//! P1's figures 2, 4 and 5, which are computed by formula, without simulated people. Figure 2 is
//! the amplification of privacy by shuffling for the collision mechanism. Figures 4 and 5 show the
//! rates and the errors of one report as functions of the number of buckets.

use hushbin::Mechanism;
use hushbin::choose::Population;
use hushbin::domain::Domain;
use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{Coco, FavouredSideRule};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule as CollisionRule};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use rand_chacha::ChaCha8Rng;

use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;

/// Experiment of P1's figure 2: the binary logarithm of the factor by which shuffling lowers ε.
pub(crate) struct ShuffleAmplificationExperiment {
    epsilons: Vec<f64>,
}

/// Experiment of P1's figures 4 and 5.
pub(crate) struct ErrorsByBucketsExperiment;

const AMPLIFICATION_METRIC: &str = "log2 of local over central ε";

impl ShuffleAmplificationExperiment {
    /// Creates the experiment for values of ε from 0.1 to 5.
    pub(crate) fn new(size: StudySize) -> Self {
        Self {
            epsilons: size.quick_or_full(
                vec![0.1, 0.5, 1.0, 2.0, 3.0, 5.0],
                (1..=50).map(|tenth| f64::from(tenth) / 10.0).collect(),
            ),
        }
    }
}

/// Returns the number of people n, the sparsity s and the δ of each batch in figure 2. P1 does not
/// state δ; we take 10⁻⁸ and 1/n.
fn figure_batch_parameters() -> Vec<(u64, u32, f64)> {
    let mut all = Vec::new();
    for people in [10_000, 100_000] {
        for sparsity in [4, 64] {
            all.extend([1e-8, 1.0 / people as f64].map(|delta| (people, sparsity, delta)));
        }
    }
    all
}

/// Returns the point of a measurement with this number of buckets.
fn bucket_measurement_point(buckets: u32) -> MeasurementPoint {
    MeasurementPoint {
        people: 1,
        items: ITEM_COUNT,
        sparsity: SPARSITY,
        epsilon: EPSILON,
        delta: 0.0,
        parameter: f64::from(buckets),
    }
}

impl Experiment for ShuffleAmplificationExperiment {
    fn name(&self) -> &str {
        "p1-amplification"
    }

    fn title(&self) -> &str {
        "P1, figure 2: shuffle amplification of Collision, t = ⌊s·e + 2s − 1⌋"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let of = |(index, (people, sparsity, delta)): (usize, (u64, u32, f64))| WorkUnit {
            name: format!("n={people} s={sparsity} delta={delta}"),
            index,
            repeat_index: 0,
            estimated_microseconds: 2e5 * self.epsilons.len() as f64,
        };
        figure_batch_parameters()
            .into_iter()
            .enumerate()
            .map(of)
            .collect()
    }

    fn run_unit(&self, unit: &WorkUnit, _: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let (people, sparsity, delta) = figure_batch_parameters()[unit.index];
        let mut measured = Vec::new();
        for &epsilon in &self.epsilons {
            let s = f64::from(sparsity);
            let buckets = (s * epsilon.exp() + 2.0 * s - 1.0).floor() as u32;
            let own = Collision::new(CollisionRule::Occupied, HashFamily::Independent, buckets)?;
            let refused =
                |error: &dyn std::fmt::Display| StudyError::invalid_draft("Collision", error);
            let collision = ReportMixture::for_collision(&own, sparsity, epsilon)
                .map_err(|error| refused(&error))?;
            let generic =
                ReportMixture::for_any_randomizer(epsilon).map_err(|error| refused(&error))?;
            for (mechanism, mixture) in [("Collision", &collision), ("any mechanism", &generic)] {
                let central = compute_batch_privacy(mixture, people, 1.0, delta)?.central_epsilon;
                let point = MeasurementPoint {
                    people,
                    items: 0,
                    sparsity,
                    epsilon,
                    delta,
                    parameter: f64::from(buckets),
                };
                let value = (epsilon / central).log2();
                measured.push(Measurement::new(
                    point,
                    mechanism,
                    "batch",
                    AMPLIFICATION_METRIC,
                    value,
                ));
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let panel = |(people, sparsity, delta): (u64, u32, f64)| Panel {
            title: format!("n = {people}, s = {sparsity}, δ = {delta:e}"),
            curves: table.mechanism_curves(
                "batch",
                AMPLIFICATION_METRIC,
                |point| (point.people, point.sparsity, point.delta) == (people, sparsity, delta),
                |point| point.epsilon,
            ),
        };
        vec![Figure {
            name: "p1-amplification".to_owned(),
            title: self.title().to_owned(),
            x_label: "local ε",
            y_label: AMPLIFICATION_METRIC,
            are_x_and_y_logarithmic: [true, false],
            panels: figure_batch_parameters().into_iter().map(panel).collect(),
        }]
    }
}

/// Number of items in figure 5. Figures 4 and 5 both use the sparsity and the ε that follow.
const ITEM_COUNT: u32 = 128;
const SPARSITY: u32 = 8;
const EPSILON: f64 = 0.5;
/// Greatest number of buckets in the figures.
const MAX_BUCKET_COUNT: u32 = 120;

const HIT_PROBABILITY_METRIC: &str = "probability of a hit";
const VARIANCE_SUM_METRIC: &str = "summed variance of one report";

impl Experiment for ErrorsByBucketsExperiment {
    fn name(&self) -> &str {
        "p1-buckets"
    }

    fn title(&self) -> &str {
        "P1, figures 4 and 5: rates and errors over the number of buckets, d = 128, s = 8, ε = 0.5"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        vec![WorkUnit::formula_unit("all", 0)]
    }

    fn run_unit(&self, _: &WorkUnit, _: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let mut measured = Vec::new();
        let domain = Domain::of_rated_items(Some(ITEM_COUNT), SPARSITY);
        let population = Population::with_equal_entries(1.0, SPARSITY);
        let d = f64::from(ITEM_COUNT);
        for buckets in SPARSITY + 1..=MAX_BUCKET_COUNT {
            let point = bucket_measurement_point(buckets);
            let mut add = |mechanism: &str, metric: &str, value: f64| {
                measured.push(Measurement::new(point, mechanism, "report", metric, value));
            };
            let own = Collision::new(CollisionRule::Occupied, HashFamily::Independent, buckets)?;
            let predicted = Mechanism::from(own).predict_errors(&domain, EPSILON, &population);
            if let Some(error) = predicted.frequency_error {
                add(
                    "signed items, Collision",
                    VARIANCE_SUM_METRIC,
                    2.0 * d * error.variance,
                );
            }
            if let Some(error) = predicted.mean_error {
                add("means, Collision", VARIANCE_SUM_METRIC, d * error.variance);
            }
            if buckets % 2 == 1 || buckets < 2 * SPARSITY + 2 {
                continue;
            }
            let rule = FavouredSideRule::RandomEntryDecides;
            let own = Coco::new(rule, HashFamily::Independent, buckets)?;
            let rates = own.hit_probabilities(&domain, EPSILON);
            if let Some(presence) = rates.exact_pair_probabilities {
                add(
                    "own sign, P_t",
                    HIT_PROBABILITY_METRIC,
                    0.5 * (presence.pair_hit_if_present + rates.side_hit_probability_gap),
                );
                add(
                    "opposite sign, P_o",
                    HIT_PROBABILITY_METRIC,
                    0.5 * (presence.pair_hit_if_present - rates.side_hit_probability_gap),
                );
                add(
                    "other items, P_f",
                    HIT_PROBABILITY_METRIC,
                    0.5 * presence.pair_hit_if_absent,
                );
            }
            let predicted = Mechanism::from(own).predict_errors(&domain, EPSILON, &population);
            let errors = [
                ("means, CoCo", predicted.mean_error, d),
                ("non-missing items, CoCo", predicted.nonmissing_error, d),
                ("signed items, CoCo", predicted.frequency_error, 2.0 * d),
            ];
            for (mechanism, error, count) in errors {
                if let Some(error) = error {
                    add(mechanism, VARIANCE_SUM_METRIC, count * error.variance);
                }
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let figure = |name: &str, metric: &'static str| Figure {
            name: name.to_owned(),
            title: self.title().to_owned(),
            x_label: "t, buckets",
            y_label: metric,
            are_x_and_y_logarithmic: [false, metric == VARIANCE_SUM_METRIC],
            panels: vec![Panel {
                title: metric.to_owned(),
                curves: table.mechanism_curves("report", metric, |_| true, |point| point.parameter),
            }],
        };
        vec![
            figure("p1-rates", HIT_PROBABILITY_METRIC),
            figure("p1-errors", VARIANCE_SUM_METRIC),
        ]
    }
}
