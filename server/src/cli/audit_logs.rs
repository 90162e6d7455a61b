//! `hushbin audit --task-logs`: comparison of two copies of a task log.

use std::io::Write;

use serde_json::json;

use super::output::{Error, write_json_or_text_answer};
use crate::role::{PublishedTaskLog, fetch};
use crate::store::{TaskLogRelation, compare_task_logs};

/// Reads and verifies the task log in a file or at a URL.
fn read_task_log(source: &str) -> Result<PublishedTaskLog<'static>, Error> {
    let bytes = if source.starts_with("http://") || source.starts_with("https://") {
        let address = source
            .parse()
            .map_err(|error| format!("{source}: {error}"))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let answer = runtime.block_on(fetch(address));
        let answer = answer.map_err(|error| format!("{source}: {error}"))?;
        if !answer.status().is_success() {
            return Err(
                format!("{source} has the status {}, expected 200", answer.status()).into(),
            );
        }
        answer.into_body().to_vec()
    } else {
        std::fs::read(source).map_err(|error| format!("{source}: {error}"))?
    };
    let log = PublishedTaskLog::parse(&bytes);
    log.map_err(|error| format!("{source}: {error}").into())
}

/// Compares two task logs. Fails if one is invalid, or neither extends the other.
pub(super) fn run_task_log_audit(
    sources: &[String],
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let [first_source, second_source] = sources else {
        return Err("--task-logs needs two files or URLs".into());
    };
    let [first, second] = [read_task_log(first_source)?, read_task_log(second_source)?];
    let relation = compare_task_logs(&first.entries, &second.entries);
    let (name, text) = match relation {
        TaskLogRelation::Equal => (
            "equal",
            format!("The logs are equal, with {} entries.", first.entries.len()),
        ),
        TaskLogRelation::SecondIsNewer(more) => (
            "second-newer",
            format!("{second_source} extends {first_source} by {more} entries."),
        ),
        TaskLogRelation::FirstIsNewer(more) => (
            "first-newer",
            format!("{second_source} is older: {first_source} extends it by {more} entries."),
        ),
        TaskLogRelation::Forked(number) => (
            "forked",
            format!("The logs are FORKED: they differ from entry {number} on."),
        ),
    };
    let keys = [first.public_key(), second.public_key()];
    let entries = [first.entries.len(), second.entries.len()];
    let answer = json!({ "relation": name, "entries": entries, "public_keys": keys });
    let written = write_json_or_text_answer(out, json, &answer, |out| {
        writeln!(out, "{text}")?;
        for (source, key) in sources.iter().zip(&keys) {
            match key {
                Some(key) => writeln!(out, "{source} is signed by {key}")?,
                None => writeln!(out, "{source} is not signed")?,
            }
        }
        Ok(())
    });
    // The exit status shows the result even if the reader closed the pipe.
    if let TaskLogRelation::Forked(number) = relation {
        let at = usize::try_from(number - 1)?;
        let [first, second] = [&first.entries[at], &second.entries[at]];
        return Err(format!(
            "the task logs differ from entry {number} on: {first} at {}, and {second} at {}",
            first.time, second.time
        )
        .into());
    }
    written
}
