//! `hushbin account`: what a shuffled batch gives away.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hushbin::Task;
use hushbin::sums::SumTask;
use hushbin::task::Answers;
use serde::Serialize;

use super::output::{Error, write_answer};
use super::sums;
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::accounting::{
    Composed, DEFAULT_HONEST_FRACTION, Exposure, Mixture, account_exposure, largest_epsilon,
    smallest_batch,
};
use hushbin_analysis::promise::account_statement;

/// Compute the central privacy of a batch of shuffled reports: the ε that is
/// proven, with δ, against someone who cannot link reports to clients.
///
/// Without a --task, it is proven for any mechanism with the local ε.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file; parameters it leaves out are chosen.
    #[arg(long, value_name = "FILE", conflicts_with = "epsilon")]
    task: Option<PathBuf>,
    /// Local ε of one report, by any mechanism.
    #[arg(long, value_name = "E", required_unless_present_any = ["task", "central_epsilon"])]
    epsilon: Option<f64>,
    /// With --reports, find the largest local ε that makes the batch this central
    /// ε; of a task, rule and parameters are kept as they are for the ε that it
    /// has. Without, find the smallest batch.
    #[arg(long, value_name = "E")]
    central_epsilon: Option<f64>,
    /// Number of reports in the batch.
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        required_unless_present = "central_epsilon"
    )]
    reports: Option<u64>,
    /// Number of batches, of as many reports each, that a person sends reports to; more
    /// than one is refused of a --task whose answers are permanent.
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1,
        conflicts_with = "central_epsilon"
    )]
    batches: u32,
    /// Number of reports that a person sends to a batch, of any inputs; left out,
    /// as many as the budget of the --task allows in one window, or one.
    #[arg(long, value_name = "R", conflicts_with = "central_epsilon")]
    reports_per_person: Option<u32>,
    /// δ of the batch.
    #[arg(long, value_name = "D")]
    delta: f64,
    /// Part of the reports that are assumed to be honest.
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION)]
    honest_fraction: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    composed: Composed,
    /// Local ε.
    epsilon: f64,
    reports: u64,
    honest_fraction: f64,
    seconds: f64,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(task) = options.task.as_deref().and_then(sums::task) {
        return options.account_sums(&task?, out);
    }
    let file = options
        .task
        .as_deref()
        .map(ReportTaskFile::read)
        .transpose()?;
    let subject = match &file {
        Some(file) => Subject::Task(file.resolve()?, file),
        None => Subject::AnyMechanism,
    };
    let answer = options.answer(&subject)?;
    write_answer(out, options.json, &answer, |out| answer.write_words(out))
}

/// Mechanism of the reports.
enum Subject<'a> {
    Task(Task, &'a ReportTaskFile),
    AnyMechanism,
}

impl Subject<'_> {
    /// The mechanism at local budget ε.
    fn mixture(&self, epsilon: f64) -> Result<Mixture, Error> {
        match self {
            Self::Task(task, file) => {
                Mixture::for_task_at(task, epsilon).map_err(|error| file.error(error).into())
            }
            Self::AnyMechanism => Ok(Mixture::generic(epsilon)?),
        }
    }
}

impl Options {
    /// Accounts for sums through a shuffler. No `--central-epsilon` is searched for.
    fn account_sums(&self, task: &SumTask, out: &mut dyn Write) -> Result<(), Error> {
        if self.central_epsilon.is_some()
            || self.reports_per_person.is_some_and(|reports| reports != 1)
        {
            return Err(
                "of sums through a shuffler a batch is accounted for by --reports, its \
                 people, and --delta alone"
                    .into(),
            );
        }
        let people = self.reports.unwrap_or_else(|| task.people());
        let batch = (people, self.honest_fraction);
        sums::account(task, batch, self.delta, self.batches, self.json, out)
    }

    fn answer(&self, subject: &Subject<'_>) -> Result<Answer, Error> {
        let start = Instant::now();
        self.check_repeats(subject)?;
        let (honest_fraction, delta) = (self.honest_fraction, self.delta);
        let (mixture, reports) = self.batch(subject)?;
        let exposure = Exposure {
            batches: self.batches,
            reports_per_person: self.reports_per_person(subject),
        };
        let composed = account_exposure(&mixture, reports, honest_fraction, delta, exposure)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Answer {
            composed,
            epsilon: mixture.epsilon(),
            reports,
            honest_fraction,
            seconds,
        })
    }

    /// Batches are composed as ones that draw anew. A report that comes again links its
    /// person's batches by itself, and whoever knows in which of them a person is, and nobody
    /// else, has that person's report alone.
    fn check_repeats(&self, subject: &Subject<'_>) -> Result<(), Error> {
        if let Subject::Task(task, _) = subject
            && self.batches > 1
            && task.budget().answers() == Answers::Permanent
        {
            return Err(format!(
                "--batches {}: answers of task {:?} are permanent, so that the same report comes \
                 in every batch, and whoever sees several knows which reports are of one person: \
                 the shuffled ε holds for one batch, for several the local ε = {} alone",
                self.batches,
                task.id(),
                task.epsilon()
            )
            .into());
        }
        Ok(())
    }

    /// Number of reports of each person; one where a batch or an ε is searched for.
    fn reports_per_person(&self, subject: &Subject<'_>) -> u32 {
        match subject {
            Subject::Task(task, _) if self.central_epsilon.is_none() => {
                let allowed = task.budget().reports();
                self.reports_per_person.unwrap_or(allowed)
            }
            _ => self.reports_per_person.unwrap_or(1),
        }
    }

    /// The mechanism and the number of reports: as they are given, or one of them
    /// found for the other and a central ε.
    fn batch(&self, subject: &Subject<'_>) -> Result<(Mixture, u64), Error> {
        let at = |epsilon| subject.mixture(epsilon);
        let (honest_fraction, delta) = (self.honest_fraction, self.delta);
        let epsilon = self.epsilon.or(match subject {
            Subject::Task(task, _) => Some(task.epsilon()),
            Subject::AnyMechanism => None,
        });
        match (self.reports, self.central_epsilon, epsilon) {
            (Some(_), Some(_), _) if self.epsilon.is_some() => Err(
                "--reports, --epsilon and --central-epsilon: leave out the one to be found".into(),
            ),
            (Some(reports), Some(central), _) => {
                let mixture = largest_epsilon(at, reports, honest_fraction, delta, central)?;
                Ok((mixture, reports))
            }
            (Some(reports), None, Some(epsilon)) => Ok((at(epsilon)?, reports)),
            (None, Some(central), Some(epsilon)) => {
                let mixture = at(epsilon)?;
                let reports = smallest_batch(&mixture, honest_fraction, delta, central)?;
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

impl Answer {
    fn write_words(&self, out: &mut dyn Write) -> io::Result<()> {
        let Composed {
            account, exposure, ..
        } = &self.composed;
        writeln!(
            out,
            "one report  ε = {}, α = {}",
            self.epsilon, account.alpha
        )?;
        writeln!(
            out,
            "batch       {} reports, {} of them assumed honest ({} of all)",
            self.reports, account.honest_reports, self.honest_fraction
        )?;
        writeln!(
            out,
            "shuffled    ε = {:e}, δ = {:e}, rounded up",
            account.central_epsilon, account.delta
        )?;
        writeln!(out, "            {}, {:.3} s", account.method, self.seconds)?;
        if let Some(ideal) = account.ideal_hash_epsilon {
            writeln!(
                out,
                "ideal hash  ε = {ideal:e}, rounded up, if buckets were uniform and independent"
            )?;
        }
        let most = account
            .reduction_epsilon
            .map_or_else(String::new, |most| format!(", at most {most:e}"));
        let known = if account.reduction_attained {
            "some batch gives away as much"
        } else {
            "no batch is known to give away as much"
        };
        writeln!(
            out,
            "reduction   ε above {:e}{most}, by Wang et al.'s Theorem 1; {known}",
            account.reduction_lower_epsilon
        )?;
        if exposure.batches > 1 {
            writeln!(
                out,
                "{} batches  one ε = {:e} with the same δ; basic composition {:e}, advanced {:e}",
                exposure.batches,
                self.composed.one_batch_epsilon,
                self.composed.basic_epsilon,
                self.composed.advanced_epsilon
            )?;
        }
        writeln!(out)?;
        writeln!(out, "{}", account_statement(self.epsilon, exposure))
    }
}
