//! Means of the items of a data set, estimated with every mechanism at user level and at event
//! level: P3's tables.

use std::path::Path;

use hushbin::Entry;
use rand_chacha::ChaCha8Rng;

use super::popular_items::{
    GAUSSIAN_DELTA, LARGEST_ERROR_METRIC, PUBLISHED_BY_PRIVACY_LEVEL, REMARKS,
    measurement_at_setting, mechanisms_at_privacy_level, privacy_level_comparisons,
};
use crate::evaluate::crowd::data_set::EntryDataSet;
use crate::evaluate::crowd::entry_distribution::EntryDistribution;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MetricComparison, Panel, StudyError, WorkUnit,
    words_to_file_name,
};
use crate::evaluate::measure::measurement::{MSE, REPORT_BYTES_METRIC};
use crate::evaluate::measure::score::ErrorSummary;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, QuestionSetting, ReportAccumulator,
};
use crate::evaluate::mechanism::shared_values::SharedValues;
use crate::evaluate::mechanism::simulate::simulate_reports_and_truth;

/// Experiment that estimates the means of a data set's items.
pub(crate) struct DataSetMeansExperiment {
    name: String,
    title: String,
    data_set: EntryDataSet,
    max_entries_per_person: u32,
    epsilons: Vec<f64>,
    repeat_count: u64,
    rating_mechanisms: SharedValues<(QuestionSetting, Vec<ComparedRatingMechanism>)>,
}

impl DataSetMeansExperiment {
    /// Creates the experiment on a data set. The file's name is part of the experiment's name.
    pub(crate) fn new(path: &Path, data: EntryDataSet, size: StudySize) -> Self {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let most = data.entries_by_person().iter().map(Vec::len).max();
        Self {
            name: format!("data-{}", words_to_file_name(&stem)),
            title: format!(
                "P3's tables: means of {stem}, {} people, {} items",
                data.entries_by_person().len(),
                data.item_count()
            ),
            data_set: data,
            max_entries_per_person: most.unwrap_or(0).max(1) as u32,
            epsilons: size.quick_or_full(vec![1.0], vec![0.5, 1.0, 2.0, 4.0]),
            repeat_count: size.quick_or_full(3, 10),
            rating_mechanisms: SharedValues::default(),
        }
    }

    fn question_setting(&self, epsilon: f64) -> QuestionSetting {
        QuestionSetting {
            people_count: self.data_set.entries_by_person().len() as u64,
            item_count: self.data_set.item_count(),
            sparsity: self.max_entries_per_person,
            epsilon,
            delta: GAUSSIAN_DELTA,
            protected_distance: 0.0,
            has_sign_values: false,
        }
    }
}

impl Experiment for DataSetMeansExperiment {
    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let work = self.data_set.entries_by_person().len() as f64
            * (4.0 + 4e-3 * f64::from(self.data_set.item_count()));
        let mut units = Vec::new();
        for (place, epsilon) in self.epsilons.iter().enumerate() {
            for (level, (estimand, _)) in PUBLISHED_BY_PRIVACY_LEVEL.iter().enumerate() {
                let index = PUBLISHED_BY_PRIVACY_LEVEL.len() * place + level;
                units.extend(WorkUnit::repeated_units(
                    self.repeat_count,
                    index,
                    work,
                    |repeat| format!("{estimand} epsilon={epsilon} repeat={repeat}"),
                ));
            }
        }
        units
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let level = unit.index % PUBLISHED_BY_PRIVACY_LEVEL.len();
        let estimand = PUBLISHED_BY_PRIVACY_LEVEL[level].0;
        let prepared = self.rating_mechanisms.value_or_build(unit.index, || {
            let setting =
                self.question_setting(self.epsilons[unit.index / PUBLISHED_BY_PRIVACY_LEVEL.len()]);
            Ok((setting, mechanisms_at_privacy_level(level, &setting)?))
        })?;
        let (setting, contestants) = &*prepared;
        let mut accumulators: Vec<ReportAccumulator<'_>> = contestants
            .iter()
            .map(|own| own.accumulator(setting.item_count))
            .collect();
        let data = EntryDistribution::DataSet(&self.data_set);
        let truth = simulate_reports_and_truth(&mut accumulators, data, *setting, rng)?;
        let means = truth.true_means();
        let mut measured = Vec::new();
        let shrunken = SHRUNKEN_MEAN_ESTIMANDS[level];
        let mut add = |mechanism: &str, estimand: &str, estimates: &[f64]| {
            let score = ErrorSummary::new(estimates, &means);
            for (metric, value) in [
                (LARGEST_ERROR_METRIC, score.largest_absolute_error),
                (MSE, score.mean_squared_error),
            ] {
                measured.push(measurement_at_setting(
                    setting, mechanism, estimand, metric, value,
                ));
            }
        };
        for (own, accumulator) in contestants.iter().zip(&accumulators) {
            let estimates = accumulator.estimates();
            add(&own.name, estimand, &estimates.means);
            add(&own.name, shrunken, &estimates.shrunken_means());
            if own.name == SUCCINCT_AS_CODED {
                let name = format!("{SUCCINCT_AS_CODED}, estimates clipped");
                let means = estimates.means.iter();
                let clipped: Vec<f64> = means.map(|mean| mean.clamp(-1.0, 1.0)).collect();
                add(&name, estimand, &clipped);
            }
        }
        for estimand in [estimand, shrunken] {
            add(ZERO_BASELINE_NAME, estimand, &vec![0.0; means.len()]);
        }
        if unit.repeat_index == 0 {
            let people = self.data_set.entries_by_person().iter();
            let most: &[Entry] = people.max_by_key(|own| own.len()).map_or(&[], |own| own);
            for own in contestants {
                measured.push(measurement_at_setting(
                    setting,
                    &own.name,
                    estimand,
                    REPORT_BYTES_METRIC,
                    own.report_bytes(most)?,
                ));
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let estimands = PUBLISHED_BY_PRIVACY_LEVEL
            .iter()
            .map(|(estimand, _)| *estimand)
            .chain(SHRUNKEN_MEAN_ESTIMANDS);
        let panel = |estimand: &str| Panel {
            title: estimand.to_owned(),
            curves: table.mechanism_curves(estimand, MSE, |_| true, |point| point.epsilon),
        };
        let figure = Figure {
            name: self.name.clone(),
            title: self.title.clone(),
            x_label: "ε",
            y_label: "mean squared error",
            are_x_and_y_logarithmic: [true, true],
            panels: estimands.map(panel).collect(),
        };
        (self.epsilons.len() > 1)
            .then_some(figure)
            .into_iter()
            .collect()
    }

    fn remarks(&self) -> &'static [&'static str] {
        REMARKS
    }

    fn compared_metrics(&self) -> Vec<MetricComparison> {
        privacy_level_comparisons()
    }
}

/// Names of the estimands after shrinkage by empirical Bayes: means at user level, and means at
/// event level.
const SHRUNKEN_MEAN_ESTIMANDS: [&str; 2] =
    ["mean, user level, shrunken", "mean, event level, shrunken"];
/// Name of the baseline that estimates 0 for every mean, without any report.
const ZERO_BASELINE_NAME: &str = "answering 0";

/// Name of the mechanism whose published code (P3) clips the estimates to the range of values.
const SUCCINCT_AS_CODED: &str = "SUCCINCT, as coded";

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    /// The MSE of the baseline that answers 0 is exactly the mean square of the true means.
    #[test]
    fn a_small_crowd_is_measured_beside_answering_0() {
        let lines: String = (0..400)
            .map(|person| format!("{person} {} 1\n", person % 4))
            .collect();
        let data = EntryDataSet::parse(&format!("400 8 1\n{lines}")).unwrap();
        let study = DataSetMeansExperiment::new(Path::new("A set.txt"), data, StudySize::Quick);
        assert_eq!(study.name(), "data-a-set");
        let unit = &study.work_units()[0];
        let measured = study.run_unit(unit, &ChaCha8Rng::seed_from_u64(1)).unwrap();
        let find = |mechanism: &str, metric: &str| {
            let mut all = measured.iter();
            let found = all.find(|own| own.mechanism == mechanism && own.metric == metric);
            found
                .unwrap_or_else(|| panic!("{mechanism}, {metric}"))
                .value
        };
        assert_eq!(find("answering 0", LARGEST_ERROR_METRIC), 0.25);
        assert_eq!(find("answering 0", MSE), 4.0 * 0.0625 / 8.0);
        assert!(find("hushbin", MSE) < find("Harmony", MSE));
        assert_eq!(study.question_setting(1.0).people_count, 400);
    }
}
