//! Tests in which the process is killed or the disk is full, and then the power fails, at any
//! point. Afterwards all acknowledged data must exist exactly once, and nothing may be reported as
//! damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use tempfile::TempDir;

use super::change_recorder::{ChangeRecorder, EIO, Fault};
use super::simulated_disk::{PowerLoss, SimulatedDisk};
use super::*;

/// Results that callers have received, by task id.
type ExpectedJournal = BTreeMap<String, ExpectedTask>;

/// Existence of a task, as far as callers can know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Presence {
    /// A request to add or delete the task was not answered.
    #[default]
    Perhaps,
    Yes,
    No,
}

/// Results that callers have received for one task.
#[derive(Debug, Clone, Default)]
struct ExpectedTask {
    presence: Presence,
    /// Settings that were acknowledged last, and all settings that were requested since then.
    settings: BTreeSet<String>,
    /// Numbers of the records that were sent.
    sent: BTreeSet<u64>,
    /// Numbers of the records that were acknowledged.
    acknowledged: BTreeSet<u64>,
    closed: BTreeMap<u64, BatchRow>,
    released: BTreeMap<u64, ExpectedRelease>,
}

#[derive(Debug, Clone)]
struct ExpectedRelease {
    totals: Vec<u8>,
    blocks: Vec<Vec<u8>>,
    numbers: Vec<u64>,
    /// True if the deletion of its reports was requested.
    forgotten: bool,
}

/// Returns the numbers of the records whose bodies are concatenated in `bodies`.
fn numbers(bodies: &[u8]) -> Vec<u64> {
    let bodies = bodies.as_chunks::<10>().0.iter();
    bodies
        .map(|body| {
            let number = u64::from_le_bytes(body[1..9].try_into().unwrap());
            assert_eq!(body[..], numbered_record(number).body);
            number
        })
        .collect()
}

/// Journal under test, with a recorder of all changes to the disk.
struct JournalRun {
    directory: TempDir,
    /// Disk at the start of the run.
    begin: SimulatedDisk,
    recorder: ChangeRecorder,
    files: Option<FilesEngine>,
    truth: ExpectedJournal,
    /// Results that callers had received at some moments, each with the number of changes up to
    /// that moment.
    history: Vec<(usize, ExpectedJournal)>,
    rng: ChaCha20Rng,
    /// Number of changes that had been made when the journal was last opened.
    opened: usize,
}

impl JournalRun {
    /// Starts a run on a directory that no engine has open.
    fn on(directory: TempDir, truth: ExpectedJournal, seed: u64) -> Self {
        let root = directory.path();
        let mut run = Self {
            begin: SimulatedDisk::of(root),
            recorder: ChangeRecorder::of(root),
            files: None,
            history: vec![(0, truth.clone())],
            truth,
            rng: ChaCha20Rng::seed_from_u64(seed),
            opened: 0,
            directory,
        };
        run.open();
        run
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.next_u32() as usize % end
    }

    fn files(&mut self) -> &mut FilesEngine {
        self.files.as_mut().unwrap()
    }

    /// Records the results that callers have received by now.
    fn record_expected(&mut self) {
        self.history
            .push((self.recorder.length(), self.truth.clone()));
    }

    fn open(&mut self) {
        self.files = None;
        self.opened = self.recorder.length();
        self.recorder.set_fault(Fault::Made);
        let mut files = FilesEngine::open(self.directory.path()).unwrap();
        compare(&mut files, &mut self.truth);
        // Short enough to be replaced several times.
        files.shared_log.set_max_bytes(1000);
        self.files = Some(files);
        self.record_expected();
    }

    /// Continues after a failure. If the process was killed, opens the journal in a new one.
    fn continue_after<T>(&mut self, done: Result<T, EngineError>) -> Option<T> {
        match done {
            Ok(done) => {
                self.record_expected();
                Some(done)
            }
            Err(EngineError::FileAccess { source, .. }) => {
                let full = source.kind() == std::io::ErrorKind::StorageFull;
                let failing = source.raw_os_error() == Some(EIO);
                assert!(full || failing || self.recorder.is_killed(), "{source}");
                if self.recorder.is_killed() {
                    self.open();
                }
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Does `steps` random operations, with random failures.
    fn work(&mut self, steps: usize) {
        for _ in 0..steps {
            let (after, failing) = (self.below(25), 1 + self.below(6));
            match self.below(15) {
                0 => self.recorder.set_fault(Fault::Killed(after)),
                1 => self.recorder.set_fault(Fault::Full(after, failing)),
                2 => self.recorder.set_fault(Fault::Failing(after, failing)),
                _ => {}
            }
            let ids: Vec<_> = self.files().tasks().unwrap();
            match self.below(20) {
                _ if ids.is_empty() => self.add_task(),
                0 if ids.len() < 5 => self.add_task(),
                1 => self.remove_task(),
                2 => self.configure(),
                3 => self.open(),
                4..7 => self.close(),
                7..11 => self.release(),
                11 => self.forget(),
                12..16 => self.append_to_all(),
                _ => self.append(),
            }
        }
    }

    /// Does each kind of operation, until the process is killed.
    fn run_each_operation(&mut self) {
        let begin = self.opened;
        for step in [
            Self::add_task,
            Self::append,
            Self::append,
            Self::close,
            Self::append,
            Self::release,
            Self::close,
            Self::release,
            Self::forget,
            Self::configure,
            Self::add_task,
            Self::append,
            Self::add_task,
            Self::append_to_all,
            Self::append_to_all,
            Self::close,
            Self::append_to_all,
            Self::append,
            Self::append_to_all,
            Self::remove_task,
        ] {
            step(self);
            if self.opened > begin {
                return;
            }
        }
    }

    fn some_task(&mut self) -> (String, TaskKey) {
        let rows = self.files().tasks().unwrap();
        let row = &rows[self.below(rows.len())];
        (row.id.clone(), row.key)
    }

    fn add_task(&mut self) {
        let id = format!("task-{}", self.truth.len());
        let state = self.truth.entry(id.clone()).or_default();
        state.settings.insert("{}".to_owned());
        self.record_expected();
        let added = self.files().add_task(task_row_with_id(&id), 100);
        if added.is_ok() {
            self.truth.get_mut(&id).unwrap().presence = Presence::Yes;
        }
        self.continue_after(added);
    }

    fn remove_task(&mut self) {
        let (id, task) = self.some_task();
        self.truth.get_mut(&id).unwrap().presence = Presence::Perhaps;
        self.record_expected();
        let removed = self.files().remove_task(task);
        if removed.is_ok() {
            self.truth.get_mut(&id).unwrap().presence = Presence::No;
        }
        let full = self.recorder.is_full();
        if self.continue_after(removed).is_none() && !full {
            // Until the next start, the task may be only partly deleted.
            self.open();
        }
    }

    fn configure(&mut self) {
        let (id, task) = self.some_task();
        let settings = format!("{{\"{}\":1}}", self.recorder.length());
        let state = self.truth.get_mut(&id).unwrap();
        state.settings.insert(settings.clone());
        self.record_expected();
        let configured = self.files().configure_task(task, &settings);
        if configured.is_ok() {
            self.truth.get_mut(&id).unwrap().settings = BTreeSet::from([settings]);
        }
        self.continue_after(configured);
    }

    fn close(&mut self) {
        let (id, task) = self.some_task();
        let open = open_of(self.files(), task);
        let closed = self.files().close_batch(task, open, 200);
        if let Ok(row) = closed {
            let state = self.truth.get_mut(&id).unwrap();
            state.closed.insert(row.number, row);
        }
        self.continue_after(closed);
    }

    /// Appends new records, and some records that were sent before.
    fn append(&mut self) {
        let (id, task) = self.some_task();
        let own = task.0 << 32;
        let state = self.truth.get_mut(&id).unwrap();
        let fresh = 1 + self.rng.next_u32() % 5;
        let next = own + state.sent.len() as u64;
        let mut group: Vec<u64> = (next..).take(fresh as usize).collect();
        for &number in &state.sent {
            if self.rng.next_u32().is_multiple_of(16) {
                group.push(number);
            }
        }
        state.sent.extend(&group);
        let before = state.acknowledged.clone();
        self.record_expected();
        let records: Vec<_> = group.iter().copied().map(numbered_record).collect();
        let appended = self.files().append_uploads(task, &records);
        if let Ok(outcomes) = &appended {
            for (number, outcome) in group.iter().zip(outcomes) {
                assert_ne!(*outcome, UploadOutcome::Conflict);
                let known = before.contains(number);
                assert_eq!(*outcome == UploadOutcome::Duplicate, known, "{number}");
            }
            self.truth.get_mut(&id).unwrap().acknowledged.extend(group);
        }
        self.continue_after(appended);
    }

    /// Appends new records to all tasks in one commit.
    fn append_to_all(&mut self) {
        let mut groups = Vec::new();
        for row in self.files().tasks().unwrap() {
            let state = self.truth.get_mut(&row.id).unwrap();
            let next = (row.key.0 << 32) + state.sent.len() as u64;
            // A record that was sent before may be all that a task gets.
            let again = state.sent.iter().next().copied();
            let fresh = (next..).take(self.rng.next_u32() as usize % 3);
            let group: Vec<u64> = fresh.chain(again).collect();
            state.sent.extend(&group);
            groups.push((row, group));
        }
        self.record_expected();
        let records: Vec<Vec<_>> = groups
            .iter()
            .map(|(_, group)| group.iter().copied().map(numbered_record).collect())
            .collect();
        let uploads = groups.iter().zip(&records);
        let uploads: Vec<_> = uploads
            .map(|((row, _), records)| UploadGroup {
                task: row.key,
                records,
            })
            .collect();
        let results = self.files().append_upload_groups(&uploads);
        let mut done = Ok(());
        for ((row, group), result) in groups.iter().zip(results) {
            match result {
                Ok(outcomes) => {
                    assert_eq!(outcomes.len(), group.len());
                    let state = self.truth.get_mut(&row.id).unwrap();
                    state.acknowledged.extend(group);
                }
                Err(error) => done = Err(error),
            }
        }
        self.continue_after(done);
    }

    /// Releases the oldest closed batch, possibly while a record is appended.
    fn release(&mut self) {
        let (id, task) = self.some_task();
        let rows = self.files().batches(task);
        let Some(closed) = rows.iter().find(|row| row.state == BatchState::Closed) else {
            return;
        };
        let (reader, number) = (self.files().reader(), closed.number);
        let release = build_release(&*reader, task, number);
        let will = ExpectedRelease {
            totals: release.totals.clone(),
            blocks: release.blocks.to_vec(),
            numbers: numbers(&release.blocks.to_vec().concat()),
            forgotten: false,
        };
        let released = thread::scope(|scope| {
            let released = scope.spawn(|| reader.store_release(task, closed, release));
            if !self.recorder.is_killed() && self.below(2) == 0 {
                self.append_beside(&id, task);
            }
            released.join().unwrap()
        });
        let settled = released.and_then(|()| self.files().refresh_changed_batch(task, number));
        if settled.is_ok() {
            let state = self.truth.get_mut(&id).unwrap();
            state.released.insert(number, will);
        }
        self.continue_after(settled);
    }

    /// Appends a new record. Does not check whether this succeeds.
    fn append_beside(&mut self, id: &str, task: TaskKey) {
        let state = self.truth.get_mut(id).unwrap();
        let number = (task.0 << 32) + state.sent.len() as u64;
        state.sent.insert(number);
        self.record_expected();
        if self
            .files()
            .append_uploads(task, &[numbered_record(number)])
            .is_ok()
        {
            let state = self.truth.get_mut(id).unwrap();
            state.acknowledged.insert(number);
            self.record_expected();
        }
    }

    fn forget(&mut self) {
        let (id, task) = self.some_task();
        let state = self.truth.get_mut(&id).unwrap();
        let Some((&number, released)) = state.released.iter_mut().next_back() else {
            return;
        };
        released.forgotten = true;
        self.record_expected();
        let forgotten = self.files().reader().delete_reports(task, number);
        let settled = forgotten.and_then(|()| self.files().refresh_changed_batch(task, number));
        self.continue_after(settled);
    }

    /// Returns the directory after a power failure that follows `changes` changes, and the results
    /// that callers had received by then.
    fn lose(&mut self, changes: usize, loss: PowerLoss) -> (TempDir, ExpectedJournal) {
        let mut disk = self.begin.clone();
        for noted in &self.recorder.changes()[..changes] {
            disk.apply(noted);
        }
        let left = tempfile::tempdir().unwrap();
        disk.lose(loss, &mut self.rng, left.path());
        let known = self.history.partition_point(|(at, _)| *at <= changes);
        (left, self.history[known - 1].1.clone())
    }
}

/// Compares a journal that was just opened with the results that callers received. The results are
/// then updated to the contents of the journal.
fn compare(files: &mut FilesEngine, truth: &mut ExpectedJournal) {
    let rows = files.tasks().unwrap();
    for (id, state) in truth.iter_mut() {
        let row = rows.iter().find(|row| row.id == *id);
        match (state.presence, row) {
            (Presence::Yes, None) => panic!("task {id} is lost"),
            (Presence::No, Some(_)) => panic!("task {id} is back"),
            (_, None) => state.presence = Presence::No,
            (_, Some(row)) => {
                assert!(state.settings.contains(&row.settings), "{row:?}");
                state.settings = BTreeSet::from([row.settings.clone()]);
                state.presence = Presence::Yes;
                compare_task(files, row.key, state);
            }
        }
    }
    for row in rows {
        assert!(truth.contains_key(&row.id), "{row:?} was never asked for");
    }
}

fn compare_task(files: &FilesEngine, task: TaskKey, state: &mut ExpectedTask) {
    let reader = files.reader();
    let rows = files.batches(task);
    let mut found = Vec::new();
    for (expected, row) in (1..).zip(&rows) {
        assert_eq!(row.number, expected);
        let open = row.number == rows.len() as u64;
        assert_eq!(row.state == BatchState::Open, open, "{row:?}");
        let before = found.len();
        if row.state == BatchState::Released {
            let blocks = blocks_of(&*reader, task, row.number);
            let seen = ExpectedRelease {
                totals: reader.totals(task, row.number).unwrap(),
                numbers: numbers(&blocks.concat()),
                blocks,
                forgotten: false,
            };
            let known = state.released.entry(row.number).or_insert(seen.clone());
            assert_eq!(known.totals, seen.totals);
            if !known.forgotten || row.reports_kept {
                assert_eq!(known.blocks, seen.blocks);
            }
            found.extend(&known.numbers);
        } else {
            assert!(!state.released.contains_key(&row.number), "{row:?}");
            let visit = &mut |_, body: &[u8]| {
                found.extend(numbers(body));
                ControlFlow::Continue(())
            };
            reader.for_each_upload(task, row.number, visit).unwrap();
        }
        assert_eq!(row.report_count, (found.len() - before) as u64, "{row:?}");
        if !open {
            let known = state.closed.entry(row.number).or_insert(*row);
            let facts = |row: &BatchRow| (row.opened_at, row.closed_at, row.report_count);
            assert_eq!(facts(known), facts(row));
        }
    }
    assert!(
        state
            .closed
            .keys()
            .all(|closed| *closed < rows.len() as u64)
    );
    let once: BTreeSet<u64> = found.iter().copied().collect();
    assert_eq!(once.len(), found.len(), "something is there twice");
    let lost: Vec<_> = state.acknowledged.difference(&once).collect();
    assert!(lost.is_empty(), "{lost:?} are lost");
    assert!(once.is_subset(&state.sent), "something was never sent");
    state.acknowledged = once;
}

fn blocks_of(reader: &dyn StorageReader, task: TaskKey, batch: u64) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let visit = &mut |block: &[u8]| {
        blocks.push(block.to_vec());
        ControlFlow::Continue(())
    };
    reader.for_each_block(task, batch, visit).unwrap();
    blocks
}

/// Opens a directory after a power failure, sends everything again, and releases all of it.
fn recover(left: &Path, mut truth: ExpectedJournal) {
    // The recorder skips syncs, which would take time.
    let _recorder = ChangeRecorder::of(left);
    let mut files = FilesEngine::open(left).unwrap();
    compare(&mut files, &mut truth);
    for row in files.tasks().unwrap() {
        let state = truth.get_mut(&row.id).unwrap();
        let records: Vec<_> = state.sent.iter().copied().map(numbered_record).collect();
        let outcomes = files.append_uploads(row.key, &records).unwrap();
        for (number, outcome) in state.sent.iter().zip(outcomes) {
            let known = state.acknowledged.contains(number);
            assert_eq!(outcome == UploadOutcome::Duplicate, known, "{number}");
        }
        state.acknowledged.clone_from(&state.sent);
        let open = open_of(&files, row.key);
        files.close_batch(row.key, open, 200).unwrap();
        for batch in files.batches(row.key) {
            if batch.state == BatchState::Closed {
                let reader = files.reader();
                let release = build_release(&*reader, row.key, batch.number);
                reader.store_release(row.key, &batch, release).unwrap();
                files.refresh_changed_batch(row.key, batch.number).unwrap();
            }
        }
    }
    compare(&mut files, &mut truth);
    // A directory without tasks is no journal.
    if !files.tasks().unwrap().is_empty() {
        let checked = check_directory(left);
        assert!(checked.errors.is_empty(), "{:?}", checked.errors);
    }
}

const LOSSES: [PowerLoss; 4] = [
    PowerLoss::All,
    PowerLoss::Nothing,
    PowerLoss::Some,
    PowerLoss::Some,
];

#[test]
fn the_power_goes_again_and_again() {
    let cuts = count("HUSHBIN_POWER_CUTS", 120);
    let mut changes = 0;
    for seed in 0..cuts / 3 {
        let mut left = (tempfile::tempdir().unwrap(), ExpectedJournal::new());
        for generation in 0..3 {
            let mut run = JournalRun::on(left.0, left.1, 3 * seed + generation);
            run.work(40);
            let at = run.below(run.recorder.length() + 1);
            let loss = LOSSES[run.below(LOSSES.len())];
            changes += run.recorder.length();
            left = run.lose(at, loss);
        }
        recover(left.0.path(), left.1);
    }
    println!("{cuts} cuts among {changes} changes to the disk");
}

/// The process is killed after any number of changes. The next process finds the changes in memory
/// and continues. Then the power fails.
#[test]
fn the_power_goes_after_each_change_of_a_start_after_each_kill() {
    /// More than there are cores, because a run waits for the disk most of the time.
    const THREADS: usize = 4;
    let rounds = count("HUSHBIN_POWER_ROUNDS", 1);
    let kill_and_cut = |first: u64| {
        let (mut kills, mut cuts) = (0, 0);
        for after in (first..).step_by(THREADS) {
            let mut run =
                JournalRun::on(tempfile::tempdir().unwrap(), ExpectedJournal::new(), after);
            run.recorder.set_fault(Fault::Killed(after as usize));
            run.run_each_operation();
            if run.opened == 0 {
                break;
            }
            kills += 1;
            for at in run.opened..=run.recorder.length() {
                for round in 0..rounds {
                    for loss in &LOSSES[if round == 0 { 0 } else { 2 }..] {
                        let (left, truth) = run.lose(at, *loss);
                        recover(left.path(), truth);
                        cuts += 1;
                    }
                }
            }
        }
        (kills, cuts)
    };
    let (kills, cuts) = thread::scope(|scope| {
        let threads = (1..).take(THREADS);
        let threads: Vec<_> = threads
            .map(|first| scope.spawn(move || kill_and_cut(first)))
            .collect();
        threads.into_iter().fold((0, 0), |(kills, cuts), thread| {
            let (more_kills, more_cuts) = thread.join().unwrap();
            (kills + more_kills, cuts + more_cuts)
        })
    });
    println!("{kills} kills, {cuts} cuts");
    assert!(kills > 50, "{kills} kills");
}

/// Returns the number of a task's open batch.
fn open_of(files: &FilesEngine, task: TaskKey) -> u64 {
    files.batches(task).last().unwrap().number
}
