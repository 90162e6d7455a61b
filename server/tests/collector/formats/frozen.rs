//! A reader of a data directory as 0.1.0 wrote it. It follows the description alone (`formats.md`
//! in the book) and uses none of the collector's code. Do not change this file with the collector:
//! 0.1.0 cannot read what this file cannot read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes after the body of an upload that an analyser keeps.
const ORIGIN: usize = 28;

/// Contents of a task's directory.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) fingerprint: [u8; 16],
    /// Parameters of the complete task.
    pub(super) parameters: Value,
    /// Batches by number; the last is open.
    pub(super) batches: BTreeMap<u64, Batch>,
    /// Ids of all uploads that were ever counted, sorted.
    pub(super) ids: Vec<[u8; 16]>,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) reports: u64,
    pub(super) closed: bool,
    /// Totals of a released batch; `None` otherwise.
    pub(super) totals: Option<Vec<u8>>,
    /// Bytes after the id of each upload: the number of reports, then the reports.
    pub(super) bodies: Vec<Vec<u8>>,
}

/// Reads a directory and verifies every checksum.
pub(super) fn read(root: &Path) -> Vec<Task> {
    let text = fs::read_to_string(root.join("tasks.json")).unwrap();
    let (json, line) = text.split_once('\n').unwrap();
    let digits: String = sum(&[json.as_bytes()])
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(line, format!("{digits}\n"));
    let list: Value = serde_json::from_str(json).unwrap();
    assert_eq!(list["version"], 3);
    keys(&list, &["next", "tasks", "version"]);
    let listed = list["tasks"].as_array().unwrap();
    let names: Vec<String> = listed
        .iter()
        .map(|own| format!("{:08}", own["key"].as_u64().unwrap()))
        .collect();
    let mut there: Vec<_> = fs::read_dir(root.join("tasks"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, names);
    let tasks = listed.iter().zip(names);
    tasks
        .map(|(own, name)| task(own, &root.join("tasks").join(name)))
        .collect()
}

fn keys(object: &Value, expected: &[&str]) {
    let mut keys: Vec<_> = object.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, expected);
}

fn sum(parts: &[&[u8]]) -> [u8; 8] {
    Sha256::digest(parts.concat())[..8].try_into().unwrap()
}

/// Unread bytes of a file.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn id(&mut self) -> [u8; 16] {
        self.take(16).try_into().unwrap()
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    /// Reads `length` bytes and verifies the checksum that follows.
    fn summed(&mut self, length: usize) -> &'a [u8] {
        let taken = self.take(length);
        assert_eq!(self.take(8), sum(&[taken]));
        taken
    }
}

fn task(own: &Value, directory: &Path) -> Task {
    keys(own, &["fingerprint", "id", "key", "parameters", "settings"]);
    let fingerprint: Vec<u8> = serde_json::from_value(own["fingerprint"].clone()).unwrap();
    let text = |key: &str| serde_json::from_str(own[key].as_str().unwrap()).unwrap();
    let settings: Value = text("settings");
    let (origin, version) = match settings["role"].as_str().unwrap() {
        "collector" => (0, 1),
        "shuffler" => (0, 2),
        "analyser" => (ORIGIN, 1),
        other => panic!("{other}"),
    };
    let mut task = Task {
        id: own["id"].as_str().unwrap().to_owned(),
        fingerprint: fingerprint.try_into().unwrap(),
        parameters: text("parameters"),
        batches: BTreeMap::new(),
        ids: Vec::new(),
    };
    let (mut spans, mut released) = (Vec::new(), 0);
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (stem, extension) = name.split_once('.').unwrap();
        match extension {
            "log" => {
                let (number, batch, ids) = log(&bytes, &task.fingerprint, origin);
                assert_eq!(stem, format!("{number:08}"));
                task.ids.extend(ids);
                assert!(task.batches.insert(number, batch).is_none(), "{name}");
            }
            "batch" => {
                let (number, batch) = self::batch(&bytes, &task.fingerprint, version);
                assert_eq!(stem, format!("{number:08}"));
                released = released.max(number);
                assert!(task.batches.insert(number, batch).is_none(), "{name}");
            }
            "ids" => {
                let (span, ids) = self::ids(&bytes, &task.fingerprint);
                assert_eq!(stem, format!("{:08}-{:08}", span[0], span[1]));
                task.ids.extend(ids);
                spans.push(span);
            }
            other => panic!("{name} is of no kind: {other}"),
        }
    }
    // Every released batch is in exactly one file of ids.
    spans.sort_unstable();
    let next = spans.iter().fold(1, |next, [first, last]| {
        assert_eq!(*first, next);
        last + 1
    });
    assert_eq!(next, released + 1);
    // Batch numbers have no gaps, only the last batch is open, and released batches come first.
    let last = task.batches.len() as u64;
    for (number, (&key, batch)) in (1..).zip(&task.batches) {
        assert_eq!(key, number);
        assert_eq!(batch.closed, number < last);
        assert_eq!(batch.totals.is_some(), number <= released);
    }
    task.ids.sort_unstable();
    task
}

fn log(bytes: &[u8], fingerprint: &[u8; 16], origin: usize) -> (u64, Batch, Vec<[u8; 16]>) {
    let mut rest = Bytes(bytes);
    let mut header = Bytes(rest.summed(8 + 16 + 8 + 8 + 16));
    let mut before = sum(&[&bytes[..8 + 16 + 8 + 8 + 16]]);
    assert_eq!(header.take(8), b"hushlog\x01");
    assert_eq!(header.id(), *fingerprint);
    let (number, _opened, key) = (header.u64(), header.u64(), header.id());
    let (mut batch, mut ids) = (Batch::default(), Vec::new());
    while !rest.0.is_empty() {
        assert!(!batch.closed, "nothing follows what closes it");
        let at = (bytes.len() - rest.0.len()) as u64;
        let fields = rest.take(32);
        let mut own = Bytes(fields);
        assert_eq!(own.take(4), b"hush");
        let (kind, offset, length) = (own.u32(), own.u64(), own.u32());
        let (uploads, reports) = (own.u32(), own.u32());
        assert_eq!(own.take(4), &sum(&[&fields[..28]])[..4]);
        assert_eq!(offset, at);
        let payload = rest.take(length as usize);
        let found = rest.take(8);
        assert_eq!(found, sum(&[&key, &before, fields, payload]));
        assert_eq!(rest.take(8), sum(&[&key, b"synced", found]));
        before = found.try_into().unwrap();
        let mut payload = Bytes(payload);
        match kind {
            1 => {
                let first = ids.len();
                for _ in 0..uploads {
                    ids.push(payload.id());
                    let length = payload.u32() as usize;
                    let body = payload.take(length);
                    batch.bodies.push(body[..length - origin].to_vec());
                }
                assert!(ids[first..].is_sorted());
                batch.reports += u64::from(reports);
            }
            2 => {
                assert_eq!(
                    [payload.u64(), payload.u64()],
                    [ids.len() as u64, batch.reports]
                );
                payload.u64();
                batch.closed = true;
            }
            other => panic!("a frame of kind {other}"),
        }
        assert!(payload.0.is_empty());
    }
    (number, batch, ids)
}

fn batch(bytes: &[u8], fingerprint: &[u8; 16], version: u8) -> (u64, Batch) {
    let mut rest = Bytes(bytes);
    let mut header = Bytes(rest.summed(8 + 16 + 6 * 8));
    assert_eq!(header.take(8), b"hushbat\x01");
    assert_eq!(header.id(), *fingerprint);
    let number = header.u64();
    let (opened, closed, reports) = (header.u64(), header.u64(), header.u64());
    assert!(opened <= closed);
    let (totals, blocks) = (header.u64() as usize, header.u64() as usize);
    let totals = rest.summed(totals).to_vec();
    let mut lengths = Bytes(rest.summed(4 * blocks));
    let block = |_| {
        let mut block = Bytes(rest.summed(lengths.u32() as usize));
        assert_eq!(block.take(1), [version]);
        assert_eq!(block.id(), *fingerprint);
        // A block has no upload id in this place.
        block.id();
        block.0.to_vec()
    };
    let bodies = (0..blocks).map(block).collect();
    assert!(rest.0.is_empty());
    let batch = Batch {
        reports,
        closed: true,
        totals: Some(totals),
        bodies,
    };
    (number, batch)
}

fn ids(bytes: &[u8], fingerprint: &[u8; 16]) -> ([u64; 2], Vec<[u8; 16]>) {
    let mut rest = Bytes(bytes);
    let mut header = Bytes(rest.summed(8 + 16 + 3 * 8));
    assert_eq!(header.take(8), b"hushids\x01");
    assert_eq!(header.id(), *fingerprint);
    let span = [header.u64(), header.u64()];
    let count = header.u64() as usize;
    let mut ids = Bytes(rest.summed(16 * count));
    let ids: Vec<_> = (0..count).map(|_| ids.id()).collect();
    assert!(ids.is_sorted() && rest.0.is_empty());
    (span, ids)
}
