//! Cache of encoded answers, so that many dashboards that poll the same query cost little.
//!
//! An answer depends on the task, the query and the released batches only. A release changes the
//! key, so no answer is ever out of date.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use axum::body::Bytes;
use parking_lot::Mutex;

use crate::store::{BatchRow, StoredTask};

/// Maximum size of all cached answers and queries, in bytes.
const MAX_CACHED_BYTES: usize = 32 << 20;

/// Maximum size of a cached answer, in bytes: over a thousand items.
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Maximum number of cached answers, because lookups search all of them.
const MAX_ANSWERS: usize = 256;

/// Key of an answer: everything that determines it.
pub(super) struct AnswerKey {
    /// Task, by identity: another task may have the same id after this one was deleted.
    task: Weak<StoredTask>,
    /// Path below the task, such as `estimates`.
    resource: &'static str,
    query: String,
    csv: bool,
    released: ReleasedState,
}

/// State of a task's released batches. It changes with every release and every deletion of reports.
#[derive(PartialEq)]
struct ReleasedState {
    batches: usize,
    last_number: Option<u64>,
    reports: u64,
    batches_with_reports_kept: usize,
}

impl AnswerKey {
    pub(super) fn new(
        task: &Arc<StoredTask>,
        resource: &'static str,
        query: &str,
        csv: bool,
        batches: &[BatchRow],
    ) -> Self {
        Self {
            task: Arc::downgrade(task),
            resource,
            query: query.to_owned(),
            csv,
            released: ReleasedState {
                batches: batches.len(),
                last_number: batches.last().map(|batch| batch.number),
                reports: batches.iter().map(|batch| batch.report_count).sum(),
                batches_with_reports_kept: batches.iter().filter(|own| own.reports_kept).count(),
            },
        }
    }

    fn is_same_query(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.task, &other.task)
            && (self.resource, &self.query, self.csv) == (other.resource, &other.query, other.csv)
    }
}

/// Cached answers, the most recently used last.
#[derive(Default)]
pub(super) struct AnswerCache(Mutex<VecDeque<(AnswerKey, Bytes)>>);

impl AnswerCache {
    /// Returns the answer to a query, if it is cached.
    pub(super) fn find(&self, key: &AnswerKey) -> Option<Bytes> {
        let mut answers = self.0.lock();
        let is_found =
            |(own, _): &(AnswerKey, Bytes)| own.is_same_query(key) && own.released == key.released;
        let found = answers.iter().position(is_found)?;
        let (own, answer) = answers.remove(found)?;
        answers.push_back((own, answer.clone()));
        Some(answer)
    }

    /// Caches an answer. It replaces the answer to the same query from earlier batches. Answers
    /// that were not used for the longest time make room.
    pub(super) fn insert(&self, key: AnswerKey, answer: Bytes) {
        if answer.len() > MAX_ANSWER_BYTES {
            return;
        }
        let mut answers = self.0.lock();
        // Answers of deleted tasks are removed here, too.
        answers.retain(|(own, _)| own.task.strong_count() > 0 && !own.is_same_query(&key));
        answers.push_back((key, answer));
        let size = |(key, answer): &(AnswerKey, Bytes)| key.query.len() + answer.len();
        let mut total: usize = answers.iter().map(size).sum();
        while total > MAX_CACHED_BYTES || answers.len() > MAX_ANSWERS {
            total -= answers.pop_front().as_ref().map_or(total, size);
        }
    }

    /// Removes the answers of a task.
    pub(super) fn forget_task(&self, task: &Arc<StoredTask>) {
        let task = Arc::downgrade(task);
        self.0
            .lock()
            .retain(|(own, _)| !Weak::ptr_eq(&own.task, &task));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::{BatchState, Store, StoreOptions};

    fn batch(number: u64, reports_kept: bool) -> BatchRow {
        BatchRow {
            number,
            state: BatchState::Released,
            opened_at: 0,
            closed_at: Some(0),
            report_count: 10,
            reports_kept,
        }
    }

    fn stored_task() -> (Arc<StoredTask>, Store, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let draft: hushbin::TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        let store = Store::open(directory.path(), &[draft.into()], StoreOptions::DEFAULT).unwrap();
        (store.task("t").unwrap(), store, directory)
    }

    #[test]
    fn answers_are_found_under_their_own_key_only() {
        let ((task, _store, _directory), cache) = (stored_task(), AnswerCache::default());
        let (other, _other_store, _other_directory) = stored_task();
        let (one, two) = (&[batch(1, true)][..], &[batch(1, true), batch(2, true)][..]);
        let key =
            |batches: &[BatchRow]| AnswerKey::new(&task, "estimates", "items=0", false, batches);
        cache.insert(key(one), Bytes::from_static(b"first"));
        assert_eq!(cache.find(&key(one)).unwrap(), "first");
        for unknown in [
            key(two),
            key(&[batch(1, false)]),
            key(&[batch(2, true)]),
            AnswerKey::new(&task, "influence", "items=0", false, one),
            AnswerKey::new(&task, "estimates", "items=1", false, one),
            AnswerKey::new(&task, "estimates", "items=0", true, one),
            AnswerKey::new(&other, "estimates", "items=0", false, one),
        ] {
            assert_eq!(cache.find(&unknown), None);
        }
        // A release replaces the earlier answer.
        cache.insert(key(two), Bytes::from_static(b"second"));
        assert_eq!(cache.find(&key(one)), None);
        assert_eq!(cache.find(&key(two)).unwrap(), "second");
        cache.forget_task(&task);
        assert_eq!(cache.find(&key(two)), None);
    }

    #[test]
    fn memory_is_bounded_and_unused_answers_make_room() {
        let ((task, _store, _directory), cache) = (stored_task(), AnswerCache::default());
        let key = |query: usize| {
            AnswerKey::new(
                &task,
                "estimates",
                &query.to_string(),
                false,
                &[batch(1, true)],
            )
        };
        let fitting = MAX_CACHED_BYTES / MAX_ANSWER_BYTES - 1;
        let largest = Bytes::from(vec![0; MAX_ANSWER_BYTES]);
        for query in 0..=fitting {
            cache.insert(key(query), largest.clone());
            assert!(cache.find(&key(0)).is_some());
        }
        // The queries take room, too.
        assert!(cache.find(&key(1)).is_none() && cache.find(&key(2)).is_some());
        cache.insert(key(100), Bytes::from(vec![0; MAX_ANSWER_BYTES + 1]));
        assert!(cache.find(&key(100)).is_none());
        for query in 1000..1000 + 2 * MAX_ANSWERS {
            cache.insert(key(query), Bytes::new());
        }
        assert!(cache.0.lock().len() <= MAX_ANSWERS && cache.find(&key(0)).is_none());
    }
}
