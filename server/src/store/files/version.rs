//! Versions of what lies in a data directory, which are looked at before anything is touched.
//!
//! Of the directory it is the `version` in the first line of `tasks.json`, which every version
//! keeps in that place. Of a log, a batch and a file of ids it is the eighth byte, behind seven
//! letters that say which of them it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::layout::TASKS;
use super::sum::Sum;
use super::{batch, disk, frame, ids};
use crate::store::engine::EngineError;

/// Letters, and the version.
type Magic = [u8; 8];

/// What files of each kind end in, begin with, and how long their headers are, sums included.
const KINDS: [(&str, Magic, usize); 3] = [
    ("log", frame::MAGIC, frame::HEADER),
    ("batch", batch::MAGIC, batch::HEADER),
    ("ids", ids::MAGIC, ids::HEADER),
];

/// That no file of a task is of another version.
///
/// # Errors
/// [`EngineError::Version`] when one is; and when they cannot be read.
pub(super) fn check_files(root: &Path) -> Result<(), EngineError> {
    for task in entries(&root.join(TASKS))? {
        for path in entries(&task)? {
            check_file(&path)?;
        }
    }
    Ok(())
}

/// What lies in a directory; nothing where there is none.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let read = |directory| -> io::Result<Vec<_>> {
        let entries = fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    match read(directory) {
        // Somebody may be writing, or what is no directory is told of elsewhere.
        Err(error) if is_elsewhere(&error) => Ok(Vec::new()),
        read => read.map_err(|source| disk::error(directory, source)),
    }
}

fn is_elsewhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

fn check_file(path: &Path) -> Result<(), EngineError> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let kind = KINDS.iter().find(|(own, ..)| Some(*own) == extension);
    let Some(&(_, magic, header)) = kind else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(header as u64).read_to_end(&mut bytes));
    match read {
        Err(error) if is_elsewhere(&error) => return Ok(()),
        read => read.map_err(|source| disk::error(path, source))?,
    };
    match later(&bytes, magic, header) {
        None => Ok(()),
        Some(found) => Err(EngineError::Version {
            path: path.display().to_string(),
            found: found.into(),
            known: magic[7].into(),
        }),
    }
}

/// The version of a file that begins so, where it is another than that of `magic`.
///
/// A header's sum is over the version as well. So where it verifies by the version of `magic`,
/// the file was written by that, and the byte has changed since: that is damage.
fn later(bytes: &[u8], magic: Magic, header: usize) -> Option<u8> {
    let found = bytes.strip_prefix(&magic[..7])?.first().copied()?;
    if found == magic[7] {
        return None;
    }
    let damaged = bytes.get(..header).is_some_and(|bytes| {
        let (fields, sum) = bytes.split_at(header - Sum::LENGTH);
        *sum == Sum::of(&[&magic, &fields[magic.len()..]]).0
    });
    (!damaged).then_some(found)
}
