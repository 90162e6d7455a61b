//! Salvages released batches, and the ids of uploads in them.

use std::ops::ControlFlow;
use std::path::Path;

use hushbin::sealed;
use hushbin_analysis::estimate::Totals;

use super::damage::{Loss, Salvage, Salvaged};
use crate::store::engine::EngineError;
use crate::store::files::batch::{self, BatchFile, BatchHeader};
use crate::store::files::disk;
use crate::store::files::ids::{self, IdsFile, Span};
use crate::store::files::listing::{batch_name, log_name};
use crate::store::files::log::LogContents;
use crate::store::fold::fold_block;
use crate::store::origin::Origins;
use crate::store::role::Role;

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
        loss: Loss,
    },
}

impl Salvage<'_> {
    /// Salvages the released batches, and returns the number of released batches in the copy.
    pub(super) fn released(&self, salvaged: &mut Salvaged) -> Result<u64, EngineError> {
        let mut last = self.last_released();
        let mut found: Vec<SalvagedBatch> = (1..=last)
            .map(|batch| self.salvage_batch(batch))
            .collect::<Result<_, _>>()?;
        let lacks = |last, found: &[SalvagedBatch]| {
            let covered = self.cover_ids(last).iter().all(|(_, ids)| ids.is_some());
            !covered || matches!(found.last(), Some(SalvagedBatch::Rewritten { .. }))
        };
        if lacks(last, &found) && self.is_logged(last) {
            // The last batch's log is copied instead. From it, the batch is released again, with
            // the same result to the last byte.
            if let Some(SalvagedBatch::Rewritten { error, .. }) = found.pop() {
                salvaged.damaged(error, Loss::Nothing);
            }
            last -= 1;
        }
        for (batch, found) in (1..).zip(found) {
            let name = batch_name(batch);
            let (from, to) = (self.from.join(&name), self.to.join(&name));
            match found {
                SalvagedBatch::Intact => salvaged.copy(&from, &to)?,
                SalvagedBatch::Rewritten {
                    header,
                    totals,
                    blocks,
                    error,
                    loss,
                } => {
                    batch::write(&to, &header, &totals, &blocks)?;
                    salvaged.damaged(error, loss);
                }
            }
        }
        self.copy_ids(last, salvaged)?;
        Ok(last)
    }

    /// Returns the number of the last released batch, according to file names.
    fn last_released(&self) -> u64 {
        let listing = &self.listing;
        let batch = listing.batches.last().copied().unwrap_or(0);
        // A log is removed when its batch is released.
        let log = listing.logs.first().map_or(0, |first| first - 1);
        batch.max(log)
    }

    /// Returns true if the batch can be released from its log once more.
    fn is_logged(&self, batch: u64) -> bool {
        let path = self.from.join(log_name(batch));
        let contents = LogContents::read(&path);
        contents.is_ok_and(|log| {
            let of_it = log.header.fingerprint == self.row.fingerprint && log.header.batch == batch;
            of_it && log.closed.is_some()
        })
    }

    /// Verifies the file of a released batch. If the file is damaged, returns the data that can
    /// still be written to the copy.
    fn salvage_batch(&self, number: u64) -> Result<SalvagedBatch, EngineError> {
        let path = self.from.join(batch_name(number));
        let opened = BatchFile::open(&path).and_then(|batch| {
            match batch.header.fingerprint == self.row.fingerprint && batch.header.batch == number {
                true => Ok(batch),
                false => Err(disk::damaged(&path, "it belongs to another batch")),
            }
        });
        let batch = match opened {
            Ok(batch) => batch,
            Err(error) => {
                // Nothing is known of a batch whose file cannot be opened.
                let header = BatchHeader {
                    fingerprint: self.row.fingerprint,
                    batch: number,
                    opened: 0,
                    closed: 0,
                    reports: 0,
                };
                return Ok(self.lost_batch(header, None, error));
            }
        };
        let header = batch.header;
        let mut blocks = Vec::new();
        let visited = batch.for_each_block(&mut |block| {
            blocks.push(block.to_vec());
            ControlFlow::Continue(())
        });
        let (totals, error) = match (batch.totals(), visited) {
            (Ok(_), Ok(())) => return Ok(SalvagedBatch::Intact),
            (Ok(totals), Err(error)) => (Some(totals), error),
            (Err(error), _) => (None, error),
        };
        if let Some(counted) = self.totals_of(&blocks, header.reports) {
            return Ok(SalvagedBatch::Rewritten {
                header,
                totals: counted,
                blocks,
                error,
                loss: Loss::Nothing,
            });
        }
        Ok(
            match totals.filter(|totals| self.has_reports(totals, header.reports)) {
                Some(totals) => SalvagedBatch::Rewritten {
                    header,
                    totals,
                    blocks: Vec::new(),
                    error,
                    loss: Loss::Reports {
                        batch: number,
                        reports: header.reports,
                    },
                },
                None => self.lost_batch(header, Some(header.reports), error),
            },
        )
    }

    /// Creates a batch without reports, which takes the place of a lost batch.
    fn lost_batch(
        &self,
        header: BatchHeader,
        reports: Option<u64>,
        error: EngineError,
    ) -> SalvagedBatch {
        SalvagedBatch::Rewritten {
            header: BatchHeader {
                reports: 0,
                ..header
            },
            totals: self.stored_totals(self.task.empty_totals()),
            blocks: Vec::new(),
            error,
            loss: Loss::Batch {
                batch: header.batch,
                reports,
            },
        }
    }

    /// Returns true if `totals` are valid stored totals of exactly `reports` reports.
    fn has_reports(&self, totals: &[u8], reports: u64) -> bool {
        if self.role == Role::Shuffler {
            return totals.is_empty();
        }
        let totals = self.role.split_totals(totals);
        let counted = totals.and_then(|(totals, _)| self.task.counted_reports(totals));
        counted == Some(reports)
    }

    /// Counts the reports in blocks, and returns the totals in the stored form, without origins.
    /// Returns `None` unless the blocks contain exactly `reports` valid reports.
    fn totals_of(&self, blocks: &[Vec<u8>], reports: u64) -> Option<Vec<u8>> {
        // Sealed reports cannot be counted, only their number can be checked.
        if self.role == Role::Shuffler {
            let (fingerprint, length) = (self.task.fingerprint(), self.task.sealed_bytes());
            let count = |block: &Vec<u8>| {
                let uploads = sealed::decode_all(block, &fingerprint, length).ok()?;
                let counts = uploads.iter().map(|(upload, _)| u64::from(upload.count));
                Some(counts.sum::<u64>())
            };
            let found = blocks.iter().map(count).sum::<Option<u64>>();
            return (found == Some(reports)).then(Vec::new);
        }
        // Messages of sums are not kept, so they cannot be counted again.
        let task = self.task.reports()?;
        let mut totals = Totals::new(task);
        for block in blocks {
            fold_block(task, block, &mut totals).ok()?;
        }
        (totals.reports() == reports).then(|| self.stored_totals(totals.encode()))
    }

    /// Converts encoded totals to the form in which this role stores them.
    fn stored_totals(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.role == Role::Shuffler {
            return Vec::new();
        }
        if self.role == Role::Analyser {
            Origins::default().append(&mut bytes);
        }
        bytes
    }

    fn open_ids(&self, span: Span) -> Result<IdsFile, EngineError> {
        let path = self.from.join(ids::file_name(span));
        let ids = IdsFile::open(&path, self.row.fingerprint)?;
        match ids.span == span {
            true => Ok(ids),
            false => Err(disk::damaged(&path, "it belongs to other batches")),
        }
    }

    /// Returns spans that together cover the batches 1 to `last`, each with its valid file of ids.
    /// A span has `None` if its ids are lost.
    fn cover_ids(&self, last: u64) -> Vec<(Span, Option<IdsFile>)> {
        let mut cover: Vec<(Span, Option<IdsFile>)> = Vec::new();
        let mut next = 1;
        while next <= last {
            // Longer spans are listed before shorter ones.
            let spans = self.listing.ids.iter();
            let fits = spans.filter(|span| span.first == next && span.last <= last);
            let found = fits
                .copied()
                .find_map(|span| Some((span, self.open_ids(span).ok()?)));
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
                    cover.push((Span { first, last }, None));
                    next += 1;
                }
            }
        }
        cover
    }

    /// Copies the valid files of ids. Writes a file without ids for each span whose ids are lost.
    fn copy_ids(&self, last: u64, salvaged: &mut Salvaged) -> Result<(), EngineError> {
        let path = |directory: &Path, span| directory.join(ids::file_name(span));
        let cover = self.cover_ids(last);
        let lost = |of: Span| {
            let lost = cover.iter().filter(|(_, ids)| ids.is_none());
            let mut meets = lost.filter(|(own, _)| own.first <= of.last && of.first <= own.last);
            meets.next().map(|(own, _)| *own)
        };
        let mut named = Vec::new();
        for &span in &self.listing.ids {
            let is_kept = |(own, ids): &(Span, Option<IdsFile>)| *own == span && ids.is_some();
            if cover.iter().any(is_kept) {
                continue;
            }
            let Err(error) = self.open_ids(span) else {
                continue;
            };
            let loss = match lost(span) {
                Some(Span { first, last }) => Loss::Ids { first, last },
                // Other files contain the same ids.
                None => Loss::Nothing,
            };
            named.extend(lost(span));
            salvaged.damaged(error, loss);
        }
        for (span, ids) in cover {
            let to = path(self.to, span);
            if ids.is_some() {
                salvaged.copy(&path(self.from, span), &to)?;
                continue;
            }
            if !named.contains(&span) {
                let Span { first, last } = span;
                let missing = disk::damaged(&path(self.from, span), "it is missing");
                salvaged.damaged(missing, Loss::Ids { first, last });
            }
            IdsFile::write(&to, self.row.fingerprint, span, Vec::new())?;
        }
        Ok(())
    }
}
