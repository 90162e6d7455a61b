//! A released batch: its totals and its reports, in a file that does not change.
//!
//! ```text
//! file    := header totals sum lengths sum (block sum)*
//! header  := "hushbat\x01" fingerprint[16] batch[8] opened[8] closed[8] reports[8]
//!            totals[8] blocks[8] sum
//! lengths := length[4] of each block
//! ```
//!
//! Each `sum` is a checksum of the part before it. Numbers are little endian. A block contains some
//! of the reports, encoded as an upload, in the format that pages send. The upload id of a block is
//! the block's number. A block of sealed reports has the format of
//! [`SealedBlocks`](crate::store::sealed_blocks::SealedBlocks).
//!
//! The reports of the batch are sorted by their bytes. So the file reveals neither the order in
//! which reports arrived nor which reports arrived together. Once the reports are no longer needed,
//! the file is rewritten without blocks.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::checksum::{Checksum, take_array_from_slice};
use super::disk;
use crate::store::engine::{EngineError, ReleasedBlocks};

pub(super) const BATCH_FILE_MAGIC: [u8; 8] = *b"hushbat\x01";
pub(super) const BATCH_HEADER_LENGTH: usize = 8 + 16 + 6 * 8 + Checksum::LENGTH;

/// Header of a batch file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchHeader {
    pub(super) fingerprint: [u8; 16],
    pub(super) batch: u64,
    /// Time at which the batch was opened, in seconds since 1970.
    pub(super) opened_at: u64,
    /// Time at which the batch was closed, in seconds since 1970.
    pub(super) closed_at: u64,
    pub(super) report_count: u64,
}

/// Batch file that is open for reading.
#[derive(Debug)]
pub(super) struct BatchFile {
    file: File,
    path: PathBuf,
    pub(super) header: BatchHeader,
    /// Length of the encoded totals, in bytes.
    totals_length: u64,
    /// Number of blocks.
    block_count: u64,
}

/// Writes a batch file, durably.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn write_batch_file(
    path: &Path,
    header: &BatchHeader,
    totals: &[u8],
    blocks: &ReleasedBlocks,
) -> Result<(), EngineError> {
    let mut encoded = BATCH_FILE_MAGIC.to_vec();
    encoded.extend(header.fingerprint);
    let BatchHeader {
        batch,
        opened_at: opened,
        closed_at: closed,
        report_count: reports,
        ..
    } = *header;
    let lengths = blocks.lengths();
    let sizes = [totals.len() as u64, lengths.len() as u64];
    for number in [batch, opened, closed, reports].into_iter().chain(sizes) {
        encoded.extend(number.to_le_bytes());
    }
    let lengths: Vec<u8> = lengths.into_iter().flat_map(u32::to_le_bytes).collect();
    disk::write_atomically_with(path, |out| {
        let mut write = |part: &[u8]| {
            out.write_all(part)?;
            out.write_all(&Checksum::compute(&[part]).0)
        };
        [&encoded[..], totals, &lengths]
            .into_iter()
            .try_for_each(&mut write)?;
        blocks.for_each_block(&mut write)
    })
}

impl BatchFile {
    /// Opens a batch file, and verifies its header.
    ///
    /// # Errors
    /// When the file cannot be read, is not a batch file, or has a damaged header.
    pub(super) fn open(path: &Path) -> Result<Self, EngineError> {
        let failed = |source| disk::file_error(path, source);
        let file = File::open(path).map_err(failed)?;
        let mut bytes = [0; BATCH_HEADER_LENGTH];
        file.read_exact_at(&mut bytes, 0)
            .map_err(|source| match source.kind() {
                ErrorKind::UnexpectedEof => disk::damage_error(path, "it ends within its header"),
                _ => failed(source),
            })?;
        let (fields, mut sum) = bytes.split_at(BATCH_HEADER_LENGTH - Checksum::LENGTH);
        let mut rest = fields;
        let begins = take_array_from_slice(&mut rest) == Some(BATCH_FILE_MAGIC)
            && take_array_from_slice(&mut sum) == Some(Checksum::compute(&[fields]).0);
        if !begins {
            return Err(disk::damage_error(
                path,
                "it does not start with the header of a batch of this format version",
            ));
        }
        // The header has a fixed length, so no field is missing and no default is used.
        let fingerprint = take_array_from_slice(&mut rest).unwrap_or_default();
        let mut number = || take_array_from_slice(&mut rest).map_or(0, u64::from_le_bytes);
        let header = BatchHeader {
            fingerprint,
            batch: number(),
            opened_at: number(),
            closed_at: number(),
            report_count: number(),
        };
        let (totals, blocks) = (number(), number());
        Ok(Self {
            file,
            path: path.to_owned(),
            header,
            totals_length: totals,
            block_count: blocks,
        })
    }

    /// Returns true if the reports are still in the file.
    pub(super) fn has_reports(&self) -> bool {
        self.block_count > 0 || self.header.report_count == 0
    }

    /// Reads the encoded totals, and verifies the checksum.
    ///
    /// # Errors
    /// When the totals cannot be read or are damaged.
    pub(super) fn totals(&self) -> Result<Vec<u8>, EngineError> {
        self.read_verified_part(
            BATCH_HEADER_LENGTH as u64,
            self.totals_length,
            "its totals have",
        )
    }

    /// Verifies and visits the blocks of reports, one by one, until the visitor breaks.
    ///
    /// # Errors
    /// When a block cannot be read or is damaged.
    pub(super) fn for_each_block(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> std::ops::ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let mut at = BATCH_HEADER_LENGTH as u64 + self.totals_length + Checksum::LENGTH as u64;
        let lengths =
            self.read_verified_part(at, 4 * self.block_count, "its table of reports has")?;
        at += (lengths.len() + Checksum::LENGTH) as u64;
        for length in lengths.as_chunks().0 {
            let length = u64::from(u32::from_le_bytes(*length));
            let block = self.read_verified_part(at, length, "its reports have")?;
            at += length + Checksum::LENGTH as u64;
            if visit(&block).is_break() {
                return Ok(());
            }
        }
        // Bytes after the last block were not written by this program.
        let size = self
            .file
            .metadata()
            .map_err(|source| disk::file_error(&self.path, source))?;
        if size.len() == at {
            Ok(())
        } else {
            Err(disk::damage_error(
                &self.path,
                "it has extra bytes at the end",
            ))
        }
    }

    /// Reads `length` bytes at the offset `at`, and verifies the checksum that follows them. The
    /// message of an error begins with `what`.
    fn read_verified_part(&self, at: u64, length: u64, what: &str) -> Result<Vec<u8>, EngineError> {
        let failed = |source| disk::file_error(&self.path, source);
        let size = self.file.metadata().map_err(failed)?.len();
        let changed =
            || disk::damage_error(&self.path, &format!("{what} changed since it was written"));
        // A damaged length may be any number, so additions are checked.
        let behind = at
            .checked_add(length)
            .and_then(|end| end.checked_add(Checksum::LENGTH as u64));
        if behind.is_none_or(|end| end > size) {
            return Err(changed());
        }
        let mut bytes = vec![0; length as usize + Checksum::LENGTH];
        self.file.read_exact_at(&mut bytes, at).map_err(failed)?;
        let sum = bytes.split_off(length as usize);
        if Checksum::compute(&[&bytes]).0[..] == sum[..] {
            Ok(bytes)
        } else {
            Err(changed())
        }
    }
}
