//! Ids of the uploads in released batches, sorted in files that never change.
//!
//! ```text
//! file   := header id[16]* sum
//! header := "hushids\x01" fingerprint[16] first[8] last[8] count[8] sum
//! ```
//!
//! A file contains the ids of the uploads in the batches from `first` to `last`. The level of a
//! file is ⌊log₄ m⌋, where m is the number of these batches. Four neighbouring files of the same
//! level are merged. So with n batches, an id is written log₄ n times, and looked up in at most 3
//! log₄ n files. A file does not reveal which report came with which id: the reports are in another
//! file, in another order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::checksum::{Checksum, take_array_from_slice};
use super::disk;
use crate::store::engine::EngineError;

pub(super) const IDS_FILE_MAGIC: [u8; 8] = *b"hushids\x01";
pub(super) const IDS_HEADER_LENGTH: usize = 8 + 16 + 8 + 8 + 8 + Checksum::LENGTH;

/// Number of ids that one read fetches: a page of the disk, 4,096 bytes.
const IDS_PER_PAGE: usize = 256;

/// Number of neighbouring files that are merged into one file.
const FILES_PER_MERGE: usize = 4;

type UploadIdBytes = [u8; 16];

/// Range of batches whose ids a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchSpan {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl BatchSpan {
    /// Computes the level of a span. A span of m batches has the level ⌊log₄ m⌋.
    fn merge_level(self) -> u32 {
        (self.last - self.first + 1).ilog(FILES_PER_MERGE as u64)
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// File with the ids of the uploads in a range of batches.
#[derive(Debug)]
pub(super) struct UploadIdsFile {
    file: File,
    path: PathBuf,
    pub(super) span: BatchSpan,
    count: u64,
    /// First id of each page. A page has [`IDS_PER_PAGE`] ids.
    first_id_of_each_page: Vec<UploadIdBytes>,
}

impl UploadIdsFile {
    /// Sorts ids, and writes them to a file durably.
    ///
    /// # Errors
    /// When writing to the disk fails.
    pub(super) fn write(
        path: &Path,
        fingerprint: [u8; 16],
        span: BatchSpan,
        mut ids: Vec<UploadIdBytes>,
    ) -> Result<Self, EngineError> {
        ids.sort_unstable();
        let sorted = ids.into_iter().map(Ok);
        Self::write_sorted(path, fingerprint, span, sorted.len() as u64, sorted)
    }

    fn write_sorted(
        path: &Path,
        fingerprint: [u8; 16],
        span: BatchSpan,
        count: u64,
        sorted: impl Iterator<Item = std::io::Result<UploadIdBytes>>,
    ) -> Result<Self, EngineError> {
        let mut header = IDS_FILE_MAGIC.to_vec();
        header.extend(fingerprint);
        for number in [span.first, span.last, count] {
            header.extend(number.to_le_bytes());
        }
        let sum = Checksum::compute(&[&header]);
        header.extend(sum.0);
        disk::write_atomically_with(path, |out| {
            let mut hash = Sha256::new();
            out.write_all(&header)?;
            for id in sorted {
                let id = id?;
                hash.update(id);
                out.write_all(&id)?;
            }
            out.write_all(&hash.finalize()[..Checksum::LENGTH])
        })?;
        Self::open(path, fingerprint)
    }

    /// Opens and verifies a file of ids.
    ///
    /// # Errors
    /// When the file cannot be read, is not a file of ids, belongs to another task, or is damaged.
    pub(super) fn open(path: &Path, fingerprint: [u8; 16]) -> Result<Self, EngineError> {
        let failed = |source| disk::file_error(path, source);
        let damaged = |what| disk::damage_error(path, what);
        let file = File::open(path).map_err(failed)?;
        let mut input = BufReader::with_capacity(1 << 16, &file);
        let mut header = [0; IDS_HEADER_LENGTH];
        input.read_exact(&mut header).map_err(failed)?;
        let Some((own, span, count)) = read_header(&header) else {
            let what = "it does not start with the header of a list of ids of this format version";
            return Err(damaged(what));
        };
        if own != fingerprint {
            return Err(damaged("it belongs to another task"));
        }
        let mut hash = Sha256::new();
        let mut firsts = Vec::new();
        let mut block = vec![0; IDS_PER_PAGE * 16];
        let mut left = count;
        while left > 0 {
            let ids = left.min(IDS_PER_PAGE as u64) as usize;
            let block = &mut block[..ids * 16];
            input.read_exact(block).map_err(failed)?;
            hash.update(&block);
            firsts.extend(block.first_chunk::<16>());
            left -= ids as u64;
        }
        let mut sum = [0; Checksum::LENGTH];
        input.read_exact(&mut sum).map_err(failed)?;
        if hash.finalize()[..Checksum::LENGTH] != sum || input.read(&mut [0]).map_err(failed)? != 0
        {
            return Err(damaged("its ids have changed since they were written"));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            span,
            count,
            first_id_of_each_page: firsts,
        })
    }

    /// Returns true if the file contains an id.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn contains(&self, id: &UploadIdBytes) -> Result<bool, EngineError> {
        // The id can only be in the last page whose first id is not greater.
        let after = self
            .first_id_of_each_page
            .partition_point(|first| first <= id);
        let Some(block) = after.checked_sub(1) else {
            return Ok(false);
        };
        let begin = block * IDS_PER_PAGE;
        let ids = (self.count as usize - begin).min(IDS_PER_PAGE);
        let mut bytes = [0; IDS_PER_PAGE * 16];
        let bytes = &mut bytes[..ids * 16];
        self.file
            .read_exact_at(bytes, (IDS_HEADER_LENGTH + begin * 16) as u64)
            .map_err(|source| disk::file_error(&self.path, source))?;
        let (ids, _) = bytes.as_chunks::<16>();
        Ok(ids.binary_search(id).is_ok())
    }

    /// Returns an iterator over the ids, in ascending order.
    fn iter(
        &self,
    ) -> std::io::Result<impl Iterator<Item = std::io::Result<UploadIdBytes>> + use<>> {
        let mut input = BufReader::with_capacity(1 << 16, File::open(&self.path)?);
        input.read_exact(&mut [0; IDS_HEADER_LENGTH])?;
        let ids = 0..self.count;
        Ok(ids.map(move |_| {
            let mut id = [0; 16];
            input.read_exact(&mut id).map(|()| id)
        }))
    }
}

/// Decodes a header: the task's fingerprint, the span, and the number of ids.
fn read_header(header: &[u8; IDS_HEADER_LENGTH]) -> Option<([u8; 16], BatchSpan, u64)> {
    let (fields, sum) = header.split_at(IDS_HEADER_LENGTH - Checksum::LENGTH);
    let mut rest = fields;
    let begins = take_array_from_slice(&mut rest) == Some(IDS_FILE_MAGIC)
        && sum == Checksum::compute(&[fields]).0;
    let fingerprint = take_array_from_slice(&mut rest)?;
    let mut number = || take_array_from_slice(&mut rest).map(u64::from_le_bytes);
    let (first, last, count) = (number()?, number()?, number()?);
    (begins && first <= last).then_some((fingerprint, BatchSpan { first, last }, count))
}

/// Returns the fingerprint of the task to which a file of ids belongs. Returns `None` if the file's
/// header is invalid.
pub(super) fn task_fingerprint(path: &Path) -> Option<[u8; 16]> {
    let mut header = [0; IDS_HEADER_LENGTH];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    read_header(&header).map(|(fingerprint, ..)| fingerprint)
}

/// Returns the indices of the spans to merge: [`FILES_PER_MERGE`] neighbours of the same level. Returns
/// `None` if there are no such neighbours. `spans` is sorted, oldest first.
pub(super) fn spans_to_merge(spans: &[BatchSpan]) -> Option<std::ops::Range<usize>> {
    let same = |window: &[BatchSpan]| {
        window
            .iter()
            .all(|span| span.merge_level() == window[0].merge_level())
    };
    let at = spans.windows(FILES_PER_MERGE).rposition(same)?;
    Some(at..at + FILES_PER_MERGE)
}

/// Merges neighbouring files of ids into one new file, durably. Does not remove the old files.
///
/// # Errors
/// When the old files cannot be read, or writing to the disk fails.
pub(super) fn merge_files(
    directory: &Path,
    fingerprint: [u8; 16],
    parts: &[&UploadIdsFile],
) -> Result<UploadIdsFile, EngineError> {
    let span = BatchSpan {
        first: parts[0].span.first,
        last: parts[parts.len() - 1].span.last,
    };
    let count = parts.iter().map(|part| part.count).sum();
    let failed = |source| disk::file_error(directory, source);
    let mut inputs = parts.iter().map(|part| part.iter());
    let mut inputs = inputs
        .by_ref()
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    // A k-way merge: the heap contains the next id of every part.
    let mut next = BinaryHeap::new();
    let mut advance = |at: usize, next: &mut BinaryHeap<_>| -> std::io::Result<()> {
        let id = inputs[at].next().transpose()?;
        next.extend(id.map(|id| Reverse((id, at))));
        Ok(())
    };
    for at in 0..parts.len() {
        advance(at, &mut next).map_err(failed)?;
    }
    let sorted = std::iter::from_fn(|| {
        let Reverse((id, at)) = next.pop()?;
        Some(advance(at, &mut next).map(|()| id))
    });
    let path = directory.join(ids_file_name(span));
    UploadIdsFile::write_sorted(&path, fingerprint, span, count, sorted)
}

/// Returns the name of the file that contains the ids for a span of batches.
pub(super) fn ids_file_name(BatchSpan { first, last }: BatchSpan) -> String {
    format!("{first:08}-{last:08}.ids")
}

/// Parses the span of batches from the name of a file of ids. Returns `None` for the name of any
/// other file.
pub(super) fn parse_ids_file_name(name: &str) -> Option<BatchSpan> {
    let (first, last) = name.strip_suffix(".ids")?.split_once('-')?;
    let span = BatchSpan {
        first: first.parse().ok()?,
        last: last.parse().ok()?,
    };
    (ids_file_name(span) == name).then_some(span)
}
