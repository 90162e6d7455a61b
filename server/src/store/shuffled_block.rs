//! Statement that a shuffler makes with each block of a shuffled batch, and the record of a block
//! that an analyser stores.
//!
//! A block has the reports of one group: those of one shuffled batch that are sealed to one key.
//! Only the shuffler sees which messages came in one upload, so it states the number of people in
//! the group. It is trusted for that number, as it could also leave people out.

use std::collections::BTreeSet;

use hushbin::UploadId;
use hushbin::sealed::KEY_ID_BYTES;
use sha2::{Digest, Sha256};

use super::origin::ReportOrigin;
use crate::task::ReportOrSumTask;

/// First bytes of the ids of uploads that an engine finds as the records of an analyser's
/// blocks. Other ids are random, so that none of them begins with eight zeros.
pub const BLOCK_ID_PREFIX: [u8; 8] = [0; 8];

/// Reason that a block of a shuffled batch cannot be what its shuffler states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Number of messages that this number of people cannot have sent.
    #[error(
        "the block states {reports} reports of {people} people, expected {min_reports} to \
         {max_reports} of each"
    )]
    ImpossibleNumber {
        /// Stated number of people.
        people: u64,
        /// Stated number of reports.
        reports: u64,
        /// Minimum number of reports of one person.
        min_reports: u32,
        /// Maximum number of reports of one person.
        max_reports: u32,
    },
    /// The block ends after the last report that it states.
    #[error("the block has more reports than the {reports} that it states")]
    TooManyReports {
        /// Stated number of reports.
        reports: u64,
    },
    /// A stored block of the same batch states other numbers, or has some of the same reports.
    #[error(
        "the block contradicts an earlier block of the same batch and key, expected the same \
         numbers of people and reports, and other reports"
    )]
    Contradiction,
    /// The open batch has earlier blocks of the same shuffled batch, but not the one before this
    /// block. The analyser has lost it.
    #[error(
        "the block before this one is missing, expected all blocks of the shuffled batch in order: \
         send them again from the first one"
    )]
    MissingBlock,
    /// The reports are sealed to several keys.
    #[error("the block has reports that are sealed to several keys, expected one key")]
    SeveralKeys,
}

/// Statement at the start of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockStatement {
    /// Number of people whose reports the group has. In a task of sums, this is the number of
    /// uploads. In any other task, each report counts as one person: the analyser does not learn
    /// which reports came together.
    pub(crate) people: u64,
    /// Number of reports or messages in the group.
    pub(crate) reports: u64,
    /// Number of reports or messages in the blocks of the group before this block.
    pub(crate) reports_before: u64,
}

impl BlockStatement {
    pub(crate) const LENGTH: usize = 3 * 8;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let numbers = [self.people, self.reports, self.reports_before];
        let bytes = numbers.map(u64::to_le_bytes).concat();
        bytes.try_into().expect("three numbers are so long")
    }

    /// Splits `bytes` into a statement and the rest. Returns `None` if they are too short.
    pub(crate) fn split_from(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (own, rest) = bytes.split_first_chunk::<{ Self::LENGTH }>()?;
        let [people, reports, reports_before] =
            [0, 8, 16].map(|at| u64::from_le_bytes(own[at..at + 8].try_into().expect("8 bytes")));
        let statement = Self {
            people,
            reports,
            reports_before,
        };
        Some((statement, rest))
    }

    /// Returns the share of the group's people that a block with `reports` reports counts. The
    /// shares of all blocks of a group add up to the number of people.
    pub(crate) fn people_in_block(&self, reports: u64) -> u64 {
        let people_before = |count: u64| {
            let product = u128::from(self.people) * u128::from(count);
            // At most `people`, because `count` is at most `reports`.
            product.checked_div(self.reports.into()).unwrap_or(0) as u64
        };
        people_before(self.reports_before + reports) - people_before(self.reports_before)
    }

    /// Checks the statement of a block with `reports` reports.
    ///
    /// # Errors
    /// When no group of the task has such a block.
    pub(crate) fn check(&self, task: &ReportOrSumTask, reports: u64) -> Result<(), BlockError> {
        let each = task.messages_per_upload().unwrap_or(1..=1);
        let [fewest, most] =
            [*each.start(), *each.end()].map(|each| u128::from(self.people) * u128::from(each));
        if !(fewest..=most).contains(&u128::from(self.reports)) {
            return Err(BlockError::ImpossibleNumber {
                people: self.people,
                reports: self.reports,
                min_reports: *each.start(),
                max_reports: *each.end(),
            });
        }
        let end = self.reports_before.checked_add(reports);
        match end.is_some_and(|end| end <= self.reports) {
            true => Ok(()),
            false => Err(BlockError::TooManyReports {
                reports: self.reports,
            }),
        }
    }
}

/// Record of a block in the journal of an analyser. It is stored as an upload, in one commit with
/// the messages of the block. So a block that is sent again is recognised as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRecord {
    pub(crate) origin: ReportOrigin,
    pub(crate) statement: BlockStatement,
    /// Number of messages in the block, including those that were left out.
    pub(crate) reports: u64,
}

impl BlockRecord {
    /// Length of an encoded record in bytes.
    pub(super) const LENGTH: usize = ReportOrigin::LENGTH + BlockStatement::LENGTH + 8;

    /// Returns true if an upload of an analyser is the record of a block. Collectors keep such uploads
    /// in memory, too, so the length is checked: a client could choose such an id.
    pub(super) fn is_block(id: &[u8; 16], body: &[u8]) -> bool {
        id.starts_with(&BLOCK_ID_PREFIX) && body.len() == Self::LENGTH
    }

    /// Reads the record of a block, if an upload of an analyser is one.
    pub(super) fn from_upload(id: &[u8; 16], body: &[u8]) -> Option<Self> {
        Self::is_block(id, body).then(|| Self::decode(body))?
    }

    /// Returns the upload id of the record. It is the same whenever the block is sent.
    pub(crate) fn upload_id(&self) -> UploadId {
        let mut hash = Sha256::new();
        hash.update(b"hushbin block\0");
        hash.update(self.origin.encode());
        hash.update(self.statement.reports_before.to_le_bytes());
        let mut id = [0; 16];
        let (prefix, rest) = id.split_at_mut(BLOCK_ID_PREFIX.len());
        prefix.copy_from_slice(&BLOCK_ID_PREFIX);
        rest.copy_from_slice(&hash.finalize()[..8]);
        UploadId(id)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let statement = self.statement.encode();
        let reports = self.reports.to_le_bytes();
        [&self.origin.encode()[..], &statement, &reports].concat()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (origin, rest) = bytes.split_first_chunk::<{ ReportOrigin::LENGTH }>()?;
        let (statement, rest) = BlockStatement::split_from(rest)?;
        Some(Self {
            origin: ReportOrigin::decode(origin),
            statement,
            reports: u64::from_le_bytes(rest.try_into().ok()?),
        })
    }

    /// Returns the number of people that the block counts.
    pub(crate) fn people(&self) -> u64 {
        self.statement.people_in_block(self.reports)
    }

    /// Returns the number of messages in the blocks of the group up to this one.
    pub(super) const fn end(&self) -> u64 {
        self.statement.reports_before + self.reports
    }

    /// Returns true if this is the last block of its group.
    pub(super) const fn is_last(&self) -> bool {
        self.end() == self.statement.reports
    }

    /// Checks that this block and another one of the same task can both be true.
    ///
    /// # Errors
    /// When both are of one group, but differ in what they state of the group, or overlap.
    pub(super) fn check_agrees_with(&self, other: &Self) -> Result<(), BlockError> {
        if self.origin != other.origin || self == other {
            return Ok(());
        }
        let (own, others) = (&self.statement, &other.statement);
        let overlaps = own.reports_before < other.end() && others.reports_before < self.end();
        match overlaps || (own.people, own.reports) != (others.people, others.reports) {
            true => Err(BlockError::Contradiction),
            false => Ok(()),
        }
    }
}

/// Returns the groups that have some of these blocks, but whose last block is missing. A shuffler
/// sends the blocks of a group in order, and each again until it is acknowledged.
pub(super) fn incomplete_groups(blocks: &[BlockRecord]) -> BTreeSet<ReportOrigin> {
    let mut groups: BTreeSet<_> = blocks.iter().map(|block| block.origin).collect();
    for last in blocks.iter().filter(|block| block.is_last()) {
        groups.remove(&last.origin);
    }
    groups
}

/// Returns the id of the key that all of these sealed reports name, or `None` if they name several
/// keys or there are no reports.
pub(crate) fn common_key_id(sealed: &[u8], length: usize) -> Option<[u8; KEY_ID_BYTES]> {
    let mut keys = sealed.chunks_exact(length).map(|own| own.first_chunk());
    let first = keys.next()??;
    keys.all(|key| key == Some(first)).then_some(*first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Task in which a person has one message of the answer, and up to two of noise.
    fn task() -> ReportOrSumTask {
        let task: hushbin::sums::SumTask = serde_json::from_str(
            r#"{ "id": "theme", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6,
                "people": 5000,
                "questions": [{ "name": "theme", "kind": "choice", "options": 1000 }],
                "messages": { "draws": 2, "threshold": "4611686018427387904" } }"#,
        )
        .unwrap();
        task.into()
    }

    fn block(people: u64, reports: u64, reports_before: u64, count: u64) -> BlockRecord {
        BlockRecord {
            origin: ReportOrigin {
                shuffler: [1; 8],
                batch_id: [2; 16],
                key_id: [3; KEY_ID_BYTES],
            },
            statement: BlockStatement {
                people,
                reports,
                reports_before,
            },
            reports: count,
        }
    }

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let own = block(5000, 7000, 4096, 2904);
        assert_eq!(BlockRecord::decode(&own.encode()), Some(own));
        assert_eq!(BlockRecord::decode(&own.encode()[1..]), None);
        let (id, body) = (own.upload_id().0, own.encode());
        assert_eq!(BlockRecord::from_upload(&id, &body), Some(own));
        // Messages have other ids or lengths.
        assert_eq!(BlockRecord::from_upload(&[1; 16], &body), None);
        assert_eq!(BlockRecord::from_upload(&id, &body[1..]), None);
        let first = block(5000, 7000, 0, 4096);
        assert_ne!(first.upload_id(), own.upload_id());
        assert!(own.is_last() && !first.is_last());
        assert_eq!(incomplete_groups(&[first]).len(), 1);
        assert!(incomplete_groups(&[first, own]).is_empty());
    }

    #[test]
    fn shares_of_people_add_up() {
        for (people, reports, each) in [(5000, 7001, 4096), (1, 1, 1), (3, 7, 2), (7, 7, 3)] {
            let begins = (0..reports).step_by(each as usize);
            let shares = begins.map(|begin| {
                let count = each.min(reports - begin);
                block(people, reports, begin, count).people()
            });
            assert_eq!(shares.sum::<u64>(), people);
        }
    }

    #[test]
    fn statements_that_no_group_has_are_refused() {
        let task = task();
        let check = |own: BlockRecord| own.statement.check(&task, own.reports);
        assert!(check(block(5000, 5000, 0, 4096)).is_ok());
        assert!(check(block(5000, 15000, 10904, 4096)).is_ok());
        for (people, reports) in [(5000, 4999), (5000, 15001), (u64::MAX, 5), (0, 1)] {
            let refused = check(block(people, reports, 0, 1)).unwrap_err();
            assert!(
                matches!(refused, BlockError::ImpossibleNumber { .. }),
                "{refused}"
            );
        }
        for before in [2905, u64::MAX] {
            let refused = check(block(5000, 7000, before, 4096)).unwrap_err();
            assert_eq!(refused, BlockError::TooManyReports { reports: 7000 });
        }
        let first = block(5000, 7000, 0, 4096);
        for (other, agrees) in [
            (first, true),
            (block(5000, 7000, 4096, 2904), true),
            (block(5001, 7000, 4096, 2904), false),
            (block(5000, 7001, 4096, 2905), false),
            (block(5000, 7000, 0, 4000), false),
            (block(5000, 7000, 4000, 96), false),
        ] {
            assert_eq!(first.check_agrees_with(&other).is_ok(), agrees, "{other:?}");
            assert_eq!(other.check_agrees_with(&first).is_ok(), agrees, "{other:?}");
        }
    }
}
