//! Reports of a question that asks for a text, grouped by the length of the prefix that each
//! reveals.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use hushbin::mechanism::collision::Collision;
use hushbin::task::{PrefixLengths, QuestionSelector};
use hushbin::{Report, Task};

use super::thresholds::prefix_lengths_and_mechanism;
use crate::estimate::BucketHashRange;

/// Collection of reports of a question that asks for a text.
///
/// ```
/// use hushbin_analysis::heavy_hitters::TextReports;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "epsilon": 1.0,
///          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let reports = TextReports::new(&task, 0).unwrap();
/// assert_eq!(reports.len(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct TextReports {
    question_selector: QuestionSelector,
    question_index: usize,
    prefix_lengths: PrefixLengths,
    collision_mechanism: Collision,
    /// For each prefix that a report may reveal, the index of its group in `groups`. Prefixes of
    /// equal length have the same group.
    prefix_group_indices: Vec<usize>,
    length_groups: Vec<LengthGroup>,
}

impl TextReports {
    /// Creates an empty collection for the question at index `question` of the task. Returns `None`
    /// if that question does not ask for a text.
    ///
    /// # Panics
    /// If `question` is out of range.
    #[must_use]
    pub fn new(task: &Task, question: usize) -> Option<Self> {
        let (prefixes, collision) = prefix_lengths_and_mechanism(&task.questions()[question])?;
        let group = |(length, _)| LengthGroup {
            prefix_length: length,
            bucket_hash_ranges: Vec::new(),
        };
        let group_of = (0..).zip(prefixes.lengths_with_repeat_counts());
        Some(Self {
            question_selector: task.question_selector().clone(),
            question_index: question,
            prefix_lengths: prefixes.clone(),
            collision_mechanism: *collision,
            prefix_group_indices: group_of
                .flat_map(|(group, (_, prefixes))| std::iter::repeat_n(group, prefixes))
                .collect(),
            length_groups: prefixes.lengths_with_repeat_counts().map(group).collect(),
        })
    }

    /// Adds a report of the task, if the report answers this question.
    ///
    /// # Panics
    /// If the report was decoded under another task.
    pub fn add_report(&mut self, report: &Report) {
        if self
            .question_selector
            .question_index_for_seed(report.seed())
            != self.question_index
        {
            return;
        }
        let Report::Collision(report) = report else {
            panic!("reports are decoded under the task of the question");
        };
        // The seed determines which prefix is revealed, just as it determines the question.
        let group = self.prefix_group_indices[self.prefix_lengths.drawn_prefix_index(report.seed)];
        let report = BucketHashRange::new(report, self.collision_mechanism.buckets_per_hash());
        self.length_groups[group].bucket_hash_ranges.push(report);
    }

    /// Adds all reports of another collection of the same question.
    pub fn merge(&mut self, others: &Self) {
        for (own, others) in self.length_groups.iter_mut().zip(&others.length_groups) {
            own.bucket_hash_ranges
                .extend_from_slice(&others.bucket_hash_ranges);
        }
    }

    /// Returns the number of reports.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length_groups.iter().map(LengthGroup::len).sum()
    }

    /// Returns true if the collection has no reports.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the groups in ascending order of prefix length.
    pub(super) fn groups_by_length(&self) -> &[LengthGroup] {
        &self.length_groups
    }
}

/// Reports that reveal prefixes of one length.
#[derive(Debug, Clone)]
pub(super) struct LengthGroup {
    prefix_length: u32,
    bucket_hash_ranges: Vec<BucketHashRange>,
}

/// Number of reports that are tested together against all prefix keys. 1024 reports of 24 bytes
/// each fit into the L1 cache.
const REPORTS_PER_BLOCK: usize = 1024;

impl LengthGroup {
    /// Returns the length of the revealed prefixes, in characters.
    pub(super) const fn length(&self) -> u32 {
        self.prefix_length
    }

    pub(super) const fn len(&self) -> usize {
        self.bucket_hash_ranges.len()
    }

    /// Counts the reports in `range` that hit each of the prefix `keys`, on all cores. The function
    /// `given_up` is polled. If it returns true, the count stops and the result is `None`.
    pub(super) fn count_hits(
        &self,
        range: Range<usize>,
        keys: &[u64],
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<u64>> {
        // A platform without threads cannot report its parallelism. Count on one thread there.
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        let reports = &self.bucket_hash_ranges[range];
        // Each thread counts at least one block of reports.
        let part = reports.len().div_ceil(workers).max(REPORTS_PER_BLOCK);
        let parts: Vec<&[BucketHashRange]> = reports.chunks(part).collect();
        if let [] | [_] = parts[..] {
            return count_hits_on_one_thread(parts.first().unwrap_or(&&[][..]), keys, given_up);
        }
        thread::scope(|scope| {
            let spawn = |part| scope.spawn(move || count_hits_on_one_thread(part, keys, given_up));
            let threads: Vec<_> = parts.into_iter().map(spawn).collect();
            let mut sums = vec![0; keys.len()];
            for thread in threads {
                let of_part = thread.join().expect("counting does not panic")?;
                sums.iter_mut().zip(of_part).for_each(|(sum, n)| *sum += n);
            }
            Some(sums)
        })
    }
}

fn count_hits_on_one_thread(
    reports: &[BucketHashRange],
    keys: &[u64],
    given_up: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<u64>> {
    let mut sums = vec![0; keys.len()];
    // The inner loop is over keys, so that each block of reports stays in the cache.
    for block in reports.chunks(REPORTS_PER_BLOCK) {
        if given_up() {
            return None;
        }
        for (sum, &key) in sums.iter_mut().zip(keys) {
            *sum += block
                .iter()
                .filter(|report| report.contains_hash_of(key))
                .count() as u64;
        }
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use hushbin::mix::mix64;

    use super::*;

    /// Checks that several threads count the same as one thread, and that an abandoned count
    /// returns `None`.
    #[test]
    fn parts_add_up() {
        let draft: hushbin::TaskDraft = serde_json::from_value(serde_json::json!({
            "id": "t", "epsilon": 1.0, "questions": [{ "name": "q", "kind": "text", "length": 2 }],
        }))
        .unwrap();
        let task = draft.resolve_task().unwrap();
        let mut reports = TextReports::new(&task, 0).unwrap();
        for seed in 0..5000 {
            let bucket = (seed % u64::from(reports.collision_mechanism.buckets_per_hash())) as u32;
            let seed = mix64(seed);
            reports.add_report(&Report::Collision(hushbin::mechanism::collision::Report {
                seed,
                bucket,
            }));
        }
        let keys = [1, 2, u64::MAX];
        let group = &reports.groups_by_length()[0];
        assert_eq!(group.len(), 5000);
        let counted = group.count_hits(0..5000, &keys, &|| false).unwrap();
        let of = |key: &u64| {
            group
                .bucket_hash_ranges
                .iter()
                .filter(|report| report.contains_hash_of(*key))
                .count() as u64
        };
        assert_eq!(counted, keys.iter().map(of).collect::<Vec<_>>());
        assert_eq!(group.count_hits(0..5000, &keys, &|| true), None);
    }
}
