//! Costs of a report: its length, the time to draw it, and the time to add it to the counts.

use std::time::Instant;

use hushbin::Entry;
use rand_chacha::ChaCha8Rng;

use super::popular_items::GAUSSIAN_DELTA;
use super::{popular_items, ratings};
use crate::evaluate::crowd::entry_distribution::EntryDistribution;
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{Experiment, Figure, Measurement, StudyError, WorkUnit};
use crate::evaluate::measure::measurement::REPORT_BYTES_METRIC;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{ComparedRatingMechanism, QuestionSetting};
use crate::evaluate::mechanism::simulate::question_point;

/// Experiment that measures the costs of a report for every mechanism for ratings, at a few numbers
/// of items and entries.
pub(crate) struct ReportCostsExperiment {
    /// Pairs of the number of items d and the sparsity s.
    item_counts_and_sparsities: Vec<(u32, u32)>,
}

/// Number of people whose reports are timed together.
const TIMED_PEOPLE_COUNT: u32 = 200;
/// Number of times that the same work is timed. The shortest time is used, because other work on
/// the machine affects it least.
const TIMING_REPEAT_COUNT: u32 = 5;
const REPORT_ESTIMAND: &str = "report";
const TIME_METRIC: &str = "microseconds to make and count";

impl ReportCostsExperiment {
    /// Creates the experiment, with the crowds of the given size.
    pub(crate) fn new(size: StudySize) -> Self {
        Self {
            item_counts_and_sparsities: size
                .quick_or_full(vec![(256, 16)], vec![(256, 16), (1024, 32), (4096, 64)]),
        }
    }
}

impl Experiment for ReportCostsExperiment {
    fn name(&self) -> &'static str {
        "costs"
    }

    fn title(&self) -> &'static str {
        "Cost of a report: bytes, and time on one core"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let crowds = self.item_counts_and_sparsities.iter().enumerate();
        let unit = |(index, &(d, s)): (usize, &(u32, u32))| {
            WorkUnit::formula_unit(&format!("d={d} s={s}"), index)
        };
        crowds.map(unit).collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let (items, sparsity) = self.item_counts_and_sparsities[unit.index];
        let setting = QuestionSetting {
            people_count: 100_000,
            item_count: items,
            sparsity,
            epsilon: 1.0,
            delta: GAUSSIAN_DELTA,
            protected_distance: 0.0,
            has_sign_values: true,
        };
        let people = 0..TIMED_PEOPLE_COUNT as usize;
        let block = EntryDistribution::Uniform.draw_block(
            people,
            items,
            sparsity,
            &mut generator_stream(rng, 0),
        );
        let block: Vec<&[Entry]> = block.entries_by_person();
        let mut measured = Vec::new();
        for (index, own) in (1..).zip(all_rating_mechanisms(&setting)?) {
            let (mut accumulator, rng) =
                (own.accumulator(items), &mut generator_stream(rng, index));
            let mut least = f64::INFINITY;
            for _ in 0..TIMING_REPEAT_COUNT {
                let begin = Instant::now();
                accumulator.draw_reports_one_by_one(&block, rng)?;
                least = least.min(begin.elapsed().as_secs_f64());
            }
            let each = 1e6 * least / f64::from(TIMED_PEOPLE_COUNT);
            for (metric, value) in [
                (REPORT_BYTES_METRIC, own.report_bytes(block[0])?),
                (TIME_METRIC, each),
            ] {
                let here = question_point(&setting);
                measured.push(Measurement::new(
                    here,
                    &own.name,
                    REPORT_ESTIMAND,
                    metric,
                    value,
                ));
            }
        }
        Ok(measured)
    }

    fn figures(&self, _: &MeasurementTable) -> Vec<Figure> {
        Vec::new()
    }

    fn remarks(&self) -> &'static [&'static str] {
        &[
            "For each mechanism, the table has the length of a report in bytes. It also has the \
             time, in microseconds on one core, to draw a report and to add it to the counts of \
             all items. Each time is the shortest of five measurements. Times depend on the \
             machine, so another run gives different ones.",
        ]
    }
}

/// Creates the mechanisms for ratings with signs, and then those mechanisms for ratings with real
/// values that are not yet in the list.
fn all_rating_mechanisms(
    setting: &QuestionSetting,
) -> Result<Vec<ComparedRatingMechanism>, StudyError> {
    let mut all = ratings::rating_mechanisms(setting, &ratings::P1_ORACLES)?;
    for level in 0..popular_items::PUBLISHED_BY_PRIVACY_LEVEL.len() {
        for own in popular_items::mechanisms_at_privacy_level(level, setting)? {
            // The mechanism "hushbin" is in the list already, as the mechanism that is chosen for
            // means.
            let known = all.iter().any(|other| other.name == own.name);
            if !known && own.name != "hushbin" {
                all.push(own);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn every_mechanism_has_a_length_and_takes_time() {
        let costs = ReportCostsExperiment::new(StudySize::Quick);
        let [unit] = &costs.work_units()[..] else {
            panic!("one crowd is quick")
        };
        let rows = costs.run_unit(unit, &ChaCha8Rng::seed_from_u64(1)).unwrap();
        let of = |metric: &str| -> Vec<(&str, f64)> {
            let rows = rows.iter().filter(|row| row.metric == metric);
            rows.map(|row| (row.mechanism.as_str(), row.value))
                .collect()
        };
        let (bytes, times) = (of(REPORT_BYTES_METRIC), of(TIME_METRIC));
        assert_eq!(bytes.len(), times.len());
        assert!(times.iter().all(|own| own.1 > 0.0));
        let mut names: Vec<&str> = bytes.iter().map(|own| own.0).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let length = |name: &str| bytes.iter().find(|own| own.0 == name).unwrap().1;
        // One bit for each of 256 items is 32 bytes; a seed of 8 bytes and one bit are 9.
        assert_eq!(length("naive bits, event"), 32.0);
        assert_eq!(length("sampling, one bit"), 9.0);
    }
}
