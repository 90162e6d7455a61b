//! Backups of a directory to which an engine writes all the time.

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::*;
use crate::store::engine::StorageReader;

/// Releases a closed batch.
fn release(files: &mut FilesEngine, reader: &dyn StorageReader, task: TaskKey, batch: u64) {
    let closed = files.close_batch(task, batch, 200).unwrap();
    let release = build_release(reader, task, batch);
    reader.store_release(task, &closed, release).unwrap();
    files.refresh_changed_batch(task, batch).unwrap();
}

fn back_up(root: &Path, to: &Path, previous: Option<&Path>) -> BackupProgress {
    let progress = backup(root, to, previous, &mut |_| {}).unwrap();
    let checked = check_directory(to);
    assert!(checked.errors.is_empty(), "{:?}", checked.errors);
    progress
}

#[test]
fn a_busy_journal_is_copied_in_one_pass() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("data");
    let mut files = FilesEngine::open(&root).unwrap();
    let task = files.add_task(task_row_with_id("busy"), 100).unwrap();
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let reader = files.reader();
            let mut batch = 0;
            while !stop.load(Ordering::Relaxed) {
                batch += 1;
                for commit in 0..3 {
                    let record = numbered_record(3 * batch + commit);
                    files.append_uploads(task, &[record]).unwrap();
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                release(&mut files, &*reader, task, batch);
                // A second task comes and goes.
                let brief = files.add_task(task_row_with_id("brief"), 100).unwrap();
                files.append_uploads(brief, &[numbered_record(1)]).unwrap();
                files.remove_task(brief).unwrap();
            }
        });
        // The writer stops even if an assertion fails.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        let mut previous: Option<PathBuf> = None;
        for round in 0..10 {
            let before = acknowledged.load(Ordering::SeqCst);
            let to = directory.path().join(format!("copy-{round}"));
            back_up(&root, &to, previous.as_deref());
            // More may be stored than was acknowledged so far, by the upload that is on its way.
            let after = acknowledged.load(Ordering::SeqCst) + 1;
            let copy = FilesEngine::open(&to).unwrap();
            let reports: u64 = copy.batches(task).iter().map(|row| row.report_count).sum();
            assert!(
                (before..=after).contains(&reports),
                "{before} {reports} {after}"
            );
            previous = Some(to);
        }
    });
}

#[test]
fn unchanged_files_are_links_and_deleted_reports_do_not_return() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("data");
    let mut files = FilesEngine::open(&root).unwrap();
    let task = files.add_task(task_row_with_id("t"), 100).unwrap();
    let reader = files.reader();
    for batch in 1..=3 {
        files
            .append_uploads(task, &[numbered_record(batch)])
            .unwrap();
        release(&mut files, &*reader, task, batch);
    }
    let (first, second) = (directory.path().join("1"), directory.path().join("2"));
    // Three batches, three files of ids and the open log.
    let progress = back_up(&root, &first, None);
    assert_eq!((progress.copied_files, progress.linked_files), (7, 0));

    reader.delete_reports(task, 2).unwrap();
    files.refresh_changed_batch(task, 2).unwrap();
    let progress = back_up(&root, &second, Some(&first));
    assert_eq!((progress.copied_files, progress.linked_files), (2, 5));
    let inode = |copy: &Path, batch| {
        let path = task_directory(copy, task).join(batch_file_name(batch));
        fs::metadata(path).unwrap().ino()
    };
    assert_eq!(inode(&first, 1), inode(&second, 1));
    assert_ne!(inode(&first, 2), inode(&second, 2));
    let copy = FilesEngine::open(&second).unwrap();
    let kept: Vec<_> = copy
        .batches(task)
        .iter()
        .map(|row| row.reports_kept)
        .collect();
    assert_eq!(kept[..3], [true, false, true]);
    // The collector that starts on a copy writes into new files, and not into the other copies.
    drop(copy);
    let mut copy = FilesEngine::open(&second).unwrap();
    copy.reader().delete_reports(task, 1).unwrap();
    copy.append_uploads(task, &[numbered_record(9)]).unwrap();
    assert!(check_directory(&first).errors.is_empty());
    assert!(FilesEngine::open(&first).unwrap().batches(task)[0].reports_kept);
}

#[test]
fn a_disk_that_is_not_mounted_is_not_filled() {
    let (directory, _) = directory();
    let mount = directory.path().join("mount");
    let refused = backup(directory.path(), &mount.join("copy"), None, &mut |_| {});
    let text = refused.unwrap_err().to_string();
    assert!(text.starts_with(mount.to_str().unwrap()), "{text}");
    assert!(!mount.exists());
    // Neither a directory without a journal, nor one as the previous backup.
    let empty = tempfile::tempdir().unwrap();
    let to = empty.path().join("copy");
    for (from, previous) in [(empty.path(), None), (directory.path(), Some(empty.path()))] {
        let refused = backup(from, &to, previous, &mut |_| {}).unwrap_err();
        assert!(refused.to_string().contains("no journal in"), "{refused}");
        assert!(!to.exists());
    }
}
