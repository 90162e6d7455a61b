//! Parses queries of released reports, and writes the answers as JSON or CSV. The collector's HTTP
//! interface and the command line share this code, so both return the same bytes.

pub(crate) mod partial_totals;

use std::io::{self, Write};

use hushbin::{Items, Task};
use hushbin_analysis::estimate::{EstimateError, EstimateQuery, PostProcessingMethod, Totals};
use serde::Serialize;

/// Maximum number of batches in one query.
const MAX_QUERY_BATCHES: usize = 10_000;

/// Error of parsing the text of a query.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryTextError {
    #[error("batches: {0:?} is neither a number nor a range")]
    InvalidBatchRange(String),
    #[error("batches: more than {MAX_QUERY_BATCHES} batches are given")]
    TooManyBatches,
    #[error("batches: {0} is given twice")]
    DuplicateBatch(u64),
    #[error("post_processing: {} is given twice", .0.as_str())]
    DuplicatePostProcessing(PostProcessingMethod),
    #[error(transparent)]
    InvalidPostProcessing(#[from] EstimateError),
}

/// Parses numbers and ranges of batches, such as `1,4-6`, and adds them to `batches`.
///
/// # Errors
/// [`QueryTextError`] if the text is malformed, names a batch twice or names too many.
pub(crate) fn parse_batch_numbers(
    value: &str,
    batches: &mut Vec<u64>,
) -> Result<(), QueryTextError> {
    for part in value.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
            return Err(QueryTextError::InvalidBatchRange(part.to_owned()));
        };
        // Checked before the loop over the range, which may have 2⁶⁴ numbers.
        if last - first >= (MAX_QUERY_BATCHES - batches.len()) as u64 {
            return Err(QueryTextError::TooManyBatches);
        }
        if let Some(twice) = (first..=last).find(|batch| batches.contains(batch)) {
            return Err(QueryTextError::DuplicateBatch(twice));
        }
        batches.extend(first..=last);
    }
    Ok(())
}

/// Parses names of post-processing steps, such as `projection,shrinkage`, and adds them to `post`.
///
/// # Errors
/// [`QueryTextError`] if a name is unknown or given twice.
pub(crate) fn parse_post_processing(
    names: &str,
    post: &mut Vec<PostProcessingMethod>,
) -> Result<(), QueryTextError> {
    for name in names.split(',') {
        let asked = name.parse()?;
        if post.contains(&asked) {
            return Err(QueryTextError::DuplicatePostProcessing(asked));
        }
        post.push(asked);
    }
    Ok(())
}

/// Returns true if the query can be answered from the totals of whole batches. It returns false if
/// the question has no list of items: such a query needs the reports themselves.
pub(crate) fn is_answerable_from_totals(task: &Task, query: &EstimateQuery) -> bool {
    match task.questions()[query.question_index()].items() {
        Items::Named(_) | Items::Count(_) => true,
        Items::Open(_) => false,
    }
}

/// Returns the empty totals into which reports are folded to answer the query.
pub(crate) fn empty_totals(task: &Task, query: &EstimateQuery) -> Totals {
    match is_answerable_from_totals(task, query) {
        true => Totals::new(task),
        false => Totals::for_items(task, query.question_index(), query.items()),
    }
}

/// Writes an answer to `out` as JSON or CSV.
///
/// # Errors
/// When writing to `out` fails.
pub(crate) fn write_json_or_csv_answer<W: Write>(
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
