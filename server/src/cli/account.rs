//! `hushbin account`: central privacy of shuffled batches.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hushbin::Task;
use hushbin::sums::SumTask;
use serde::Serialize;

use super::output::{AnswerFormatOptions, Error, write_answer_fields};
use super::{describe, sums};
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::accounting::{
    ComposedPrivacy, DEFAULT_HONEST_FRACTION, MemoisedAnswers, PersonExposure, ReportMixture,
    compute_composed_privacy, mixture_at_largest_epsilon, smallest_batch_size,
};
use hushbin_analysis::promise::{accounting_assumptions_statement, round_up_to_three_digits};

/// Compute the central ε and δ of a batch of shuffled reports
///
/// The printed central ε is a proven upper bound. It holds against an attacker who cannot link
/// reports to people. Without --task, the bound holds for every mechanism whose local ε is
/// --epsilon.
#[derive(Debug, clap::Args)]
pub(super) struct AccountCommandOptions {
    /// Task file (JSON); parameters that the file leaves out are chosen automatically
    #[arg(long, value_name = "FILE", conflicts_with = "epsilon")]
    task: Option<PathBuf>,
    /// Local ε of one report, 0.001 to 12, to use instead of --task. The result then holds for
    /// every mechanism with this local ε
    #[arg(long, value_name = "E", required_unless_present_any = ["task", "central_epsilon"])]
    epsilon: Option<f64>,
    /// Limit for the central ε of a batch, 0 to 12. Without --reports, the command finds the
    /// smallest batch that keeps this limit. With --reports, the command finds the largest local ε
    /// that keeps this limit, while the other parameters of --task stay the same
    #[arg(long, value_name = "E")]
    central_epsilon: Option<f64>,
    /// Number of reports in a batch, 2 to 1000000000000. For a task of sums, number of people in a
    /// batch
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        required_unless_present = "central_epsilon"
    )]
    reports: Option<u64>,
    /// Number of batches that each person reports to, 1 to 10000 (default 1). --reports is the size
    /// of each batch
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1,
        hide_default_value = true,
        conflicts_with = "central_epsilon"
    )]
    batches: u32,
    /// Maximum number of reports that one person sends to a batch, 1 to 1000 (default 1; with
    /// --task, the number that the task's budget allows in one time window)
    #[arg(long, value_name = "R", conflicts_with = "central_epsilon")]
    reports_per_person: Option<u32>,
    /// Probability δ that the guarantee of the central ε fails, 1e-15 to 0.1
    #[arg(long, value_name = "D")]
    delta: f64,
    /// Fraction of the reports in a batch that are assumed to follow the protocol, 1e-12 to 1
    /// (default 1)
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION, hide_default_value = true)]
    honest_fraction: f64,
    #[command(flatten)]
    form: AnswerFormatOptions,
}

#[derive(Debug, Serialize)]
struct PrivacyAccountAnswer {
    #[serde(flatten)]
    composed: ComposedPrivacy,
    /// Local ε of one report, in nats.
    epsilon: f64,
    reports: u64,
    honest_fraction: f64,
    seconds: f64,
}

pub(super) fn run_account_command(
    options: &AccountCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if let Some(task) = options.task.as_deref().and_then(sums::read_if_sum_task) {
        return options.run_for_sum_task(&task?.0, out);
    }
    let file = options
        .task
        .as_deref()
        .map(ReportTaskFile::read)
        .transpose()?;
    let subject = match &file {
        Some(file) => AccountedMechanism::Task(file.resolve_task()?, file),
        None => AccountedMechanism::AnyMechanism,
    };
    let answer = options.compute_central_privacy(&subject)?;
    let form = options.form;
    form.write_formatted_answer(out, &answer, &answer.summary_lines(), |out| {
        answer.write_account_details(out)
    })
}

/// Mechanism whose central privacy is computed: the mechanism of a task, or any mechanism.
enum AccountedMechanism<'a> {
    Task(Task, &'a ReportTaskFile),
    AnyMechanism,
}

impl AccountedMechanism<'_> {
    /// Returns the mixture of distributions that describes the mechanism at the local ε `epsilon`.
    fn mixture_at_epsilon(&self, epsilon: f64) -> Result<ReportMixture, Error> {
        match self {
            Self::Task(task, file) => ReportMixture::for_task_at_epsilon(task, epsilon)
                .map_err(|error| file.content_error(error).into()),
            Self::AnyMechanism => Ok(ReportMixture::for_any_randomizer(epsilon)?),
        }
    }

    /// Returns the description of the memos from which reports are made, if there are any.
    fn memo_description(&self) -> Option<MemoisedAnswers> {
        match self {
            Self::Task(task, _) => MemoisedAnswers::for_task(task),
            Self::AnyMechanism => None,
        }
    }
}

impl AccountCommandOptions {
    /// Runs the command for a task of sums. Refuses the options that do not apply to sums:
    /// `--central-epsilon`, and `--reports-per-person` above 1.
    fn run_for_sum_task(&self, task: &SumTask, out: &mut dyn Write) -> Result<(), Error> {
        if self.central_epsilon.is_some()
            || self.reports_per_person.is_some_and(|reports| reports != 1)
        {
            return Err(
                "--central-epsilon and --reports-per-person are not for a task of sums; \
                 --reports is its number of people"
                    .into(),
            );
        }
        let people = self.reports.unwrap_or_else(|| task.min_people());
        let batch = (people, self.honest_fraction);
        sums::run_sum_account_command(task, batch, self.delta, self.batches, self.form, out)
    }

    fn compute_central_privacy(
        &self,
        subject: &AccountedMechanism<'_>,
    ) -> Result<PrivacyAccountAnswer, Error> {
        let start = Instant::now();
        let (honest_fraction, delta) = (self.honest_fraction, self.delta);
        let (mixture, reports) = self.mixture_and_report_count(subject)?;
        let exposure = PersonExposure {
            batches: self.batches,
            reports_per_person: self.reports_per_person(subject),
        };
        self.check_one_memo_suffices(subject)?;
        let composed = match subject.memo_description() {
            Some(answers) if exposure != PersonExposure::default() => answers.compute_privacy(
                |epsilon| subject.mixture_at_epsilon(epsilon),
                reports,
                honest_fraction,
                delta,
                exposure,
            )?,
            _ => compute_composed_privacy(&mixture, reports, honest_fraction, delta, exposure)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(PrivacyAccountAnswer {
            composed,
            epsilon: mixture.epsilon(),
            reports,
            honest_fraction,
            seconds,
        })
    }

    /// Checks that the reports to all batches can be made from one memo. The account is for one memo
    /// only.
    fn check_one_memo_suffices(&self, subject: &AccountedMechanism<'_>) -> Result<(), Error> {
        if let AccountedMechanism::Task(task, _) = subject
            && let Some(memo) = task.report_budget().memo()
            && let Some(most) = task.report_budget().reports_per_memo()
            && self.batches > most
        {
            return Err(format!(
                "--batches {}: task {:?} keeps a memo for {} days, and one memo makes at most \
                 {most} reports; expected at most {most} batches",
                self.batches,
                task.id(),
                memo.days
            )
            .into());
        }
        Ok(())
    }

    /// Returns the maximum number of reports that one person sends to a batch. It is 1 if the
    /// command searches for a batch size or a local ε.
    fn reports_per_person(&self, subject: &AccountedMechanism<'_>) -> u32 {
        match subject {
            // With --central-epsilon, clap refuses --reports-per-person.
            AccountedMechanism::Task(task, _) if self.central_epsilon.is_none() => {
                let allowed = task.report_budget().max_reports();
                self.reports_per_person.unwrap_or(allowed)
            }
            _ => self.reports_per_person.unwrap_or(1),
        }
    }

    /// Returns the mixture that describes the mechanism, and the number of reports in a batch. With
    /// `--central-epsilon`, searches for the largest local ε or for the smallest batch.
    fn mixture_and_report_count(
        &self,
        subject: &AccountedMechanism<'_>,
    ) -> Result<(ReportMixture, u64), Error> {
        let at = |epsilon| subject.mixture_at_epsilon(epsilon);
        let (honest_fraction, delta) = (self.honest_fraction, self.delta);
        let epsilon = self.epsilon.or(match subject {
            AccountedMechanism::Task(task, _) => Some(task.epsilon()),
            AccountedMechanism::AnyMechanism => None,
        });
        match (self.reports, self.central_epsilon, epsilon) {
            (Some(_), Some(_), _) if self.epsilon.is_some() => Err(
                "--reports, --epsilon and --central-epsilon are all given: omit the one to find"
                    .into(),
            ),
            (Some(reports), Some(central), _) => {
                let mixture =
                    mixture_at_largest_epsilon(at, reports, honest_fraction, delta, central)?;
                Ok((mixture, reports))
            }
            (Some(reports), None, Some(epsilon)) => Ok((at(epsilon)?, reports)),
            (None, Some(central), Some(epsilon)) => {
                let mixture = at(epsilon)?;
                let reports = smallest_batch_size(&mixture, honest_fraction, delta, central)?;
                Ok((mixture, reports))
            }
            (None, Some(_), None) => Err(
                "--central-epsilon needs --reports, or --epsilon to find the smallest --reports"
                    .into(),
            ),
            (_, None, _) => unreachable!("clap asks for --reports, and for --epsilon or --task"),
        }
    }
}

impl PrivacyAccountAnswer {
    /// Summarises the answer in a few lines of plain English.
    fn summary_lines(&self) -> Vec<String> {
        let ComposedPrivacy {
            account, exposure, ..
        } = &self.composed;
        let (reports, each) = (self.reports, exposure.reports_per_person);
        let batch = match exposure.batches {
            1 => format!("A batch of {reports} reports has"),
            batches => format!("All {batches} batches of {reports} reports together have"),
        };
        vec![
            describe::central_privacy_sentence(
                &batch,
                "reports",
                account.central_epsilon,
                account.delta,
            ),
            format!(
                "Against an attacker who can link them, such as an operator, the local ε = {} of \
                 each report holds: {}.",
                round_up_to_three_digits(self.epsilon),
                describe::guess_certainty_phrase(self.epsilon)
            ),
            format!(
                "This assumes that {} reports of a batch follow the protocol, and that no person \
                 sends more than {each} to a batch.",
                account.honest_reports
            ),
        ]
    }

    fn write_account_details(&self, out: &mut dyn Write) -> io::Result<()> {
        write_answer_fields(out, self)?;
        let statement = accounting_assumptions_statement(self.epsilon, &self.composed.exposure);
        writeln!(out, "\n{statement}")
    }
}
