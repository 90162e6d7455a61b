//! P1's and P2's experiments: each person has s of the d items, each with a sign. Mechanisms
//! estimate the means of all items, or the frequencies of both signs.

use hushbin::mechanism::hash_bin::DEFAULT_GRID_STEPS_PER_UNIT;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::rating_measurements::{
    FREQUENCY_ESTIMAND, FREQUENCY_SIMPLEX_ESTIMAND, LOG_MAX_ERROR_METRIC, LOG_TOTAL_ERROR_METRIC,
    MEAN_BALL_ESTIMAND, MEAN_ESTIMAND, MEAN_SHRUNKEN_ESTIMAND, MEAN_SIMPLEX_ESTIMAND,
    PREDICTED_MSE, add_error_measurements, add_predicted_measurements,
};
use crate::competitors::ratings::drafts_as_printed;
use crate::evaluate::crowd::entry_distribution::EntryDistribution;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, MetricComparison, Panel, StudyError,
    WorkUnit,
};
use crate::evaluate::measure::measurement::MSE;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, QuestionSetting, ReportAccumulator,
};
use crate::evaluate::mechanism::shared_values::SharedValues;
use crate::evaluate::mechanism::simulate::simulate_reports_and_truth;

/// Parameters of a crowd: number of people n, number of items d, and sparsity s.
type PeopleItemsSparsity = (u64, u32, u32);

/// Experiment on ratings, with the crowds and the values of ε of one paper.
pub(crate) struct RatingsExperiment {
    name: &'static str,
    title: &'static str,
    crowds: Vec<PeopleItemsSparsity>,
    epsilons: Vec<f64>,
    /// Number of repeats for a crowd with the given number of people.
    repeat_count_for_people: fn(u64) -> u64,
    /// Names of the published oracles.
    oracle_names: Vec<&'static str>,
    /// Compared mechanisms for each crowd, with one list for each ε.
    rating_mechanisms: SharedValues<Vec<(QuestionSetting, Vec<ComparedRatingMechanism>)>>,
}

/// Names of the oracles with which P1 compares its mechanisms.
pub(crate) const P1_ORACLES: [&str; 5] = [
    "PrivKV, three answers",
    "PCKV-GRR",
    "PCKV-AGRR",
    "PCKV-UE",
    "sampling, OLH",
];
/// Names of the oracles with which P2 compares its mechanisms.
const P2_ORACLES: [&str; 3] = ["PrivKV, three answers", "PCKV-GRR", "PCKV-UE"];

impl RatingsExperiment {
    /// Creates the experiment of P1's section 8. The experiment also has the values of ε at which
    /// the reference numbers are given. Crowds of 100,000 have 10 repeats instead of the paper's
    /// 100; standard errors show the remaining uncertainty.
    pub(crate) fn for_paper_p1(size: StudySize) -> Self {
        let grid = |people: &[(u64, u32)], sparsities: &[u32]| {
            let all = people.iter();
            all.flat_map(|&(n, d)| sparsities.iter().map(move |&s| (n, d, s)))
                .collect()
        };
        Self {
            name: "p1-ratings",
            title: "P1, section 8: ratings of s among d items",
            crowds: size.quick_or_full(
                grid(&[(10_000, 256)], &[4, 16]),
                grid(
                    &[(100_000, 256), (10_000, 256), (100_000, 512)],
                    &[4, 8, 16, 32],
                ),
            ),
            epsilons: size.quick_or_full(
                vec![0.1, 1.0, 2.0],
                vec![0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1.0, 1.5, 2.0],
            ),
            repeat_count_for_people: size
                .quick_or_full(|_| 10, |people| if people > 10_000 { 10 } else { 100 }),
            oracle_names: P1_ORACLES.to_vec(),
            rating_mechanisms: SharedValues::default(),
        }
    }

    /// Creates the experiment of P2's section 6, which has larger ε and d, and fewer repeats and
    /// mechanisms.
    pub(crate) fn for_paper_p2(size: StudySize) -> Self {
        let sparsities: &[u32] = size.quick_or_full(&[8], &[4, 8, 16, 32]);
        let crowds =
            size.quick_or_full(vec![(10_000, 1024)], vec![(100_000, 1024), (100_000, 256)]);
        let of_crowd = |(n, d)| sparsities.iter().map(move |&s| (n, d, s));
        Self {
            name: "p2-ratings",
            title: "P2, section 6: ratings of s among d items, at larger ε",
            crowds: crowds.into_iter().flat_map(of_crowd).collect(),
            epsilons: size.quick_or_full(vec![1.0, 3.0], vec![0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]),
            repeat_count_for_people: size.quick_or_full(|_| 3, |_| 10),
            oracle_names: P2_ORACLES.to_vec(),
            rating_mechanisms: SharedValues::default(),
        }
    }

    /// Creates the mechanisms for a crowd, with one list for each ε.
    fn mechanisms_by_epsilon(
        &self,
        (people, items, sparsity): PeopleItemsSparsity,
    ) -> Result<Vec<(QuestionSetting, Vec<ComparedRatingMechanism>)>, StudyError> {
        let at = |&epsilon: &f64| {
            let setting = QuestionSetting {
                people_count: people,
                item_count: items,
                sparsity,
                epsilon,
                delta: 0.0,
                protected_distance: 0.0,
                has_sign_values: true,
            };
            Ok((setting, rating_mechanisms(&setting, &self.oracle_names)?))
        };
        self.epsilons.iter().map(at).collect()
    }
}

/// Creates all mechanisms for one question: hushbin's for means and for frequencies, the mechanisms
/// of P1 to P3, and the given published oracles.
pub(crate) fn rating_mechanisms(
    setting: &QuestionSetting,
    oracles: &[&str],
) -> Result<Vec<ComparedRatingMechanism>, StudyError> {
    let task = |name: &str, mechanism: Value| {
        ComparedRatingMechanism::from_task_draft(name, setting, &mechanism)
    };
    let mut all = vec![
        task(
            HUSHBIN_FOR_MEANS,
            json!({ "name": "auto", "objective": "mean" }),
        )?,
        task(
            HUSHBIN_FOR_FREQUENCIES,
            json!({ "name": "auto", "objective": "frequency" }),
        )?,
        task(HUSHBIN_CLIPPED_INPUTS, json!({ "name": "hash-bin" }))?,
        task(
            HUSHBIN_MEAN_AND_FREQUENCY,
            json!({ "name": "coco", "rule": "overwrite" }),
        )?,
        task(
            "Collision",
            drafts_as_printed::collision_draft(setting.sparsity, setting.epsilon),
        )?,
        task("CoCo", drafts_as_printed::coco_draft())?,
        task("CoCo, t as printed", coco_with_printed_buckets(setting))?,
        task("CoCo, t of Collision", coco_sized_as_collision(setting))?,
        task(
            "SUCCINCT",
            drafts_as_printed::hash_bin_draft_at_user_level(setting.sparsity, setting.people_count),
        )?,
        task("SUCCINCT, as coded", hash_bin_draft_as_coded(setting))?,
    ];
    for name in oracles {
        all.push(ComparedRatingMechanism::from_oracle_name(name, setting)?);
    }
    Ok(all)
}

/// Name of hushbin's mechanism, chosen for means.
pub(crate) const HUSHBIN_FOR_MEANS: &str = "hushbin, for means";
/// Name of hushbin's mechanism, chosen for frequencies.
pub(crate) const HUSHBIN_FOR_FREQUENCIES: &str = "hushbin, for frequencies";
/// Name of hushbin's mechanism for means that clips values. It accepts a bias to reduce noise.
pub(crate) const HUSHBIN_CLIPPED_INPUTS: &str = "hushbin, clipped";
/// Name of hushbin's mechanism, chosen for means among those that also estimate frequencies.
const HUSHBIN_MEAN_AND_FREQUENCY: &str = "hushbin, for means with frequencies";

/// Returns the JSON draft of CoCo with the number of buckets in P1's Theorem 7, ⌈e·s + s + 2⌉. Here
/// e = exp(ε), and s is the sparsity.
fn coco_with_printed_buckets(setting: &QuestionSetting) -> Value {
    let s = f64::from(setting.sparsity);
    coco_with_buckets(setting, (setting.epsilon.exp() * s + s + 2.0).ceil() as u32)
}

/// Returns the JSON draft of CoCo with the number of buckets that P1 gives the collision mechanism,
/// ⌊s·e + 2s − 1⌋. Here e = exp(ε), and s is the sparsity.
fn coco_sized_as_collision(setting: &QuestionSetting) -> Value {
    coco_with_buckets(
        setting,
        drafts_as_printed::printed_collision_bucket_count(setting.sparsity, setting.epsilon),
    )
}

/// Returns the JSON draft of CoCo with `buckets` buckets. The number is rounded up to an even
/// number, and to at least 2s + 2 for a sparsity s.
fn coco_with_buckets(setting: &QuestionSetting, buckets: u32) -> Value {
    let buckets = buckets.next_multiple_of(2).max(2 * setting.sparsity + 2);
    json!({ "name": "coco", "rule": "overwrite", "hashing": "independent", "buckets": buckets })
}

/// Returns the JSON draft of P3's mechanism as in P3's code. Its clipping bound differs from the
/// printed one, and it has two-point noise for ε up to 2.
pub(crate) fn hash_bin_draft_as_coded(setting: &QuestionSetting) -> Value {
    let clip = (f64::from(setting.sparsity) * (setting.people_count as f64).ln()).sqrt() / 2.5;
    // A clipping bound must be a multiple of the grid's step.
    let steps = f64::from(DEFAULT_GRID_STEPS_PER_UNIT);
    let clip = (clip * steps).ceil() / steps;
    let noise = if setting.epsilon <= 2.0 {
        "two-point"
    } else {
        "laplace"
    };
    json!({
        "name": "hash-bin", "level": "user", "hashing": "independent", "bins": 1,
        "clip": clip, "noise": noise,
    })
}

impl Experiment for RatingsExperiment {
    fn name(&self) -> &str {
        self.name
    }

    fn title(&self) -> &str {
        self.title
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let of = |(index, &(n, d, s)): (usize, &PeopleItemsSparsity)| {
            // Microseconds per person: a constant, plus a time per entry and a time per item.
            let each = 7.0 + 0.4 * f64::from(s) + 0.02 * f64::from(d);
            let work = n as f64 * each * self.epsilons.len() as f64;
            WorkUnit::repeated_units(
                (self.repeat_count_for_people)(n),
                index,
                work,
                move |repeat| format!("n={n} d={d} s={s} repeat={repeat}"),
            )
        };
        self.crowds.iter().enumerate().flat_map(of).collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let crowd = self.crowds[unit.index];
        let at = self
            .rating_mechanisms
            .value_or_build(unit.index, || self.mechanisms_by_epsilon(crowd))?;
        let all = at.iter().flat_map(|(_, contestants)| contestants);
        let mut accumulators: Vec<ReportAccumulator<'_>> =
            all.map(|own| own.accumulator(crowd.1)).collect();
        let truth = simulate_reports_and_truth(
            &mut accumulators,
            EntryDistribution::Uniform,
            at[0].0,
            rng,
        )?;
        let mut measured = Vec::new();
        let mut accumulators = accumulators.iter();
        for (setting, contestants) in at.iter() {
            for (own, accumulator) in contestants.iter().zip(&mut accumulators) {
                add_error_measurements(&mut measured, setting, own, accumulator, &truth);
            }
            // Predictions are the same in every repeat.
            if unit.repeat_index == 0 {
                add_predicted_measurements(&mut measured, setting, contestants)?;
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let estimands = [
            FREQUENCY_ESTIMAND,
            FREQUENCY_SIMPLEX_ESTIMAND,
            MEAN_ESTIMAND,
            MEAN_SIMPLEX_ESTIMAND,
            MEAN_BALL_ESTIMAND,
            MEAN_SHRUNKEN_ESTIMAND,
        ];
        let metrics = [LOG_TOTAL_ERROR_METRIC, LOG_MAX_ERROR_METRIC];
        let all = estimands
            .iter()
            .flat_map(|estimand| metrics.map(|metric| (*estimand, metric)));
        let mut figures = Vec::new();
        for (estimand, metric) in all {
            let mut shapes: Vec<(u64, u32)> =
                self.crowds.iter().map(|own| (own.0, own.1)).collect();
            shapes.dedup();
            for (n, d) in shapes {
                figures.extend(self.figure(table, estimand, metric, (n, d)));
            }
        }
        figures
    }

    fn remarks(&self) -> &'static [&'static str] {
        &[
            "Signs are random with probability 1/2 each, so the true means differ from 0 only by \
             chance. Estimates that are often close to 0 therefore have smaller errors. Examples \
             are a clipping bound that would reduce a large mean (SUCCINCT as coded), and \
             frequencies so noisy that the projection sets nearly all of them to 0 (CoCo, \
             projected, if ε is small and s is large). Shrinkage gives all mechanisms this gain, \
             several times as large: for shrunken means, no mechanism is better than another.",
            "If ε is far too small for this number of people, all estimates are noise. It is then \
             random which of the projected estimates has the smallest maximum error.",
        ]
    }

    fn compared_metrics(&self) -> Vec<MetricComparison> {
        let measured = HUSHBIN_NAMES_BY_ESTIMAND
            .into_iter()
            .flat_map(|(estimand, ours)| {
                [
                    (LOG_TOTAL_ERROR_METRIC, true),
                    (LOG_MAX_ERROR_METRIC, true),
                    (MSE, false),
                ]
                .map(|(metric, logarithm)| MetricComparison {
                    estimand,
                    metric,
                    hushbin_mechanisms: ours,
                    is_logarithmic: logarithm,
                })
            });
        let predicted = HUSHBIN_NAMES_BY_ESTIMAND
            .into_iter()
            .filter(|(estimand, _)| [FREQUENCY_ESTIMAND, MEAN_ESTIMAND].contains(estimand));
        let predicted = predicted.map(|(estimand, ours)| MetricComparison {
            estimand,
            metric: PREDICTED_MSE,
            hushbin_mechanisms: ours,
            is_logarithmic: false,
        });
        measured.chain(predicted).collect()
    }
}

/// Estimands, each with the names of hushbin's mechanisms that are compared in it.
const HUSHBIN_NAMES_BY_ESTIMAND: [(&str, &[&str]); 6] = [
    (FREQUENCY_ESTIMAND, &[HUSHBIN_FOR_FREQUENCIES]),
    (FREQUENCY_SIMPLEX_ESTIMAND, &[HUSHBIN_FOR_FREQUENCIES]),
    (MEAN_ESTIMAND, &[HUSHBIN_FOR_MEANS, HUSHBIN_CLIPPED_INPUTS]),
    (
        MEAN_SIMPLEX_ESTIMAND,
        &[HUSHBIN_FOR_FREQUENCIES, HUSHBIN_MEAN_AND_FREQUENCY],
    ),
    (
        MEAN_BALL_ESTIMAND,
        &[HUSHBIN_FOR_MEANS, HUSHBIN_CLIPPED_INPUTS],
    ),
    (
        MEAN_SHRUNKEN_ESTIMAND,
        &[HUSHBIN_FOR_MEANS, HUSHBIN_CLIPPED_INPUTS],
    ),
];

impl RatingsExperiment {
    fn figure(
        &self,
        table: &MeasurementTable,
        estimand: &str,
        metric: &str,
        (n, d): (u64, u32),
    ) -> Option<Figure> {
        let crowds = self.crowds.iter().filter(|own| (own.0, own.1) == (n, d));
        let panel = |&(_, _, s): &PeopleItemsSparsity| {
            let here =
                |point: &MeasurementPoint| (point.people, point.items, point.sparsity) == (n, d, s);
            Panel {
                title: format!("s = {s}"),
                curves: table.mechanism_curves(estimand, metric, here, |point| point.epsilon),
            }
        };
        let panels: Vec<Panel> = crowds.map(panel).collect();
        let file = format!("{}-{estimand}-{metric}-n{n}-d{d}", self.name);
        panels
            .iter()
            .any(|panel| !panel.curves.is_empty())
            .then(|| Figure {
                name: file
                    .to_lowercase()
                    .replace([' ', ','], "-")
                    .replace("--", "-"),
                title: format!("{}: {metric} of {estimand}, n = {n}, d = {d}", self.title),
                x_label: "ε",
                y_label: if metric == LOG_TOTAL_ERROR_METRIC {
                    "mean of ln TVE"
                } else {
                    "mean of ln MAE"
                },
                are_x_and_y_logarithmic: [true, false],
                panels,
            })
    }
}
