mod backup;
pub(super) mod change_recorder;
mod power;
mod shared_log;
mod simulated_disk;

use std::fs::{File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::listing::{batch_file_name, log_file_name};
use super::*;
use crate::store::engine::BatchState;
use crate::store::test_records::{
    assert_outcomes, build_release, numbered_record, stored_contents, task_row_with_id,
};

/// Creates a directory with every kind of file, and returns its task.
fn directory() -> (tempfile::TempDir, TaskKey) {
    let directory = tempfile::tempdir().unwrap();
    let mut files = FilesEngine::open(directory.path()).unwrap();
    let task = files.add_task(task_row_with_id("t"), 100).unwrap();
    let mut number = 0;
    for round in 1..=7 {
        for _ in 0..3 {
            let group: Vec<_> = (number..number + 10).map(numbered_record).collect();
            files.append_uploads(task, &group).unwrap();
            number += 10;
        }
        if round < 7 {
            files.close_batch(task, round, 200).unwrap();
        }
        if round < 6 {
            let reader = files.reader();
            let release = build_release(&*reader, task, round);
            let closed = files.batches(task)[round as usize - 1];
            reader.store_release(task, &closed, release).unwrap();
            files.refresh_changed_batch(task, round).unwrap();
        }
    }
    (directory, task)
}

/// Returns everything that a data directory contains, or the error of opening or reading it.
fn contents(root: &Path, task: TaskKey) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut files = FilesEngine::open(root)?;
    let reader = files.reader();
    let mut all = Vec::new();
    for row in files.batches(task) {
        all.push(format!("{row:?}").into_bytes());
        match row.state {
            BatchState::Released => {
                all.push(reader.totals(task, row.number)?);
                reader.for_each_block(task, row.number, &mut |block| {
                    all.push(block.to_vec());
                    ControlFlow::Continue(())
                })?;
            }
            _ => reader.for_each_upload(task, row.number, &mut |id, body| {
                all.push([&id[..], body].concat());
                ControlFlow::Continue(())
            })?,
        }
    }
    // The directory must know the id of every upload.
    let known: Vec<_> = (0..210).map(numbered_record).collect();
    assert_outcomes(
        UploadOutcome::Duplicate,
        &files.append_uploads(task, &known)?,
    );
    Ok(all)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let path = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &path),
            false => drop(fs::copy(entry.path(), path).unwrap()),
        }
    }
}

fn all_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all_files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// A second process may use the directory once the lock is lost, or the engine is closed.
#[test]
fn a_reader_without_the_lock_changes_nothing() {
    let (directory, task) = directory();
    let mut files = FilesEngine::open(directory.path()).unwrap();
    let lock = directory.path().join(LOCK_FILE_NAME);
    files.hold_lock(open_or_create(&lock).unwrap());
    let (reader, closed) = (files.reader(), files.batches(task)[5]);
    let release = build_release(&*reader, task, 6);
    let before = stored_contents(&files, task);
    let refused = |is_expected: fn(&EngineError) -> bool| {
        let erased = reader.change_block(task, 1, &mut |_| Some(Vec::new()));
        for changed in [
            reader.store_release(task, &closed, release.clone()),
            reader.delete_reports(task, 1),
            erased.map(drop),
        ] {
            assert!(is_expected(changed.as_ref().unwrap_err()), "{changed:?}");
        }
    };
    fs::remove_file(&lock).unwrap();
    refused(|error| matches!(error, EngineError::FileReplaced { .. }));
    drop(files);
    refused(|error| error.to_string().contains("the store is closed"));
    let files = FilesEngine::open(directory.path()).unwrap();
    assert_eq!(stored_contents(&files, task), before);
}

/// Calls `change` on a copy of a directory with every kind of file. Returns true if reading the
/// changed copy causes an error. Otherwise checks that the contents are unchanged.
fn noticed(change: impl FnOnce(&Path)) -> bool {
    let (directory, task) = directory();
    let expected = contents(directory.path(), task).unwrap();
    let other = tempfile::tempdir().unwrap();
    copy(directory.path(), other.path());
    change(other.path());
    match contents(other.path(), task) {
        Ok(found) => {
            assert_eq!(found, expected);
            false
        }
        Err(_) => true,
    }
}

/// Returns the number of repetitions: the value of an environment variable, or `default` if it is
/// not set.
fn count(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |count| count.parse().unwrap())
}

#[test]
fn a_flipped_bit_is_noticed_or_harmless() {
    let flips = count("HUSHBIN_FLIPS", 200);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut told, mut harmless) = (0, 0);
    for _ in 0..flips {
        let was = noticed(|root| {
            let files = all_files(root);
            let path = &files[rng.next_u32() as usize % files.len()];
            let mut bytes = fs::read(path).unwrap();
            if !bytes.is_empty() {
                let at = rng.next_u64() as usize % (8 * bytes.len());
                bytes[at / 8] ^= 1 << (at % 8);
                fs::write(path, bytes).unwrap();
            }
        });
        *if was { &mut told } else { &mut harmless } += 1;
    }
    // Marks do not matter if the frame verifies, so changes to them are harmless.
    println!("{told} noticed, {harmless} harmless");
    assert!(told > 9 * harmless, "{told} noticed, {harmless} harmless");
}

#[test]
fn a_file_that_is_missing_or_in_anothers_place_is_noticed() {
    let count = all_files(directory().0.path()).len();
    for index in 0..count {
        let remove = |root: &Path| fs::remove_file(&all_files(root)[index]).unwrap();
        assert!(noticed(remove), "{index}");
        for other in 0..index {
            let exchange = |root: &Path| {
                let files = all_files(root);
                let between = root.join("between");
                fs::rename(&files[index], &between).unwrap();
                fs::rename(&files[other], &files[index]).unwrap();
                fs::rename(&between, &files[other]).unwrap();
            };
            assert!(noticed(exchange), "{index} {other}");
        }
    }
}

#[test]
fn exchanged_pages_are_noticed() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let swaps = count("HUSHBIN_SWAPS", 100);
    let mut told = 0;
    for _ in 0..swaps {
        let was = noticed(|root| {
            // Files of a test are small, and so are these pages. Both pages may be in the same
            // file.
            let page = 64;
            let mut pages = Vec::new();
            for path in all_files(root) {
                let length = fs::metadata(&path).unwrap().len() / page;
                pages.extend((0..length).map(|number| (path.clone(), number * page)));
            }
            let one = pages.swap_remove(rng.next_u32() as usize % pages.len());
            let two = pages.swap_remove(rng.next_u32() as usize % pages.len());
            let [first, second] = [&one, &two].map(|(path, at)| {
                let mut bytes = vec![0; page as usize];
                File::open(path)
                    .unwrap()
                    .read_exact_at(&mut bytes, *at)
                    .unwrap();
                bytes
            });
            for ((path, at), bytes) in [(one, second), (two, first)] {
                let file = OpenOptions::new().write(true).open(path).unwrap();
                file.write_all_at(&bytes, at).unwrap();
            }
        });
        told += u64::from(was);
    }
    println!("{told} of {swaps} noticed");
    // No two pages are equal, so every exchange is a change.
    assert_eq!(told, swaps);
}

#[test]
fn what_was_on_its_way_is_cut_off_wherever_the_power_went() {
    let directory = tempfile::tempdir().unwrap();
    let mut files = FilesEngine::open(directory.path()).unwrap();
    let task = files.add_task(task_row_with_id("t"), 100).unwrap();
    files
        .append_uploads(task, &[numbered_record(1), numbered_record(2)])
        .unwrap();
    let log = task_directory(directory.path(), task).join(log_file_name(1));
    let before = fs::read(&log).unwrap();
    files
        .append_uploads(
            task,
            &[numbered_record(3), numbered_record(4), numbered_record(5)],
        )
        .unwrap();
    let after = fs::read(&log).unwrap();
    drop(files);
    let known = |count: u64| -> Vec<_> { (1..=count).map(numbered_record).collect() };
    let check = |bytes: &[u8], stored: u64, case: &str| {
        fs::write(&log, bytes).unwrap();
        let mut files = FilesEngine::open(directory.path()).expect(case);
        let row = files.batches(task)[0];
        assert_eq!(row.report_count, stored, "{case}");
        let outcomes = files.append_uploads(task, &known(6)).unwrap();
        let duplicates = outcomes
            .iter()
            .filter(|o| **o == UploadOutcome::Duplicate)
            .count() as u64;
        assert_eq!(duplicates, stored, "{case}");
        drop(files);
        let files = FilesEngine::open(directory.path()).expect(case);
        assert_eq!(files.batches(task)[0].report_count, 6, "{case}");
    };
    let mark = checksum::Checksum::LENGTH;
    for cut in before.len()..=after.len() {
        // The checksum is there, so the commit is complete, if perhaps not acknowledged.
        let stored = if cut >= after.len() - mark { 5 } else { 2 };
        check(&after[..cut], stored, &format!("cut at {cut}"));
        // Sectors reach the disk in any order; those that did not are zeros.
        if cut < after.len() - mark {
            let mut zeros = after[..cut].to_vec();
            zeros.resize(after.len() - mark, 0);
            check(&zeros, 2, &format!("zeros from {cut}"));
        }
    }
}

#[test]
fn a_removed_log_is_noticed_while_it_is_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut files = FilesEngine::open(directory.path()).unwrap();
    let task = files.add_task(task_row_with_id("t"), 100).unwrap();
    files.append_uploads(task, &[numbered_record(1)]).unwrap();
    fs::remove_file(task_directory(directory.path(), task).join(log_file_name(1))).unwrap();
    let error = files
        .append_uploads(task, &[numbered_record(2)])
        .unwrap_err();
    assert!(error.to_string().contains("removed"), "{error}");
}

#[test]
fn files_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, _) = directory();
    FilesEngine::open(directory.path())
        .unwrap()
        .probe_write()
        .unwrap();
    for path in all_files(directory.path()) {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_task_that_was_deleted_is_gone_or_there_whole() {
    let (directory, task) = directory();
    let expected = contents(directory.path(), task).unwrap();
    let path = task_directory(directory.path(), task);
    fs::rename(&path, path.with_extension(DELETED_TASK_EXTENSION)).unwrap();
    assert_eq!(contents(directory.path(), task).unwrap(), expected);
    let mut files = FilesEngine::open(directory.path()).unwrap();
    files.remove_task(task).unwrap();
    assert_eq!(files.tasks().unwrap(), []);
    let next = files.add_task(task_row_with_id("t"), 100).unwrap();
    assert_ne!(next, task);
    assert_eq!(
        fs::read_dir(directory.path().join(TASKS_DIRECTORY))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn what_was_stored_is_there_after_every_step() {
    let directory = tempfile::tempdir().unwrap();
    let open = || FilesEngine::open(directory.path()).unwrap();
    let mut files = open();
    let task = files.add_task(task_row_with_id("t"), 100).unwrap();
    let mut number = 0;
    for round in 1..40 {
        let group: Vec<_> = (0..10)
            .map(|_| {
                number += 1;
                numbered_record(number)
            })
            .collect();
        assert_outcomes(
            UploadOutcome::Stored,
            &files.append_uploads(task, &group).unwrap(),
        );
        assert_outcomes(
            UploadOutcome::Duplicate,
            &files.append_uploads(task, &group).unwrap(),
        );
        let before = stored_contents(&files, task);
        drop(files);
        files = open();
        assert_eq!(stored_contents(&files, task), before);
        let closed = files.close_batch(task, round, 200).unwrap();
        assert_eq!((closed.number, closed.report_count), (round, 10));
        assert_outcomes(
            UploadOutcome::Duplicate,
            &files.append_uploads(task, &group).unwrap(),
        );
        let reader = files.reader();
        let release = build_release(&*reader, task, round);
        reader
            .store_release(task, &closed, release.clone())
            .unwrap();
        if round % 3 == 0 {
            drop(files);
            files = open();
        } else {
            files.refresh_changed_batch(task, round).unwrap();
        }
        assert_eq!(reader.totals(task, round).unwrap(), release.totals);
        let all: Vec<_> = (1..=number).map(numbered_record).collect();
        assert_outcomes(
            UploadOutcome::Duplicate,
            &files.append_uploads(task, &all).unwrap(),
        );
    }
    let names: Vec<_> = fs::read_dir(task_directory(directory.path(), task))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".ids"))
        .collect();
    // 39 batches: 16 + 16 + 4 + 1 + 1 + 1.
    assert_eq!(names.len(), 6, "{names:?}");
}
