//! Choice of the cells and the mechanism of a question of kind `cross` (cross-tabulation).

use alloc::string::String;

use super::draft_agreement::check_equal;
use super::mechanism_draft::MechanismDraft;
use super::number::{NumberDraft, one_favoured_collision_draft};
use crate::bounds;
use crate::error::Error;
use crate::mechanism::collision::CollisionHitProbabilities;
use crate::task::{Cross, NumberPurpose, NumberScale, QuestionPart};

/// [`Cross`] whose number may have unset levels or bins.
///
/// If the purpose is the number's means within rows, its levels and the buckets are chosen
/// together. They minimise the worst-case standard error of a row's mean, computed by the delta
/// method. The calculation assumes rows of equal size, in which all people are at the mean. For
/// other purposes, the number of buckets is chosen for the number of cells, as for a question of
/// kind `choice`.
///
/// ```
/// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{
///     "id": "t", "epsilon": 4.0,
///     "questions": [{ "name": "load-by-plan", "kind": "cross", "of": [
///         { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
///         { "name": "loadMs", "kind": "number", "min": 0, "max": 10000, "unit": "ms" }
///     ] }]
/// }"#).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let hushbin::task::QuestionKind::CrossTabulation(cross) = task.questions()[0].kind() else { panic!() };
/// assert_eq!(cross.row_and_column_counts(), [2, 4]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CrossDraft {
    /// Two parts: the rows, then the columns.
    pub parts: [PartDraft; 2],
}

/// Part of a [`CrossDraft`].
///
/// ```
/// use hushbin::choose::{CrossDraft, NumberDraft, PartDraft};
/// use hushbin::task::QuestionPart;
///
/// let load = NumberDraft { min: Some(0.0), max: Some(30.0), ..NumberDraft::default() };
/// let parts = [
///     PartDraft::Complete(QuestionPart::new_flag("beta")),
///     PartDraft::Number("load".into(), load),
/// ];
/// assert_eq!(CrossDraft { parts }.complete_cross(4.0).unwrap().row_and_column_counts(), [2, 4]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum PartDraft {
    /// Part without unset parameters.
    Complete(QuestionPart),
    /// Name of a number, and its scale, whose parameters may be unset.
    Number(String, NumberDraft),
}

impl CrossDraft {
    /// Completes the cross-tabulation for a local ε.
    ///
    /// # Errors
    /// The errors of [`NumberDraft::scale_with_defaults`]; [`Error::InvalidCombination`] if the purpose is
    /// quantiles.
    pub fn complete_cross(&self, epsilon: f64) -> Result<Cross, Error> {
        let [rows, columns] = &self.parts;
        let rows = rows.complete_part(&|number| number.scale_with_defaults())?;
        let columns = columns.complete_part(&|number| {
            let shape = best_levels_and_buckets(rows.cell_count(), number, epsilon);
            let levels = shape.map(|shape| shape.level_count);
            number.with_levels(levels).scale_with_defaults()
        })?;
        Ok(Cross::new(rows, columns))
    }

    /// Returns a draft of Collision. If the question asks for a number's means within rows, the
    /// draft has the best number of buckets for them.
    pub(super) fn mechanism_draft(&self, epsilon: f64) -> Result<MechanismDraft, Error> {
        let [rows, _] = self.complete_cross(epsilon)?.row_and_column_counts();
        let number = match &self.parts[1] {
            PartDraft::Number(_, number) => number,
            PartDraft::Complete(_) => return Ok(MechanismDraft::default()),
        };
        let buckets =
            best_levels_and_buckets(rows, number, epsilon).map(|shape| shape.bucket_count);
        Ok(one_favoured_collision_draft(buckets))
    }

    /// Checks that the cross-tabulation in use agrees with the draft.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(super) fn check_agrees_with(&self, cross: &Cross) -> Result<(), Error> {
        for (draft, part) in self.parts.iter().zip(cross.parts()) {
            match draft {
                PartDraft::Complete(draft) => check_equal("of", &draft, &part)?,
                PartDraft::Number(name, number) => {
                    check_equal("of", &name.as_str(), &part.name())?;
                    check_equal("kind", &"number", &part.kind().name())?;
                    part.scale()
                        .map_or(Ok(()), |scale| number.check_agrees_with(scale))?;
                }
            }
        }
        Ok(())
    }
}

impl PartDraft {
    fn complete_part(
        &self,
        scale: &dyn Fn(&NumberDraft) -> Result<NumberScale, Error>,
    ) -> Result<QuestionPart, Error> {
        match self {
            Self::Complete(part) => Ok(part.clone()),
            Self::Number(_, number)
                if number.stated_or_implied_purpose() == NumberPurpose::Quantiles =>
            {
                Err(Error::InvalidCombination {
                    reason: "a \"cross\" has means or shares within rows, but no \"quantiles\"",
                })
            }
            Self::Number(name, number) => {
                Ok(QuestionPart::new_number(name.as_str(), scale(number)?))
            }
        }
    }
}

/// Numbers of levels and buckets, for estimating a number's means within rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LevelAndBucketCounts {
    level_count: u32,
    bucket_count: u32,
}

/// Maximum number of levels to try. The best number is 42 at ε = 12 with two rows.
const MAX_TRIED_LEVELS: u32 = 64;

/// Returns the best numbers of levels and buckets. Returns `None` if the purpose is not means. Also
/// returns `None` if the number of rows or levels is out of range. Other checks reject such
/// numbers.
fn best_levels_and_buckets(
    rows: u32,
    number: &NumberDraft,
    epsilon: f64,
) -> Option<LevelAndBucketCounts> {
    let asked = |levels: u32| {
        bounds::ROUNDING_LEVEL_COUNT_RANGE.contains(f64::from(levels))
            && bounds::OPTION_COUNT_RANGE.contains(f64::from(rows) * f64::from(levels))
    };
    let levels = match number.level_count {
        Some(levels) => levels..=levels,
        None => 2..=MAX_TRIED_LEVELS,
    };
    let possible = number.stated_or_implied_purpose() == NumberPurpose::Mean
        && bounds::OPTION_COUNT_RANGE.contains(f64::from(rows));
    let mut best = None;
    let mut least = f64::INFINITY;
    let mut risen = 0;
    for levels in levels.filter(|levels| possible && asked(*levels)) {
        let (variance, buckets) = best_bucket_count(rows, levels, epsilon);
        // The variance may have several minima, so the search ends only after several rises.
        risen = if variance < least { 0 } else { risen + 1 };
        if variance < least {
            least = variance;
            best = Some(LevelAndBucketCounts {
                level_count: levels,
                bucket_count: buckets,
            });
        }
        if risen == MAX_TRIES_WITHOUT_GAIN {
            break;
        }
    }
    best
}

/// Patience of the search: it ends after this many successive level counts without a lower
/// variance.
const MAX_TRIES_WITHOUT_GAIN: u32 = 8;

/// Returns the minimum worst-case variance, with the number of buckets that attains it.
///
/// For each number of slots m in a bucket, only the minimum number of buckets is tried. With more
/// buckets of m slots, reports name the right bucket less often, and the added slots are empty.
fn best_bucket_count(rows: u32, levels: u32, epsilon: f64) -> (f64, u32) {
    let cells = rows * levels;
    let mut best = (f64::INFINITY, cells);
    let mut buckets = cells;
    loop {
        let variance = variance_at_worst_row_mean(rows, levels, buckets, epsilon);
        if variance < best.0 {
            best = (variance, buckets);
        }
        let slots = cells.div_ceil(buckets);
        // Maximum number of buckets with more slots, then the minimum number with those slots.
        let fewer = (cells - 1) / slots;
        if fewer < 2 {
            return best;
        }
        buckets = cells.div_ceil(cells.div_ceil(fewer)).max(2);
    }
}

/// Returns the variance of one report's estimate of a row's mean, for the worst mean. Rows have
/// equal size, and numbers lie between −1 and 1.
///
/// The mean is θ = Σ x·f/Σ f, where the sums are over the row's cells, each with its level x and
/// its share f of people. To first order (delta method), the error of θ is the error of Σ (x −
/// θ)·f, divided by the row's share. The true value of Σ (x − θ)·f is 0. The variance of its
/// estimate is that of a score with the weights x − θ in the row and 0 elsewhere.
fn variance_at_worst_row_mean(rows: u32, levels: u32, buckets: u32, epsilon: f64) -> f64 {
    let rates = single_favoured_probabilities(rows * levels, buckets, epsilon);
    let (m, r, g) = (f64::from(levels), f64::from(levels - 1), f64::from(rows));
    // Sum of the squared levels.
    let spread = m * (m + 1.0) / (3.0 * r);
    let variance = |mean: f64| {
        let (sum, squares) = (-m * mean, spread + m * mean * mean);
        // Variance for a person whose own cell has weight `own`. Here `none` is the expectation of
        // the score if there is no answer. It is subtracted.
        let score = |own: f64| {
            let square = rates.score_second_moment(own, sum, squares);
            let none = rates.p_false * sum;
            square - none * none - 2.0 * none * own * rates.hit_probability_gap()
        };
        // A person at the mean is rounded to the level below or above.
        let place = (mean + 1.0) / 2.0 * r;
        let part = place - libm::floor(place);
        let step = 2.0 / r;
        let own = (1.0 - part) * score(-part * step) + part * score((1.0 - part) * step);
        // A row's share is 1/g: a person is in the row with probability 1/g.
        (own / g + (1.0 - 1.0 / g) * score(0.0)) * g * g
            / (rates.hit_probability_gap() * rates.hit_probability_gap())
    };
    // Means from 0 to 1 in quarters of a step. Negative means are symmetric.
    let steps = 4 * (levels - 1);
    let mean = |step: u32| 2.0 * f64::from(step) / f64::from(steps) - 1.0;
    (steps / 2..=steps)
        .map(|step| variance(mean(step)))
        .fold(0.0, f64::max)
}

/// Returns the hit probabilities of Collision with one favoured bucket, in closed form.
fn single_favoured_probabilities(
    cells: u32,
    buckets: u32,
    epsilon: f64,
) -> CollisionHitProbabilities {
    let (e, t) = (libm::exp(epsilon), f64::from(buckets));
    let m = f64::from(cells.div_ceil(buckets));
    let others = m * t - 1.0;
    let p = e / (e + t - 1.0);
    // Expected number of ordered pairs of other answers that are hit. A bucket hits m other
    // answers, or m − 1 if it also hits the person's own.
    let pairs = (1.0 - p) * m * (m - 1.0) + p * (m - 1.0) * (m - 2.0);
    CollisionHitProbabilities {
        p_true: p,
        p_false: (m - p) / others,
        member_and_nonmember_hit: p * (m - 1.0) / others,
        two_nonmembers_hit: pairs / (others * (others - 1.0)),
    }
}
