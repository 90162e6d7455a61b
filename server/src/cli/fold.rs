//! `hushbin fold`: what reports add up to, where they lie.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hushbin::Task;

use super::output::{Error, spinner};
use crate::estimates::partial_totals::Folding;
use crate::{export, hex};

/// Fold reports into partial totals, where they lie, for hushbin merge
///
/// Reads files of `hushbin journal export`, or the part of one that an engine hands over:
/// Parquet, CSV or JSON lines; without files, reports on standard input. Holds the totals of
/// the task in memory and no report, and prints a line of JSON. Whatever runs a process over
/// partitions, as Spark's pipe, Slurm or a shell does, can estimate so at any size.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Files of reports; standard input if there is none
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File of the task, for reports that do not say it: a task file, or an answer of
    /// GET /tasks/{id}
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// What stands on standard input
    #[arg(long, value_enum, default_value_t = Input::Delimited)]
    input: Input,
    /// File to write, in place of standard output; it is not written over
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Input {
    /// The bytes of each report after their number, a varint, as Protocol Buffers delimit
    /// messages
    Delimited,
    /// A line for each report, of lower-case hexadecimal digits, as in the column `report`
    Hex,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let given = options.task.as_deref().map(export::task_of).transpose()?;
    let spinner = spinner("folding reports");
    let (task, folding) = if options.files.is_empty() {
        let task = given.ok_or("standard input does not say its task: name a file with --task")?;
        let mut folding = Folding::new(&task);
        let mut reports = Reports::new(&task, io::stdin().lock());
        match options.input {
            Input::Delimited => reports.for_each_delimited(&mut folding)?,
            Input::Hex => reports.for_each_line(&mut folding)?,
        }
        (task, folding)
    } else {
        let files = export::Files::open(&options.files, given)?;
        let task = files.task().clone();
        let mut folding = Folding::new(&task);
        files.for_each_report(|report| folding.fold(report))?;
        (task, folding)
    };
    let line = folding.finish().line(&task);
    spinner.finish_and_clear();
    write_line(&line, options.out.as_deref(), out)
}

/// Writes a line to a new file, whole or not at all, or else to `out`.
pub(super) fn write_line(
    line: &str,
    path: Option<&std::path::Path>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let Some(path) = path else {
        return Ok(writeln!(out, "{line}")?);
    };
    let file = export::Unfinished::create(path)?;
    let mut writer = BufWriter::<&File>::new(file.file());
    writeln!(writer, "{line}")?;
    writer.flush()?;
    drop(writer);
    Ok(file.finish()?)
}

/// Reports of a task on standard input.
struct Reports<'a, R> {
    task: &'a Task,
    input: BufReader<R>,
    /// Counted from 1, to be named.
    number: u64,
    bytes: Vec<u8>,
}

impl<'a, R: Read> Reports<'a, R> {
    fn new(task: &'a Task, input: R) -> Self {
        Self {
            task,
            input: BufReader::with_capacity(1 << 18, input),
            number: 0,
            bytes: Vec::new(),
        }
    }

    fn wrong(&self, what: &str, wrong: &dyn std::fmt::Display) -> Error {
        format!("standard input, {what} {}: {wrong}", self.number).into()
    }

    fn for_each_delimited(&mut self, folding: &mut Folding) -> Result<(), Error> {
        let most = self.task.report_bytes() as u64;
        while !self.input.fill_buf()?.is_empty() {
            self.number += 1;
            let length = self.length()?;
            if length > most {
                let wrong = format!("it has {length} bytes, expected at most {most}");
                return Err(self.wrong("report", &wrong));
            }
            self.bytes.resize(length as usize, 0);
            let read = self.input.read_exact(&mut self.bytes);
            read.map_err(|error| self.wrong("report", &error))?;
            let report = self.task.decode_report(&self.bytes);
            folding.fold(&report.map_err(|error| self.wrong("report", &error))?);
        }
        Ok(())
    }

    /// A varint (LEB128), of which the first byte is there.
    fn length(&mut self) -> Result<u64, Error> {
        let mut length = 0;
        for shift in (0..).step_by(7) {
            let mut byte = [0];
            let read = self.input.read_exact(&mut byte);
            read.map_err(|error| self.wrong("report", &error))?;
            if shift > 28 {
                return Err(self.wrong("report", &"expected a length below 2³²"));
            }
            length |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                break;
            }
        }
        Ok(length)
    }

    fn for_each_line(&mut self, folding: &mut Folding) -> Result<(), Error> {
        loop {
            self.bytes.clear();
            self.number += 1;
            if self.input.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(());
            }
            let line = str::from_utf8(&self.bytes).unwrap_or_default();
            let report = hex::decode(line.trim_end_matches(['\n', '\r']));
            let expected = "expected a report in lower-case hexadecimal digits";
            let report = report.filter(|report| !report.is_empty());
            let report = report.ok_or_else(|| self.wrong("line", &expected))?;
            let report = self.task.decode_report(&report);
            folding.fold(&report.map_err(|error| self.wrong("line", &error))?);
        }
    }
}
