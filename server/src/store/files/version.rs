//! Checks of the versions of files in a data directory, before anything is changed.
//!
//! The version of the directory is the field `version` in the first line of `tasks.json`. Every
//! version of hushbin keeps this rule. The version of a log, a batch file or a file of ids is the
//! eighth byte of the file. The seven letters before that byte name the kind of file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::checksum::Checksum;
use super::layout::TASKS_DIRECTORY;
use super::{batch, disk, frame, ids};
use crate::store::engine::EngineError;

/// First eight bytes of a file: seven letters that name the kind of file, and the version.
type Magic = [u8; 8];

/// Kinds of files: the extension, the first bytes, and the length of the header with its checksum.
const KINDS: [(&str, Magic, usize); 3] = [
    ("log", frame::LOG_MAGIC, frame::LOG_HEADER_LENGTH),
    ("batch", batch::BATCH_FILE_MAGIC, batch::BATCH_HEADER_LENGTH),
    ("ids", ids::IDS_FILE_MAGIC, ids::IDS_HEADER_LENGTH),
];

/// Checks that all files of tasks have the versions that this program knows.
///
/// # Errors
/// [`EngineError::UnsupportedVersion`] when a file has another version. Another error when files cannot be
/// read.
pub(super) fn check_file_versions(root: &Path) -> Result<(), EngineError> {
    for task in directory_entries(&root.join(TASKS_DIRECTORY))? {
        for path in directory_entries(&task)? {
            check_file_version(&path)?;
        }
    }
    Ok(())
}

/// Returns the paths in a directory. The result is empty if the directory does not exist.
pub(super) fn directory_entries(directory: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let read = |directory| -> io::Result<Vec<_>> {
        let entries = fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    match read(directory) {
        // A writer may be changing the directory. A path that is no directory is reported
        // elsewhere.
        Err(error) if is_ignorable_error(&error) => Ok(Vec::new()),
        read => read.map_err(|source| disk::file_error(directory, source)),
    }
}

/// Returns true for the errors that are ignored: a path is missing, or is not of the expected type.
fn is_ignorable_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

fn check_file_version(path: &Path) -> Result<(), EngineError> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let kind = KINDS.iter().find(|(own, ..)| Some(*own) == extension);
    let Some(&(_, magic, header)) = kind else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(header as u64).read_to_end(&mut bytes));
    match read {
        Err(error) if is_ignorable_error(&error) => return Ok(()),
        read => read.map_err(|source| disk::file_error(path, source))?,
    };
    match unsupported_version_number(&bytes, magic, header) {
        None => Ok(()),
        Some(found) => Err(EngineError::UnsupportedVersion {
            path: path.display().to_string(),
            found: found.into(),
            known: magic[7].into(),
        }),
    }
}

/// Returns the version of a file that begins with `bytes`. Returns `None` if the file has the
/// version in `magic`.
fn unsupported_version_number(bytes: &[u8], magic: Magic, header: usize) -> Option<u8> {
    let found = bytes.strip_prefix(&magic[..7])?.first().copied()?;
    if found == magic[7] {
        return None;
    }
    // The checksum covers the version byte. If the checksum is right for the expected version, that
    // version wrote the file, and the byte has changed since. This is damage, not another version.
    let damaged = bytes.get(..header).is_some_and(|bytes| {
        let (fields, sum) = bytes.split_at(header - Checksum::LENGTH);
        *sum == Checksum::compute(&[&magic, &fields[magic.len()..]]).0
    });
    (!damaged).then_some(found)
}
