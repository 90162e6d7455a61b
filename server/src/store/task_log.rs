//! Public, append-only list of the fingerprints of a process's tasks. The entries form a hash
//! chain, so the last hash commits to the whole list.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use hushbin::Fingerprint;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// First bytes of everything that is hashed: the label, and the version of the entry's encoding.
const HASH_PREFIX: &[u8] = b"hushbin task log\0\x01";

/// Hash of an entry, or 32 zero bytes for an empty list.
pub type TaskLogHash = [u8; 32];

/// Change that an entry records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskLogEvent {
    /// The task was stored.
    Added,
    /// The task was deleted.
    Removed,
}

/// Entry of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLogEntry {
    /// Number of the entry, counted from 1 without gaps.
    pub number: u64,
    /// Time at which the entry was appended, in seconds since 1970.
    pub time: u64,
    /// Change that the entry records.
    pub event: TaskLogEvent,
    /// Id of the task.
    pub task: String,
    /// Fingerprint of the task.
    #[serde(with = "hex")]
    pub fingerprint: [u8; 16],
    /// SHA-256 of the previous hash and of all fields above.
    #[serde(with = "hex")]
    pub hash: TaskLogHash,
}

/// Bytes as hexadecimal text in JSON.
pub(crate) mod hex {
    use super::HEXLOWER;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER.decode(text.as_bytes()).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| D::Error::custom(format!("expected {} hexadecimal digits", 2 * N)))
    }
}

/// Error for a list that is not a hash chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskLogError {
    /// An entry has another number than its position.
    #[error("entry {position} of the task log has the number {found}, expected {position}")]
    Number {
        /// Position of the entry, from 1.
        position: u64,
        /// Number in the entry.
        found: u64,
    },
    /// The hash of an entry does not cover the entry and the entries before it.
    #[error("entry {0} of the task log has a wrong hash: it or an earlier entry was changed")]
    Hash(u64),
}

impl TaskLogEntry {
    /// Returns the hash that an entry with these fields has after the hash `previous`.
    fn expected_hash(&self, previous: &TaskLogHash) -> TaskLogHash {
        let mut hasher = Sha256::new();
        hasher.update(HASH_PREFIX);
        hasher.update(previous);
        hasher.update(self.number.to_be_bytes());
        hasher.update(self.time.to_be_bytes());
        hasher.update([match self.event {
            TaskLogEvent::Added => 1,
            TaskLogEvent::Removed => 2,
        }]);
        hasher.update(self.fingerprint);
        // Last, since only this field has no fixed length.
        hasher.update(self.task.as_bytes());
        hasher.finalize().into()
    }
}

/// Returns the hash of the last entry, or zeros if there is none.
pub(crate) fn head_hash(entries: &[TaskLogEntry]) -> TaskLogHash {
    entries.last().map_or([0; 32], |entry| entry.hash)
}

/// Checks the numbers and hashes of a complete list.
///
/// # Errors
/// [`TaskLogError`] for the first invalid entry.
pub fn check_task_log(entries: &[TaskLogEntry]) -> Result<(), TaskLogError> {
    let mut previous = [0; 32];
    for (entry, position) in entries.iter().zip(1..) {
        if entry.number != position {
            return Err(TaskLogError::Number {
                position,
                found: entry.number,
            });
        }
        if entry.hash != entry.expected_hash(&previous) {
            return Err(TaskLogError::Hash(position));
        }
        previous = entry.hash;
    }
    Ok(())
}

/// Id and fingerprint of a stored task.
pub(super) type ListedTask = (String, [u8; 16]);

/// Returns the entries that a list lacks for the tasks in `stored`: removed tasks first, by id, then
/// added tasks in the order of `stored`. A task whose fingerprint changed is removed and added.
pub(super) fn missing_entries(
    entries: &[TaskLogEntry],
    stored: &[ListedTask],
    now: u64,
) -> Vec<TaskLogEntry> {
    let mut listed = BTreeMap::new();
    for entry in entries {
        match entry.event {
            TaskLogEvent::Added => listed.insert(entry.task.as_str(), entry.fingerprint),
            TaskLogEvent::Removed => listed.remove(entry.task.as_str()),
        };
    }
    let is_stored = |id: &str, fingerprint| {
        let mut stored = stored.iter();
        stored.any(|(own, with)| own == id && *with == fingerprint)
    };
    let removed = listed.iter().filter(|&(id, own)| !is_stored(id, *own));
    let removed = removed.map(|(id, own)| (TaskLogEvent::Removed, *id, *own));
    let added = stored
        .iter()
        .filter(|(id, own)| listed.get(id.as_str()) != Some(own))
        .map(|(id, own)| (TaskLogEvent::Added, id.as_str(), *own));
    let mut previous = head_hash(entries);
    let numbers = entries.len() as u64 + 1..;
    let chained = removed.chain(added).zip(numbers);
    let entry = |((event, task, fingerprint), number): ((_, &str, _), u64)| {
        let mut entry = TaskLogEntry {
            number,
            time: now,
            event,
            task: task.to_owned(),
            fingerprint,
            hash: [0; 32],
        };
        entry.hash = entry.expected_hash(&previous);
        previous = entry.hash;
        entry
    };
    chained.map(entry).collect()
}

/// Relation of two valid lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskLogRelation {
    Equal,
    /// The second list extends the first by this number of entries.
    SecondIsNewer(u64),
    /// The first list extends the second by this number of entries.
    FirstIsNewer(u64),
    /// The lists differ from the entry with this number on.
    Forked(u64),
}

/// Compares two valid lists.
pub(crate) fn compare_task_logs(
    first: &[TaskLogEntry],
    second: &[TaskLogEntry],
) -> TaskLogRelation {
    let mut pairs = first.iter().zip(second);
    if let Some((entry, _)) = pairs.find(|(first, second)| first.hash != second.hash) {
        return TaskLogRelation::Forked(entry.number);
    }
    let [first, second] = [first.len() as u64, second.len() as u64];
    match first.cmp(&second) {
        std::cmp::Ordering::Equal => TaskLogRelation::Equal,
        std::cmp::Ordering::Less => TaskLogRelation::SecondIsNewer(second - first),
        std::cmp::Ordering::Greater => TaskLogRelation::FirstIsNewer(first - second),
    }
}

/// Describes an entry for people.
impl std::fmt::Display for TaskLogEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let event = match self.event {
            TaskLogEvent::Added => "added",
            TaskLogEvent::Removed => "removed",
        };
        let fingerprint = Fingerprint(self.fingerprint);
        write!(
            f,
            "task {:?} with fingerprint {fingerprint} {event}",
            self.task
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn extended(entries: &[TaskLogEntry], stored: &[ListedTask]) -> Vec<TaskLogEntry> {
        [entries, &missing_entries(entries, stored, 100)].concat()
    }

    fn stored(ids: &[&str]) -> Vec<ListedTask> {
        ids.iter().map(|id| ((*id).to_owned(), [7; 16])).collect()
    }

    #[test]
    fn list_follows_the_tasks_and_repairs_itself() {
        let first = extended(&[], &stored(&["a", "b"]));
        let mut changed = stored(&["b", "c"]);
        changed[0].1 = [8; 16];
        let second = extended(&first, &changed);
        let found: Vec<_> = second.iter().map(ToString::to_string).collect();
        let (seven, eight) = ("07".repeat(16), "08".repeat(16));
        assert_eq!(
            found,
            [
                format!("task \"a\" with fingerprint {seven} added"),
                format!("task \"b\" with fingerprint {seven} added"),
                format!("task \"a\" with fingerprint {seven} removed"),
                format!("task \"b\" with fingerprint {seven} removed"),
                format!("task \"b\" with fingerprint {eight} added"),
                format!("task \"c\" with fingerprint {seven} added"),
            ]
        );
        check_task_log(&second).unwrap();
        assert_eq!(extended(&second, &changed), second);
    }

    #[test]
    fn hash_is_that_of_the_description() {
        let entry = &extended(&[], &stored(&["a"]))[0];
        let bytes = [
            b"hushbin task log\0\x01",
            &[0; 32][..],
            &[0, 0, 0, 0, 0, 0, 0, 1],
            &[0, 0, 0, 0, 0, 0, 0, 100],
            &[1],
            &[7; 16],
            b"a",
        ];
        assert_eq!(entry.hash, *Sha256::digest(bytes.concat()));
    }

    #[test]
    fn every_change_to_a_list_is_found() {
        let list = extended(&[], &stored(&["a", "b", "c"]));
        let changes: [fn(&mut Vec<TaskLogEntry>); 9] = [
            |list| list[1].task.push('x'),
            |list| list[1].fingerprint[0] ^= 1,
            |list| list[1].time += 1,
            |list| list[1].event = TaskLogEvent::Removed,
            |list| list[1].hash[31] ^= 1,
            |list| list.swap(1, 2),
            |list| drop(list.remove(1)),
            |list| {
                list.remove(1);
                list[1].number = 2;
            },
            |list| list.insert(1, list[0].clone()),
        ];
        for (change, index) in changes.into_iter().zip(0..) {
            let mut changed = list.clone();
            change(&mut changed);
            let error = check_task_log(&changed).unwrap_err().to_string();
            assert!(error.starts_with("entry 2 "), "{index}: {error}");
        }
        // A shorter list is valid, but older.
        check_task_log(&list[..2]).unwrap();
    }

    #[test]
    fn lists_are_compared() {
        let old = extended(&[], &stored(&["a"]));
        let new = extended(&old, &stored(&["a", "b"]));
        let fork = extended(&old, &stored(&["a", "x"]));
        for (first, second, expected) in [
            (&new, &new, TaskLogRelation::Equal),
            (&old, &new, TaskLogRelation::SecondIsNewer(1)),
            (&new, &old, TaskLogRelation::FirstIsNewer(1)),
            (&new, &fork, TaskLogRelation::Forked(2)),
        ] {
            assert_eq!(compare_task_logs(first, second), expected);
        }
    }

    #[test]
    fn arbitrary_text_is_refused_without_a_panic() {
        let list = extended(&[], &stored(&["a", "b"]));
        let text = serde_json::to_vec(&list).unwrap();
        for position in 0..text.len() {
            for bit in 0..8 {
                let mut changed = text.clone();
                changed[position] ^= 1 << bit;
                let read: Result<Vec<TaskLogEntry>, _> = serde_json::from_slice(&changed);
                // A changed character in a name of a field makes the field missing.
                if let Ok(read) = read {
                    assert!(check_task_log(&read).is_err(), "{position} {bit}");
                }
            }
            let cut: Result<Vec<TaskLogEntry>, _> = serde_json::from_slice(&text[..position]);
            assert!(cut.is_err(), "{position}");
        }
    }
}
