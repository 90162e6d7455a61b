//! What is changed on the disk, recorded, so that it can be lost; and changes that fail.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::disk::{Change, is_unfinished};

/// A change, apart from the file that it was made to. Paths begin at the tape's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Noted {
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

/// What becomes of changes to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Made,
    /// After so many more the process is gone: half of the next is made if it is a write.
    Killed(usize),
    Gone,
    /// After so many more, so many fail that need room, writes in the middle.
    Full(usize, usize),
    /// After so many more, so many fail, whatever they are.
    Failing(usize, usize),
}

/// What the operating system calls a disk that fails.
pub(super) const EIO: i32 = 5;

impl Fate {
    /// Why a change fails, if it does.
    fn strikes(&mut self, noted: &Noted) -> Option<io::Error> {
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
    noted: Vec<Noted>,
    fate: Fate,
}

/// What happens below a directory, in the order in which it did, until it is dropped.
#[derive(Debug)]
pub(super) struct Tape {
    root: PathBuf,
    recorded: Arc<Mutex<Recorded>>,
}

/// Those that run.
static TAPES: Mutex<Vec<(PathBuf, Arc<Mutex<Recorded>>)>> = Mutex::new(Vec::new());

impl Tape {
    pub(super) fn of(root: &Path) -> Self {
        let recorded = Arc::new(Mutex::new(Recorded {
            noted: Vec::new(),
            fate: Fate::Made,
        }));
        let entry = (root.to_owned(), Arc::clone(&recorded));
        TAPES.lock().unwrap().push(entry);
        let root = root.to_owned();
        Self { root, recorded }
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap()
    }

    /// How much has happened.
    pub(super) fn length(&self) -> usize {
        self.recorded().noted.len()
    }

    pub(super) fn noted(&self) -> Vec<Noted> {
        self.recorded().noted.clone()
    }

    /// Decides on changes to come.
    pub(super) fn decide(&self, fate: Fate) {
        self.recorded().fate = fate;
    }

    /// Whether what fails at present does for want of room.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.recorded().fate, Fate::Full(..))
    }

    /// Whether the process is gone by now.
    pub(super) fn is_killed(&self) -> bool {
        self.recorded().fate == Fate::Gone
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        TAPES.lock().unwrap().retain(|(root, _)| *root != self.root);
    }
}

impl Noted {
    fn of(change: Change<'_>, root: &Path) -> Option<Self> {
        let below = |path: &Path| path.strip_prefix(root).ok().map(Path::to_owned);
        Some(match change {
            Change::Create(path) => Self::Create(below(path)?),
            Change::Write(to, bytes, at) => Self::Write(below(&to.path)?, bytes.to_vec(), at),
            Change::SetLength(of, length) => Self::SetLength(below(&of.path)?, length),
            Change::Sync(written) => Self::Sync(below(&written.path)?),
            Change::Rename(from, to) => Self::Rename(below(from)?, below(to)?),
            Change::Remove(path) => Self::Remove(below(path)?),
            Change::CreateDirectory(path) => Self::CreateDirectory(below(path)?),
            Change::RemoveDirectory(path) => Self::RemoveDirectory(below(path)?),
            Change::SyncDirectory(path) => Self::SyncDirectory(below(path)?),
        })
    }

    /// Whether a full disk refuses it.
    fn needs_room(&self) -> bool {
        match self {
            Self::Create(_) | Self::Write(..) | Self::CreateDirectory(_) => true,
            // Among other files there may be no room for its entry.
            Self::Rename(from, _) => is_unfinished(from),
            _ => false,
        }
    }
}

/// Notes a change that is about to be made; whether it is to be made in earnest: where it is
/// noted, syncing is for those who lose what is not synced.
pub(in super::super) fn note(change: Change<'_>) -> io::Result<bool> {
    let tapes = TAPES.lock().unwrap();
    let found = tapes
        .iter()
        .find_map(|(root, recorded)| Some((Noted::of(change, root)?, Arc::clone(recorded))));
    drop(tapes);
    let Some((noted, recorded)) = found else {
        return Ok(true);
    };
    let mut recorded = recorded.lock().unwrap();
    if let Some(error) = recorded.fate.strikes(&noted) {
        let gone = recorded.fate == Fate::Gone;
        if let (Noted::Write(path, bytes, at), Change::Write(to, ..), false) = (noted, change, gone)
        {
            let half = &bytes[..bytes.len() / 2];
            to.file.write_all_at(half, at)?;
            recorded.noted.push(Noted::Write(path, half.to_vec(), at));
        }
        if let Fate::Killed(0) = recorded.fate {
            recorded.fate = Fate::Gone;
        }
        return Err(error);
    }
    let sync = matches!(noted, Noted::Sync(_) | Noted::SyncDirectory(_));
    recorded.noted.push(noted);
    Ok(!sync)
}
