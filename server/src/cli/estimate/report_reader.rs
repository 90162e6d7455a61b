//! Reading of reports from standard input, in a binary or a hexadecimal format.

use std::io::{BufRead, BufReader, Read};

use data_encoding::HEXLOWER;
use hushbin::{Report, Task};

use crate::cli::output::Error;
use crate::text_file::without_byte_order_mark;

/// Reader of the reports of one task, in a binary or a hexadecimal format.
pub(super) struct ReportReader<'a, R> {
    task: &'a Task,
    input: BufReader<R>,
    /// Number of the current report or line, counted from 1, for error messages.
    entry_number: u64,
    report_bytes: Vec<u8>,
}

impl<'a, R: Read> ReportReader<'a, R> {
    pub(super) fn new(task: &'a Task, input: R) -> Self {
        Self {
            task,
            input: BufReader::with_capacity(1 << 18, input),
            entry_number: 0,
            report_bytes: Vec::new(),
        }
    }

    fn error_with_entry_number(&self, what: &str, wrong: &dyn std::fmt::Display) -> Error {
        format!("standard input, {what} {}: {wrong}", self.entry_number).into()
    }

    /// Calls `visit` with every report of a binary input. The length of each report precedes the
    /// report.
    ///
    /// # Errors
    /// When an entry is not a report of the task.
    pub(super) fn for_each_length_prefixed(
        &mut self,
        visit: &mut dyn FnMut(&Report),
    ) -> Result<(), Error> {
        let most = self.task.max_single_report_bytes() as u64;
        while !self.input.fill_buf()?.is_empty() {
            self.entry_number += 1;
            let length = self.read_varint_length()?;
            if length > most {
                let wrong = format!("it has {length} bytes, expected at most {most}");
                return Err(self.error_with_entry_number("report", &wrong));
            }
            self.report_bytes.resize(length as usize, 0);
            let read = self.input.read_exact(&mut self.report_bytes);
            read.map_err(|error| self.error_with_entry_number("report", &error))?;
            let report = self.task.decode_report(&self.report_bytes);
            visit(&report.map_err(|error| self.error_with_entry_number("report", &error))?);
        }
        Ok(())
    }

    /// Reads a length in bytes, encoded as a varint (LEB128).
    fn read_varint_length(&mut self) -> Result<u64, Error> {
        let mut length = 0;
        for shift in (0..).step_by(7) {
            let mut byte = [0];
            let read = self.input.read_exact(&mut byte);
            read.map_err(|error| self.error_with_entry_number("report", &error))?;
            // Five bytes hold 35 bits, which is more than any length needs.
            if shift > 28 {
                return Err(self.error_with_entry_number("report", &"expected a length below 2³²"));
            }
            length |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                break;
            }
        }
        Ok(length)
    }

    /// Calls `visit` with every report of an input that has one report per line.
    ///
    /// # Errors
    /// When a line is not a report of the task.
    pub(super) fn for_each_hex_report(
        &mut self,
        visit: &mut dyn FnMut(&Report),
    ) -> Result<(), Error> {
        loop {
            self.report_bytes.clear();
            self.entry_number += 1;
            if self.input.read_until(b'\n', &mut self.report_bytes)? == 0 {
                return Ok(());
            }
            let line =
                str::from_utf8(without_byte_order_mark(&self.report_bytes)).unwrap_or_default();
            let report = HEXLOWER
                .decode(line.trim_end_matches(['\n', '\r']).as_bytes())
                .ok();
            let expected = "expected a report in lower-case hexadecimal digits";
            let report = report.filter(|report| !report.is_empty());
            let report = report.ok_or_else(|| self.error_with_entry_number("line", &expected))?;
            let report = self.task.decode_report(&report);
            visit(&report.map_err(|error| self.error_with_entry_number("line", &error))?);
        }
    }
}
