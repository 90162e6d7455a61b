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
    number: u64,
    bytes: Vec<u8>,
}

impl<'a, R: Read> ReportReader<'a, R> {
    pub(super) fn new(task: &'a Task, input: R) -> Self {
        Self {
            task,
            input: BufReader::with_capacity(1 << 18, input),
            number: 0,
            bytes: Vec::new(),
        }
    }

    fn numbered_error(&self, what: &str, wrong: &dyn std::fmt::Display) -> Error {
        format!("standard input, {what} {}: {wrong}", self.number).into()
    }

    /// Calls `visit` with every report of a binary input. The length of each report precedes the
    /// report.
    ///
    /// # Errors
    /// When an entry is not a report of the task.
    pub(super) fn for_each_delimited_report(
        &mut self,
        visit: &mut dyn FnMut(&Report),
    ) -> Result<(), Error> {
        let most = self.task.max_report_bytes() as u64;
        while !self.input.fill_buf()?.is_empty() {
            self.number += 1;
            let length = self.read_length()?;
            if length > most {
                let wrong = format!("it has {length} bytes, expected at most {most}");
                return Err(self.numbered_error("report", &wrong));
            }
            self.bytes.resize(length as usize, 0);
            let read = self.input.read_exact(&mut self.bytes);
            read.map_err(|error| self.numbered_error("report", &error))?;
            let report = self.task.decode_report(&self.bytes);
            visit(&report.map_err(|error| self.numbered_error("report", &error))?);
        }
        Ok(())
    }

    /// Reads a length in bytes, encoded as a varint (LEB128).
    fn read_length(&mut self) -> Result<u64, Error> {
        let mut length = 0;
        for shift in (0..).step_by(7) {
            let mut byte = [0];
            let read = self.input.read_exact(&mut byte);
            read.map_err(|error| self.numbered_error("report", &error))?;
            // Five bytes hold 35 bits, which is more than any length needs.
            if shift > 28 {
                return Err(self.numbered_error("report", &"expected a length below 2³²"));
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
            self.bytes.clear();
            self.number += 1;
            if self.input.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(());
            }
            let line = str::from_utf8(without_byte_order_mark(&self.bytes)).unwrap_or_default();
            let report = HEXLOWER
                .decode(line.trim_end_matches(['\n', '\r']).as_bytes())
                .ok();
            let expected = "expected a report in lower-case hexadecimal digits";
            let report = report.filter(|report| !report.is_empty());
            let report = report.ok_or_else(|| self.numbered_error("line", &expected))?;
            let report = self.task.decode_report(&report);
            visit(&report.map_err(|error| self.numbered_error("line", &error))?);
        }
    }
}
