//! Records changes to the disk, so that tests can lose some of them, and makes changes fail.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::disk::{DiskChange, is_temporary_path};

/// A recorded change, independent of open files. Paths are relative to the recorder's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordedChange {
    Create(PathBuf),
    Write(PathBuf, Vec<u8>, u64),
    SetLength(PathBuf, u64),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    CreateDirectory(PathBuf),
    RemoveDirectory(PathBuf),
    SyncDirectory(PathBuf),
}

/// Way in which the next changes fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// All changes are made.
    Made,
    /// After this number of changes, the process is killed. If the next change is a write, half of
    /// its bytes are written.
    Killed(usize),
    /// The process has been killed. All changes fail.
    Gone,
    /// The first number counts changes that are still made. The second number counts later changes
    /// that need disk space and fail. Half of the bytes of a failed write are written.
    Full(usize, usize),
    /// The first number counts changes that are still made. The second number counts later changes,
    /// of any kind, that fail.
    Failing(usize, usize),
}

/// Error number of the operating system for a failing disk.
pub(super) const EIO: i32 = 5;

impl Fault {
    /// Returns the error of a change, or `None` if the change succeeds.
    fn strikes(&mut self, noted: &RecordedChange) -> Option<io::Error> {
        match self {
            Self::Made => None,
            Self::Gone | Self::Killed(0) => Some(io::Error::other("the process is gone")),
            Self::Full(0, 0) | Self::Failing(0, 0) => {
                *self = Self::Made;
                None
            }
            Self::Full(0, left) if noted.needs_room() => {
                *left -= 1;
                Some(io::ErrorKind::StorageFull.into())
            }
            Self::Full(0, _) => None,
            Self::Failing(0, left) => {
                *left -= 1;
                Some(io::Error::from_raw_os_error(EIO))
            }
            Self::Killed(before) | Self::Full(before, _) | Self::Failing(before, _) => {
                *before -= 1;
                None
            }
        }
    }
}

#[derive(Debug)]
struct Recorded {
    changes: Vec<RecordedChange>,
    fault: Fault,
}

/// Recorder of changes below a directory, in order. It records until it is dropped.
#[derive(Debug)]
pub(super) struct ChangeRecorder {
    root: PathBuf,
    recorded: Arc<Mutex<Recorded>>,
}

/// All recorders that exist, each with its directory.
static RECORDERS: Mutex<Vec<(PathBuf, Arc<Mutex<Recorded>>)>> = Mutex::new(Vec::new());

impl ChangeRecorder {
    pub(super) fn of(root: &Path) -> Self {
        let recorded = Arc::new(Mutex::new(Recorded {
            changes: Vec::new(),
            fault: Fault::Made,
        }));
        let entry = (root.to_owned(), Arc::clone(&recorded));
        RECORDERS.lock().unwrap().push(entry);
        let root = root.to_owned();
        Self { root, recorded }
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap()
    }

    /// Returns the number of recorded changes.
    pub(super) fn length(&self) -> usize {
        self.recorded().changes.len()
    }

    pub(super) fn changes(&self) -> Vec<RecordedChange> {
        self.recorded().changes.clone()
    }

    /// Sets the way in which the next changes fail.
    pub(super) fn set_fault(&self, fault: Fault) {
        self.recorded().fault = fault;
    }

    /// Returns true if changes fail at present because the disk is full.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.recorded().fault, Fault::Full(..))
    }

    /// Returns true if the process has been killed.
    pub(super) fn is_killed(&self) -> bool {
        self.recorded().fault == Fault::Gone
    }
}

impl Drop for ChangeRecorder {
    fn drop(&mut self) {
        RECORDERS
            .lock()
            .unwrap()
            .retain(|(root, _)| *root != self.root);
    }
}

impl RecordedChange {
    fn of(change: DiskChange<'_>, root: &Path) -> Option<Self> {
        let below = |path: &Path| path.strip_prefix(root).ok().map(Path::to_owned);
        Some(match change {
            DiskChange::Create(path) => Self::Create(below(path)?),
            DiskChange::Write(to, bytes, at) => Self::Write(below(&to.path)?, bytes.to_vec(), at),
            DiskChange::SetLength(of, length) => Self::SetLength(below(&of.path)?, length),
            DiskChange::Sync(written) => Self::Sync(below(&written.path)?),
            DiskChange::Rename(from, to) => Self::Rename(below(from)?, below(to)?),
            DiskChange::Remove(path) => Self::Remove(below(path)?),
            DiskChange::CreateDirectory(path) => Self::CreateDirectory(below(path)?),
            DiskChange::RemoveDirectory(path) => Self::RemoveDirectory(below(path)?),
            DiskChange::SyncDirectory(path) => Self::SyncDirectory(below(path)?),
        })
    }

    /// Returns true if a full disk refuses the change.
    fn needs_room(&self) -> bool {
        match self {
            Self::Create(_) | Self::Write(..) | Self::CreateDirectory(_) => true,
            // The directory may have no space for another entry.
            Self::Rename(from, _) => is_temporary_path(from),
            _ => false,
        }
    }
}

/// Records a change that is about to be made. Returns true if the caller is to make the change. A
/// sync is only recorded, because the simulated disk decides which unsynced changes are lost.
pub(in super::super) fn record_change(change: DiskChange<'_>) -> io::Result<bool> {
    let recorders = RECORDERS.lock().unwrap();
    let found = recorders.iter().find_map(|(root, recorded)| {
        Some((RecordedChange::of(change, root)?, Arc::clone(recorded)))
    });
    drop(recorders);
    let Some((noted, recorded)) = found else {
        return Ok(true);
    };
    let mut recorded = recorded.lock().unwrap();
    if let Some(error) = recorded.fault.strikes(&noted) {
        let gone = recorded.fault == Fault::Gone;
        if let (RecordedChange::Write(path, bytes, at), DiskChange::Write(to, ..), false) =
            (noted, change, gone)
        {
            let half = &bytes[..bytes.len() / 2];
            to.file.write_all_at(half, at)?;
            recorded
                .changes
                .push(RecordedChange::Write(path, half.to_vec(), at));
        }
        if let Fault::Killed(0) = recorded.fault {
            recorded.fault = Fault::Gone;
        }
        return Err(error);
    }
    let sync = matches!(
        noted,
        RecordedChange::Sync(_) | RecordedChange::SyncDirectory(_)
    );
    recorded.changes.push(noted);
    Ok(!sync)
}
