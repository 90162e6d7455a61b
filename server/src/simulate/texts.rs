//! Searches for texts of simulated people, compared with the true texts.

use std::collections::HashMap;

use hushbin::Task;
use hushbin::task::PrefixLengths;
use hushbin_analysis::heavy_hitters::{
    DEFAULT_FIND_PROBABILITY, DetectableShare, FoundText, SearchOptions, TextReports, TextSearch,
};
use serde::Serialize;

use super::answers::Answers;
use super::reports::SimulateError;

/// Result of the searches for the texts of a question, as averages over runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TextQuestionResult {
    /// Name of the question.
    pub(crate) question: String,
    /// Number of reports that answered the question; mean over runs.
    pub(crate) reports: f64,
    /// Predicted share of people who must have a text if it is to be found with `probability`.
    /// Infinite if there are too few reports.
    pub(crate) stated_share: f64,
    /// Smallest power of two that is a sufficient number of reports for finding a text that all
    /// people have.
    pub(crate) needed_reports: u64,
    /// Probability of finding a text that `stated_share` of people have.
    pub(crate) probability: f64,
    /// Number of texts that at least `stated_share` of people have. Before counting, a text that is
    /// too long is cut to the maximum length.
    pub(crate) above: usize,
    /// Number of texts that at least `stated_share` of people have and that were found; mean over
    /// runs.
    pub(crate) above_found: f64,
    /// Number of texts and prefixes found; mean over runs.
    pub(crate) found: f64,
    /// Number of found texts and prefixes that no person has; mean over runs.
    pub(crate) invented: f64,
    /// Share of the runs in which all intervals contain the truth.
    pub(crate) all_covered: f64,
    /// Texts of the first run that found any, in descending order of estimates.
    pub(crate) texts: Vec<ComparedText>,
}

/// Found text with the true share of people who have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ComparedText {
    /// Found text.
    #[serde(flatten)]
    pub(crate) text: FoundText,
    /// True share of people who have the text.
    pub(crate) truth: f64,
}

/// People with texts, and the results so far.
pub(super) struct TextSearchSimulation {
    search: TextSearch,
    people: f64,
    /// Maps the key of each prefix to the number of people who have the prefix.
    people_by_prefix_key: HashMap<u64, u64>,
    /// Keys of the longest prefixes that at least `stated_share` of people have.
    frequent_prefix_keys: Vec<u64>,
    result_sums: TextQuestionResult,
}

impl TextSearchSimulation {
    /// Creates the crowd of the first `people` people in the data set, without results.
    ///
    /// # Errors
    /// [`SimulateError::Search`] if the query is invalid.
    pub(super) fn new(
        task: &Task,
        index: usize,
        answers: &Answers,
        people: usize,
        options: &SearchOptions,
    ) -> Result<Self, SimulateError> {
        let question = &task.questions()[index];
        let (mut by_key, mut longest) = (HashMap::new(), HashMap::new());
        for person in 0..people {
            let entries = answers.answer_entries(person, index).iter();
            let mut keys: Vec<u64> = entries.map(|entry| entry.item).collect();
            *longest.entry(keys[keys.len() - 1]).or_insert(0_u64) += 1;
            // A text that has ended has the same key at all greater lengths, and counts once.
            keys.dedup();
            for key in keys {
                *by_key.entry(key).or_insert(0_u64) += 1;
            }
        }
        let search = TextSearch::new(
            task,
            SearchOptions {
                question_name: Some(question.name().to_owned()),
                ..options.clone()
            },
        )?;
        let letters = options.alphabet.chars().count();
        let answering = (people as f64 * task.question_report_share(index)) as u64;
        let stated = |reports| {
            let (confidence, probability) = (options.confidence, DEFAULT_FIND_PROBABILITY);
            let found = DetectableShare::new(question, reports, letters, confidence, probability);
            found.map_or(f64::INFINITY, |found| found.share)
        };
        let mut powers = (0..50).map(|power| 1 << power);
        let needed_reports = powers.find(|&reports| stated(reports).is_finite());
        let stated_share = stated(answering);
        let enough = |(_, count): &(&u64, &u64)| **count as f64 / people as f64 >= stated_share;
        let above: Vec<u64> = longest.iter().filter(enough).map(|(key, _)| *key).collect();
        Ok(Self {
            search,
            people: people as f64,
            people_by_prefix_key: by_key,
            result_sums: TextQuestionResult {
                question: question.name().to_owned(),
                reports: 0.0,
                stated_share,
                needed_reports: needed_reports.unwrap_or(u64::MAX),
                probability: DEFAULT_FIND_PROBABILITY,
                above: above.len(),
                above_found: 0.0,
                found: 0.0,
                invented: 0.0,
                all_covered: 0.0,
                texts: Vec::new(),
            },
            frequent_prefix_keys: above,
        })
    }

    /// Searches the reports of one run and adds the result.
    ///
    /// # Errors
    /// [`SimulateError::Search`] if the search fails.
    pub(super) fn search_run(&mut self, reports: &TextReports) -> Result<(), SimulateError> {
        let answer = self.search.find_texts(reports, &|| false)?;
        let key = |text: &FoundText| PrefixLengths::text_or_prefix_hash(&text.text, text.is_prefix);
        let compared = |text: FoundText| ComparedText {
            truth: self
                .people_by_prefix_key
                .get(&key(&text))
                .map_or(0.0, |&n| n as f64 / self.people),
            text,
        };
        let keys: Vec<u64> = answer.texts.iter().map(key).collect();
        let texts: Vec<ComparedText> = answer.texts.into_iter().map(compared).collect();
        let dead_ends = answer.dead_ends.into_iter().map(compared);
        let all: Vec<ComparedText> = texts.iter().cloned().chain(dead_ends).collect();
        let covers = |compared: &ComparedText| {
            let [low, high] = compared.text.simultaneous_interval;
            (low..=high).contains(&compared.truth)
        };
        let count = |what: &dyn Fn(&ComparedText) -> bool| all.iter().filter(|c| what(c)).count();
        let found = &mut self.result_sums;
        found.reports += reports.len() as f64;
        found.above_found += self
            .frequent_prefix_keys
            .iter()
            .filter(|key| keys.contains(key))
            .count() as f64;
        found.found += texts.len() as f64;
        found.invented += count(&|compared| compared.truth == 0.0) as f64;
        found.all_covered += f64::from(u8::from(all.iter().all(covers)));
        if found.texts.is_empty() {
            found.texts = texts;
        }
        Ok(())
    }

    /// Returns the result, averaged over `runs`.
    pub(super) fn into_averages(self, runs: u32) -> TextQuestionResult {
        let average = |sum: f64| sum / f64::from(runs);
        TextQuestionResult {
            reports: average(self.result_sums.reports),
            above_found: average(self.result_sums.above_found),
            found: average(self.result_sums.found),
            invented: average(self.result_sums.invented),
            all_covered: average(self.result_sums.all_covered),
            ..self.result_sums
        }
    }
}
