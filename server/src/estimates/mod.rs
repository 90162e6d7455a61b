//! Queries of released reports, and their answers as JSON or CSV. A collector over HTTP and the
//! command over files share them, so that both answer with the same bytes.

pub(crate) mod partial_totals;

use std::io::{self, Write};

use hushbin::{Items, Task};
use hushbin_analysis::estimate::{EstimateError, PostProcessing, Query, Totals};
use serde::Serialize;

/// Most batches that are named at once.
const BATCHES: usize = 10_000;

/// Why what is asked has no meaning.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskedError {
    #[error("batches: {0:?} is no number and no range")]
    NoRange(String),
    #[error("batches: more than {BATCHES} are named")]
    TooMany,
    #[error("batches: {0} is named twice")]
    Twice(u64),
    #[error("post: {} is given twice", .0.as_str())]
    PostTwice(PostProcessing),
    #[error(transparent)]
    Post(#[from] EstimateError),
}

/// Adds numbers and ranges of batches, such as `1,4-6`; each once.
///
/// # Errors
/// [`AskedError`].
pub(crate) fn add_batches(value: &str, batches: &mut Vec<u64>) -> Result<(), AskedError> {
    for part in value.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
            return Err(AskedError::NoRange(part.to_owned()));
        };
        if last - first >= (BATCHES - batches.len()) as u64 {
            return Err(AskedError::TooMany);
        }
        if let Some(twice) = (first..=last).find(|batch| batches.contains(batch)) {
            return Err(AskedError::Twice(twice));
        }
        batches.extend(first..=last);
    }
    Ok(())
}

/// Adds post-processing by its names, such as `projection,shrinkage`; each once.
///
/// # Errors
/// [`AskedError`].
pub(crate) fn add_post(names: &str, post: &mut Vec<PostProcessing>) -> Result<(), AskedError> {
    for name in names.split(',') {
        let asked = name.parse()?;
        if post.contains(&asked) {
            return Err(AskedError::PostTwice(asked));
        }
        post.push(asked);
    }
    Ok(())
}

/// Whether the totals of whole batches answer the query; where the question has no list of
/// items their reports are needed.
pub(crate) fn is_listed(task: &Task, query: &Query) -> bool {
    match task.questions()[query.question()].items() {
        Items::Named(_) | Items::Count(_) => true,
        Items::Open(_) => false,
    }
}

/// What reports are folded into to answer the query.
pub(crate) fn no_reports(task: &Task, query: &Query) -> Totals {
    match is_listed(task, query) {
        true => Totals::new(task),
        false => Totals::of_items(task, query.question(), query.items()),
    }
}

/// An answer as JSON or CSV, written to `out`.
///
/// # Errors
/// When `out` takes no more.
pub(crate) fn write<W: Write>(
    csv: bool,
    answer: &impl Serialize,
    write_csv: impl FnOnce(&mut W) -> io::Result<()>,
    out: &mut W,
) -> io::Result<()> {
    match csv {
        true => write_csv(out),
        false => Ok(serde_json::to_writer(out, answer)?),
    }
}
