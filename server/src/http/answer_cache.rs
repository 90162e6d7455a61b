//! Cache of encoded answers, so that many dashboards that poll the same query cost little.
//!
//! An answer depends on the task, the query and the released batches only. A release changes the
//! key, so no answer is out of date after it. An erased report changes the answers that are computed
//! from reports, and no key. In a database, another process may erase it, so these answers expire.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use parking_lot::Mutex;

use crate::store::{BatchRow, StoredTask};

/// Maximum size of all cached answers and queries, in bytes.
const MAX_CACHED_BYTES: usize = 32 << 20;

/// Maximum size of a cached answer, in bytes: over a thousand items.
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Maximum number of cached answers, because lookups search all of them.
const MAX_ANSWERS: usize = 256;

/// Time after which an answer expires that another process may change by erasing a report.
pub(super) const MAX_ERASABLE_AGE: Duration = Duration::from_secs(60);

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

/// An encoded answer.
struct CachedAnswer {
    key: AnswerKey,
    answer: Bytes,
    /// Time from which on the answer may be out of date, if there is one.
    expires: Option<Instant>,
}

/// Cached answers, the most recently used last.
#[derive(Default)]
pub(super) struct AnswerCache(Mutex<VecDeque<CachedAnswer>>);

impl AnswerCache {
    /// Returns the answer to a query, if it is cached.
    pub(super) fn find(&self, key: &AnswerKey) -> Option<Bytes> {
        let mut answers = self.0.lock();
        let is_found = |own: &CachedAnswer| {
            own.key.is_same_query(key)
                && own.key.released == key.released
                && own.expires.is_none_or(|expires| Instant::now() < expires)
        };
        let found = answers.iter().position(is_found)?;
        let found = answers.remove(found)?;
        let answer = found.answer.clone();
        answers.push_back(found);
        Some(answer)
    }

    /// Caches an answer until it expires. It replaces the answer to the same query from earlier
    /// batches. Answers that were not used for the longest time make room.
    pub(super) fn insert(&self, key: AnswerKey, answer: Bytes, expires: Option<Instant>) {
        if answer.len() > MAX_ANSWER_BYTES {
            return;
        }
        let mut answers = self.0.lock();
        // Answers of deleted tasks are removed here, too.
        answers.retain(|own| own.key.task.strong_count() > 0 && !own.key.is_same_query(&key));
        answers.push_back(CachedAnswer {
            key,
            answer,
            expires,
        });
        let size = |own: &CachedAnswer| own.key.query.len() + own.answer.len();
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
            .retain(|own| !Weak::ptr_eq(&own.key.task, &task));
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
        cache.insert(key(one), Bytes::from_static(b"first"), None);
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
        cache.insert(key(two), Bytes::from_static(b"second"), None);
        assert_eq!(cache.find(&key(one)), None);
        assert_eq!(cache.find(&key(two)).unwrap(), "second");
        // Another process may have erased a report.
        cache.insert(key(one), Bytes::from_static(b"third"), Some(Instant::now()));
        assert_eq!(cache.find(&key(one)), None);
        let later = Instant::now() + MAX_ERASABLE_AGE;
        cache.insert(key(two), Bytes::from_static(b"fourth"), Some(later));
        assert_eq!(cache.find(&key(two)).unwrap(), "fourth");
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
            cache.insert(key(query), largest.clone(), None);
            assert!(cache.find(&key(0)).is_some());
        }
        // The queries take room, too.
        assert!(cache.find(&key(1)).is_none() && cache.find(&key(2)).is_some());
        cache.insert(key(100), Bytes::from(vec![0; MAX_ANSWER_BYTES + 1]), None);
        assert!(cache.find(&key(100)).is_none());
        for query in 1000..1000 + 2 * MAX_ANSWERS {
            cache.insert(key(query), Bytes::new(), None);
        }
        assert!(cache.0.lock().len() <= MAX_ANSWERS && cache.find(&key(0)).is_none());
    }
}
