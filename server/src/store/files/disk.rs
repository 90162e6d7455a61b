//! Files that are there whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::store::engine::EngineError;

/// For the collector's own user alone.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Held while a collector runs.
pub(in crate::store) const LOCK: &str = "lock";

/// What a file is called until it is whole.
const UNFINISHED: &str = "unfinished";

pub(in crate::store) fn error(path: &Path, source: io::Error) -> EngineError {
    EngineError::File {
        path: path.display().to_string(),
        source,
    }
}

pub(super) fn damaged(path: &Path, what: &str) -> EngineError {
    EngineError::Damaged(format!("{}: {what}", path.display()))
}

/// Opens an empty file for the collector's own user.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let file = open_to_lock(path)?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a file as it is, or an empty one for the collector's own user, to be locked.
pub(crate) fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    options.mode(FILE_MODE).open(path)
}

/// Writes a file by what `write` puts into it, durably: a crash leaves it whole, or leaves what
/// was there.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), EngineError> {
    let unfinished = path.with_extension(UNFINISHED);
    let written = || -> io::Result<()> {
        let mut file = create(&unfinished)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    written().map_err(|source| error(path, source))?;
    sync_directory_of(path)
}

/// The same of bytes that are there.
///
/// # Errors
/// As [`write_whole_by`].
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    write_whole_by(path, |file| file.write_all(bytes))
}

/// Opens a file that is there.
pub(super) fn open_to_write(path: &Path) -> Result<File, EngineError> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|source| error(path, source))
}

/// Removes a file, durably.
pub(super) fn remove(path: &Path) -> Result<(), EngineError> {
    fs::remove_file(path).map_err(|source| error(path, source))?;
    sync_directory_of(path)
}

/// Makes a directory, durably, when there is none.
///
/// # Errors
/// When it cannot be made.
pub(super) fn create_directory(path: &Path) -> Result<(), EngineError> {
    if path.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
        .map_err(|source| error(path, source))?;
    sync_directory_of(path)
}

/// Makes the entry of a file durable.
fn sync_directory_of(path: &Path) -> Result<(), EngineError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent)
        .and_then(|directory| directory.sync_all())
        .map_err(|source| error(parent, source))
}

/// Whether a file's name is that of one that never became whole.
pub(super) fn is_unfinished(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == UNFINISHED)
}
