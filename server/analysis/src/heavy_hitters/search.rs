//! Search for texts, one prefix length after another.

use std::collections::HashSet;
use std::io;

use hushbin::Task;
use hushbin::task::Prefixes;
use serde::Serialize;

use super::candidates::{self, Candidate};
use super::groups::{self, Reports};
use super::thresholds::{hit_rates, screened, stages, strict, text_parameters};
use crate::estimate::{CONFIDENCE, DEFAULT_CONFIDENCE, EstimateError, position};
use crate::numeric::clopper_pearson::{critical_count, lower_bound, upper_bound};
use crate::promise::repeats;

/// Minimum number of hashes charged for a candidate, so that the work limit also bounds memory.
const MIN_WORK_PER_CANDIDATE: u64 = 10_000;

/// Maximum number of candidates in memory, a few gigabytes.
const MOST_CANDIDATES: u64 = 1 << 25;

/// Default alphabet of a search.
pub const DEFAULT_ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz0123456789 -";

/// Options of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Name of the question. May be omitted if the task has only one question.
    pub question: Option<String>,
    /// Letters of the texts. Texts with other letters are not found.
    pub alphabet: String,
    /// Joint confidence of all intervals, within [`CONFIDENCE`].
    pub confidence: f64,
    /// Maximum number of hashes for one length. Each candidate is charged at least 10,000.
    pub work: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            question: None,
            alphabet: DEFAULT_ALPHABET.to_owned(),
            confidence: DEFAULT_CONFIDENCE,
            work: u64::MAX,
        }
    }
}

/// Reasons for refusing or abandoning a search.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The question does not ask for a text.
    #[error("{question:?} does not ask for a text: its estimates say what there is")]
    NotText {
        /// Name of the question.
        question: String,
    },
    /// The alphabet is empty or repeats a letter.
    #[error("the alphabet is {alphabet:?}, expected at least one letter, and each once")]
    Alphabet {
        /// Requested alphabet.
        alphabet: String,
    },
    /// The confidence is out of range.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// Requested confidence.
        confidence: f64,
    },
    /// The task has no such question, or has several and none is named.
    #[error(transparent)]
    Question(#[from] EstimateError),
    /// The search would need more hashes than allowed.
    #[error(
        "there are {candidates} candidates for prefixes of {length} letters and {reports} reports, \
         which needs more than {work} hashes (at least 10,000 per candidate): name fewer letters, \
         or search with hushbin estimate"
    )]
    Work {
        /// Length of the prefixes, in characters.
        length: u32,
        /// Number of candidates of this length.
        candidates: u64,
        /// Number of reports of this length.
        reports: u64,
        /// Maximum number of hashes.
        work: u64,
    },
    /// The caller abandoned the search.
    #[error("the search was given up")]
    GivenUp,
}

/// A text or prefix that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Text {
    /// The text, or its prefix.
    pub text: String,
    /// True if `text` is a prefix of longer texts.
    pub goes_on: bool,
    /// Share of people who have it. Unbiased for a text named beforehand. For texts that were
    /// found, selection biases it upwards.
    pub estimate: f64,
    /// Estimated standard deviation of the estimate's noise.
    pub standard_error: f64,
    /// Interval for the share. All intervals together contain the true shares with the stated
    /// confidence. They cover all candidates, so the selection does not matter.
    pub simultaneous_interval: [f64; 2],
    /// Number of reports that reveal it.
    pub reports: u64,
}

/// Statistics of one prefix length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Length of the prefixes, in characters.
    pub length: u32,
    /// Number of reports of this length.
    pub reports: u64,
    /// Number of candidates tested against these reports.
    pub candidates: u64,
    /// Number of candidates that continued.
    pub(crate) passed: u64,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Name of the question.
    pub question: String,
    /// Number of reports n, over all lengths.
    pub reports: u64,
    /// Joint confidence of all intervals. The probability that any text or prefix here belongs to
    /// no person is at most half the joint error probability.
    pub confidence: f64,
    /// Limitation of the intervals over several windows, in words, if answers are permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// Letters that were tried.
    pub alphabet: String,
    /// Texts, and prefixes of the greatest length, by descending estimate.
    pub texts: Vec<Text>,
    /// Shorter prefixes for which no continuation was found. The next letters are not in the
    /// alphabet, or they split into many continuations that few people have each.
    pub dead_ends: Vec<Text>,
    /// Statistics of each length, in ascending order.
    pub groups: Vec<Group>,
}

impl Found {
    /// Writes CSV: a header, then one row for each text, prefix of the greatest length, and dead
    /// end.
    ///
    /// # Errors
    /// I/O errors of `writer`.
    ///
    /// ```
    /// # use hushbin_analysis::heavy_hitters::{Options, Search};
    /// # let draft: hushbin::TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "t", "epsilon": 1.0,
    /// #          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
    /// # ).unwrap();
    /// # let task = draft.resolve().unwrap();
    /// # let search = Search::new(&task, Options::default()).unwrap();
    /// let found = search.run(&search.no_reports(), &|| false).unwrap();
    /// let mut csv = Vec::new();
    /// found.write_csv(&mut csv).unwrap();
    /// assert!(csv.starts_with(b"text,goes_on,dead_end,reports,estimate,"));
    /// ```
    pub fn write_csv(&self, writer: impl io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record([
            "text",
            "goes_on",
            "dead_end",
            "reports",
            "estimate",
            "standard_error",
            "simultaneous_lower",
            "simultaneous_upper",
        ])?;
        let texts = self.texts.iter().map(|text| (text, false));
        for (text, dead_end) in texts.chain(self.dead_ends.iter().map(|text| (text, true))) {
            let [low, high] = text.simultaneous_interval;
            writer.serialize((
                &text.text,
                text.goes_on,
                dead_end,
                text.reports,
                text.estimate,
                text.standard_error,
                low,
                high,
            ))?;
        }
        writer.flush()
    }
}

/// A validated search over the reports of a question.
///
/// ```
/// use hushbin_analysis::heavy_hitters::{Options, Search};
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "epsilon": 1.0,
///          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
/// ).unwrap();
/// let task = draft.resolve().unwrap();
/// let search = Search::new(&task, Options::default()).unwrap();
/// let found = search.run(&search.no_reports(), &|| false);
/// assert!(found.unwrap().texts.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    question: String,
    repeats: Option<String>,
    options: Options,
    alphabet: Vec<char>,
    /// Probabilities that a report hits [its person's prefix, another prefix].
    hit: [f64; 2],
    /// Empty collection of reports, as a template.
    reports: Reports,
}

/// A candidate that continued, with its counts.
#[derive(Debug, Clone)]
struct Kept {
    candidate: Candidate,
    key: u64,
    hits: u64,
    reports: u64,
    /// One-sided tail probability at which the candidate is found.
    strict: f64,
}

impl Search {
    /// Validates the options for the task and creates a search.
    ///
    /// # Errors
    /// [`SearchError::Question`], [`SearchError::NotText`], [`SearchError::Alphabet`],
    /// [`SearchError::Confidence`].
    pub fn new(task: &Task, options: Options) -> Result<Self, SearchError> {
        let index = position(task, options.question.as_deref())?;
        let question = &task.questions()[index];
        let name = question.name().to_owned();
        let (Some((_, collision)), Some(reports)) =
            (text_parameters(question), Reports::new(task, index))
        else {
            return Err(SearchError::NotText { question: name });
        };
        let alphabet: Vec<char> = options.alphabet.chars().collect();
        let mut seen = HashSet::new();
        // `insert` returns false for a repeated letter.
        if alphabet.is_empty() || !alphabet.iter().all(|letter| seen.insert(letter)) {
            let alphabet = options.alphabet;
            return Err(SearchError::Alphabet { alphabet });
        }
        if !CONFIDENCE.holds(options.confidence) {
            let confidence = options.confidence;
            return Err(SearchError::Confidence { confidence });
        }
        Ok(Self {
            question: name,
            repeats: repeats(task),
            options,
            alphabet,
            hit: hit_rates(question, collision),
            reports,
        })
    }

    /// Returns an empty collection of reports of the question.
    #[must_use]
    pub fn no_reports(&self) -> Reports {
        self.reports.clone()
    }

    /// Searches the reports of the question on all cores.
    ///
    /// `given_up` is polled now and then. If it returns true, the search stops.
    ///
    /// # Errors
    /// [`SearchError::Work`], [`SearchError::GivenUp`].
    pub fn run(
        &self,
        reports: &Reports,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<Found, SearchError> {
        let lengths = reports.groups().len();
        let (mut texts, mut dead_ends, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut prefixes: Vec<Kept> = Vec::new();
        let mut before = 0;
        for group in reports.groups() {
            let candidates = self.candidates(&prefixes, group, group.length() - before)?;
            let count = candidates.len() as u64;
            let strict = strict(self.options.confidence, lengths, count);
            // Reports of this length reveal shorter texts in full, so they count for these, too.
            Self::count_again(&mut texts, group, given_up)?;
            let passed = self.passed(candidates, group, strict, given_up)?;
            groups.push(Group {
                length: group.length(),
                reports: group.len() as u64,
                candidates: count,
                passed: passed.len() as u64,
            });
            // A prefix without a surviving extension is a dead end.
            let ends = |prefix: &Kept| {
                let own = |kept: &Kept| kept.candidate.text.starts_with(&prefix.candidate.text);
                !passed.iter().any(own)
            };
            dead_ends.extend(prefixes.into_iter().filter(ends));
            let (longer, ended): (Vec<_>, Vec<_>) =
                passed.into_iter().partition(|kept| kept.candidate.goes_on);
            prefixes = longer;
            texts.extend(ended);
            before = group.length();
        }
        // Prefixes of the greatest length have no further test. They are results.
        texts.extend(prefixes);
        Ok(Found {
            question: self.question.clone(),
            reports: reports.len() as u64,
            confidence: self.options.confidence,
            repeats: self.repeats.clone(),
            alphabet: self.options.alphabet.clone(),
            texts: self.found(&texts),
            dead_ends: self.found(&dead_ends),
            groups,
        })
    }

    /// Returns the candidates that extend `prefixes` by up to `letters` letters. At the first
    /// length these are all texts over the alphabet.
    fn candidates(
        &self,
        prefixes: &[Kept],
        group: &groups::Group,
        letters: u32,
    ) -> Result<Vec<Candidate>, SearchError> {
        let is_first = group.length() == letters;
        let begun = if is_first { 1 } else { prefixes.len() as u64 };
        let count = candidates::count(self.alphabet.len(), letters);
        let all = count.saturating_mul(begun);
        let reports = group.len() as u64;
        // Bounds both time (hashes) and memory (candidates).
        if all.saturating_mul(reports.max(MIN_WORK_PER_CANDIDATE)) > self.options.work
            || all > MOST_CANDIDATES
        {
            return Err(SearchError::Work {
                length: group.length(),
                candidates: all,
                reports,
                work: self.options.work,
            });
        }
        let mut candidates = Vec::new();
        if is_first {
            // The empty text has no proper prefix to extend.
            candidates.push(Candidate {
                text: String::new(),
                goes_on: false,
            });
            let root = &mut String::new();
            candidates::extend(root, letters, &self.alphabet, &mut candidates);
        }
        for Kept { candidate, .. } in prefixes {
            let prefix = &mut candidate.text.clone();
            candidates::extend(prefix, letters, &self.alphabet, &mut candidates);
        }
        Ok(candidates)
    }

    /// Returns the candidates that the group hits often enough to continue.
    fn passed(
        &self,
        candidates: Vec<Candidate>,
        group: &groups::Group,
        strict: f64,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Kept>, SearchError> {
        let reports = group.len() as u64;
        let [_, other] = self.hit;
        let count = candidates.len() as u64;
        let mut stages = stages(reports, count, other);
        let tail = screened(count, strict);
        // The last stage covers all reports.
        stages.push((reports, critical_count(reports, other, tail)));
        let kept = |candidate: Candidate| Kept {
            key: Prefixes::key_of(&candidate.text, candidate.goes_on),
            candidate,
            hits: 0,
            reports,
            strict,
        };
        let mut all: Vec<Kept> = candidates.into_iter().map(kept).collect();
        // Cheap stages first: each counts only the reports since the previous stage.
        let mut before = 0;
        for (until, enough) in stages {
            let keys: Vec<u64> = all.iter().map(|kept| kept.key).collect();
            let range = before as usize..until as usize;
            let hits = group.hits(range, &keys, given_up);
            let mut hits = hits.ok_or(SearchError::GivenUp)?.into_iter();
            all.retain_mut(|kept| {
                kept.hits += hits.next().expect("hits of each key");
                kept.hits >= enough
            });
            before = until;
        }
        Ok(all)
    }

    /// Adds the hits of a longer group to texts that ended at a shorter length.
    fn count_again(
        texts: &mut [Kept],
        group: &groups::Group,
        given_up: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), SearchError> {
        let keys: Vec<u64> = texts.iter().map(|text| text.key).collect();
        let all = group.hits(0..group.len(), &keys, given_up);
        let all = all.ok_or(SearchError::GivenUp)?;
        for (text, hits) in texts.iter_mut().zip(all) {
            text.hits += hits;
            text.reports += group.len() as u64;
        }
        Ok(())
    }

    /// Keeps the candidates whose interval lies above 0, by descending estimate.
    fn found(&self, kept: &[Kept]) -> Vec<Text> {
        let texts = kept.iter().map(|kept| self.text(kept));
        let mut found: Vec<Text> = texts
            .filter(|text| text.simultaneous_interval[0] > 0.0)
            .collect();
        found.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
        found
    }

    fn text(&self, kept: &Kept) -> Text {
        let [own, other] = self.hit;
        let &Kept { hits, reports, .. } = kept;
        // Unbiased: the hit rate is other + share·(own − other).
        let share = |rate: f64| (rate - other) / (own - other);
        let rate = hits as f64 / reports as f64;
        let limits = [lower_bound, upper_bound].map(|bound| bound(hits, reports, kept.strict));
        Text {
            text: kept.candidate.text.clone(),
            goes_on: kept.candidate.goes_on,
            estimate: share(rate),
            standard_error: (rate * (1.0 - rate) / reports as f64).sqrt() / (own - other),
            simultaneous_interval: limits.map(share),
            reports,
        }
    }
}
