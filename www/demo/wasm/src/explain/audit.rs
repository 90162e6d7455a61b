//! An audit of a randomizer from its reports alone, in steps that a page can
//! pause between.
//!
//! Reports of two inputs are scored; the first quarter of the scores chooses the
//! event that tells the inputs apart best, and the rest, which had no say in the
//! choice, bound ε by how often they meet it.
//!
//! Scores are likelihood ratios under the report's seed: an audit for a page to
//! show, blind to seeds that depend on the input and to whatever is wrong with other
//! inputs. The command `hushbin audit` looks at those, too.

use hushbin::upload::header;
use hushbin::{Upload, UploadId};
use serde::Serialize;

use super::error::ExplainError;
use super::explainer::Explainer;
use hushbin_analysis::numeric::clopper_pearson::{lower_bound, upper_bound};

/// Scores of at least, or at most, a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Those that the first input makes more often.
    AtLeast,
    /// Those that the second does.
    AtMost,
}

/// A kind of report, by its score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct ScoredEvent {
    /// Of scores.
    pub threshold: f64,
    /// On which side of it.
    pub side: Side,
}

/// How often an event was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Hits {
    /// Times that it was.
    pub hits: u64,
    /// Of so many reports.
    pub trials: u64,
}

/// What an audit measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Measured {
    /// The true ε is at least this, with the stated confidence.
    pub empirical_lower_bound: f64,
    /// At which it holds.
    pub confidence: f64,
    /// What it comes from.
    pub event: ScoredEvent,
    /// Of the input that meets it more often.
    pub likelier: Hits,
    /// Of the other input.
    pub other: Hits,
}

/// What part of the scores chooses the event.
const CHOOSING: usize = 4;
/// Thresholds tried; where scores take more values, as many quantiles.
const CANDIDATES: usize = 400;
/// Standard errors taken off an estimate: 3.3 that a confidence of 0.999 costs
/// later, and as many so that no rare event wins by luck.
const CAUTION: f64 = 6.6;

/// The scores of an audit under way.
#[derive(Debug, Clone)]
pub struct Audit {
    explainer: Explainer,
    scores: [Vec<f64>; 2],
}

impl Explainer {
    /// An audit of whatever makes reports of [`Explainer::extremes`].
    #[must_use]
    pub fn audit(&self) -> Audit {
        Audit {
            explainer: self.clone(),
            scores: [Vec::new(), Vec::new()],
        }
    }
}

impl Audit {
    /// Scores `count` reports that lie back to back, made of the first (0) or the
    /// second (1) of [`Explainer::extremes`]; by a randomizer of the task's
    /// mechanism, whatever its ε.
    ///
    /// # Errors
    /// As [`Upload::decode`].
    ///
    /// # Panics
    /// If there is no such input.
    pub fn add(&mut self, which: usize, count: u32, packed: &[u8]) -> Result<(), ExplainError> {
        let task = &self.explainer.task;
        // Reports by themselves are decoded as those of an upload.
        let mut upload = header(UploadId([0; 16]), &task.fingerprint(), count);
        upload.extend_from_slice(packed);
        let inputs = self.explainer.extremes();
        for report in Upload::decode(&upload, task)?.reports {
            self.scores[which].push(self.explainer.score(&inputs, &report)?);
        }
        Ok(())
    }

    /// The bound that the scores give; it fails with what `confidence` leaves.
    ///
    /// # Panics
    /// If either input has fewer than 4 scores, or the confidence is not from 0
    /// to 1.
    #[must_use]
    pub fn measured(&self, confidence: f64) -> Measured {
        let [first, second] = &self.scores;
        let trials = first.len().min(second.len());
        let from = trials / CHOOSING;
        let event = ScoredEvent::choose([&first[..from], &second[..from]]);
        event.evaluate([&first[from..trials], &second[from..trials]], confidence)
    }
}

impl ScoredEvent {
    fn meets(&self, score: f64) -> bool {
        match self.side {
            Side::AtLeast => score >= self.threshold,
            Side::AtMost => score <= self.threshold,
        }
    }

    /// How many of sorted scores meet it.
    fn among(&self, sorted: &[f64]) -> usize {
        match self.side {
            Side::AtLeast => sorted.len() - sorted.partition_point(|score| *score < self.threshold),
            Side::AtMost => sorted.partition_point(|score| *score <= self.threshold),
        }
    }

    /// Counts of the input that it points to and of the other.
    fn towards<T>(&self, [first, second]: [T; 2]) -> [T; 2] {
        match self.side {
            Side::AtLeast => [first, second],
            Side::AtMost => [second, first],
        }
    }

    /// The event that promises the greatest bound.
    fn choose(scores: [&[f64]; 2]) -> Self {
        let sorted = scores.map(|scores| {
            let mut sorted = scores.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        });
        let mut values = sorted.concat();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let tried = values.len().min(CANDIDATES);
        let candidates = (0..tried).flat_map(|index| {
            let threshold = values[index * values.len() / tried];
            [Side::AtLeast, Side::AtMost].map(|side| Self { threshold, side })
        });
        let hopeful = |event: &Self| {
            let counts = [0, 1].map(|which| event.among(&sorted[which]) as f64 + 0.5);
            let [likelier, other] = event.towards(counts);
            (likelier / other).ln() - CAUTION * (1.0 / likelier + 1.0 / other).sqrt()
        };
        // Of equals the first.
        candidates
            .rev()
            .max_by(|a, b| hopeful(a).total_cmp(&hopeful(b)))
            .expect("there are scores")
    }

    /// What it says about ε, on scores that had no say in choosing it.
    fn evaluate(self, scores: [&[f64]; 2], confidence: f64) -> Measured {
        let counts = scores.map(|scores| Hits {
            hits: scores.iter().filter(|score| self.meets(**score)).count() as u64,
            trials: scores.len() as u64,
        });
        let [likelier, other] = self.towards(counts);
        // One bound of either count is used: each may fail with half of what the
        // confidence leaves.
        let failure = 0.5 * (1.0 - confidence);
        let low = lower_bound(likelier.hits, likelier.trials, failure);
        let high = upper_bound(other.hits, other.trials, failure);
        Measured {
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

    /// 1000 scores, so many of them this and the others 0.
    fn scores(hits: usize, score: f64) -> Vec<f64> {
        let score = |index| if index < hits { score } else { 0.0 };
        (0..1000).map(score).collect()
    }

    #[test]
    fn the_event_tells_the_inputs_apart_best_from_either_side() {
        let (first, second) = (scores(300, 2.0), scores(100, 2.0));
        let event = ScoredEvent::choose([&first, &second]);
        let expected = ScoredEvent {
            threshold: 2.0,
            side: Side::AtLeast,
        };
        assert_eq!(event, expected);
        let mirrored = ScoredEvent::choose([&scores(100, -2.0), &scores(300, -2.0)]);
        let expected = ScoredEvent {
            threshold: -2.0,
            side: Side::AtMost,
        };
        assert_eq!(mirrored, expected);

        let found = event.evaluate([&first, &second], 0.999);
        assert_eq!([found.likelier.hits, found.other.hits], [300, 100]);
        let [low, high] = [
            lower_bound(300, 1000, 0.0005),
            upper_bound(100, 1000, 0.0005),
        ];
        assert!((found.empirical_lower_bound - (low / high).ln()).abs() < 1e-12);
        let nothing = event.evaluate([&second, &first], 0.999);
        assert_eq!(nothing.empirical_lower_bound, 0.0);
    }
}
