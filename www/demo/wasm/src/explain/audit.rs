//! Audit of a randomizer: a lower bound on ε, computed only from reports. It works in steps, so
//! that a page can pause it.
//!
//! The audit gives each report of two inputs a score. An event is a range of scores. The first
//! quarter of the scores chooses the event that distinguishes the inputs best. The remaining
//! scores, which did not influence the choice, yield the bound: it compares how often the event
//! occurs for each input.
//!
//! A score uses only the randomised part of a report, given the seed. The audit is therefore blind
//! to seeds that depend on the input, and to faults that appear only with other inputs. The command
//! `hushbin audit` tests these too.

use hushbin::upload::upload_header;
use hushbin::{Upload, UploadId};
use serde::Serialize;

use super::error::ExplainError;
use super::ratings_explainer::Explainer;
use hushbin_analysis::numeric::clopper_pearson::{lower_confidence_bound, upper_confidence_bound};

/// Side of a threshold on which a score must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Scores at or above the threshold, which are more frequent for the first input.
    AtLeast,
    /// Scores at or below the threshold, which are more frequent for the second input.
    AtMost,
}

/// Event that a report's score is on one side of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct ScoredEvent {
    /// Threshold with which the score is compared.
    pub threshold: f64,
    /// Side of the threshold that belongs to the event.
    pub side: Side,
}

/// Counts for one input: reports in which an event occurs, and all reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct HitCount {
    /// Number of reports in which the event occurs.
    pub hits: u64,
    /// Number of all reports.
    pub trials: u64,
}

/// Result of an audit: a lower bound on ε, and the counts behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct MeasuredBound {
    /// Lower bound on the true ε, at the stated confidence.
    pub empirical_lower_bound: f64,
    /// Confidence of the bound.
    pub confidence: f64,
    /// Event whose frequencies yield the bound.
    pub event: ScoredEvent,
    /// Counts for the input that is expected to have the event more often.
    pub likelier: HitCount,
    /// Counts for the other input.
    pub other: HitCount,
}

/// Divisor of the number of scores. A quarter of the scores is used to choose the event.
const EVENT_CHOICE_DIVISOR: usize = 4;
/// Maximum number of thresholds that are tried. If there are more distinct scores, the quantiles
/// are tried.
const MAX_CANDIDATE_THRESHOLDS: usize = 400;
/// Number of standard errors that are subtracted from the estimated bound of an event. The final
/// bound, at a confidence of 0.999, loses 3.3 standard errors. The other 3.3 ensure that no rare
/// event wins by chance.
const CAUTION_STANDARD_ERRORS: f64 = 6.6;

/// Audit in progress: the scores of the reports of each input.
#[derive(Debug, Clone)]
pub struct Audit {
    explainer: Explainer,
    scores: [Vec<f64>; 2],
}

impl Explainer {
    /// Starts an audit that compares reports of the two inputs of [`Explainer::extreme_inputs`].
    #[must_use]
    pub fn audit(&self) -> Audit {
        Audit {
            explainer: self.clone(),
            scores: [Vec::new(), Vec::new()],
        }
    }
}

impl Audit {
    /// Computes the scores of `count` reports, which `packed` lists one after the other. They must
    /// come from input number `which` (0 or 1) of [`Explainer::extreme_inputs`], and from the
    /// task's mechanism with any ε.
    ///
    /// # Errors
    /// Errors of [`Upload::decode`].
    ///
    /// # Panics
    /// If `which` is above 1.
    pub fn add_reports(
        &mut self,
        which: usize,
        count: u32,
        packed: &[u8],
    ) -> Result<(), ExplainError> {
        let task = &self.explainer.task;
        // Only uploads can be decoded, so a header goes in front of the reports.
        let mut upload = upload_header(UploadId([0; 16]), &task.fingerprint(), count);
        upload.extend_from_slice(packed);
        let inputs = self.explainer.extreme_inputs();
        for report in Upload::decode(&upload, task)?.reports {
            self.scores[which].push(self.explainer.score(&inputs, &report)?);
        }
        Ok(())
    }

    /// Returns the lower bound on ε. The bound is above the true ε with a probability of at most 1
    /// − `confidence`.
    ///
    /// # Panics
    /// If either input has fewer than 4 scores, or the confidence is not in 0 to 1.
    #[must_use]
    pub fn measure_bound(&self, confidence: f64) -> MeasuredBound {
        let [first, second] = &self.scores;
        let trials = first.len().min(second.len());
        let from = trials / EVENT_CHOICE_DIVISOR;
        let event = ScoredEvent::choose_most_telling([&first[..from], &second[..from]]);
        event.bound_epsilon([&first[from..trials], &second[from..trials]], confidence)
    }
}

impl ScoredEvent {
    fn is_met_by(&self, score: f64) -> bool {
        match self.side {
            Side::AtLeast => score >= self.threshold,
            Side::AtMost => score <= self.threshold,
        }
    }

    /// Returns the number of scores for which the event occurs. `sorted` is in ascending order.
    fn count_hits_in_sorted(&self, sorted: &[f64]) -> usize {
        match self.side {
            Side::AtLeast => sorted.len() - sorted.partition_point(|score| *score < self.threshold),
            Side::AtMost => sorted.partition_point(|score| *score <= self.threshold),
        }
    }

    /// Reorders the values of two inputs. The input that is expected to have the event more often
    /// comes first.
    fn likelier_first<T>(&self, [first, second]: [T; 2]) -> [T; 2] {
        match self.side {
            Side::AtLeast => [first, second],
            Side::AtMost => [second, first],
        }
    }

    /// Chooses the event with the largest expected lower bound on ε.
    fn choose_most_telling(scores: [&[f64]; 2]) -> Self {
        let sorted = scores.map(|scores| {
            let mut sorted = scores.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        });
        let mut values = sorted.concat();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let tried = values.len().min(MAX_CANDIDATE_THRESHOLDS);
        let candidates = (0..tried).flat_map(|index| {
            let threshold = values[index * values.len() / tried];
            [Side::AtLeast, Side::AtMost].map(|side| Self { threshold, side })
        });
        let hopeful = |event: &Self| {
            let counts =
                [0, 1].map(|which| event.count_hits_in_sorted(&sorted[which]) as f64 + 0.5);
            let [likelier, other] = event.likelier_first(counts);
            (likelier / other).ln()
                - CAUTION_STANDARD_ERRORS * (1.0 / likelier + 1.0 / other).sqrt()
        };
        // `max_by` returns the last maximum, so the reversal picks the first.
        candidates
            .rev()
            .max_by(|a, b| hopeful(a).total_cmp(&hopeful(b)))
            .expect("there are scores")
    }

    /// Computes the lower bound on ε from scores that were not used to choose the event.
    fn bound_epsilon(self, scores: [&[f64]; 2], confidence: f64) -> MeasuredBound {
        let counts = scores.map(|scores| HitCount {
            hits: scores
                .iter()
                .filter(|score| self.is_met_by(**score))
                .count() as u64,
            trials: scores.len() as u64,
        });
        let [likelier, other] = self.likelier_first(counts);
        // One bound of each count is used, so each may fail with half of the probability.
        let failure = 0.5 * (1.0 - confidence);
        let low = lower_confidence_bound(likelier.hits, likelier.trials, failure);
        let high = upper_confidence_bound(other.hits, other.trials, failure);
        MeasuredBound {
            empirical_lower_bound: (low / high).ln().max(0.0),
            confidence,
            event: self,
            likelier,
            other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 1000 scores: `hits` of them are `score`, the rest are 0.
    fn scores(hits: usize, score: f64) -> Vec<f64> {
        let score = |index| if index < hits { score } else { 0.0 };
        (0..1000).map(score).collect()
    }

    #[test]
    fn the_event_tells_the_inputs_apart_best_from_either_side() {
        let (first, second) = (scores(300, 2.0), scores(100, 2.0));
        let event = ScoredEvent::choose_most_telling([&first, &second]);
        let expected = ScoredEvent {
            threshold: 2.0,
            side: Side::AtLeast,
        };
        assert_eq!(event, expected);
        let mirrored = ScoredEvent::choose_most_telling([&scores(100, -2.0), &scores(300, -2.0)]);
        let expected = ScoredEvent {
            threshold: -2.0,
            side: Side::AtMost,
        };
        assert_eq!(mirrored, expected);

        let found = event.bound_epsilon([&first, &second], 0.999);
        assert_eq!([found.likelier.hits, found.other.hits], [300, 100]);
        let [low, high] = [
            lower_confidence_bound(300, 1000, 0.0005),
            upper_confidence_bound(100, 1000, 0.0005),
        ];
        assert!((found.empirical_lower_bound - (low / high).ln()).abs() < 1e-12);
        let nothing = event.bound_epsilon([&second, &first], 0.999);
        assert_eq!(nothing.empirical_lower_bound, 0.0);
    }
}
