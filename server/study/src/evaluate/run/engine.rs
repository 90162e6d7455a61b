//! Runs all units of a study on all cores.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::finished_units::{FinishedUnitsFile, StudyIdentity};
use crate::evaluate::measure::experiment::{Experiment, StudyError, WorkUnit};
use crate::evaluate::measure::table::MeasurementTable;

/// Experiment that is being run, with its units of work and the file that stores its finished
/// units.
struct ExperimentRun<'a> {
    experiment: &'a dyn Experiment,
    units: Vec<WorkUnit>,
    finished_units_file: Mutex<FinishedUnitsFile>,
}

/// Settings of a study: output directory, size, and seed of its random numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StudySettings<'a> {
    /// Output directory. Its subdirectory `runs` has the files that store finished units.
    pub(crate) directory: &'a Path,
    /// Name of the preset, which is the size of the study.
    pub(crate) preset: &'a str,
    pub(crate) seed: u64,
}

/// Runs the units of work that have not finished yet. Returns, for each experiment, a table of
/// measurements that are averaged over repeats. `progress` receives the finished work and the total
/// work of this call.
///
/// A unit's random numbers depend only on the seed, the experiment's name and the unit's name. So
/// tables depend neither on the number of cores nor on interruptions.
///
/// # Errors
/// The first [`StudyError`] of a unit. Measurements of finished units are kept.
pub(crate) fn run_study(
    experiments: &[Box<dyn Experiment>],
    settings: StudySettings<'_>,
    progress: impl Fn(f64, f64) + Sync,
) -> Result<Vec<MeasurementTable>, StudyError> {
    let directory = settings.directory.join("runs");
    std::fs::create_dir_all(&directory)
        .map_err(|source| StudyError::file_error(&directory, source))?;
    let open = |experiment: &'_ dyn Experiment| {
        let study = StudyIdentity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            preset: settings.preset.to_owned(),
            seed: settings.seed,
            experiment: experiment.name().to_owned(),
        };
        let file = directory.join(format!("{}.jsonl", experiment.name()));
        FinishedUnitsFile::open(&file, &study).map(Mutex::new)
    };
    let mut running = Vec::new();
    for experiment in experiments {
        running.push(ExperimentRun {
            experiment: &**experiment,
            units: experiment.work_units(),
            finished_units_file: open(&**experiment)?,
        });
    }
    run_units(&running, settings.seed, progress)?;
    let tables = running.into_iter().map(|own| {
        let runs = own
            .finished_units_file
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let units = own.units.iter().map(|unit| unit.name.as_str());
        MeasurementTable::new(runs.measurements_of(units).cloned())
    });
    Ok(tables.collect())
}

fn run_units(
    running: &[ExperimentRun<'_>],
    seed: u64,
    progress: impl Fn(f64, f64) + Sync,
) -> Result<(), StudyError> {
    let mut left: Vec<(&ExperimentRun<'_>, &WorkUnit)> = Vec::new();
    for own in running {
        let runs = own
            .finished_units_file
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let open = own
            .units
            .iter()
            .filter(|unit| !runs.has_finished(&unit.name));
        left.extend(open.map(|unit| (own, unit)));
    }
    // Sorts by repeat, so that an interrupted study covers all parameters evenly. Within a repeat,
    // long units come first, so that no core is still busy with one when the rest have finished.
    left.sort_by(|(_, a), (_, b)| {
        a.repeat_index.cmp(&b.repeat_index).then(
            b.estimated_microseconds
                .total_cmp(&a.estimated_microseconds),
        )
    });
    let all: f64 = left
        .iter()
        .map(|(_, unit)| unit.estimated_microseconds)
        .sum();
    let done = Mutex::new(0.0);
    progress(0.0, all);
    // `par_bridge` hands out the units in this order, each to the next free core.
    left.into_iter().par_bridge().try_for_each(|(own, unit)| {
        let rng = unit_generator(seed, own.experiment.name(), &unit.name);
        let measured = own.experiment.run_unit(unit, &rng)?;
        let mut runs = own
            .finished_units_file
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        runs.append_unit(unit.name.clone(), measured)?;
        drop(runs);
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += unit.estimated_microseconds;
        progress(*done, all);
        Ok(())
    })
}

/// Returns the random number generator of a unit, seeded by the study's seed and the names of the
/// experiment and the unit.
fn unit_generator(seed: u64, experiment: &str, unit: &str) -> ChaCha8Rng {
    let mut digest = Sha256::new();
    digest.update(seed.to_le_bytes());
    digest.update(experiment.as_bytes());
    // Names contain no zero byte, so the separator makes the digest unambiguous.
    digest.update([0]);
    digest.update(unit.as_bytes());
    ChaCha8Rng::from_seed(digest.finalize().into())
}
