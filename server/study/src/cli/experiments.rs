//! Subcommand `hushbin-study experiments`: reruns the papers' experiments with every competitor.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::evaluate::{
    self, DataSetMeansExperiment, EntryDataSet, Experiment, GradientLearningExperiment,
    PeopleTable, StudySettings, StudySize,
};
use crate::output::{Error, progress_bar};

/// Rerun the papers' experiments with every mechanism that they compare, and write tables, figures
/// and a page of results
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Size of the experiments
    #[arg(long, value_enum, default_value_t = StudySize::Quick)]
    preset: StudySize,
    /// Directory for tables, figures and the page; measurements of an earlier run in it are reused
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only experiments whose names contain this; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// A further data set. A line `people items max`, then lines `person item value`: its means are
    /// estimated. A `.csv` table of people with a header: the last column, of numbers, is predicted
    /// from the others. May be given several times
    #[arg(long, value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Seed of all random numbers; the same seed gives the same tables on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Returns the experiments that `--only` selects among the papers' experiments and the experiments
/// on the given data sets.
fn selected_experiments(options: &Options) -> Result<Vec<Box<dyn Experiment>>, Error> {
    let wanted = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|only| name.contains(only.as_str()))
    };
    let mut all = evaluate::experiments_without_data_set(options.preset);
    for path in &options.data {
        let is_table = path
            .extension()
            .is_some_and(|own| own.eq_ignore_ascii_case("csv"));
        all.push(if is_table {
            Box::new(GradientLearningExperiment::from_table(
                PeopleTable::read_file(path)?,
                options.preset,
            ))
        } else {
            Box::new(DataSetMeansExperiment::new(
                path,
                EntryDataSet::read_file(path)?,
                options.preset,
            ))
        });
    }
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name()).collect();
    if let Some(name) = (1..names.len()).find_map(|index| {
        let (before, own) = (&names[..index], names[index]);
        before.contains(&own).then_some(own)
    }) {
        return Err(format!("two data sets have the name {name}: rename one of the files").into());
    }
    let names = names.join(", ");
    all.retain(|own| wanted(own.name()));
    if all.is_empty() {
        return Err(format!("--only matches no experiment; the experiments are {names}").into());
    }
    Ok(all)
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let experiments = selected_experiments(options)?;
    let settings = StudySettings {
        directory: &options.out,
        preset: options.preset.as_str(),
        seed: options.seed,
    };
    let bar = progress_bar(1000, "thousandths of the work");
    let tables = evaluate::run_study(&experiments, settings, |done, all| {
        bar.set_position(if all > 0.0 {
            (1000.0 * done / all) as u64
        } else {
            1000
        });
    })?;
    bar.finish_and_clear();
    let results = evaluate::write_results(
        &options.out,
        &reproduction_command(options),
        &experiments,
        &tables,
    )?;
    for own in &results {
        writeln!(out, "{}: {} figures", own.title, own.figures.len())?;
        for outcome in &own.outcomes {
            let worst = outcome.worst_cell();
            writeln!(
                out,
                "  {} of {}: ratio to the best competitor: median {:.3} of {} cells, worst {:.3} \
                 ({}, {}), {} lost",
                outcome.metric_comparison.metric,
                outcome.metric_comparison.estimand,
                outcome.median_ratio(),
                outcome.cells.len(),
                worst.ratio,
                evaluate::describe_cell(worst),
                worst.best_competitor,
                outcome.lost_cells().count(),
            )?;
        }
    }
    writeln!(out, "{}", options.out.join("index.html").display())?;
    Ok(())
}

/// Returns the command line that reproduces this run, except for the output directory.
fn reproduction_command(options: &Options) -> String {
    let mut words = format!(
        "npm run evaluate -- experiments --preset {} --seed {}",
        options.preset.as_str(),
        options.seed
    );
    for only in &options.only {
        words += &format!(" --only {only}");
    }
    for data in &options.data {
        let name = data.file_name().unwrap_or_default();
        words += &format!(" --data {}", name.to_string_lossy());
    }
    words + " --out DIR"
}
