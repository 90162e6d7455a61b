//! Appends groups of uploads to the open batch in a database.

use std::collections::{HashMap, HashSet};

use postgres::Statement;
use postgres::types::{ToSql, Type};

use super::client::Client;
use super::rows::{UploadIdBytes, parse_upload_id, to_database_integer, unsigned_column};
use super::session::Session;
use crate::store::engine::{EngineError, TaskKey, UploadOutcome, UploadRecord};

/// Maximum number of attempts to find an open batch. An attempt fails if another node closes the
/// batch at the same time.
const MAX_SLOT_ATTEMPTS: usize = 10;

/// Prepared statements that append a group of uploads. They belong to one session.
pub(super) struct AppendStatements {
    lock_own_slot: Statement,
    insert_new_uploads: Statement,
    add_to_slot_count: Statement,
    select_stored_bodies: Statement,
}

impl AppendStatements {
    pub(super) fn prepare(session: &mut Session) -> Result<Self, EngineError> {
        let client = session.client();
        let own_slot = "SELECT batch FROM hushbin.slot \
            WHERE task = $1 AND node = $2 AND open FOR UPDATE";
        // Ids are inserted in sorted order on all nodes, so that transactions cannot deadlock.
        let store = "WITH given AS (SELECT id, reports, body \
                FROM unnest($3::BYTEA[], $4::INT[], $5::BYTEA[]) AS given (id, reports, body)), \
            fresh AS (INSERT INTO hushbin.counted (task, id, batch) \
                SELECT $1::BIGINT, id, $2::BIGINT FROM given ORDER BY id \
                ON CONFLICT DO NOTHING RETURNING id) \
            INSERT INTO hushbin.upload (task, batch, id, reports, body) \
                SELECT $1, $2, given.id, given.reports, given.body \
                FROM given JOIN fresh ON given.id = fresh.id RETURNING id";
        let count = "UPDATE hushbin.slot SET reports = reports + $4 \
            WHERE task = $1 AND batch = $2 AND node = $3";
        let stored_bodies = "SELECT counted.id, upload.body \
            FROM hushbin.counted LEFT JOIN hushbin.upload \
            ON upload.task = counted.task AND upload.batch = counted.batch \
            AND upload.id = counted.id WHERE counted.task = $1 AND counted.id = ANY($2)";
        Ok(Self {
            lock_own_slot: client.prepare(own_slot, &[])?,
            insert_new_uploads: client.prepare(store, &[])?,
            add_to_slot_count: client.prepare(count, &[Type::INT8; 4])?,
            select_stored_bodies: client.prepare(stored_bodies, &[])?,
        })
    }
}

/// Locks this node's slot in the open batch: the row that counts the node's reports. Returns the
/// number of the batch. The batch cannot be closed before the transaction ends.
fn lock_own_slot(
    transaction: &mut Client,
    statements: &AppendStatements,
    (task, node): (i64, i64),
) -> Result<i64, EngineError> {
    if let Some(row) = transaction.query_opt(&statements.lock_own_slot, &[&task, &node])? {
        return Ok(row.get("batch"));
    }
    for _ in 0..MAX_SLOT_ATTEMPTS {
        // The shared lock makes a transaction that closes the batch wait. If that transaction came
        // first, the query waits for it and finds no open batch.
        let open = "SELECT number FROM hushbin.batch WHERE task = $1 AND state = 0 FOR SHARE";
        if let Some(row) = transaction.query_opt(open, &[&task])? {
            let batch: i64 = row.get("number");
            let insert = "INSERT INTO hushbin.slot (task, batch, node, reports, open) \
                VALUES ($1, $2, $3, 0, true)";
            transaction.execute(insert, &[&task, &batch, &node])?;
            return Ok(batch);
        }
        let there = "SELECT key FROM hushbin.task WHERE key = $1";
        if transaction.query_opt(there, &[&task])?.is_none() {
            return Err(EngineError::TaskDeleted);
        }
    }
    Err(EngineError::Damaged("a task has no open batch".to_owned()))
}

/// Stores the new uploads of a group in the open batch. Returns the outcome of each record, the
/// number of the batch, and the batch's current number of reports.
pub(super) fn insert_uploads(
    transaction: &mut Client,
    statements: &AppendStatements,
    (task, node): (TaskKey, i64),
    group: &[UploadRecord],
) -> Result<(Vec<UploadOutcome>, u64, u64), EngineError> {
    let key = to_database_integer(task.0);
    let batch = lock_own_slot(transaction, statements, (key, node))?;

    // An id may occur several times in a group. Its first record counts.
    let mut firsts: HashMap<&UploadIdBytes, &UploadRecord> = HashMap::with_capacity(group.len());
    for record in group {
        firsts.entry(&record.id).or_insert(record);
    }
    let mut given: Vec<&UploadRecord> = firsts.values().copied().collect();
    given.sort_unstable_by_key(|record| record.id);
    let ids: Vec<&[u8]> = given.iter().map(|record| &record.id[..]).collect();
    let bodies: Vec<&[u8]> = given.iter().map(|record| &record.body[..]).collect();
    let reports = given.iter().map(|record| {
        let reports = i32::try_from(record.report_count);
        reports.map_err(|_| EngineError::Damaged("an upload has too many reports".to_owned()))
    });
    let reports: Vec<i32> = reports.collect::<Result<_, _>>()?;
    let stored: &[&(dyn ToSql + Sync)] = &[&key, &batch, &ids, &reports, &bodies];
    let stored = transaction.query(&statements.insert_new_uploads, stored)?;
    let stored = stored.iter().map(|row| parse_upload_id(row.get("id")));
    let stored: HashSet<UploadIdBytes> = stored.collect::<Result<_, _>>()?;

    // Executed even if no upload is new, so that the transaction writes. Then its commit follows
    // the commit of everything that it has read.
    let fresh = given.iter().filter(|own| stored.contains(&own.id));
    let fresh: u64 = fresh.map(|record| u64::from(record.report_count)).sum();
    transaction.execute(
        &statements.add_to_slot_count,
        &[&key, &batch, &node, &to_database_integer(fresh)],
    )?;
    let total = "SELECT sum(reports)::BIGINT AS reports FROM hushbin.slot \
        WHERE task = $1 AND batch = $2";
    let total = transaction.query_one(total, &[&key, &batch])?;

    let known = stored_bodies_by_id(transaction, statements, key, &ids, &stored)?;
    let mut outcomes = Vec::with_capacity(group.len());
    let mut told: HashSet<&UploadIdBytes> = HashSet::new();
    for record in group {
        let first = told.insert(&record.id);
        let same = match known.get(&record.id) {
            // Only the id of a released upload is known, so its bytes cannot conflict.
            Some(body) => body.as_ref().is_none_or(|body| *body == record.body),
            None => firsts[&record.id].body == record.body,
        };
        // Only the first record of an id in the group was stored.
        outcomes.push(match (first && stored.contains(&record.id), same) {
            (true, _) => UploadOutcome::Stored,
            (false, true) => UploadOutcome::Duplicate,
            (false, false) => UploadOutcome::Conflict,
        });
    }
    Ok((
        outcomes,
        batch.cast_unsigned(),
        unsigned_column(&total, "reports"),
    ))
}

/// Returns the bodies of uploads that earlier transactions stored, by upload id. `ids` contains all
/// ids, and `stored` those that the current transaction has stored. A body is `None` if its batch
/// is released.
fn stored_bodies_by_id(
    transaction: &mut Client,
    statements: &AppendStatements,
    task: i64,
    ids: &[&[u8]],
    stored: &HashSet<UploadIdBytes>,
) -> Result<HashMap<UploadIdBytes, Option<Vec<u8>>>, EngineError> {
    if stored.len() == ids.len() {
        return Ok(HashMap::new());
    }
    let is_old = |id: &&&[u8]| !parse_upload_id(id).is_ok_and(|id| stored.contains(&id));
    let old: Vec<&[u8]> = ids.iter().filter(is_old).copied().collect();
    let rows = transaction.query(&statements.select_stored_bodies, &[&task, &old])?;
    let known = rows
        .iter()
        .map(|row| Ok((parse_upload_id(row.get("id"))?, row.get("body"))));
    known.collect()
}
