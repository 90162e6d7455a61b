//! Every change to the disk, and files that are there whole, or not at all.
//!
//! What is changed of a file is on the disk once the file is synced, and what is changed of a
//! directory (files that are made, renamed or removed in it) once the directory is. Before that,
//! when the power goes, any of it may be there and any not, a write in part. Tests hold the
//! journal to that: they record changes here, and lose them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

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

/// One change to the disk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    /// Makes a file, unless it is there.
    Create(&'a Path),
    /// Writes bytes at a place.
    Write(&'a Written, &'a [u8], u64),
    /// Cuts a file to a length, or extends it by zeros.
    SetLength(&'a Written, u64),
    /// Has what was changed of a file on the disk.
    Sync(&'a Written),
    /// Gives a file another name, in whose place another file may be.
    Rename(&'a Path, &'a Path),
    /// Removes a file.
    Remove(&'a Path),
    /// Makes a directory.
    CreateDirectory(&'a Path),
    /// Removes a directory with all that is in it.
    RemoveDirectory(&'a Path),
    /// Has what was changed of a directory on the disk.
    SyncDirectory(&'a Path),
}

impl Change<'_> {
    fn make(self) -> io::Result<()> {
        #[cfg(test)]
        if !super::tests::tape::note(self)? {
            return Ok(());
        }
        match self {
            Self::Create(path) => open_to_lock(path).map(drop),
            Self::Write(to, bytes, at) => to.file.write_all_at(bytes, at),
            Self::SetLength(of, length) => of.file.set_len(length),
            // The length included, without which data is not found.
            Self::Sync(written) => written.file.sync_data(),
            Self::Rename(from, to) => fs::rename(from, to),
            Self::Remove(path) => fs::remove_file(path),
            Self::CreateDirectory(path) => DirBuilder::new().mode(DIRECTORY_MODE).create(path),
            Self::RemoveDirectory(path) => fs::remove_dir_all(path),
            Self::SyncDirectory(path) => File::open(path)?.sync_all(),
        }
    }

    /// The same, where the error is to name what was touched.
    fn make_at(self, path: &Path) -> Result<(), EngineError> {
        self.make().map_err(|source| error(path, source))
    }
}

/// A file that is written to.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl Written {
    /// Opens an empty file for the collector's own user.
    fn create(path: &Path) -> io::Result<Self> {
        Change::Create(path).make()?;
        let file = Self::open(path)?;
        file.set_length(0)?;
        Ok(file)
    }

    /// Opens a file that is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    pub(super) fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        Change::Write(self, bytes, at).make()
    }

    pub(super) fn set_length(&self, length: u64) -> io::Result<()> {
        Change::SetLength(self, length).make()
    }

    /// Returns when all that was written is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Change::Sync(self).make()
    }

    /// That what was written can be found again.
    ///
    /// # Errors
    /// When the file was removed.
    pub(super) fn is_there(&self) -> io::Result<()> {
        match self.file.metadata()?.nlink() {
            0 => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the file was removed while it was written to",
            )),
            _ => Ok(()),
        }
    }
}

/// A file that is written from its beginning to its end.
struct Growing<'a> {
    file: &'a Written,
    length: u64,
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes, self.length)?;
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Leaves a file that root has made to whoever has its directory: a command that root types is not
/// to keep the collector out, which runs as another user.
fn leave(file: &File, path: &Path) -> io::Result<()> {
    let directory = fs::metadata(parent(path))?;
    if file.metadata()?.uid() != 0 || directory.uid() == 0 {
        return Ok(());
    }
    match fchown(file, Some(directory.uid()), Some(directory.gid())) {
        // It is root's, and whoever runs this is not root: nobody is kept out by this.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Opens a file as it is, or an empty one for the collector's own user, to be locked.
pub(crate) fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.mode(FILE_MODE).open(path)?;
    leave(&file, path)?;
    Ok(file)
}

/// Writes a file by what `write` puts into it, durably: a crash leaves it whole, or leaves what
/// was there.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), EngineError> {
    let unfinished = path.with_extension(UNFINISHED);
    let written = || -> io::Result<()> {
        let file = Written::create(&unfinished)?;
        let growing = Growing {
            file: &file,
            length: 0,
        };
        let mut out = BufWriter::new(growing);
        write(&mut out)?;
        out.flush()?;
        file.sync()?;
        Change::Rename(&unfinished, path).make()
    };
    written().map_err(|source| {
        // On a full disk, room for others; where that fails, too, the next start does it.
        let _ = Change::Remove(&unfinished).make();
        error(path, source)
    })?;
    sync_directory_of(path)
}

/// The same of bytes that are there.
///
/// # Errors
/// As [`write_whole_by`].
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    write_whole_by(path, |out| out.write_all(bytes))
}

/// Gives a directory another name beside it, durably.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), EngineError> {
    Change::Rename(from, to).make_at(from)?;
    sync_directory_of(to)
}

/// Removes a file, durably.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn remove(path: &Path) -> Result<(), EngineError> {
    Change::Remove(path).make_at(path)?;
    sync_directory_of(path)
}

/// Removes a directory with all that is in it, durably.
///
/// # Errors
/// When the disk does not take it; some of it may be gone.
pub(super) fn remove_directory(path: &Path) -> Result<(), EngineError> {
    Change::RemoveDirectory(path).make_at(path)?;
    sync_directory_of(path)
}

/// Makes a directory, durably, and those that it lies in, when there is none.
///
/// # Errors
/// When it cannot be made.
pub(super) fn create_directory(path: &Path) -> Result<(), EngineError> {
    match path.is_dir() {
        true => Ok(()),
        false => create_directory_anew(path),
    }
}

/// The same of one that may have been made when the disk failed, before its entry was durable.
///
/// # Errors
/// As [`create_directory`].
pub(super) fn create_directory_anew(path: &Path) -> Result<(), EngineError> {
    create_directory(parent(path))?;
    match Change::CreateDirectory(path).make() {
        // Another process was there first, or this one.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(|source| error(path, source))?,
    }
    sync_directory_of(path)
}

/// Has on the disk what was changed of a directory: also by a process before this one, which may
/// have been killed before it could.
///
/// # Errors
/// When it cannot be read, or the disk does not take it.
pub(super) fn sync_directory(path: &Path) -> Result<(), EngineError> {
    Change::SyncDirectory(path).make_at(path)
}

/// Makes the entry of a file durable.
fn sync_directory_of(path: &Path) -> Result<(), EngineError> {
    sync_directory(parent(path))
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a file's name is that of one that never became whole.
pub(super) fn is_unfinished(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == UNFINISHED)
}
