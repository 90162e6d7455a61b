//! Writer thread: commits waiting uploads in groups and answers the callers.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::clock::{Clock, ClockWatch, corrected_closing_times};
use super::commit_group::CommitGroup;
use super::engine::{BatchRow, BatchState, EngineError, StorageEngine, UploadGroup, UploadOutcome};
use super::error::{JournalError, StoreError};
use super::open_blocks::OpenBlocks;
use super::release_queue::ReleaserWork;
use super::repeated_errors::{ActionName, RepeatedErrors};
use super::request::WriterRequest;
use super::role::ProcessRole;
use super::settings::TaskSettings;
use super::shuffled_block::BlockRecord;
use super::task::{self, StoredTask, TaskSetup};
use super::tasks::CurrentTasks;
use super::writer_metrics::WriterMetrics;

const APPEND_UPLOADS_ACTION: ActionName = "taking uploads";
const CLOSE_BATCH_ACTION: ActionName = "closing a batch";
const COMPLETE_TASK_LOG_ACTION: ActionName = "appending to the task log";
const PROBE_WRITE_ACTION: ActionName = "a test write to the journal";

/// Limits on the size of one commit. They bound the time that the first caller in the commit waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitLimits {
    pub(super) uploads: usize,
    pub(super) bytes: usize,
}

/// State of the writer thread.
pub(super) struct Writer {
    pub(super) engine: Box<dyn StorageEngine>,
    pub(super) role: ProcessRole,
    pub(super) tasks: Arc<CurrentTasks>,
    pub(super) queue: mpsc::Receiver<WriterRequest>,
    pub(super) releaser: mpsc::UnboundedSender<ReleaserWork>,
    pub(super) commit_limits: CommitLimits,
    pub(super) metrics: WriterMetrics,
    pub(super) clock: Clock,
    pub(super) clock_watch: ClockWatch,
    pub(super) repeated_error_log: RepeatedErrors,
    pub(super) open_blocks: OpenBlocks,
    /// False after an entry could not be appended to the task log.
    pub(super) is_task_log_complete: bool,
    /// Sender that is dropped when the thread ends, even by a panic. Receivers notice the drop.
    pub(super) thread_end_signal: watch::Sender<()>,
}

impl Writer {
    /// Starts the writer thread. The thread ends after [`WriterRequest::Close`], or when all
    /// senders are dropped.
    pub(super) fn spawn(self) -> std::io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || self.run())
    }

    fn run(mut self) {
        let mut closing = None;
        while let Some(first) = self.queue.blocking_recv() {
            let (groups, next) = self.gather_uploads(first);
            self.commit_groups(groups);
            match next {
                Some(WriterRequest::Close(reply)) => {
                    // Requests that already wait are still served. The loop ends after the last
                    // one.
                    self.queue.close();
                    closing = Some(reply);
                }
                Some(request) => self.serve_request(request),
                None => {}
            }
        }
        // Releases the lock on the directory before the answer.
        drop(self.engine);
        if let Some(reply) = closing {
            let _ = reply.send(Ok(()));
        }
        drop(self.thread_end_signal);
    }

    /// Collects waiting uploads, up to the limits, in one group per task. Stops at the first
    /// request that is not for uploads, and also returns that request. The caller must serve that
    /// request after the groups.
    fn gather_uploads(
        &mut self,
        first: WriterRequest,
    ) -> (Vec<CommitGroup>, Option<WriterRequest>) {
        let mut groups: Vec<CommitGroup> = Vec::new();
        let (mut uploads, mut bytes) = (0, 0);
        let mut next = Some(first);
        while let Some(request) = next {
            let WriterRequest::Uploads(waiting) = request else {
                return (groups, Some(request));
            };
            // Checked again, since requests ahead in the queue may have filled the batch.
            let pace = match self.role {
                ProcessRole::Analyser => Ok(()),
                _ => waiting.task.check_batch_pace(&self.clock),
            };
            let checked = pace.and_then(|()| self.check_block(&waiting, &groups));
            if let Err(refused) = checked {
                let _ = waiting.reply.send(Err(refused));
                next = self.queue.try_recv().ok();
                continue;
            }
            uploads += waiting.submission.uploads.len();
            bytes += waiting.submission.bytes.len();
            let own = groups
                .iter_mut()
                .find(|group| Arc::ptr_eq(&group.task, &waiting.task));
            match own {
                Some(group) => group.add_submission(waiting.submission, waiting.reply),
                None => {
                    let mut group = CommitGroup::new(waiting.task);
                    group.add_submission(waiting.submission, waiting.reply);
                    groups.push(group);
                }
            }
            // Checked after a request was added, so the last one may exceed the limits.
            let room = uploads < self.commit_limits.uploads && bytes < self.commit_limits.bytes;
            next = room.then(|| self.queue.try_recv().ok()).flatten();
        }
        (groups, None)
    }

    /// Commits groups of different tasks, and answers the callers.
    fn commit_groups(&mut self, groups: Vec<CommitGroup>) {
        let (groups, removed): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.task.check_not_removed().is_ok());
        for group in removed {
            let error = group.task.check_not_removed().map(|()| Vec::new());
            group.answer_callers(error);
        }
        if groups.is_empty() {
            return;
        }
        let uploads = groups.iter().map(|group| UploadGroup {
            task: group.task.key(),
            records: &group.records,
        });
        let begin = Instant::now();
        let results = self
            .engine
            .append_upload_groups(&uploads.collect::<Vec<_>>());
        if results.iter().any(Result::is_ok) {
            self.metrics.observe_commit(begin.elapsed());
        }
        for (group, result) in groups.into_iter().zip(results) {
            let id = group.task.task().id();
            let result = result.map_err(|error| StoreError::from_engine_error(error, id));
            self.finish_commit(group, result);
        }
    }

    /// Counts a commit, and answers its callers.
    fn finish_commit(
        &mut self,
        group: CommitGroup,
        result: Result<Vec<UploadOutcome>, StoreError>,
    ) {
        let task = Arc::clone(&group.task);
        match &result {
            Ok(outcomes) => {
                let batch = task.has_block_records();
                let batch = batch.then(|| self.open_batch_number(&task));
                for (record, outcome) in group.records.iter().zip(outcomes) {
                    let block = batch.zip(BlockRecord::from_upload(&record.id, &record.body));
                    self.metrics
                        .count_upload(record.report_count, block.is_some(), *outcome);
                    if *outcome == UploadOutcome::Stored
                        && let Some((batch, block)) = block
                    {
                        self.open_blocks.add(task.key(), batch, block);
                    }
                }
                // Published before the answers are sent, so that a caller that was answered finds
                // its reports counted.
                self.refresh_batches_for_readers(&task);
                // A group of duplicates writes nothing, so it does not prove that writing works
                // again.
                if outcomes.contains(&UploadOutcome::Stored) {
                    self.repeated_error_log
                        .record(Some(&task), APPEND_UPLOADS_ACTION, &result);
                }
            }
            Err(StoreError::Failed(_)) => {
                self.metrics.failures.inc();
                self.repeated_error_log
                    .record(Some(&task), APPEND_UPLOADS_ACTION, &result);
            }
            // A deleted task is not a failure of the storage.
            Err(_) => {}
        }
        let taken = result.is_ok();
        group.answer_callers(result);
        if taken {
            self.close_batch_if_due(&task);
        }
    }

    /// Publishes the task's current batches to readers. Notifies the releaser if a batch was
    /// closed.
    fn refresh_batches_for_readers(&self, task: &Arc<StoredTask>) {
        let last = |batches: &[BatchRow]| batches.last().map(|row| row.number);
        let before = last(&task.batches());
        let batches = self.engine.batches(task.key());
        task.publish_batches(&batches);
        if last(&batches) != before {
            let _ = self
                .releaser
                .send(ReleaserWork::ReleaseClosedBatches(Arc::clone(task)));
        }
    }

    /// Closes the task's open batch if it is due.
    fn close_batch_if_due(&mut self, task: &Arc<StoredTask>) {
        let age = task.open_batch_age(&self.clock);
        let seen_for = task.open_batch_seen_for(&self.clock);
        let due = task.current_open_batch().filter(|open| {
            let certain_age = match self.clock_watch.trusts_stored_time(open.opened_at) {
                true => age,
                false => seen_for,
            };
            let settings = task.batch_settings();
            // A full batch takes no more reports, so it is not kept open by doubts about the clock.
            // An analyser does not refuse what shufflers send, so there it makes room at any age.
            let is_full = open.report_count >= task.batch_capacity()
                && (self.role == ProcessRole::Analyser || settings.has_minimum_age(age));
            !task.is_removed() && (is_full || settings.is_due(open.report_count, age, certain_age))
        });
        if let Some(open) = due {
            // A failure is that of the storage, which closing the batch would meet, too.
            if !self.has_complete_blocks(task, open.number).unwrap_or(false) {
                return;
            }
            // `close_batch` has logged a failure. The batch then stays due, and is closed at a
            // later check.
            let _ = self.close_batch(task, open.number);
        }
    }

    /// Notifies the releaser if the task has closed batches. The process that closed them may have
    /// ended before it could release them.
    fn request_release_if_closed(&self, task: &Arc<StoredTask>) {
        if task.has_closed_batches() {
            let _ = self
                .releaser
                .send(ReleaserWork::ReleaseClosedBatches(Arc::clone(task)));
        }
    }

    /// Asks the releaser to delete reports that have been kept for the configured number of days at
    /// the date `now`.
    fn request_deletion_if_due(&self, task: &Arc<StoredTask>, now: u64) {
        // A shuffler deletes reports as soon as the analyser has them, and not before.
        if task.role() == ProcessRole::Shuffler {
            return;
        }
        let days = task.settings().keep_reports_days;
        if days == 0 {
            return;
        }
        let batches = task.batches();
        let closing_times = corrected_closing_times(&batches, now);
        for (batch, closed) in batches.iter().zip(closing_times) {
            let stored =
                batch.state == BatchState::Released && batch.reports_kept && batch.report_count > 0;
            if stored && now - closed >= u64::from(days) * 86_400 {
                let _ = self
                    .releaser
                    .send(ReleaserWork::DeleteReports(Arc::clone(task), batch.number));
            }
        }
    }

    fn close_batch(&mut self, task: &Arc<StoredTask>, batch: u64) -> Result<BatchRow, EngineError> {
        let closed = self
            .engine
            .close_batch(task.key(), batch, (self.clock.date)());
        self.repeated_error_log
            .record(Some(task), CLOSE_BATCH_ACTION, &closed);
        self.refresh_batches_for_readers(task);
        closed
    }

    /// Serves a request. Does nothing for uploads or a request to close, which `run` serves.
    fn serve_request(&mut self, request: WriterRequest) {
        match request {
            WriterRequest::Uploads(_) | WriterRequest::Close(_) => {}
            WriterRequest::Probe(reply) => {
                self.check_own_files();
                let probed = self.engine.probe_write();
                self.repeated_error_log
                    .record(None, PROBE_WRITE_ACTION, &probed);
                let _ = reply.send(probed.map_err(StoreError::from_storage_failure));
            }
            WriterRequest::CloseDue => {
                self.check_own_files();
                if self.clock_watch.observe() {
                    self.metrics.clock_jumps.inc();
                }
                if !self.is_task_log_complete {
                    let _ = self.complete_task_log();
                }
                let trusted_date = self.clock_watch.trusted_date();
                self.open_blocks.forget_all();
                for task in self.tasks.all_tasks() {
                    self.close_batch_if_due(&task);
                    self.request_release_if_closed(&task);
                    if let Some(date) = trusted_date {
                        self.request_deletion_if_due(&task, date);
                    }
                }
            }
            WriterRequest::CloseBatch(task, need, reply) => {
                let _ = reply.send(self.close_batch_on_request(&task, need));
            }
            WriterRequest::DeleteReports(task, batch) => {
                let _ = self.releaser.send(ReleaserWork::DeleteReports(task, batch));
            }
            WriterRequest::UpdateAfterRelease { task, batch, reply } => {
                let settled = task.check_not_removed().and_then(|()| {
                    let settled = self.engine.refresh_changed_batch(task.key(), batch);
                    self.refresh_batches_for_readers(&task);
                    settled.map_err(|error| StoreError::from_engine_error(error, task.task().id()))
                });
                let _ = reply.send(settled);
            }
            WriterRequest::AddTask(collected, reply) => {
                let _ = reply.send(self.add_task(&collected));
            }
            WriterRequest::Configure(task, settings, reply) => {
                let _ = reply.send(self.configure_task(&task, settings));
            }
            WriterRequest::RemoveTask(task, reply) => {
                let _ = reply.send(self.remove_task(&task));
            }
        }
    }

    /// Checks the engine's files. Logs each change once, and sets the metric of each file.
    fn check_own_files(&mut self) {
        for (file, checked) in self.engine.check_own_files() {
            self.repeated_error_log
                .record(None, format!("checking the file {file}"), &checked);
            self.metrics.set_broken_file(file, checked.is_err());
        }
    }

    /// Appends the entries that the task log lacks, and publishes them. After a failure, the next
    /// check of due batches tries again.
    ///
    /// # Errors
    /// When the log cannot be read or written. The error is logged.
    fn complete_task_log(&mut self) -> Result<(), EngineError> {
        let completed = self.engine.complete_task_log((self.clock.date)());
        self.is_task_log_complete = completed.is_ok();
        self.repeated_error_log
            .record(None, COMPLETE_TASK_LOG_ACTION, &completed);
        completed.map(|entries| self.tasks.extend_log(entries))
    }

    fn add_task(&mut self, setup: &TaskSetup) -> Result<Arc<StoredTask>, JournalError> {
        let now = (self.clock.date)();
        let id = setup.draft.id();
        // Requests arrive one by one here, so two of them cannot both find the id free.
        if self.tasks.by_id(id).is_some() {
            return Err(JournalError::TaskExists { id: id.to_owned() });
        }
        let added = Arc::new(task::store_task(&mut *self.engine, self.role, setup, now)?);
        // Before the task is served, so that every task that a page can get is in the log. In shared
        // storage, other processes may have served it meanwhile. It is then kept, and listed later.
        if let Err(unlisted) = self.complete_task_log()
            && self.engine.reader().shared_storage().is_none()
        {
            if let Err(error) = self.engine.remove_task(added.key()) {
                tracing::error!(
                    task = id,
                    %error,
                    "a task that is not in the task log cannot be removed; the next start lists \
                     and serves it"
                );
            }
            return Err(unlisted.into());
        }
        self.tasks.add(&added);
        Ok(added)
    }

    fn remove_task(&mut self, task: &Arc<StoredTask>) -> Result<(), StoreError> {
        // Marked first: a release in progress may fail while the files disappear.
        task.set_removed(true);
        let removed = self.engine.remove_task(task.key());
        if removed.is_err() {
            // `Store::remove_task` has taken the task off the list, but it is still stored.
            task.set_removed(false);
            self.tasks.add(task);
        }
        let _ = self.complete_task_log();
        removed.map_err(|error| StoreError::from_engine_error(error, task.task().id()))
    }

    fn close_batch_on_request(
        &mut self,
        task: &Arc<StoredTask>,
        need: u64,
    ) -> Result<BatchRow, StoreError> {
        task.check_not_removed()?;
        let open = task.current_open_batch();
        match open.filter(|open| open.report_count >= need) {
            Some(open) => {
                self.open_blocks.forget(task.key());
                let closed = match self.has_complete_blocks(task, open.number) {
                    Ok(true) => self.close_batch(task, open.number),
                    Ok(false) => return Err(StoreError::ShuffledBatchIncomplete),
                    Err(error) => Err(error),
                };
                closed.map_err(|error| StoreError::from_engine_error(error, task.task().id()))
            }
            None => Err(StoreError::TooFewReportsToClose {
                reports: task.open_batch_report_count(),
                min_reports: need,
            }),
        }
    }

    fn configure_task(
        &mut self,
        task: &StoredTask,
        settings: TaskSettings,
    ) -> Result<(), StoreError> {
        task.check_not_removed()?;
        let written = task::encode_role_and_settings(task.role(), &settings);
        self.engine
            .configure_task(task.key(), &written)
            .map_err(|error| StoreError::from_engine_error(error, task.task().id()))?;
        task.replace_settings(settings);
        Ok(())
    }
}
