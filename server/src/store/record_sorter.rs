//! Sorts records of one length in bounded memory, on the disk.
//!
//! Records are collected in a buffer. A full buffer is sorted and written to a temporary file. In
//! the end, all files are merged. The bytes of the records come from clients, so the sorter does not
//! rely on how they are distributed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rayon::slice::ParallelSliceMut;

/// Size limit of the buffer in bytes.
pub(super) const SORT_BUFFER_BYTES: usize = 1 << 26;

/// Number of bytes that are written to or read from a sorted file at once. A hundred million sealed
/// messages make about a hundred files.
const FILE_BUFFER_BYTES: usize = 1 << 18;

/// Sorter of records of one length.
#[derive(Debug)]
pub(super) struct RecordSorter {
    length: usize,
    buffer_bytes: usize,
    buffer: Vec<u8>,
    /// Directory of the temporary files.
    directory: PathBuf,
    files: Vec<SortedFile>,
}

/// Temporary file of sorted records. It has no name, so nothing is left of it when the process ends.
#[derive(Debug)]
struct SortedFile {
    file: File,
    record_count: usize,
}

impl RecordSorter {
    /// Creates a sorter of records of `length` bytes. The sorter holds up to about three times
    /// `buffer_bytes` in memory, and writes temporary files to `directory`.
    ///
    /// # Panics
    /// If `length` is 0.
    pub(super) fn new(length: usize, buffer_bytes: usize, directory: PathBuf) -> Self {
        assert!(length > 0, "records have bytes");
        Self {
            length,
            buffer_bytes,
            buffer: Vec::new(),
            directory,
            files: Vec::new(),
        }
    }

    /// Adds concatenated records.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(super) fn push_records(&mut self, records: &[u8]) -> io::Result<()> {
        if !self.buffer.is_empty() && self.buffer.len() + records.len() > self.buffer_bytes {
            let file = tempfile::tempfile_in(&self.directory)?;
            let mut out = BufWriter::with_capacity(FILE_BUFFER_BYTES, file);
            let sorted = sort_records(&self.buffer, self.length);
            sorted.iter().try_for_each(|record| out.write_all(record))?;
            self.files.push(SortedFile {
                record_count: sorted.len(),
                file: out.into_inner().map_err(io::IntoInnerError::into_error)?,
            });
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(records);
        Ok(())
    }

    /// Sorts the records that are not in a file yet.
    pub(super) fn finish(self) -> SortedRecords {
        SortedRecords {
            in_memory: sort_records(&self.buffer, self.length).concat(),
            length: self.length,
            files: self.files,
        }
    }
}

/// Returns the records in `bytes`, sorted.
fn sort_records(bytes: &[u8], length: usize) -> Vec<&[u8]> {
    let mut records: Vec<&[u8]> = bytes.chunks_exact(length).collect();
    records.par_sort_unstable();
    records
}

/// Records in sorted files and in memory.
#[derive(Debug)]
pub(super) struct SortedRecords {
    length: usize,
    in_memory: Vec<u8>,
    files: Vec<SortedFile>,
}

impl SortedRecords {
    /// Returns all records in order. May be called several times.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub(super) fn merge(&self) -> io::Result<MergedRecords<'_>> {
        let mut merged = MergedRecords(BinaryHeap::new());
        let count = self.in_memory.len() / self.length;
        merged.add_run(Box::new(&self.in_memory[..]), count, self.length)?;
        for SortedFile { file, record_count } in &self.files {
            let reader = PositionedReader { file, offset: 0 };
            let reader = BufReader::with_capacity(FILE_BUFFER_BYTES, reader);
            merged.add_run(Box::new(reader), *record_count, self.length)?;
        }
        Ok(merged)
    }
}

/// Reader of a whole file. Several readers can read one file at once.
struct PositionedReader<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for PositionedReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Sorted runs of records, the run with the smallest next record first.
pub(super) struct MergedRecords<'a>(BinaryHeap<Run<'a>>);

impl<'a> MergedRecords<'a> {
    fn add_run(
        &mut self,
        reader: Box<dyn Read + 'a>,
        record_count: usize,
        length: usize,
    ) -> io::Result<()> {
        let mut run = Run {
            next: vec![0; length],
            left: record_count,
            reader,
        };
        if run.advance()? {
            self.0.push(run);
        }
        Ok(())
    }

    /// Visits the next record. Returns false after the last one.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub(super) fn visit_next(&mut self, visit: impl FnOnce(&[u8])) -> io::Result<bool> {
        let Some(mut first) = self.0.peek_mut() else {
            return Ok(false);
        };
        visit(&first.next);
        if !first.advance()? {
            PeekMut::pop(first);
        }
        Ok(true)
    }
}

/// Sorted records, of which the next one is in memory.
struct Run<'a> {
    next: Vec<u8>,
    /// Number of records that are not read yet.
    left: usize,
    reader: Box<dyn Read + 'a>,
}

impl Run<'_> {
    /// Reads the next record. Returns false after the last one.
    fn advance(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.reader.read_exact(&mut self.next).map(|()| true)
    }
}

impl Ord for Run<'_> {
    /// Compares in reverse, because a heap begins with its largest element.
    fn cmp(&self, other: &Self) -> Ordering {
        other.next.cmp(&self.next)
    }
}

impl PartialOrd for Run<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Run<'_> {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::iter;

    use super::*;

    fn merged(sorted: &SortedRecords) -> Vec<u8> {
        let (mut all, mut records) = (Vec::new(), sorted.merge().unwrap());
        while records
            .visit_next(|record| all.extend_from_slice(record))
            .unwrap()
        {}
        all
    }

    #[test]
    fn records_come_sorted_from_any_number_of_files() {
        let directory = tempfile::tempdir().unwrap();
        let mut state = 1_u32;
        for (count, length, buffer_bytes) in [
            (0, 5, 10),
            (1, 5, 10),
            (7, 5, 10),
            (1000, 3, 30),
            (1000, 3, 1 << 20),
            (50, 9, 1),
        ] {
            let mut sorter = RecordSorter::new(length, buffer_bytes, directory.path().to_owned());
            // Few values, so that many records are equal.
            let next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 30) as u8
            };
            let bytes: Vec<u8> = iter::repeat_with(next).take(count * length).collect();
            for part in bytes.chunks(2 * length) {
                sorter.push_records(part).unwrap();
            }
            let sorted = sorter.finish();
            let expected = sort_records(&bytes, length).concat();
            assert_eq!(merged(&sorted), expected, "{count} {length} {buffer_bytes}");
            assert_eq!(merged(&sorted), expected, "a second time");
            assert_eq!(
                sorted.files.is_empty(),
                count * length <= buffer_bytes.max(2 * length)
            );
        }
        // The files have no names.
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let missing = PathBuf::from("/nonexistent");
        let mut sorter = RecordSorter::new(1, 1, missing);
        sorter.push_records(&[1]).unwrap();
        let error = sorter.push_records(&[2]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
