//! Search for frequent texts, from the smallest prefix length to the greatest.

use std::collections::HashSet;
use std::io;

use hushbin::Task;
use hushbin::task::PrefixLengths;
use serde::Serialize;

use super::candidates::{self, Candidate};
use super::prefix_length_groups::{self, TextReports};
use super::thresholds::{
    early_test_stages, max_tail_probability_for_result, max_tail_probability_to_continue,
    prefix_lengths_and_mechanism, true_and_false_hit_rates,
};
use crate::estimate::{
    CONFIDENCE_RANGE, DEFAULT_CONFIDENCE, EstimateError, csv_text_cell, find_question_index,
};
use crate::numeric::clopper_pearson::{
    critical_hit_count, lower_confidence_bound, upper_confidence_bound,
};

/// Minimum number of hashes that are counted for a candidate. Because of this minimum, the limit on
/// hashes also limits memory.
const MIN_HASH_COST_PER_CANDIDATE: u64 = 10_000;

/// Maximum number of candidates of one length. They take a few gigabytes of memory.
const MAX_CANDIDATES_PER_LENGTH: u64 = 1 << 25;

/// Default alphabet from whose letters candidates are built.
pub const DEFAULT_ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz0123456789 -";

/// Options of a search for texts.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// Name of the question. May be omitted if the task has only one question.
    pub question_name: Option<String>,
    /// Letters from which candidates are built. Texts with other letters are not found.
    pub alphabet: String,
    /// Joint confidence of all intervals, within [`CONFIDENCE_RANGE`].
    pub confidence: f64,
    /// Maximum number of hashes to compute for one length. Each candidate counts as at least 10,000
    /// hashes.
    pub max_hashes_per_length: u64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            question_name: None,
            alphabet: DEFAULT_ALPHABET.to_owned(),
            confidence: DEFAULT_CONFIDENCE,
            max_hashes_per_length: u64::MAX,
        }
    }
}

/// Reasons for refusing or abandoning a search.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The question does not ask for a text.
    #[error("{question:?} does not ask for a text: its estimates say what there is")]
    NotTextQuestion {
        /// Name of the question.
        question: String,
    },
    /// The alphabet is empty or repeats a letter.
    #[error("the alphabet is {alphabet:?}, expected at least one letter, and each once")]
    InvalidAlphabet {
        /// Requested alphabet.
        alphabet: String,
    },
    /// The confidence is out of range.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE_RANGE.min, CONFIDENCE_RANGE.max)]
    ConfidenceOutOfRange {
        /// Requested confidence.
        confidence: f64,
    },
    /// The task has no question with the requested name, or it has several questions and none was
    /// named.
    #[error(transparent)]
    QuestionNotFound(#[from] EstimateError),
    /// The search would need more hashes than allowed.
    #[error(
        "there are {candidates} candidates for prefixes of {length} letters and {reports} reports, \
         which needs more than {work} hashes (at least 10,000 per candidate): name fewer letters, \
         or search with hushbin estimate"
    )]
    TooManyHashes {
        /// Length of the prefixes, in characters.
        length: u32,
        /// Number of candidates of this length.
        candidates: u64,
        /// Number of reports that reveal prefixes of this length.
        reports: u64,
        /// Maximum number of hashes.
        work: u64,
    },
    /// The caller abandoned the search.
    #[error("the search was given up")]
    SearchCancelled,
}

/// A text that was found, or a prefix of texts, with the share of people who have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundText {
    /// The text, or its prefix.
    pub text: String,
    /// True if `text` is a prefix of longer texts.
    pub is_prefix: bool,
    /// Estimated share of people who have the text, or texts with this prefix. It is biased
    /// upwards, because only candidates with many hits are found.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Simultaneous confidence interval for the share. With the stated confidence, the intervals of
    /// all candidates contain the true shares at once. So they are valid in spite of the selection
    /// of candidates.
    pub simultaneous_interval: [f64; 2],
    /// Number of reports from which the share is estimated: those whose prefix length reveals the
    /// text or prefix.
    pub sample_size: u64,
}

/// Counts of one step of the search, which looks for prefixes of one length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchStepCounts {
    /// Length of the prefixes, in characters.
    pub length: u32,
    /// Number of reports that reveal prefixes of this length.
    pub reports: u64,
    /// Number of candidates tested against these reports.
    pub candidates: u64,
    /// Number of candidates that enough reports hit.
    pub(crate) passed: u64,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResult {
    /// Name of the question.
    pub question: String,
    /// Number of reports n, over all lengths.
    pub reports: u64,
    /// Joint confidence of all intervals. The probability of any false discovery is at most (1 −
    /// confidence)/2. A false discovery is a text or prefix in the result that no person has.
    pub confidence: f64,
    /// Letters from which candidates were built.
    pub alphabet: String,
    /// Whole texts and prefixes of the greatest length, in descending order of estimates.
    pub texts: Vec<FoundText>,
    /// Shorter prefixes that were found without any of their continuations. Either the next letters
    /// are not in the alphabet, or each of many continuations is rare.
    pub dead_ends: Vec<FoundText>,
    /// Counts of each step, in ascending order of lengths.
    pub steps: Vec<SearchStepCounts>,
}

impl SearchResult {
    /// Writes CSV: a header, then one row for each entry of `texts` and of `dead_ends`. Texts are
    /// written by [`csv_text_cell`], so that no spreadsheet runs them as formulas.
    ///
    /// # Errors
    /// I/O errors of `writer`.
    ///
    /// ```
    /// # use hushbin_analysis::heavy_hitters::{SearchOptions, TextSearch};
    /// # let draft: hushbin::TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "t", "epsilon": 1.0,
    /// #          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
    /// # ).unwrap();
    /// # let task = draft.resolve_task().unwrap();
    /// # let search = TextSearch::new(&task, SearchOptions::default()).unwrap();
    /// let found = search.find_texts(&search.empty_reports(), &|| false).unwrap();
    /// let mut csv = Vec::new();
    /// found.write_csv(&mut csv).unwrap();
    /// assert!(csv.starts_with(b"text,is_prefix,dead_end,sample_size,estimate,"));
    /// ```
    pub fn write_csv(&self, writer: impl io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record([
            "text",
            "is_prefix",
            "dead_end",
            "sample_size",
            "estimate",
            "standard_error",
            "simultaneous_lower",
            "simultaneous_upper",
        ])?;
        let texts = self.texts.iter().map(|text| (text, false));
        for (text, dead_end) in texts.chain(self.dead_ends.iter().map(|text| (text, true))) {
            let [low, high] = text.simultaneous_interval;
            writer.serialize((
                csv_text_cell(&text.text),
                text.is_prefix,
                dead_end,
                text.sample_size,
                text.estimate,
                text.standard_error,
                low,
                high,
            ))?;
        }
        writer.flush()
    }
}

/// A search for texts with validated options. It can be run on reports of its question.
///
/// ```
/// use hushbin_analysis::heavy_hitters::{SearchOptions, TextSearch};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "epsilon": 1.0,
///          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let search = TextSearch::new(&task, SearchOptions::default()).unwrap();
/// let found = search.find_texts(&search.empty_reports(), &|| false);
/// assert!(found.unwrap().texts.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct TextSearch {
    question_name: String,
    options: SearchOptions,
    alphabet: Vec<char>,
    /// Probability that a report hits the prefix of its sender's text, and probability that the
    /// report hits any other given prefix.
    true_and_false_hit_rates: [f64; 2],
    /// Empty collection of reports, which is cloned for callers.
    empty_report_collection: TextReports,
}

/// A candidate that enough reports hit, with its counts.
#[derive(Debug, Clone)]
struct PassedCandidate {
    candidate: Candidate,
    text_key: u64,
    hits: u64,
    report_count: u64,
    /// Maximum one-sided tail probability of the hits at which the candidate is included in the
    /// result.
    result_max_tail_probability: f64,
}

impl TextSearch {
    /// Validates the options for the task and creates a search.
    ///
    /// # Errors
    /// [`SearchError::QuestionNotFound`], [`SearchError::NotTextQuestion`], [`SearchError::InvalidAlphabet`],
    /// [`SearchError::ConfidenceOutOfRange`].
    pub fn new(task: &Task, options: SearchOptions) -> Result<Self, SearchError> {
        let index = find_question_index(task, options.question_name.as_deref())?;
        let question = &task.questions()[index];
        let name = question.name().to_owned();
        let (Some((_, collision)), Some(reports)) = (
            prefix_lengths_and_mechanism(question),
            TextReports::new(task, index),
        ) else {
            return Err(SearchError::NotTextQuestion { question: name });
        };
        let alphabet: Vec<char> = options.alphabet.chars().collect();
        let mut seen = HashSet::new();
        // `insert` returns false for a repeated letter.
        if alphabet.is_empty() || !alphabet.iter().all(|letter| seen.insert(letter)) {
            let alphabet = options.alphabet;
            return Err(SearchError::InvalidAlphabet { alphabet });
        }
        if !CONFIDENCE_RANGE.contains(options.confidence) {
            let confidence = options.confidence;
            return Err(SearchError::ConfidenceOutOfRange { confidence });
        }
        Ok(Self {
            question_name: name,
            options,
            alphabet,
            true_and_false_hit_rates: true_and_false_hit_rates(question, collision),
            empty_report_collection: reports,
        })
    }

    /// Returns an empty collection of reports of the question.
    #[must_use]
    pub fn empty_reports(&self) -> TextReports {
        self.empty_report_collection.clone()
    }

    /// Searches for texts in these reports of the question, on all cores.
    ///
    /// `given_up` is polled during the search. If it returns true, the search stops with an error.
    ///
    /// # Errors
    /// [`SearchError::TooManyHashes`], [`SearchError::SearchCancelled`].
    pub fn find_texts(
        &self,
        reports: &TextReports,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<SearchResult, SearchError> {
        let lengths = reports.groups_by_length().len();
        let (mut texts, mut dead_ends, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let mut prefixes: Vec<PassedCandidate> = Vec::new();
        let mut before = 0;
        for group in reports.groups_by_length() {
            let candidates = self.next_candidates(&prefixes, group, group.length() - before)?;
            let count = candidates.len() as u64;
            let strict = max_tail_probability_for_result(self.options.confidence, lengths, count);
            // Reports of this length reveal shorter texts in full, so they are counted for these
            // texts, too.
            Self::add_hits_to_texts(&mut texts, group, given_up)?;
            let passed = self.filter_by_hits(candidates, group, strict, given_up)?;
            steps.push(SearchStepCounts {
                length: group.length(),
                reports: group.len() as u64,
                candidates: count,
                passed: passed.len() as u64,
            });
            // A prefix is a dead end if no candidate that passed extends it.
            let ends = |prefix: &PassedCandidate| {
                let own = |kept: &PassedCandidate| {
                    kept.candidate.text.starts_with(&prefix.candidate.text)
                };
                !passed.iter().any(own)
            };
            dead_ends.extend(prefixes.into_iter().filter(ends));
            let (longer, ended): (Vec<_>, Vec<_>) = passed
                .into_iter()
                .partition(|kept| kept.candidate.is_prefix);
            prefixes = longer;
            texts.extend(ended);
            before = group.length();
        }
        // Prefixes of the greatest length cannot be extended, so they belong to the result.
        texts.extend(prefixes);
        Ok(SearchResult {
            question: self.question_name.clone(),
            reports: reports.len() as u64,
            confidence: self.options.confidence,
            alphabet: self.options.alphabet.clone(),
            texts: self.texts_above_zero(&texts),
            dead_ends: self.texts_above_zero(&dead_ends),
            steps,
        })
    }

    /// Returns the candidates that extend `prefixes` by up to `letters` letters. At the first
    /// length, the candidates are all texts over the alphabet with at most `letters` letters.
    fn next_candidates(
        &self,
        prefixes: &[PassedCandidate],
        group: &prefix_length_groups::LengthGroup,
        letters: u32,
    ) -> Result<Vec<Candidate>, SearchError> {
        let is_first = group.length() == letters;
        let begun = if is_first { 1 } else { prefixes.len() as u64 };
        let count = candidates::extension_count(self.alphabet.len(), letters);
        let all = count.saturating_mul(begun);
        let reports = group.len() as u64;
        // The limits bound both time (number of hashes) and memory (number of candidates).
        if all.saturating_mul(reports.max(MIN_HASH_COST_PER_CANDIDATE))
            > self.options.max_hashes_per_length
            || all > MAX_CANDIDATES_PER_LENGTH
        {
            return Err(SearchError::TooManyHashes {
                length: group.length(),
                candidates: all,
                reports,
                work: self.options.max_hashes_per_length,
            });
        }
        let mut candidates = Vec::new();
        if is_first {
            // The empty text is a candidate, too. It does not extend any prefix.
            candidates.push(Candidate {
                text: String::new(),
                is_prefix: false,
            });
            let root = &mut String::new();
            candidates::append_extensions(root, letters, &self.alphabet, &mut candidates);
        }
        for PassedCandidate { candidate, .. } in prefixes {
            let prefix = &mut candidate.text.clone();
            candidates::append_extensions(prefix, letters, &self.alphabet, &mut candidates);
        }
        Ok(candidates)
    }

    /// Returns the candidates that enough reports of the group hit, with their numbers of hits.
    fn filter_by_hits(
        &self,
        candidates: Vec<Candidate>,
        group: &prefix_length_groups::LengthGroup,
        strict: f64,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<PassedCandidate>, SearchError> {
        let reports = group.len() as u64;
        let [_, other] = self.true_and_false_hit_rates;
        let count = candidates.len() as u64;
        let mut stages = early_test_stages(reports, count, other);
        let tail = max_tail_probability_to_continue(count, strict);
        // The last stage counts all reports of the group.
        stages.push((reports, critical_hit_count(reports, other, tail)));
        let kept = |candidate: Candidate| PassedCandidate {
            text_key: PrefixLengths::text_or_prefix_hash(&candidate.text, candidate.is_prefix),
            candidate,
            hits: 0,
            report_count: reports,
            result_max_tail_probability: strict,
        };
        let mut all: Vec<PassedCandidate> = candidates.into_iter().map(kept).collect();
        // Each stage counts only the reports after those of the previous stage, and drops
        // candidates. So later stages have fewer candidates to test.
        let mut before = 0;
        for (until, enough) in stages {
            let keys: Vec<u64> = all.iter().map(|kept| kept.text_key).collect();
            let range = before as usize..until as usize;
            let hits = group.count_hits(range, &keys, given_up);
            let mut hits = hits.ok_or(SearchError::SearchCancelled)?.into_iter();
            all.retain_mut(|kept| {
                kept.hits += hits.next().expect("hits of each key");
                kept.hits >= enough
            });
            before = until;
        }
        Ok(all)
    }

    /// Adds the hits of this group to whole texts that were found at a shorter length.
    fn add_hits_to_texts(
        texts: &mut [PassedCandidate],
        group: &prefix_length_groups::LengthGroup,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), SearchError> {
        let keys: Vec<u64> = texts.iter().map(|text| text.text_key).collect();
        let all = group.count_hits(0..group.len(), &keys, given_up);
        let all = all.ok_or(SearchError::SearchCancelled)?;
        for (text, hits) in texts.iter_mut().zip(all) {
            text.hits += hits;
            text.report_count += group.len() as u64;
        }
        Ok(())
    }

    /// Returns the candidates whose interval is above 0, in descending order of estimates.
    fn texts_above_zero(&self, kept: &[PassedCandidate]) -> Vec<FoundText> {
        let texts = kept.iter().map(|kept| self.estimate_share(kept));
        let mut found: Vec<FoundText> = texts
            .filter(|text| text.simultaneous_interval[0] > 0.0)
            .collect();
        found.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
        found
    }

    fn estimate_share(&self, kept: &PassedCandidate) -> FoundText {
        let [own, other] = self.true_and_false_hit_rates;
        let &PassedCandidate {
            hits,
            report_count: reports,
            ..
        } = kept;
        // Unbiased, because the expected hit rate is other + share·(own − other).
        let share = |rate: f64| (rate - other) / (own - other);
        let rate = hits as f64 / reports as f64;
        let limits = [lower_confidence_bound, upper_confidence_bound]
            .map(|bound| bound(hits, reports, kept.result_max_tail_probability));
        FoundText {
            text: kept.candidate.text.clone(),
            is_prefix: kept.candidate.is_prefix,
            estimate: share(rate),
            standard_error: (rate * (1.0 - rate) / reports as f64).sqrt() / (own - other),
            simultaneous_interval: limits.map(share),
            sample_size: reports,
        }
    }
}
