//! What a task will cost: privacy, bytes and error.

use hushbin::choose::{Candidate, Choice, Objective};
use hushbin::{Mechanism, Task, UploadId, upload};
use serde::Serialize;

use crate::cli::Error;
use hushbin_analysis::bound::{Distance, distance};
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, Estimand, Predictor, Quantiles};
use hushbin_analysis::promise::{bias, protects};

/// The cost of a task: privacy of a report, its bytes, and the error of estimates.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    pub(super) task: Task,
    pub(super) fingerprint: String,
    pub(super) effective_epsilon: f64,
    /// What ε is about.
    pub(super) protects: String,
    /// Probability that the guarantee fails.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) delta: f64,
    /// Of what is clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bias: Option<String>,
    /// Bytes of one encoded report, at most.
    pub(super) report_bytes: usize,
    /// Bytes of an upload of one report, at most.
    pub(super) upload_bytes: usize,
    /// How far means are from the best that any mechanism could do, for people with as
    /// many entries as the sparsity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_distance: Option<Distance>,
    /// How far frequencies of items with either sign are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_distance: Option<Distance>,
    pub(super) predictions: Vec<Prediction>,
    /// People planned for.
    pub(super) planned_people: f64,
    /// The task's mechanism and what else there is, at the people planned for.
    pub(super) candidates: Vec<Compared>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The errors to expect of a mechanism at its best, over all items of people
/// with entries of ±1.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    pub(super) mechanism: Mechanism,
    pub(super) sparsity: u32,
    pub(super) protects: String,
    /// Root of the mean squared error of means.
    pub(super) mean_error: Option<f64>,
    /// The part of it that is bias, in the worst case, and does not fall with
    /// the number of people.
    pub(super) mean_bias: Option<f64>,
    /// Root of the mean squared error of the frequencies of either sign.
    pub(super) frequency_error: Option<f64>,
}

impl From<Candidate> for Compared {
    fn from(candidate: Candidate) -> Self {
        let Candidate {
            mechanism,
            sparsity,
            predicted,
            ..
        } = candidate;
        Self {
            sparsity,
            protects: protects(mechanism.neighbours()),
            mean_error: predicted.mean.map(|error| error.total().sqrt()),
            mean_bias: predicted.mean.map(|error| error.squared_bias.sqrt()),
            frequency_error: predicted.frequency.map(|error| error.total().sqrt()),
            mechanism,
        }
    }
}

/// The error to expect of an item that hardly anybody has.
#[derive(Debug, Serialize)]
pub(super) struct Prediction {
    pub(super) people: u64,
    /// Of the frequency of an item with one sign, where it is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_standard_error: Option<f64>,
    /// Of the mean.
    pub(super) mean_standard_error: f64,
    /// Half-width of the mean's interval at the default confidence.
    pub(super) interval: f64,
    /// The same over all items simultaneously; absent for open tasks.
    pub(super) simultaneous_interval: Option<f64>,
}

impl Cost {
    /// The cost of a task as it was chosen, with errors predicted at these numbers of
    /// people.
    ///
    /// # Errors
    /// When one of them is 0, or the mechanism estimates no means.
    pub(super) fn new(choice: Choice, people: &[u64]) -> Result<Self, Error> {
        let task = choice.task;
        let report_bytes = task
            .mechanism()
            .report_bytes(&task.domain(), task.epsilon());
        let far =
            |objective| distance(&task.domain(), task.mechanism(), task.epsilon(), &objective);
        let header = upload::header(UploadId([0; 16]), &task.fingerprint(), 1);
        Ok(Self {
            fingerprint: task.fingerprint().to_string(),
            effective_epsilon: task.effective_epsilon(),
            protects: protects(task.mechanism().neighbours()),
            delta: task.mechanism().delta(),
            bias: bias(&task),
            report_bytes,
            upload_bytes: header.len() + report_bytes,
            mean_distance: far(Objective::MEAN),
            frequency_distance: far(Objective::FREQUENCY),
            predictions: predictions(&task, people)?,
            planned_people: choice.people,
            candidates: std::iter::once(choice.picked)
                .chain(choice.others)
                .map(Compared::from)
                .collect(),
            task,
        })
    }
}

fn predictions(task: &Task, people: &[u64]) -> Result<Vec<Prediction>, Error> {
    let predictor = Predictor::for_task(task);
    let alone = Quantiles::new(DEFAULT_CONFIDENCE, 1)?.simultaneous();
    let together = match task.items().count() {
        Some(items) => Some(Quantiles::new(DEFAULT_CONFIDENCE, items as usize)?.simultaneous()),
        None => None,
    };
    let predict = |&people| {
        if people == 0 {
            return Err("there is nothing to predict for 0 people".into());
        }
        let standard_error = |estimand| predictor.standard_error(estimand, people as f64);
        let mean = standard_error(Estimand::Mean).ok_or("the mechanism estimates no means")?;
        Ok(Prediction {
            people,
            frequency_standard_error: standard_error(Estimand::Plus),
            mean_standard_error: mean,
            interval: alone * mean,
            simultaneous_interval: together.map(|reach| reach * mean),
        })
    };
    people.iter().map(predict).collect()
}
