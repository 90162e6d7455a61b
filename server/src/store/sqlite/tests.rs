//! The engine against a real directory.

use super::*;

fn open(directory: &tempfile::TempDir) -> (SqliteJournal, TaskKey) {
    let mut journal = SqliteJournal::open(directory.path()).unwrap();
    let key = match journal.tasks().unwrap().first() {
        Some(row) => row.key,
        None => journal.add_task("t", [7; 16], "{}").unwrap(),
    };
    (journal, key)
}

fn record(task: TaskKey, id: u8, bytes: &[u8]) -> Record {
    Record {
        task,
        upload: [id; 16],
        bytes: bytes.to_vec(),
    }
}

fn contents(journal: &SqliteJournal, task: TaskKey) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    journal
        .reader()
        .for_each_upload(task, &mut |bytes| {
            all.push(bytes.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

#[test]
fn outcomes_within_and_across_groups() {
    let directory = tempfile::tempdir().unwrap();
    let (mut journal, task) = open(&directory);
    let group = [
        record(task, 1, b"one"),
        record(task, 1, b"one"),
        record(task, 1, b"eins"),
        record(task, 2, b"two"),
    ];
    assert_eq!(
        journal.append(&group, false).unwrap(),
        [
            Outcome::Stored,
            Outcome::Duplicate,
            Outcome::Conflict,
            Outcome::Stored
        ]
    );
    drop(journal);
    let (mut journal, task) = open(&directory);
    assert_eq!(
        journal.append(&group[..3], true).unwrap(),
        [Outcome::Duplicate, Outcome::Duplicate, Outcome::Conflict]
    );
    assert_eq!(contents(&journal, task), [b"one".to_vec(), b"two".to_vec()]);
    assert_eq!(journal.tasks().unwrap().len(), 1);
}

#[test]
fn the_same_id_under_two_tasks_is_two_uploads() {
    let directory = tempfile::tempdir().unwrap();
    let (mut journal, first) = open(&directory);
    let second = journal.add_task("u", [8; 16], "{}").unwrap();
    let group = [record(first, 1, b"one"), record(second, 1, b"other")];
    assert_eq!(
        journal.append(&group, false).unwrap(),
        [Outcome::Stored, Outcome::Stored]
    );
    assert_eq!(contents(&journal, second), [b"other".to_vec()]);
}

#[test]
fn a_full_disk_fails_the_whole_group_and_heals() {
    let directory = tempfile::tempdir().unwrap();
    let (mut journal, task) = open(&directory);
    journal.append(&[record(task, 1, b"kept")], false).unwrap();
    let pages: u32 = journal
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let limit = |journal: &SqliteJournal, pages: u32| {
        journal
            .connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
            .unwrap();
    };
    limit(&journal, pages);
    let group = [record(task, 2, b"small"), record(task, 3, &[9; 100_000])];
    let error = journal.append(&group, true).unwrap_err();
    assert!(matches!(
        &error,
        JournalError::Sqlite(cause)
            if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
    ));
    assert_eq!(contents(&journal, task), [b"kept".to_vec()]);
    limit(&journal, 1 << 20);
    assert_eq!(
        journal.append(&group, false).unwrap(),
        [Outcome::Stored, Outcome::Stored]
    );
    assert_eq!(contents(&journal, task).len(), 3);
}

#[test]
fn a_proof_really_writes() {
    let directory = tempfile::tempdir().unwrap();
    let (mut journal, _) = open(&directory);
    let wal = directory.path().join("journal.sqlite-wal");
    journal.checkpoint().unwrap();
    assert_eq!(fs::metadata(&wal).unwrap().len(), 0);
    journal.append(&[], true).unwrap();
    assert!(fs::metadata(&wal).unwrap().len() > 0);
}

#[test]
fn newer_and_foreign_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal
        .connection
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    drop(journal);
    let error = SqliteJournal::open(directory.path()).unwrap_err();
    assert!(matches!(
        error,
        JournalError::NewerSchema {
            found: 99,
            known: SCHEMA_VERSION,
            ..
        }
    ));

    let directory = tempfile::tempdir().unwrap();
    Connection::open(directory.path().join(FILE_NAME))
        .unwrap()
        .execute_batch("CREATE TABLE somebody_elses (x)")
        .unwrap();
    let error = SqliteJournal::open(directory.path()).unwrap_err();
    assert!(matches!(error, JournalError::Foreign { found: 0, .. }));
}

#[test]
fn a_scan_sees_one_moment_and_stops_when_told() {
    let directory = tempfile::tempdir().unwrap();
    let (mut journal, task) = open(&directory);
    let group: Vec<_> = (0..50).map(|id| record(task, id, &[id])).collect();
    journal.append(&group, false).unwrap();
    let reader = journal.reader();
    let mut seen = 0;
    reader
        .for_each_upload(task, &mut |_| {
            seen += 1;
            if seen == 1 {
                let late: Vec<_> = (100..150).map(|id| record(task, id, &[id])).collect();
                journal.append(&late, false).unwrap();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, 50);
    let mut seen = 0;
    reader
        .for_each_upload(task, &mut |_| {
            seen += 1;
            if seen == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!(seen, 3);
}
