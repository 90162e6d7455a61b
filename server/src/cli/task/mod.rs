//! `hushbin task`: checks tasks, and writes tasks as TypeScript modules.

mod assessment;
mod summary;

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;

use super::output::{AnswerFormatOptions, Error};
use super::sums;
use crate::task::ReportOrSumTask;
use crate::task::task_file::{self, LabelledTask, ReportTaskFile, TaskFile};
use assessment::TaskAssessment;
use hushbin_analysis::typescript::typescript_module;

/// Check a task, or write it as a TypeScript module
#[derive(Debug, clap::Args)]
pub(super) struct TaskCommandOptions {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    Check(TaskCheckOptions),
    Types(TypeScriptModuleOptions),
}

/// Check a task file, and print its privacy, accuracy and fingerprint
#[derive(Debug, clap::Args)]
struct TaskCheckOptions {
    /// Task file (JSON); parameters that the file leaves out are chosen automatically
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Number of people, 1 or more, who send one report each. Errors are predicted for this number;
    /// may be repeated (default 1000, 10000, 100000 and 1000000)
    #[arg(long, value_name = "N", default_values_t = [1_000, 10_000, 100_000, 1_000_000], hide_default_value = true)]
    people: Vec<u64>,
    #[command(flatten)]
    form: AnswerFormatOptions,
    /// File to write the complete task to, including the chosen parameters (JSON); an existing file
    /// is overwritten
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Write the complete task as a TypeScript module, for pages to import
///
/// A misspelled question, option or item in the page's code is then a compile error.
#[derive(Debug, clap::Args)]
struct TypeScriptModuleOptions {
    /// Task file (JSON); parameters that the file leaves out are chosen automatically
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File to write the module to; an existing file is overwritten (default standard output)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run_task_command(
    options: &TaskCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    match &options.command {
        TaskCommand::Check(options) => check_task(options, out),
        TaskCommand::Types(options) => write_typescript_module(options, out),
    }
}

fn write_typescript_module(
    options: &TypeScriptModuleOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let file = TaskFile::read(&options.file)?;
    let task = file.resolve_task()?;
    let type_name = match task {
        ReportOrSumTask::Reports(_) => "Task",
        ReportOrSumTask::Sums(_) => "SumTask",
    };
    let fingerprints = match file.labels() {
        [] => format!("the fingerprint is {}.", task.fingerprint()),
        labels => {
            let each = task_file::label_fingerprints(&task, labels)
                .map_err(|error| file.content_error(error))?;
            let lines = each
                .iter()
                .map(|own| format!("\n//   {} {}", own.label, own.fingerprint));
            format!("the fingerprints are:{}", lines.collect::<String>())
        }
    };
    let labelled = LabelledTask {
        labels: file.labels(),
        task: &task,
    };
    let module = typescript_module(&labelled, type_name, &fingerprints)
        .map_err(|error| file.content_error(error))?;
    match &options.out {
        Some(path) => Ok(task_file::write_text(path, &module)?),
        None => Ok(out.write_all(module.as_bytes())?),
    }
}

fn check_task(options: &TaskCheckOptions, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(task) = sums::read_if_sum_task(&options.file) {
        return sums::run_sum_plan_command(task?, options.out.as_deref(), options.form, out);
    }
    let file = ReportTaskFile::read(&options.file)?;
    let (task, choices) = file.resolve_task_and_choices()?;
    let labels = file.labels;
    if let Some(file) = &options.out {
        task_file::write_task(file, &task, &labels)?;
    }
    let labels = task_file::label_fingerprints(&task.clone().into(), &labels)?;
    let cost = TaskAssessment::new(task, choices, &options.people, labels)?;
    let lines = cost.summary_lines(options.out.as_deref());
    let form = options.form;
    form.write_formatted_answer(out, &cost, &lines, |out| cost.write_assessment_details(out))
}
