//! Simulated disk whose power fails: any part of the changes that were not synced may be lost.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use super::change_recorder::RecordedChange;

/// Index of a node among all nodes that ever existed.
type NodeIndex = usize;

const ROOT: NodeIndex = 0;

/// File or directory: its contents in memory, its contents on the disk, and the changes that are
/// not yet synced.
#[derive(Debug, Clone)]
enum Node {
    File {
        now: Vec<u8>,
        synced: Vec<u8>,
        unsynced: Vec<UnsyncedWrite>,
    },
    Directory {
        now: Entries,
        synced: Entries,
        unsynced: Vec<EntryChange>,
    },
}

type Entries = BTreeMap<OsString, NodeIndex>;

#[derive(Debug, Clone)]
enum UnsyncedWrite {
    Bytes(Vec<u8>, usize),
    Length(usize),
}

/// Atomic change of a directory's entries. It may remove one entry, and may add one.
#[derive(Debug, Clone)]
struct EntryChange {
    gone: Option<OsString>,
    there: Option<(OsString, NodeIndex)>,
}

impl EntryChange {
    fn apply(&self, entries: &mut Entries) {
        if let Some(gone) = &self.gone {
            entries.remove(gone);
        }
        entries.extend(self.there.clone());
    }
}

impl UnsyncedWrite {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Length(length) => file.resize(*length, 0),
            Self::Bytes(bytes, at) => put(file, bytes, *at, 0),
        }
    }
}

/// Writes bytes at an offset. A gap before the offset is filled with `never`.
fn put(file: &mut Vec<u8>, bytes: &[u8], at: usize, never: u8) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), never);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Choice of the unsynced changes that a power failure loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PowerLoss {
    All,
    Nothing,
    /// Each change is kept or lost at random, and writes are kept in parts.
    Some,
}

#[derive(Debug, Clone)]
pub(super) struct SimulatedDisk {
    nodes: Vec<Node>,
}

impl SimulatedDisk {
    /// Creates a disk with the contents of a directory, all of it synced.
    pub(super) fn of(root: &Path) -> Self {
        let mut disk = Self { nodes: Vec::new() };
        disk.read(root);
        disk
    }

    fn read(&mut self, path: &Path) -> NodeIndex {
        let place = self.nodes.len();
        if path.is_file() {
            let bytes = fs::read(path).unwrap();
            self.nodes.push(Node::File {
                now: bytes.clone(),
                synced: bytes,
                unsynced: Vec::new(),
            });
            return place;
        }
        self.nodes.push(Node::empty_directory());
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let there = self.read(&entry.path());
            let Node::Directory { now, synced, .. } = &mut self.nodes[place] else {
                unreachable!("it was made as one");
            };
            now.insert(entry.file_name(), there);
            synced.insert(entry.file_name(), there);
        }
        place
    }

    fn place(&self, path: &Path) -> Option<NodeIndex> {
        path.iter()
            .try_fold(ROOT, |place, name| match &self.nodes[place] {
                Node::Directory { now, .. } => now.get(name).copied(),
                Node::File { .. } => None,
            })
    }

    /// Applies a recorded change to the simulated disk.
    pub(super) fn apply(&mut self, noted: &RecordedChange) {
        match noted {
            RecordedChange::Create(path) | RecordedChange::CreateDirectory(path)
                if self.place(path).is_some() => {}
            RecordedChange::Create(path) => self.add(path, Node::empty_file()),
            RecordedChange::CreateDirectory(path) => self.add(path, Node::empty_directory()),
            RecordedChange::Write(path, bytes, at) => {
                self.write(path, UnsyncedWrite::Bytes(bytes.clone(), *at as usize));
            }
            RecordedChange::SetLength(path, length) => {
                self.write(path, UnsyncedWrite::Length(*length as usize));
            }
            RecordedChange::Sync(path) | RecordedChange::SyncDirectory(path) => {
                let place = self.place(path).unwrap();
                self.nodes[place].sync();
            }
            RecordedChange::Rename(from, to) => {
                assert_eq!(from.parent(), to.parent(), "a directory is left at once");
                let place = self.place(from).unwrap();
                let there = Some((name(to), place));
                let gone = Some(name(from));
                self.change(from, EntryChange { gone, there });
            }
            RecordedChange::Remove(path) | RecordedChange::RemoveDirectory(path) => {
                let gone = Some(name(path));
                self.change(path, EntryChange { gone, there: None });
            }
        }
    }

    fn add(&mut self, path: &Path, node: Node) {
        let there = Some((name(path), self.nodes.len()));
        self.nodes.push(node);
        self.change(path, EntryChange { gone: None, there });
    }

    /// Changes the entries of the directory that contains a path.
    fn change(&mut self, path: &Path, named: EntryChange) {
        let place = self.place(path.parent().unwrap());
        let place = place.unwrap_or_else(|| panic!("{} has no directory", path.display()));
        let Node::Directory { now, unsynced, .. } = &mut self.nodes[place] else {
            panic!("{} is in a file", path.display());
        };
        named.apply(now);
        unsynced.push(named);
    }

    fn write(&mut self, path: &Path, written: UnsyncedWrite) {
        let place = self.place(path).unwrap();
        let Node::File { now, unsynced, .. } = &mut self.nodes[place] else {
            panic!("{} is a directory", path.display());
        };
        written.apply(now);
        unsynced.push(written);
    }

    /// Writes the contents of the disk after the power failure to a new directory.
    pub(super) fn lose(&self, loss: PowerLoss, rng: &mut ChaCha20Rng, to: &Path) {
        self.lose_node(ROOT, loss, rng, to);
    }

    fn lose_node(&self, place: NodeIndex, loss: PowerLoss, rng: &mut ChaCha20Rng, to: &Path) {
        match &self.nodes[place] {
            Node::File {
                synced, unsynced, ..
            } => {
                let mut file = synced.clone();
                for written in unsynced {
                    written.lose(loss, rng, &mut file);
                }
                fs::write(to, file).unwrap();
            }
            Node::Directory {
                synced, unsynced, ..
            } => {
                let mut entries = synced.clone();
                for named in unsynced {
                    if loss.keeps(rng) {
                        named.apply(&mut entries);
                    }
                }
                fs::create_dir_all(to).unwrap();
                for (name, place) in entries {
                    self.lose_node(place, loss, rng, &to.join(name));
                }
            }
        }
    }
}

fn name(path: &Path) -> OsString {
    path.file_name().map(OsStr::to_owned).unwrap()
}

impl Node {
    fn empty_file() -> Self {
        Self::File {
            now: Vec::new(),
            synced: Vec::new(),
            unsynced: Vec::new(),
        }
    }

    fn empty_directory() -> Self {
        Self::Directory {
            now: Entries::new(),
            synced: Entries::new(),
            unsynced: Vec::new(),
        }
    }

    fn sync(&mut self) {
        match self {
            Self::File {
                now,
                synced,
                unsynced,
            } => {
                synced.clone_from(now);
                unsynced.clear();
            }
            Self::Directory {
                now,
                synced,
                unsynced,
            } => {
                synced.clone_from(now);
                unsynced.clear();
            }
        }
    }
}

impl PowerLoss {
    fn keeps(self, rng: &mut ChaCha20Rng) -> bool {
        match self {
            Self::All => false,
            Self::Nothing => true,
            Self::Some => rng.next_u32().is_multiple_of(2),
        }
    }
}

impl UnsyncedWrite {
    /// Applies the part of an unsynced write that survives the power failure.
    fn lose(&self, loss: PowerLoss, rng: &mut ChaCha20Rng, file: &mut Vec<u8>) {
        match self {
            Self::Bytes(bytes, at) if loss == PowerLoss::Some && !bytes.is_empty() => {
                // If the file grew before it was written, the gap contains zeros or old data of the
                // disk.
                let never = match rng.next_u32() % 3 {
                    0 => Some(0),
                    1 => Some(rng.next_u32() as u8),
                    _ => None,
                };
                if let Some(never) = never
                    && file.len() < at + bytes.len()
                {
                    file.resize(at + bytes.len(), never);
                }
                let mut begin = 0;
                while begin < bytes.len() {
                    let left = bytes.len() - begin;
                    let end = match rng.next_u32() % 4 {
                        0 => bytes.len(),
                        _ => begin + 1 + rng.next_u32() as usize % left,
                    };
                    if loss.keeps(rng) {
                        put(file, &bytes[begin..end], at + begin, never.unwrap_or(0));
                    }
                    begin = end;
                }
            }
            _ if loss.keeps(rng) => self.apply(file),
            _ => {}
        }
    }
}
