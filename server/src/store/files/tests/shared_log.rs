//! Commits of several tasks, after a loss of power that left them only in the shared log.

use super::change_recorder::{ChangeRecorder, Fault};
use super::simulated_disk::SimulatedDisk;
use super::*;
use crate::store::engine::UploadGroup;
use crate::store::files::log::LogContents;

/// Number of uploads that each of three tasks has.
const UPLOADS: u64 = 60;

/// Creates a directory of three tasks, and commits uploads of all of them at once.
fn shared_directory() -> (tempfile::TempDir, [TaskKey; 3]) {
    let directory = tempfile::tempdir().unwrap();
    let mut files = FilesEngine::open(directory.path()).unwrap();
    let tasks = ["a", "b", "c"].map(|id| files.add_task(task_row_with_id(id), 100).unwrap());
    for begin in (0..UPLOADS).step_by(20) {
        let records: Vec<_> = (begin..begin + 20).map(numbered_record).collect();
        let groups = tasks.map(|task| UploadGroup {
            task,
            records: &records,
        });
        for result in files.append_upload_groups(&groups) {
            assert_outcomes(UploadOutcome::Stored, &result.unwrap());
        }
        if begin == 20 {
            files.close_batch(tasks[1], 1, 200).unwrap();
        }
    }
    // As after a kill. When an engine is closed, it removes the shared log.
    std::mem::forget(files);
    (directory, tasks)
}

fn log_path(root: &Path, task: TaskKey, batch: u64) -> PathBuf {
    task_directory(root, task).join(log_file_name(batch))
}

/// Cuts off the end of a log, as a loss of power can do after a commit to the shared log.
fn cut_off(root: &Path, task: TaskKey, batch: u64, length: u64) {
    let log = OpenOptions::new()
        .write(true)
        .open(log_path(root, task, batch));
    log.unwrap().set_len(length).unwrap();
}

/// Checks that all uploads are stored, once.
fn assert_all_stored(root: &Path, tasks: &[TaskKey]) {
    let checked = check_directory(root);
    assert!(checked.errors.is_empty(), "{:?}", checked.errors);
    assert_eq!(checked.reports, 3 * UPLOADS);
    let (rows, _) = open_read_only(root).unwrap();
    let reports: u64 = rows
        .iter()
        .flat_map(|(_, batches)| batches)
        .map(|row| row.report_count)
        .sum();
    assert_eq!(reports, 3 * UPLOADS);
    let mut files = FilesEngine::open(root).unwrap();
    assert!(!root.join("commits.log").exists());
    for &task in tasks {
        let records: Vec<_> = (0..UPLOADS).map(numbered_record).collect();
        let outcomes = files.append_uploads(task, &records).unwrap();
        assert_outcomes(UploadOutcome::Duplicate, &outcomes);
        let reports: u64 = files.batches(task).iter().map(|row| row.report_count).sum();
        assert_eq!(reports, UPLOADS);
    }
}

#[test]
fn commits_that_are_only_in_the_shared_log_are_restored() {
    let (directory, tasks) = shared_directory();
    let root = directory.path();
    let lengths =
        [tasks[0], tasks[2]].map(|task| fs::metadata(log_path(root, task, 1)).unwrap().len());
    let header = frame::LOG_HEADER_LENGTH as u64;
    for cut in [
        header,
        header + 1,
        lengths[0] / 3,
        lengths[0] / 2,
        lengths[0] - 1,
        lengths[0],
    ] {
        let other = tempfile::tempdir().unwrap();
        copy(root, other.path());
        cut_off(other.path(), tasks[0], 1, cut);
        cut_off(other.path(), tasks[2], 1, header);
        // A backup before the restart has everything as well.
        let to = other.path().join("backup");
        backup(other.path(), &to, None, &mut |_| {}).unwrap();
        assert_all_stored(&to, &tasks);
        assert_all_stored(other.path(), &tasks);
        // Nothing more is needed from the shared log.
        assert_all_stored(other.path(), &tasks);
    }
    assert_eq!(lengths[0], lengths[1]);
}

#[test]
fn a_damaged_shared_log_is_noticed_if_it_is_needed() {
    let (directory, tasks) = shared_directory();
    let shared = fs::read(directory.path().join("commits.log")).unwrap();
    for position in (0..shared.len()).step_by(7) {
        let other = tempfile::tempdir().unwrap();
        copy(directory.path(), other.path());
        cut_off(other.path(), tasks[0], 1, frame::LOG_HEADER_LENGTH as u64);
        let mut damaged = shared.clone();
        damaged[position] ^= 1;
        fs::write(other.path().join("commits.log"), damaged).unwrap();
        match FilesEngine::open(other.path()) {
            Err(error) => assert!(error.to_string().contains("commits.log"), "{error}"),
            // The mark of a frame that is valid is not needed.
            Ok(files) => assert_eq!(
                files.batches(tasks[0])[0].report_count,
                UPLOADS,
                "{position}"
            ),
        }
    }
}

#[test]
fn a_commit_is_not_restored_over_a_later_one() {
    let (directory, tasks) = shared_directory();
    let root = directory.path();
    let before = fs::read(root.join("commits.log")).unwrap();
    // The commits in the shared log were cut off, and others took their place.
    cut_off(root, tasks[0], 1, frame::LOG_HEADER_LENGTH as u64);
    fs::remove_file(root.join("commits.log")).unwrap();
    let mut files = FilesEngine::open(root).unwrap();
    let records: Vec<_> = (1000..1005).map(numbered_record).collect();
    files.append_uploads(tasks[0], &records).unwrap();
    drop(files);
    fs::write(root.join("commits.log"), before).unwrap();
    let mut files = FilesEngine::open(root).unwrap();
    assert_outcomes(
        UploadOutcome::Duplicate,
        &files.append_uploads(tasks[0], &records).unwrap(),
    );
    assert_eq!(files.batches(tasks[0])[0].report_count, 5);
    let path = log_path(root, tasks[0], 1);
    assert_eq!(LogContents::read(&path).unwrap().invalid_end_length(), 0);
}

#[test]
fn nothing_that_is_deleted_stays_in_the_shared_log() {
    let (directory, _) = shared_directory();
    let root = directory.path();
    let shared = root.join("commits.log");
    let mut files = FilesEngine::open(root).unwrap();
    let tasks: Vec<TaskKey> = files.tasks().unwrap().iter().map(|row| row.key).collect();
    let mut next = 1000;
    let mut commit = |files: &mut FilesEngine| {
        next += 1;
        let records = [numbered_record(next)];
        let groups: Vec<_> = tasks[..3]
            .iter()
            .map(|&task| UploadGroup {
                task,
                records: &records,
            })
            .collect();
        for result in files.append_upload_groups(&groups) {
            assert_outcomes(UploadOutcome::Stored, &result.unwrap());
        }
        assert!(shared.exists());
    };
    commit(&mut files);
    let closed = files.close_batch(tasks[0], 1, 200).unwrap();
    let reader = files.reader();
    let release = build_release(&*reader, tasks[0], 1);
    reader.store_release(tasks[0], &closed, release).unwrap();
    files.refresh_changed_batch(tasks[0], 1).unwrap();
    assert!(!shared.exists());
    commit(&mut files);
    files.remove_task(tasks[2]).unwrap();
    assert!(!shared.exists());
}

#[test]
fn a_shared_log_that_is_removed_stops_no_uploads() {
    let (directory, tasks) = shared_directory();
    let root = directory.path();
    let mut files = FilesEngine::open(root).unwrap();
    for round in 0..3 {
        let records = [numbered_record(1000 + round)];
        let groups = tasks.map(|task| UploadGroup {
            task,
            records: &records,
        });
        for result in files.append_upload_groups(&groups) {
            assert_outcomes(UploadOutcome::Stored, &result.unwrap());
        }
        if root.join("commits.log").exists() {
            fs::remove_file(root.join("commits.log")).unwrap();
        }
    }
    std::mem::forget(files);
    let checked = check_directory(root);
    assert!(checked.errors.is_empty(), "{:?}", checked.errors);
    assert_eq!(checked.reports, 3 * UPLOADS + 9);
}

#[test]
fn a_start_that_fails_keeps_the_shared_log_and_salvage_uses_it() {
    let (directory, tasks) = shared_directory();
    let root = directory.path();
    cut_off(root, tasks[0], 1, frame::LOG_HEADER_LENGTH as u64);
    // The header of another log is damaged, so the start fails. A damaged frame would be restored.
    let damaged = log_path(root, tasks[1], 1);
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[10] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    assert!(FilesEngine::open(root).is_err());
    assert!(root.join("commits.log").exists());
    cut_off(root, tasks[2], 1, frame::LOG_HEADER_LENGTH as u64);
    let frames = shared_log::SharedFrames::read(root).unwrap();
    let path = log_path(root, tasks[2], 1);
    let contents = frames.read_log(&path, tasks[2], 1).unwrap();
    assert_eq!(contents.counts.reports, UPLOADS);
    // Salvage restores the bytes that the file lacks.
    let bytes = frames.read_bytes(&path, tasks[2], 1).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(LogContents::read(&path).unwrap().counts.reports, UPLOADS);
}

/// One change of a commit fails, after any number of changes. Later changes then concern files that
/// exist: nothing is written to a shared log that was removed.
#[test]
fn a_change_that_fails_leaves_no_writes_to_a_removed_log() {
    let mut failed = 0;
    for before in 0..30 {
        let directory = tempfile::tempdir().unwrap();
        let mut disk = SimulatedDisk::of(directory.path());
        let recorder = ChangeRecorder::of(directory.path());
        let mut files = FilesEngine::open(directory.path()).unwrap();
        let tasks = ["a", "b", "c"].map(|id| files.add_task(task_row_with_id(id), 100).unwrap());
        // The shared log is removed after each commit.
        files.shared_log.set_max_bytes(1);
        recorder.set_fault(Fault::Failing(before, 1));
        for number in 0..4 {
            let records = [numbered_record(number)];
            let groups = tasks.map(|task| UploadGroup {
                task,
                records: &records,
            });
            let results = files.append_upload_groups(&groups);
            failed += results.iter().filter(|result| result.is_err()).count();
        }
        // Panics if a change concerns a file that does not exist.
        for change in recorder.changes() {
            disk.apply(&change);
        }
    }
    assert!(failed > 0, "some failures are those of commits");
}

/// The log of one task cannot be opened. The other tasks leave the shared log, so that their batches
/// can be released. The commits of the broken task stay there until its log is back.
#[test]
fn a_broken_log_stops_no_other_task() {
    let (directory, tasks) = shared_directory();
    let root = directory.path();
    let mut files = FilesEngine::open(root).unwrap();
    let records: Vec<_> = (UPLOADS..UPLOADS + 9).map(numbered_record).collect();
    let groups = tasks.map(|task| UploadGroup {
        task,
        records: &records,
    });
    for result in files.append_upload_groups(&groups) {
        assert_outcomes(UploadOutcome::Stored, &result.unwrap());
    }
    let (log, aside) = (log_path(root, tasks[0], 1), root.join("aside"));
    let bytes = std::fs::read(&log).unwrap();
    std::fs::rename(&log, &aside).unwrap();
    std::fs::create_dir(&log).unwrap();
    files
        .shared_log
        .note_failure(&EngineError::Damaged("as the test wants it".to_owned()));

    files.remove_task(tasks[1]).unwrap();
    assert!(!files.shared_log.has_frames_of(tasks[2]));
    assert!(files.shared_log.has_frames_of(tasks[0]));
    files.remove_shared_log_of(tasks[0]).unwrap_err();
    let frames = shared_log::SharedFrames::read(root).unwrap();
    std::mem::forget(files);

    // The power fails, and the log loses its last commit.
    std::fs::remove_dir(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    cut_off(root, tasks[0], 1, bytes.len() as u64 - 20);
    let restored = frames.read_bytes(&log, tasks[0], 1).unwrap();
    assert_eq!(restored, bytes);
    let mut files = FilesEngine::open(root).unwrap();
    for task in [tasks[0], tasks[2]] {
        let outcomes = files.append_uploads(task, &records).unwrap();
        assert_outcomes(UploadOutcome::Duplicate, &outcomes);
    }
}
