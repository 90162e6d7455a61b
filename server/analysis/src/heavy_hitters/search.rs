//! The search for texts, one length after the other.

use std::collections::HashSet;
use std::io;

use hushbin::Task;
use hushbin::task::Prefixes;
use serde::Serialize;

use super::candidates::{self, Candidate};
use super::groups::{self, Reports};
use super::thresholds::{asked, hit_rates, screened, stages, strict};
use crate::estimate::{CONFIDENCE, DEFAULT_CONFIDENCE, EstimateError, position};
use crate::numeric::clopper_pearson::{least_rare, lower_bound, upper_bound};
use crate::promise::repeats;

/// A candidate is reckoned as so many hashes at least, so that what is allowed bounds memory too.
const EACH: u64 = 10_000;

/// How many candidates are held in memory, at most: some gigabytes of them.
const MOST_CANDIDATES: u64 = 1 << 25;

/// Letters that texts are searched over where nothing is said.
pub const DEFAULT_ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz0123456789 -";

/// How to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The question, by name; may be left out where a task asks one.
    pub question: Option<String>,
    /// The letters of texts: what has others is not found.
    pub alphabet: String,
    /// Confidence of all intervals together, within [`CONFIDENCE`].
    pub confidence: f64,
    /// How many hashes may be worked out for one length, each candidate being reckoned as
    /// 10,000 at least.
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

/// Why texts cannot be searched for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A question for something else.
    #[error("{question:?} does not ask for a text: its estimates say what there is")]
    NotText {
        /// The question.
        question: String,
    },
    /// No letters, or one twice.
    #[error("the alphabet is {alphabet:?}, expected at least one letter, and each once")]
    Alphabet {
        /// What was asked for.
        alphabet: String,
    },
    /// Not a confidence.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// What was asked for.
        confidence: f64,
    },
    /// A task that asks no such question, or several and none is named.
    #[error(transparent)]
    Question(#[from] EstimateError),
    /// More hashes than allowed.
    #[error(
        "prefixes of {length} letters have {candidates} candidates over this alphabet, to be held \
         against {reports} reports each: more than {work} hashes, with 10,000 for each candidate at \
         least; name fewer letters, or search where there is more time"
    )]
    Work {
        /// Of the prefixes.
        length: u32,
        /// How many there are.
        candidates: u64,
        /// Reports of this length.
        reports: u64,
        /// What is allowed.
        work: u64,
    },
    /// The caller has given up.
    #[error("the search was given up")]
    GivenUp,
}

/// A text or prefix that people have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Text {
    /// The text, or how it begins.
    pub text: String,
    /// Whether it is the beginning of texts that go on.
    pub goes_on: bool,
    /// Share of people who have it, unbiased for a text that was named beforehand: of
    /// those that are found chance helped some.
    pub estimate: f64,
    /// Standard deviation of the estimate's noise, estimated.
    pub standard_error: f64,
    /// One of intervals that all hold the true share with the stated confidence: those of
    /// all candidates, so that what was selected does not matter.
    pub simultaneous_interval: [f64; 2],
    /// How many reports tell of it.
    pub reports: u64,
}

/// The reports of one length, and what came of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Of the prefixes, in characters.
    pub length: u32,
    /// How many reports tell of them.
    pub reports: u64,
    /// How many candidates were held against them.
    pub candidates: u64,
    /// How many of them went on.
    pub(crate) passed: u64,
}

/// What a search finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The question.
    pub question: String,
    /// n, of all lengths.
    pub reports: u64,
    /// Confidence of all intervals together. That any text or prefix here is one that
    /// nobody has is at most half as likely as that one of them does not hold.
    pub confidence: f64,
    /// What intervals over several windows leave out, in words, where answers are permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// The letters that were tried.
    pub alphabet: String,
    /// Texts, and prefixes of the greatest length, by falling estimate.
    pub texts: Vec<Text>,
    /// Other prefixes of which no continuation is found: by letters that are not in the
    /// alphabet, or by many that few people have each.
    pub dead_ends: Vec<Text>,
    /// By ascending length.
    pub groups: Vec<Group>,
}

impl Found {
    /// Writes a line for each text, prefix of the greatest length, and dead end, under a header.
    ///
    /// # Errors
    /// Those of `writer`.
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

/// A search over the reports of a question.
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
    /// With which probability a report hits a prefix that its person has, and another.
    hit: [f64; 2],
    /// None of them.
    reports: Reports,
}

/// A candidate that went on, with what is counted of it.
#[derive(Debug, Clone)]
struct Kept {
    candidate: Candidate,
    key: u64,
    hits: u64,
    reports: u64,
    /// The tail at which it is found, on either side.
    strict: f64,
}

impl Search {
    /// A search that the task allows, validated.
    ///
    /// # Errors
    /// [`SearchError::Question`], [`SearchError::NotText`], [`SearchError::Alphabet`],
    /// [`SearchError::Confidence`].
    pub fn new(task: &Task, options: Options) -> Result<Self, SearchError> {
        let index = position(task, options.question.as_deref())?;
        let question = &task.questions()[index];
        let name = question.name().to_owned();
        let (Some((_, collision)), Some(reports)) = (asked(question), Reports::new(task, index))
        else {
            return Err(SearchError::NotText { question: name });
        };
        let alphabet: Vec<char> = options.alphabet.chars().collect();
        let mut seen = HashSet::new();
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

    /// No reports yet, of the question.
    #[must_use]
    pub fn no_reports(&self) -> Reports {
        self.reports.clone()
    }

    /// Searches the reports of the question, on all cores.
    ///
    /// `given_up` is asked now and then.
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
            Self::count_again(&mut texts, group, given_up)?;
            let passed = self.passed(candidates, group, strict, given_up)?;
            groups.push(Group {
                length: group.length(),
                reports: group.len() as u64,
                candidates: count,
                passed: passed.len() as u64,
            });
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

    /// What may follow these prefixes within so many letters; without any, all texts.
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
        if all.saturating_mul(reports.max(EACH)) > self.options.work || all > MOST_CANDIDATES {
            return Err(SearchError::Work {
                length: group.length(),
                candidates: all,
                reports,
                work: self.options.work,
            });
        }
        let mut candidates = Vec::new();
        if is_first {
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

    /// The candidates that a group hits often enough to go on.
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
        stages.push((reports, least_rare(reports, other, tail)));
        let kept = |candidate: Candidate| Kept {
            key: Prefixes::key_of(&candidate.text, candidate.goes_on),
            candidate,
            hits: 0,
            reports,
            strict,
        };
        let mut all: Vec<Kept> = candidates.into_iter().map(kept).collect();
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

    /// Adds what a group says of texts that ended before.
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

    /// Those whose interval is above 0, by falling estimate.
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
