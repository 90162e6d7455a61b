//! Simulation of a crowd that reports by every mechanism of an experiment.

use hushbin::Entry;
use rand_chacha::ChaCha8Rng;

use super::contestant::{QuestionSetting, ReportAccumulator};
use crate::evaluate::crowd::entry_distribution::EntryDistribution;
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{MeasurementPoint, StudyError};
use crate::evaluate::measure::score::CrowdTruth;

/// Number of people in a block. All mechanisms receive one block before the next one is drawn.
const PEOPLE_PER_BLOCK: usize = 16_384;

/// Draws a crowd block by block, and adds the people's reports to all accumulators. Returns the
/// true values of the crowd. The crowd and each accumulator have their own stream of random
/// numbers.
pub(crate) fn simulate_reports_and_truth(
    accumulators: &mut [ReportAccumulator<'_>],
    workload: EntryDistribution<'_>,
    setting: QuestionSetting,
    rng: &ChaCha8Rng,
) -> Result<CrowdTruth, StudyError> {
    let mut truth = CrowdTruth::new(setting.item_count);
    let mut drawing = rng.clone();
    let mut streams: Vec<ChaCha8Rng> = (1..=accumulators.len() as u64)
        .map(|index| generator_stream(rng, index))
        .collect();
    let people = setting.people_count as usize;
    for begin in (0..people).step_by(PEOPLE_PER_BLOCK) {
        let numbers = begin..people.min(begin + PEOPLE_PER_BLOCK);
        let block =
            workload.draw_block(numbers, setting.item_count, setting.sparsity, &mut drawing);
        let block: Vec<&[Entry]> = block.entries_by_person();
        truth.add_people(&block);
        for (accumulator, rng) in accumulators.iter_mut().zip(&mut streams) {
            accumulator.draw_and_add_reports(&block, rng)?;
        }
    }
    Ok(truth)
}

/// Returns the parameters of a question as a point of an experiment. The point's δ is 0, because
/// only some of the mechanisms have a δ.
pub(crate) fn question_point(setting: &QuestionSetting) -> MeasurementPoint {
    MeasurementPoint {
        people: setting.people_count,
        items: setting.item_count,
        sparsity: setting.sparsity,
        epsilon: setting.epsilon,
        delta: 0.0,
        parameter: setting.protected_distance,
    }
}

/// Returns the entries of a person who has the value 1 for the first `entries` items, and no
/// further items.
pub(crate) fn entries_of_first_items(entries: u32) -> Vec<Entry> {
    let entry = |item| Entry { item, value: 1.0 };
    (0..u64::from(entries)).map(entry).collect()
}
