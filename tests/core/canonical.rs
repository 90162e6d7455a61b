//! Canonical bytes of a task: decoding returns the encoded task, and accepts no other bytes.

use hushbin::task::ReportBudget;
use hushbin::{ErrorCode, Fingerprint, Task};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::codec;

/// Tasks of every mechanism, and of every kind of items.
fn tasks() -> Vec<Task> {
    let named = serde_json::json!({
        "id": "settings", "items": ["dark-mode", "Übersetzung", "🧱"], "sparsity": 2,
        "epsilon": 2.0, "value": "real", "mechanism": {
            "name": "collision", "rule": "occupied", "hashing": "independent", "buckets": 8,
        },
    });
    let mut tasks = codec::tasks();
    tasks.push(serde_json::from_value(named).unwrap());
    for (days, reports) in [(7, 3), (1, 1)] {
        let budget = ReportBudget::new(days, reports, None).unwrap();
        let both = [tasks.first(), tasks.last()].map(|task| task.unwrap().clone());
        tasks.extend(both.map(|task| task.with_report_budget(budget).unwrap()));
    }
    tasks
}

#[test]
fn tasks_survive_their_canonical_bytes() {
    for task in tasks() {
        let bytes = task.canonical_bytes();
        assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        assert_eq!(
            task.fingerprint(),
            Fingerprint(digest[..16].try_into().unwrap())
        );
    }
}

#[test]
fn no_prefix_is_a_task_nor_anything_longer() {
    for task in tasks() {
        let bytes = task.canonical_bytes();
        for end in 0..bytes.len() {
            let error = Task::from_canonical_bytes(&bytes[..end]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::Malformed);
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(Task::from_canonical_bytes(&longer).is_err());
    }
}

#[test]
fn another_mechanism_is_told_by_its_name() {
    let name = b"hash-bin";
    let positions = |task: &Task| {
        let bytes = task.canonical_bytes();
        let at = bytes
            .windows(name.len())
            .position(|window| window == name)?;
        Some((bytes, at))
    };
    let (mut bytes, at) = tasks().iter().find_map(positions).unwrap();
    bytes[at..at + name.len()].copy_from_slice(b"hash-bun");
    let error = Task::from_canonical_bytes(&bytes).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownMechanism);
    assert!(
        error
            .to_string()
            .starts_with("mechanism or kind \"hash-bun\" is unknown")
    );
}

proptest! {
    /// Bytes that decode are the only encoding of their task.
    #[test]
    fn what_is_read_is_what_would_be_written(
        task in proptest::sample::select(tasks()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = task.canonical_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(read) = Task::from_canonical_bytes(&bytes) {
            prop_assert_eq!(read.canonical_bytes(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Task::from_canonical_bytes(&bytes);
    }
}
