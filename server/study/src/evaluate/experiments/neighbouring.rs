//! P3's figure 3: means of items for people with k entries each, where ε protects inputs that are
//! at most a distance L apart.

use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::popular_items::{GAUSSIAN_DELTA, LARGEST_ERROR_METRIC, measurement_at_setting};
use crate::competitors::ratings::drafts_as_printed;
use crate::evaluate::crowd::entry_distribution::{EntryDistribution, ZIPF_EXPONENT};
use crate::evaluate::crowd::random::ZipfItemDistribution;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MetricComparison, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::measurement::{MSE, REPORT_BYTES_METRIC};
use crate::evaluate::measure::score::ErrorSummary;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, QuestionSetting, ReportAccumulator,
};
use crate::evaluate::mechanism::shared_values::SharedValues;
use crate::evaluate::mechanism::simulate::{entries_of_first_items, simulate_reports_and_truth};

/// Experiment on one crowd at several distances L. The mechanisms protect inputs that are at most L
/// apart.
pub(crate) struct NeighbouringInputsExperiment {
    people_count: u64,
    item_count: u32,
    entries_per_person: u32,
    distances: Vec<f64>,
    repeat_count: u64,
    /// Mechanisms for each distance L, by the index of the distance.
    rating_mechanisms: SharedValues<Vec<ComparedRatingMechanism>>,
}

/// Name of the estimand in tables.
const DISTANCE_MEAN_ESTIMAND: &str = "mean, within L";
const REPORT_EPSILON: f64 = 1.0;

/// Name of hushbin's mechanism without δ that protects inputs at most a distance L apart. The next
/// name is for the mechanism with δ.
const HUSHBIN_NAME: &str = "hushbin";
const HUSHBIN_WITH_DELTA_NAME: &str = "hushbin, with δ";
/// Name of hushbin's mechanism at user level, which protects inputs at any distance.
const HUSHBIN_USER_LEVEL_NAME: &str = "hushbin, user level";

const COMPARED_ORACLE_NAMES: [&str; 2] = ["Gaussian, within L", "Laplace, within L"];

impl NeighbouringInputsExperiment {
    pub(crate) fn new(size: StudySize) -> Self {
        Self {
            people_count: size.quick_or_full(10_000, 100_000),
            item_count: size.quick_or_full(256, 4096),
            entries_per_person: size.quick_or_full(16, 64),
            distances: size.quick_or_full(
                vec![1.0, 8.0],
                (0..=7).map(|power| f64::from(1 << power)).collect(),
            ),
            repeat_count: size.quick_or_full(3, 10),
            rating_mechanisms: SharedValues::default(),
        }
    }

    fn setting(&self, distance: f64) -> QuestionSetting {
        QuestionSetting {
            people_count: self.people_count,
            item_count: self.item_count,
            sparsity: self.entries_per_person,
            epsilon: REPORT_EPSILON,
            delta: GAUSSIAN_DELTA,
            protected_distance: distance,
            has_sign_values: false,
        }
    }
}

/// Creates all compared mechanisms for one distance L.
fn mechanisms_within_distance(
    setting: &QuestionSetting,
) -> Result<Vec<ComparedRatingMechanism>, StudyError> {
    let near = |delta: Option<f64>| {
        json!({
            "name": "hash-bin", "level": "neighbouring", "distance": setting.protected_distance,
            "delta": delta,
        })
    };
    let succinct = |delta: Option<f64>| {
        drafts_as_printed::hash_bin_draft_by_distance(
            setting.sparsity,
            setting.epsilon,
            setting.protected_distance,
            delta,
        )
    };
    let tasks = [
        (HUSHBIN_NAME, near(None)),
        (HUSHBIN_WITH_DELTA_NAME, near(Some(setting.delta))),
        (
            HUSHBIN_USER_LEVEL_NAME,
            json!({ "name": "auto", "objective": "mean" }),
        ),
        ("SUCCINCT", succinct(None)),
        ("SUCCINCT, with δ", succinct(Some(setting.delta))),
    ];
    let tasks = tasks.iter();
    let tasks = tasks.map(|(name, mechanism)| {
        ComparedRatingMechanism::from_task_draft(name, setting, mechanism)
    });
    let oracles = COMPARED_ORACLE_NAMES
        .iter()
        .map(|name| ComparedRatingMechanism::from_oracle_name(name, setting));
    tasks.chain(oracles).collect()
}

impl Experiment for NeighbouringInputsExperiment {
    fn name(&self) -> &'static str {
        "p3-neighbouring"
    }

    fn title(&self) -> &'static str {
        "P3, figure 3: k entries of popular items, protected up to distance L"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let (d, k) = (self.item_count, self.entries_per_person);
        // Microseconds per person: a constant, plus a time per entry and a time per item.
        let each = 4.0 + 0.5 * f64::from(k) + 4e-3 * f64::from(d);
        let work = self.people_count as f64 * each;
        let mut units = Vec::new();
        for (index, distance) in self.distances.iter().enumerate() {
            units.extend(WorkUnit::repeated_units(
                self.repeat_count,
                index,
                work,
                |repeat| format!("d={d} k={k} L={distance} repeat={repeat}"),
            ));
        }
        units
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let setting = self.setting(self.distances[unit.index]);
        let zipf = ZipfItemDistribution::new(setting.item_count, ZIPF_EXPONENT);
        let contestants = self
            .rating_mechanisms
            .value_or_build(unit.index, || mechanisms_within_distance(&setting))?;
        let mut accumulators: Vec<ReportAccumulator<'_>> = contestants
            .iter()
            .map(|own| own.accumulator(setting.item_count))
            .collect();
        let truth = simulate_reports_and_truth(
            &mut accumulators,
            EntryDistribution::Zipf(zipf),
            setting,
            rng,
        )?;
        let means = truth.true_means();
        let mut measured = Vec::new();
        for (own, accumulator) in contestants.iter().zip(&accumulators) {
            let mut add = |metric: &str, value: f64| {
                measured.push(measurement_at_setting(
                    &setting,
                    &own.name,
                    DISTANCE_MEAN_ESTIMAND,
                    metric,
                    value,
                ));
            };
            let score = ErrorSummary::new(&accumulator.estimates().means, &means);
            add(LARGEST_ERROR_METRIC, score.largest_absolute_error);
            add(MSE, score.mean_squared_error);
            // The length of a report is the same in every repeat.
            if unit.repeat_index == 0 {
                add(
                    REPORT_BYTES_METRIC,
                    own.report_bytes(&entries_of_first_items(setting.sparsity))?,
                );
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let (n, d, k) = (self.people_count, self.item_count, self.entries_per_person);
        let figure = |(metric, short): (&'static str, &str)| Figure {
            name: format!("{}-{short}", self.name()),
            title: format!("{}: {metric}, n = {n}", self.title()),
            x_label: "L, distance between neighbouring inputs",
            y_label: metric,
            are_x_and_y_logarithmic: [true, true],
            panels: vec![Panel {
                title: format!("d = {d}, k = {k}"),
                curves: table.mechanism_curves(
                    DISTANCE_MEAN_ESTIMAND,
                    metric,
                    |_| true,
                    |point| point.parameter,
                ),
            }],
        };
        [(LARGEST_ERROR_METRIC, "largest"), (MSE, "mse")]
            .map(figure)
            .into_iter()
            .collect()
    }

    fn remarks(&self) -> &'static [&'static str] {
        REMARKS
    }

    fn compared_metrics(&self) -> Vec<MetricComparison> {
        let contest = |metric| MetricComparison {
            estimand: DISTANCE_MEAN_ESTIMAND,
            metric,
            hushbin_mechanisms: &[
                HUSHBIN_NAME,
                HUSHBIN_WITH_DELTA_NAME,
                HUSHBIN_USER_LEVEL_NAME,
            ],
            is_logarithmic: false,
        };
        [LARGEST_ERROR_METRIC, MSE]
            .map(contest)
            .into_iter()
            .collect()
    }
}

/// Remarks on the results. They explain why noise on every coordinate is best at small L, and
/// hushbin's mechanism at user level is best at large L.
const REMARKS: &[&str] = &[
    "Laplace noise on every coordinate has the variance 2L²/ε². That of hash-bin is \
     2(L + b/Γ)²/ε², because its b bins are rounded to a grid of 1/Γ. The other entries in an \
     item's bin add k/b. With 64 entries among 4096 items, this increases the variance by a \
     half at L = 1, by a fifth at L = 2, and by at most an eighth from L = 4 on. But noise on \
     every coordinate needs 4·d bytes for each report, which is 16,384 for 4096 items. A \
     report of hash-bin has 245 bytes at L = 1 and 18 at L = 8. The tables have both.",
    "The variance of normal noise is proportional to L, not to L². So at large L, hash-bin \
     within L is worse than normal noise, although δ recovers a part. But a report at user \
     level, whose ε covers all entries of a person, is private at any distance L. The noise of \
     hushbin's mechanism at user level does not depend on L, so it also takes part here. With \
     64 entries, it is the best mechanism from about L = 16 on, with 9 bytes.",
    "SUCCINCT has the printed number of bins. Its noise is what b bins need, which is less than \
     printed if there is a δ.",
];

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn run(study: &NeighbouringInputsExperiment, index: usize, seed: u64) -> Vec<Measurement> {
        let mut units = study.work_units().into_iter();
        let unit = units.find(|unit| unit.index == index).unwrap();
        study
            .run_unit(&unit, &ChaCha8Rng::seed_from_u64(seed))
            .unwrap()
    }

    #[test]
    fn units_are_named_once() {
        for (size, count) in [(StudySize::Quick, 2 * 3), (StudySize::Full, 8 * 10)] {
            let units = NeighbouringInputsExperiment::new(size).work_units();
            let mut names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!((names.len(), units.len()), (count, count));
        }
    }

    #[test]
    fn every_mechanism_takes_every_distance() {
        for size in [StudySize::Quick, StudySize::Full] {
            let study = NeighbouringInputsExperiment::new(size);
            for &distance in &study.distances {
                let setting = study.setting(distance);
                let own = entries_of_first_items(setting.sparsity);
                for contestant in mechanisms_within_distance(&setting).unwrap() {
                    let mut accumulator = contestant.accumulator(setting.item_count);
                    let mut rng = ChaCha8Rng::seed_from_u64(1);
                    accumulator
                        .draw_and_add_reports(&[&own[..]], &mut rng)
                        .unwrap();
                    let means = accumulator.estimates().means;
                    assert_eq!(
                        means.len(),
                        setting.item_count as usize,
                        "{}",
                        contestant.name
                    );
                    assert!(means.iter().all(|mean| mean.is_finite()));
                    let bytes = contestant.report_bytes(&own).unwrap();
                    let all = COMPARED_ORACLE_NAMES.contains(&contestant.name.as_str());
                    assert_eq!(bytes == 4.0 * f64::from(setting.item_count), all, "{bytes}");
                }
            }
        }
    }

    /// The errors of 256 means are approximately normal. So the MSE of a run differs from its
    /// expectation by a relative 5 √(2/256) at most. At user level, the bias from clipping is small
    /// in comparison.
    #[test]
    fn a_small_crowd_is_measured_as_variances_say() {
        let study = NeighbouringInputsExperiment {
            people_count: 400,
            ..NeighbouringInputsExperiment::new(StudySize::Quick)
        };
        let mut rows = Vec::new();
        for (index, &distance) in study.distances.iter().enumerate() {
            let measured = run(&study, index, 1);
            assert_eq!(measured, run(&study, index, 1));
            let setting = study.setting(distance);
            for own in mechanisms_within_distance(&setting).unwrap() {
                let mut found = measured.iter();
                let found = found.find(|row| row.mechanism == own.name && row.metric == MSE);
                let found = found.unwrap();
                assert_eq!(found.point.parameter, distance);
                let expected = own.squared_errors_per_report(&setting).mean_error.unwrap()
                    / setting.people_count as f64;
                let ratio = found.value / expected;
                assert!(
                    (ratio - 1.0).abs() < 0.45,
                    "{} {distance}: {ratio}",
                    own.name
                );
            }
            rows.extend(measured);
        }
        let figures = study.figures(&MeasurementTable::new(rows));
        let names: Vec<&str> = figures.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["p3-neighbouring-largest", "p3-neighbouring-mse"]);
        for figure in &figures {
            let curves = &figure.panels[0].curves;
            assert_eq!(curves.len(), 7);
            let points = curves.iter().map(|curve| curve.points.len());
            assert!(points.clone().all(|points| points == 2), "{curves:?}");
        }
    }
}
