//! Salvages released batches, and the ids of uploads in them.

use std::ops::ControlFlow;
use std::path::Path;

use hushbin::sealed;
use hushbin_analysis::estimate::Totals;

use super::damage::{DataLoss, SalvageResult, TaskSalvage};
use crate::store::engine::{EngineError, ReleasedBlocks};
use crate::store::files::batch::{self, BatchFile, BatchHeader};
use crate::store::files::disk;
use crate::store::files::ids::{self, BatchSpan, UploadIdsFile};
use crate::store::files::listing::{batch_file_name, log_file_name};
use crate::store::fold::add_block_to_totals;
use crate::store::origin::OriginCounts;
use crate::store::role::ProcessRole;
use crate::store::shuffled_block::BlockStatement;

/// Result of salvaging one released batch.
enum SalvagedBatch {
    /// The batch's file is valid, and is copied.
    Intact,
    /// The batch's file is damaged. It is rewritten from verified data.
    Rewritten {
        header: BatchHeader,
        totals: Vec<u8>,
        blocks: Vec<Vec<u8>>,
        error: EngineError,
        loss: DataLoss,
    },
}

impl TaskSalvage<'_> {
    /// Salvages the released batches, and returns the number of released batches in the copy.
    pub(super) fn salvage_released_batches(
        &self,
        salvaged: &mut SalvageResult,
    ) -> Result<u64, EngineError> {
        let mut last = self.last_released();
        let mut found: Vec<SalvagedBatch> = (1..=last)
            .map(|batch| self.salvage_batch(batch))
            .collect::<Result<_, _>>()?;
        let lacks = |last, found: &[SalvagedBatch]| {
            let covered = self
                .spans_covering_batches(last)
                .iter()
                .all(|(_, ids)| ids.is_some());
            !covered || matches!(found.last(), Some(SalvagedBatch::Rewritten { .. }))
        };
        if lacks(last, &found) && self.has_closed_log(last) {
            // The last batch's log is copied instead. From it, the batch is released again, with
            // the same result to the last byte.
            if let Some(SalvagedBatch::Rewritten { error, .. }) = found.pop() {
                salvaged.record_damage(error, DataLoss::Nothing);
            }
            last -= 1;
        }
        for (batch, found) in (1..).zip(found) {
            let name = batch_file_name(batch);
            let (from, to) = (
                self.old_directory.join(&name),
                self.new_directory.join(&name),
            );
            match found {
                SalvagedBatch::Intact => salvaged.copy_file(&from, &to)?,
                SalvagedBatch::Rewritten {
                    header,
                    totals,
                    blocks,
                    error,
                    loss,
                } => {
                    let blocks = ReleasedBlocks::InMemory(blocks);
                    batch::write_batch_file(&to, &header, &totals, &blocks)?;
                    salvaged.record_damage(error, loss);
                }
            }
        }
        self.copy_ids_files(last, salvaged)?;
        Ok(last)
    }

    /// Returns the number of the last released batch, according to file names.
    fn last_released(&self) -> u64 {
        let listing = &self.listing;
        let batch = listing.batch_file_numbers.last().copied().unwrap_or(0);
        // A log is removed when its batch is released.
        let log = listing
            .log_batch_numbers
            .first()
            .map_or(0, |first| first - 1);
        batch.max(log)
    }

    /// Returns true if the batch still has a closed log, from which it can be released again.
    fn has_closed_log(&self, batch: u64) -> bool {
        let path = self.old_directory.join(log_file_name(batch));
        let contents = self.shared_frames.read_log(&path, self.row.key, batch);
        contents.is_ok_and(|log| {
            let of_it = log.header.fingerprint == self.row.fingerprint && log.header.batch == batch;
            of_it && log.closed_at.is_some()
        })
    }

    /// Verifies the file of a released batch. If the file is damaged, returns the data that can
    /// still be written to the copy.
    fn salvage_batch(&self, number: u64) -> Result<SalvagedBatch, EngineError> {
        let path = self.old_directory.join(batch_file_name(number));
        let opened = BatchFile::open(&path).and_then(|batch| {
            match batch.header.fingerprint == self.row.fingerprint && batch.header.batch == number {
                true => Ok(batch),
                false => Err(disk::damage_error(&path, "it belongs to another batch")),
            }
        });
        let batch = match opened {
            Ok(batch) => batch,
            Err(error) => {
                // Nothing is known of a batch whose file cannot be opened.
                let header = BatchHeader {
                    fingerprint: self.row.fingerprint,
                    batch: number,
                    opened_at: 0,
                    closed_at: 0,
                    report_count: 0,
                };
                return Ok(self.empty_batch_for_lost(header, None, error));
            }
        };
        let header = batch.header;
        let mut blocks = Vec::new();
        let visited = batch.for_each_block(&mut |block| {
            blocks.push(block.to_vec());
            ControlFlow::Continue(())
        });
        // All blocks are there, so reports that are not there were erased.
        let is_complete = visited.is_ok();
        let (totals, error) = match (batch.totals(), visited) {
            (Ok(_), Ok(())) => return Ok(SalvagedBatch::Intact),
            (Ok(totals), Err(error)) => (Some(totals), error),
            (Err(error), _) => (None, error),
        };
        let recounted = self.recount_batch(header, &blocks, is_complete && totals.is_none());
        if let Some((header, totals, loss)) = recounted {
            return Ok(SalvagedBatch::Rewritten {
                header,
                totals,
                blocks,
                error,
                loss,
            });
        }
        Ok(
            match totals.filter(|totals| self.totals_match_count(totals, header.report_count)) {
                Some(totals) => SalvagedBatch::Rewritten {
                    header,
                    totals,
                    blocks: Vec::new(),
                    error,
                    loss: DataLoss::Reports {
                        batch: number,
                        reports: header.report_count,
                    },
                },
                None => self.empty_batch_for_lost(header, Some(header.report_count), error),
            },
        )
    }

    /// Creates a batch without reports, which takes the place of a lost batch.
    fn empty_batch_for_lost(
        &self,
        header: BatchHeader,
        reports: Option<u64>,
        error: EngineError,
    ) -> SalvagedBatch {
        SalvagedBatch::Rewritten {
            header: BatchHeader {
                report_count: 0,
                ..header
            },
            totals: self.totals_in_stored_form(self.task.empty_totals()),
            blocks: Vec::new(),
            error,
            loss: DataLoss::Batch {
                batch: header.batch,
                reports,
            },
        }
    }

    /// Returns true if `totals` are valid stored totals of exactly `reports` reports.
    fn totals_match_count(&self, totals: &[u8], reports: u64) -> bool {
        if self.role == ProcessRole::Shuffler {
            return totals.is_empty();
        }
        let totals = self.role.split_origins_from_totals(totals);
        let counted = totals.and_then(|(totals, _)| self.task.reports_in_totals(totals));
        counted == Some(reports)
    }

    /// Counts a batch again from its blocks. Returns header, totals and loss, or `None` if the
    /// blocks lack reports that were not erased.
    fn recount_batch(
        &self,
        header: BatchHeader,
        blocks: &[Vec<u8>],
        lacks_only_erased: bool,
    ) -> Option<(BatchHeader, Vec<u8>, DataLoss)> {
        let (totals, found) = self.recount_blocks(blocks)?;
        let batch = header.batch;
        let loss = match header.report_count.checked_sub(found)? {
            0 => DataLoss::Nothing,
            // A shuffler counts the reports that it left out, and keeps them nowhere.
            _ if lacks_only_erased && self.role == ProcessRole::Shuffler => {
                return Some((header, totals, DataLoss::Nothing));
            }
            reports if lacks_only_erased && found > 0 => {
                DataLoss::ErasedFromTotals { batch, reports }
            }
            _ => return None,
        };
        let report_count = found;
        Some((
            BatchHeader {
                report_count,
                ..header
            },
            totals,
            loss,
        ))
    }

    /// Counts the reports in blocks. Returns the totals in the stored form, without origins, and the
    /// number of reports. Returns `None` if a report is invalid.
    fn recount_blocks(&self, blocks: &[Vec<u8>]) -> Option<(Vec<u8>, u64)> {
        // Of sealed reports only the number can be checked. In a task of sums, the messages of one
        // person count as one report.
        if self.role == ProcessRole::Shuffler {
            let (fingerprint, length) = (self.task.fingerprint(), self.task.sealed_report_length());
            let count = |block: &Vec<u8>| {
                let (statement, upload) = BlockStatement::split_from(block)?;
                let uploads = sealed::decode_uploads(upload, &fingerprint, length).ok()?;
                let counts = uploads.iter().map(|(upload, _)| {
                    let reports = upload.report_count.into();
                    statement.check(self.task, reports).ok()?;
                    Some(statement.people_in_block(reports))
                });
                counts.sum::<Option<u64>>()
            };
            let found = blocks.iter().map(count).sum::<Option<u64>>();
            return found.map(|found| (Vec::new(), found));
        }
        // Messages of sums are not kept, so they cannot be counted again.
        let task = self.task.report_task()?;
        let mut totals = Totals::new(task);
        for block in blocks {
            add_block_to_totals(task, block, &mut totals).ok()?;
        }
        let stored = self.totals_in_stored_form(totals.encode());
        Some((stored, totals.report_count()))
    }

    /// Converts encoded totals to the form in which this role stores them.
    fn totals_in_stored_form(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.role == ProcessRole::Shuffler {
            return Vec::new();
        }
        if self.role == ProcessRole::Analyser {
            OriginCounts::default().append_encoded_to(&mut bytes);
        }
        bytes
    }

    fn open_ids_file(&self, span: BatchSpan) -> Result<UploadIdsFile, EngineError> {
        let path = self.old_directory.join(ids::ids_file_name(span));
        let ids = UploadIdsFile::open(&path, self.row.fingerprint)?;
        match ids.span == span {
            true => Ok(ids),
            false => Err(disk::damage_error(&path, "it belongs to other batches")),
        }
    }

    /// Returns spans that together cover the batches 1 to `last`. Each span has its valid file of
    /// ids, or `None` if its ids are lost.
    fn spans_covering_batches(&self, last: u64) -> Vec<(BatchSpan, Option<UploadIdsFile>)> {
        let mut cover: Vec<(BatchSpan, Option<UploadIdsFile>)> = Vec::new();
        let mut next = 1;
        while next <= last {
            // Longer spans are listed before shorter ones.
            let spans = self.listing.ids_file_spans.iter();
            let fits = spans.filter(|span| span.first == next && span.last <= last);
            let found = fits
                .copied()
                .find_map(|span| Some((span, self.open_ids_file(span).ok()?)));
            match (found, cover.last_mut()) {
                (Some((span, ids)), _) => {
                    next = span.last + 1;
                    cover.push((span, Some(ids)));
                }
                (None, Some((span, None))) => {
                    span.last = next;
                    next += 1;
                }
                (None, _) => {
                    let (first, last) = (next, next);
                    cover.push((BatchSpan { first, last }, None));
                    next += 1;
                }
            }
        }
        cover
    }

    /// Copies the valid files of ids. Writes a file without ids for each span whose ids are lost.
    fn copy_ids_files(&self, last: u64, salvaged: &mut SalvageResult) -> Result<(), EngineError> {
        let path = |directory: &Path, span| directory.join(ids::ids_file_name(span));
        let cover = self.spans_covering_batches(last);
        let lost = |of: BatchSpan| {
            let lost = cover.iter().filter(|(_, ids)| ids.is_none());
            let mut meets = lost.filter(|(own, _)| own.first <= of.last && of.first <= own.last);
            meets.next().map(|(own, _)| *own)
        };
        let mut named = Vec::new();
        for &span in &self.listing.ids_file_spans {
            let is_kept =
                |(own, ids): &(BatchSpan, Option<UploadIdsFile>)| *own == span && ids.is_some();
            if cover.iter().any(is_kept) {
                continue;
            }
            let Err(error) = self.open_ids_file(span) else {
                continue;
            };
            let loss = match lost(span) {
                Some(BatchSpan { first, last }) => DataLoss::Ids { first, last },
                // Other files contain the same ids.
                None => DataLoss::Nothing,
            };
            named.extend(lost(span));
            salvaged.record_damage(error, loss);
        }
        for (span, ids) in cover {
            let to = path(self.new_directory, span);
            if ids.is_some() {
                salvaged.copy_file(&path(self.old_directory, span), &to)?;
                continue;
            }
            if !named.contains(&span) {
                let BatchSpan { first, last } = span;
                let missing = disk::damage_error(&path(self.old_directory, span), "it is missing");
                salvaged.record_damage(missing, DataLoss::Ids { first, last });
            }
            UploadIdsFile::write(&to, self.row.fingerprint, span, Vec::new())?;
        }
        Ok(())
    }
}
