//! `hushbin search`: texts that many people have.

use std::io::{self, Write};

use clap::Args;

use super::describe;
use super::location::LocationOptions;
use super::output::{Error, spinner, write_answer};
use crate::store::StoredReports;
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET, Found, Search, Text};

/// Find the texts that many people gave to a question of kind "text"
///
/// Reads the journal of a data directory, which a collector may be using. As long as it
/// takes, which GET /tasks/{id}/heavy-hitters may not: people times letters, squared
/// where prefixes grow by two.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    #[command(flatten)]
    location: LocationOptions,
    /// Id of the task
    #[arg(long, value_name = "ID")]
    task: String,
    /// Name of the question; may be left out where the task asks one
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Letters of the texts; those with others are not found
    #[arg(long, value_name = "LETTERS", default_value = DEFAULT_ALPHABET)]
    alphabet: String,
    /// Confidence of all intervals together
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    confidence: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let stored = StoredReports::open(&options.location.location()?, &options.task)?;
    let asked = heavy_hitters::Options {
        question: options.question.clone(),
        alphabet: options.alphabet.clone(),
        confidence: options.confidence,
        ..heavy_hitters::Options::default()
    };
    let search = Search::new(stored.task(), asked)?;
    let spinner = spinner("searching");
    let mut reports = search.no_reports();
    stored.for_each_report(|report| reports.fold(report))?;
    let found = search.run(&reports, &|| false)?;
    spinner.finish_and_clear();
    write_answer(out, options.json, &found, |out| write_words(&found, out))
}

fn write_words(found: &Found, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{} reports, letters {:?}; all intervals hold together with {}% confidence",
        found.reports,
        found.alphabet,
        100.0 * found.confidence
    )?;
    if let Some(repeats) = &found.repeats {
        writeln!(out, "{repeats}")?;
    }
    if found.texts.is_empty() {
        writeln!(out, "no text was found: too few people have the same one")?;
    }
    for text in &found.texts {
        write_text(text, out)?;
    }
    if !found.dead_ends.is_empty() {
        writeln!(
            out,
            "beginnings of texts that were not found: by other letters, or each by too few people"
        )?;
    }
    for text in &found.dead_ends {
        write_text(text, out)?;
    }
    Ok(())
}

fn write_text(text: &Text, out: &mut dyn Write) -> io::Result<()> {
    let [share, low, high] = describe::shares(text);
    let text = describe::text(text);
    writeln!(out, "{share:8.3}%  {low:7.3} to {high:7.3}%  {text}")
}
