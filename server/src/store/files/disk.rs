//! Operations that change files and directories, and atomic writes of whole files.
//!
//! Changes to a file are durable once the file is synced. Changes to a directory (files that are
//! created, renamed or removed in it) are durable once the directory is synced. If the power fails
//! before, any subset of the changes may be on the disk, and a write may be there in part. Tests
//! check that the journal survives this: they record the changes that are made here, and lose some
//! of them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::store::engine::EngineError;

/// Permissions of files: access for the collector's user only.
const FILE_MODE: u32 = 0o600;
/// Permissions of directories: access for the collector's user only.
const DIRECTORY_MODE: u32 = 0o700;

/// Name of the lock file, which is locked while a collector runs.
pub(in crate::store) const LOCK_FILE_NAME: &str = "lock";

/// Number of bytes that a probe writes: one block, the usual unit of disk space.
pub(super) const PROBE_BYTES: usize = 4096;

/// Extension of a temporary file.
const TEMPORARY_EXTENSION: &str = "unfinished";

pub(in crate::store) fn file_error(path: &Path, source: io::Error) -> EngineError {
    EngineError::FileAccess {
        path: path.display().to_string(),
        source,
    }
}

pub(super) fn damage_error(path: &Path, what: &str) -> EngineError {
    EngineError::Damaged(format!("{}: {what}", path.display()))
}

/// One change to the disk.
#[derive(Debug, Clone, Copy)]
pub(super) enum DiskChange<'a> {
    /// Creates a file, unless it exists.
    Create(&'a Path),
    /// Writes bytes at an offset.
    Write(&'a WritableFile, &'a [u8], u64),
    /// Truncates a file to a length, or extends it with zeros.
    SetLength(&'a WritableFile, u64),
    /// Syncs the changes to a file.
    Sync(&'a WritableFile),
    /// Renames a file or directory, and replaces any file that has the new name.
    Rename(&'a Path, &'a Path),
    /// Removes a file.
    Remove(&'a Path),
    /// Creates a directory.
    CreateDirectory(&'a Path),
    /// Removes a directory with its contents.
    RemoveDirectory(&'a Path),
    /// Syncs the changes to a directory.
    SyncDirectory(&'a Path),
}

impl DiskChange<'_> {
    fn apply(self) -> io::Result<()> {
        #[cfg(test)]
        if !super::tests::change_recorder::record_change(self)? {
            return Ok(());
        }
        match self {
            Self::Create(path) => open_or_create(path).map(drop),
            Self::Write(to, bytes, at) => to.file.write_all_at(bytes, at),
            Self::SetLength(of, length) => of.file.set_len(length),
            // `sync_data` also syncs the file's length, without which new data could not be read
            // back.
            Self::Sync(written) => written.file.sync_data(),
            Self::Rename(from, to) => fs::rename(from, to),
            Self::Remove(path) => fs::remove_file(path),
            Self::CreateDirectory(path) => DirBuilder::new().mode(DIRECTORY_MODE).create(path),
            Self::RemoveDirectory(path) => fs::remove_dir_all(path),
            Self::SyncDirectory(path) => File::open(path)?.sync_all(),
        }
    }

    /// Makes the change. An error names `path`.
    fn apply_with_error_path(self, path: &Path) -> Result<(), EngineError> {
        self.apply().map_err(|source| file_error(path, source))
    }
}

/// A file that is open for writing.
#[derive(Debug)]
pub(super) struct WritableFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl WritableFile {
    /// Creates an empty file that only the collector's user may access. Empties an existing file.
    fn create(path: &Path) -> io::Result<Self> {
        DiskChange::Create(path).apply()?;
        let file = Self::open(path)?;
        file.set_length(0)?;
        Ok(file)
    }

    /// Opens an existing file for writing.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    pub(super) fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        DiskChange::Write(self, bytes, at).apply()
    }

    pub(super) fn set_length(&self, length: u64) -> io::Result<()> {
        DiskChange::SetLength(self, length).apply()
    }

    /// Syncs the file: returns once everything that was written to it is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        DiskChange::Sync(self).apply()
    }

    /// Checks that the path still leads to this file. Otherwise the next start would not find the
    /// contents.
    ///
    /// # Errors
    /// When the file, or a directory that contains it, was removed, moved or replaced.
    pub(super) fn check_in_place(&self) -> io::Result<()> {
        let identity = |file: fs::Metadata| (file.dev(), file.ino());
        let own = identity(self.file.metadata()?);
        let cause = match fs::metadata(&self.path).map(identity) {
            Ok(found) if found == own => return Ok(()),
            Ok(_) => "another file is in its place".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the file was removed, moved or replaced while it was written to: {cause}"),
        ))
    }

    /// Checks, for a lock file, that the path still leads to the locked file.
    ///
    /// # Errors
    /// [`EngineError::FileReplaced`].
    pub(super) fn check_lock_in_place(&self) -> Result<(), EngineError> {
        self.check_in_place()
            .map_err(|error| EngineError::FileReplaced {
                path: self.path.display().to_string(),
                cause: error.to_string(),
                remedy: "a second process may use the journal; stop all hushbin processes of this \
                         directory, then start one",
            })
    }
}

/// Inode, modification time (seconds and nanoseconds) and length of a file. Every atomic write
/// creates a new file, and so changes the stamp.
pub(crate) type FileStamp = (u64, i64, i64, u64);

/// Returns the stamp of a file, or `None` if there is no such file.
///
/// # Errors
/// When the file cannot be looked up.
pub(crate) fn file_stamp(path: &Path) -> io::Result<Option<FileStamp>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some((
            found.ino(),
            found.mtime(),
            found.mtime_nsec(),
            found.len(),
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writer that fills a file from the beginning to the end.
struct SequentialWriter<'a> {
    file: &'a WritableFile,
    length: u64,
}

impl Write for SequentialWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes, self.length)?;
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives a file that root has created to the owner of the directory. Otherwise a command run by
/// root would lock out the collector, which runs as another user.
fn give_to_directory_owner(file: &File, path: &Path) -> io::Result<()> {
    let directory = fs::metadata(parent_directory(path))?;
    if file.metadata()?.uid() != 0 || directory.uid() == 0 {
        return Ok(());
    }
    match fchown(file, Some(directory.uid()), Some(directory.gid())) {
        // The file belongs to root, but this process is not root, so it locks no one out.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Opens a file for writing, and keeps its contents. If the file is missing, creates an empty file
/// that only the collector's user may access.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.mode(FILE_MODE).open(path)?;
    give_to_directory_owner(&file, path)?;
    Ok(file)
}

/// Writes a file atomically and durably: `write` fills a temporary file, which is then renamed.
/// After a crash, the file has either all of its new contents or its old contents.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn write_atomically_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), EngineError> {
    let unfinished = path.with_extension(TEMPORARY_EXTENSION);
    let written = || -> io::Result<()> {
        let file = WritableFile::create(&unfinished)?;
        let growing = SequentialWriter {
            file: &file,
            length: 0,
        };
        let mut out = BufWriter::new(growing);
        write(&mut out)?;
        out.flush()?;
        // Synced before the rename, so that the name never refers to incomplete contents.
        file.sync()?;
        DiskChange::Rename(&unfinished, path).apply()
    };
    written().map_err(|source| {
        // This frees space on a full disk. If it fails, too, the next start removes the file.
        let _ = DiskChange::Remove(&unfinished).apply();
        file_error(path, source)
    })?;
    // The rename is durable only once the directory is synced.
    sync_parent_directory(path)
}

/// Writes bytes to a file, atomically and durably.
///
/// # Errors
/// As [`write_atomically_with`].
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    write_atomically_with(path, |out| out.write_all(bytes))
}

/// Renames a file or directory within its parent, durably. Replaces any file that has the new name.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), EngineError> {
    DiskChange::Rename(from, to).apply_with_error_path(from)?;
    sync_parent_directory(to)
}

/// Reads a whole file. Returns `None` if the file does not exist.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, EngineError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|source| file_error(path, source)),
    }
}

/// Removes a file, durably.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn remove_file(path: &Path) -> Result<(), EngineError> {
    DiskChange::Remove(path).apply_with_error_path(path)?;
    sync_parent_directory(path)
}

/// Removes a directory with its contents, durably.
///
/// # Errors
/// When removing the directory fails. Some of its contents may be gone then.
pub(super) fn remove_directory(path: &Path) -> Result<(), EngineError> {
    DiskChange::RemoveDirectory(path).apply_with_error_path(path)?;
    sync_parent_directory(path)
}

/// Creates a directory and its parents, durably, if they are missing.
///
/// # Errors
/// When the directory cannot be created.
pub(super) fn create_directory(path: &Path) -> Result<(), EngineError> {
    match path.is_dir() {
        true => Ok(()),
        false => create_or_sync_directory(path),
    }
}

/// Creates a directory, or makes the entry of an existing directory durable.
///
/// # Errors
/// As [`create_directory`].
pub(super) fn create_or_sync_directory(path: &Path) -> Result<(), EngineError> {
    create_directory(parent_directory(path))?;
    match DiskChange::CreateDirectory(path).apply() {
        // Another process has created it, or an earlier attempt.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(|source| file_error(path, source))?,
    }
    sync_parent_directory(path)
}

/// Syncs a directory. The sync includes changes by an earlier process that was killed before it
/// could sync.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub(super) fn sync_directory(path: &Path) -> Result<(), EngineError> {
    DiskChange::SyncDirectory(path).apply_with_error_path(path)
}

/// Syncs the directory that contains a file, so that the file's entry is durable.
fn sync_parent_directory(path: &Path) -> Result<(), EngineError> {
    sync_directory(parent_directory(path))
}

/// Returns the directory that contains a path.
pub(super) fn parent_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Checks that the directory that contains a path exists. A missing one is likely to be a disk that
/// is not mounted, so it is not created.
///
/// # Errors
/// When it does not exist.
pub(super) fn check_parent_exists(path: &Path) -> Result<(), EngineError> {
    let parent = parent_directory(path);
    match parent.is_dir() {
        true => Ok(()),
        false => {
            let missing = "the directory does not exist, mount or create it";
            let missing = io::Error::new(io::ErrorKind::NotFound, missing);
            Err(file_error(parent, missing))
        }
    }
}

/// Returns true if the path is that of a temporary file.
pub(super) fn is_temporary_path(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == TEMPORARY_EXTENSION)
}
