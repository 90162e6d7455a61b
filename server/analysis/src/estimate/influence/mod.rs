//! Influence of forged reports on estimates.
//!
//! An estimate is the average contribution of a question's reports. Let c be the average
//! contribution of forged reports and f that of honest ones. If a fraction g of the question's
//! reports is forged, the estimate is (1 − g)·f + g·c instead of f. So it moves by g·(c − f). In
//! the worst case over honest answers, the upward move is g times the distance from the minimum of
//! f to the maximum contribution of a report.
//!
//! Differential privacy bounds the information in one honest report, but not this influence. On the
//! contrary: the less information a report contains, the larger is its contribution.
//!
//! The seed of a report determines which question the report answers. For a text question, the seed
//! also determines the length of the reported prefix. An attacker can choose the seed. Let a
//! fraction γ of all reports be forged, and let a proportion s of the honest ones answer the
//! question. If all forged reports answer it, the forged fraction of its reports is g = γ/(γ + (1 −
//! γ)·s).

pub(crate) mod honesty_tests;

use hushbin::mechanism::collision::CollisionHitProbabilities;
use hushbin::mechanism::pattern;
use hushbin::task::{Cross, QuestionKind, Together};
use hushbin::{Mechanism, Question};
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::estimate::estimator::Estimator;
use crate::estimate::mechanism::{PreparedQuestion, ShareSumEstimator};
use crate::estimate::point::Estimand;

/// Assumed fraction γ of forged reports among all reports of a task.
pub const FORGED_REPORT_FRACTION: f64 = 0.01;

/// Maximum amount by which forged reports can move a question's estimate of any item.
///
/// The maximum is over all honest answers and over all reports that the task accepts. All forged
/// reports are assumed to answer this question. For a text question, all of them are assumed to
/// report the prefix length that the fewest honest reports have.
///
/// Conditional shares and means of a cross-tabulation are not included. The mean within a row can
/// move further if few people are in the row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForgedReportInfluence {
    /// Name of the question. `None` if the task has a single unnamed question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Kind of the estimates to which `up` and `down` apply.
    pub estimand: InfluencedEstimand,
    /// Maximum increase of an estimate if a fraction [`FORGED_REPORT_FRACTION`] of all reports is forged.
    pub up: f64,
    /// Maximum decrease of an estimate if a fraction [`FORGED_REPORT_FRACTION`] of all reports is forged.
    pub down: f64,
    /// Unit of `up` and `down`. `None` if they are shares, or means from −1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// Kind of estimate that forged reports move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InfluencedEstimand {
    /// The estimate [`Estimand::Mean`], or the mean of a number.
    Mean,
    /// The estimate [`Estimand::Plus`].
    Plus,
    /// The estimate [`Estimand::Minus`].
    Minus,
    /// The estimate [`Estimand::Nonmissing`].
    Nonmissing,
    /// The estimate [`Estimand::Share`].
    Share,
    /// The share of people below an edge between two bins, at the edge where it can move most.
    Below,
    /// The share of people in a row or in a column of a cross-tabulation, whichever can move more.
    Margin,
}

impl From<Estimand> for InfluencedEstimand {
    fn from(estimand: Estimand) -> Self {
        match estimand {
            Estimand::Mean => Self::Mean,
            Estimand::Plus => Self::Plus,
            Estimand::Minus => Self::Minus,
            Estimand::Nonmissing => Self::Nonmissing,
            Estimand::Share => Self::Share,
        }
    }
}

/// Minimum and maximum of one report's contribution to an estimate, or of the true value.
type ContributionRange = [f64; 2];

/// Returns the smallest range that contains both ranges.
fn enclosing_range([a, b]: ContributionRange, [c, d]: ContributionRange) -> ContributionRange {
    [a.min(c), b.max(d)]
}

impl Estimator {
    /// Returns the influence of forged reports on each question.
    ///
    /// ```
    /// use hushbin_analysis::estimate::Estimator;
    ///
    /// let draft: hushbin::TaskDraft = serde_json::from_str(
    ///     r#"{
    ///         "id": "t", "epsilon": 1.0,
    ///         "questions": [{ "name": "dark", "kind": "choice", "options": ["yes", "no"] }]
    ///     }"#,
    /// ).unwrap();
    /// let estimator = Estimator::for_task(draft.resolve_task().unwrap());
    /// // A report names one of two answers. It contributes e/(e − 1) to the share of that
    /// // answer, and −1/(e − 1) to the share of the second one.
    /// let e = 1_f64.exp();
    /// let forged_report_influence = &estimator.forged_report_influence()[0];
    /// assert!((forged_report_influence.up - 0.01 * e / (e - 1.0)).abs() < 1e-9);
    /// assert!((forged_report_influence.down - forged_report_influence.up).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn forged_report_influence(&self) -> Vec<ForgedReportInfluence> {
        let questions = self
            .task()
            .questions()
            .iter()
            .zip(self.prepared_questions());
        let answered = questions.enumerate().map(|(index, (own, prepared))| {
            let share = self.task().question_report_share(index) * rarest_prefix_length_share(own);
            let forged = FORGED_REPORT_FRACTION
                / (FORGED_REPORT_FRACTION + (1.0 - FORGED_REPORT_FRACTION) * share);
            self.influence_on_question(own, &**prepared, forged)
        });
        answered.flatten().collect()
    }

    /// Returns the influence on the estimates of a question if a fraction `forged` of its reports
    /// is forged.
    fn influence_on_question(
        &self,
        question: &Question,
        prepared: &dyn PreparedQuestion,
        forged: f64,
    ) -> Vec<ForgedReportInfluence> {
        let name = (!self.task().has_unnamed_question()).then(|| question.name().to_owned());
        let influence = |estimand,
                         reach: ContributionRange,
                         people: ContributionRange,
                         unit: Option<String>,
                         size: f64| ForgedReportInfluence {
            question: name.clone(),
            estimand,
            // Worst case upwards: honest people are at the minimum and forged reports at the
            // maximum. Downwards it is the reverse.
            up: forged * (reach[1] - people[0]) * size,
            down: forged * (people[1] - reach[0]) * size,
            unit,
        };
        let part = |estimand, reach| vec![influence(estimand, reach, [0.0, 1.0], None, 1.0)];
        let sums = prepared.share_sum_estimator();
        match (
            question.kind(),
            sums,
            HitBounds::for_question(question, sums),
        ) {
            (QuestionKind::Number(_), Some(ShareSumEstimator::Outputs(rates)), _) => {
                part(InfluencedEstimand::Below, pattern_share_below_range(rates))
            }
            (QuestionKind::Number(scale), _, Some(buckets)) => part(
                InfluencedEstimand::Below,
                buckets.share_below_range(scale.level_or_bin_count()),
            ),
            (QuestionKind::JointChoices(together), _, Some(buckets)) => {
                part(InfluencedEstimand::Share, buckets.option_range(together))
            }
            (QuestionKind::CrossTabulation(cross), _, Some(buckets)) => {
                let cell = part(
                    InfluencedEstimand::Share,
                    prepared.contribution_range(Estimand::Share),
                );
                [
                    cell,
                    part(InfluencedEstimand::Margin, buckets.margin_range(cross)),
                ]
                .concat()
            }
            (kind, ..) => {
                let (size, unit) = display_factor_and_unit(kind);
                let of = |&estimand: &Estimand| {
                    let people = match estimand {
                        Estimand::Mean => [-1.0, 1.0],
                        _ => [0.0, 1.0],
                    };
                    let reach = prepared.contribution_range(estimand);
                    influence(estimand.into(), reach, people, unit.clone(), size)
                };
                prepared.estimands().iter().map(of).collect()
            }
        }
    }
}

/// Returns the factor from a contribution between −1 and 1 to the displayed number, and the unit of
/// that number. Several numbers have different ranges, so their influence is stated as a fraction
/// of each range.
fn display_factor_and_unit(kind: &QuestionKind) -> (f64, Option<String>) {
    match kind {
        QuestionKind::Numbers(own) if own.is_single() => {
            let [low, high] = own[0].range();
            (0.5 * (high - low), own[0].unit().map(str::to_owned))
        }
        QuestionKind::Numbers(_) => (0.5, Some("of its range".to_owned())),
        _ => (1.0, None),
    }
}

/// Returns the fraction of a text question's honest reports that have the rarest prefix length. If
/// no continuation is found for a prefix of that length, the prefix is estimated from these reports
/// alone. Returns 1 for other kinds of question.
fn rarest_prefix_length_share(question: &Question) -> f64 {
    let QuestionKind::Text(prefixes) = question.kind() else {
        return 1.0;
    };
    let fewest = prefixes
        .lengths_with_repeat_counts()
        .map(|(_, prefixes)| prefixes)
        .min();
    fewest.unwrap_or(1) as f64 / prefixes.lengths().len() as f64
}

/// Returns the range of one report's contribution to the share of people below an edge, for reports
/// that are outputs of a pattern. The range covers all edges between bins.
fn pattern_share_below_range(rates: &pattern::PatternEstimator) -> ContributionRange {
    let at = |below: usize| {
        let worth = rates.output_weights_of_sum(&rates.range_indicator_weights(0..below));
        let each = worth.into_iter().map(|own| [own, own]);
        each.reduce(enclosing_range).unwrap_or([0.0, 1.0])
    };
    (1..rates.cell_count())
        .map(at)
        .reduce(enclosing_range)
        .unwrap_or([0.0, 1.0])
}

/// Bounds on the number of elements that one report of Collision hits at once. An attacker can
/// search for a seed under which a report hits many elements.
struct HitBounds<'a> {
    hit_probabilities: &'a CollisionHitProbabilities,
    /// Number of buckets t.
    buckets: u32,
    /// Number of slots m of a bucket. `None` if elements are hashed independently.
    slots_per_bucket: Option<u32>,
}

/// Number of possible seeds.
const SEED_COUNT: f64 = (1_u128 << 64) as f64;

impl<'a> HitBounds<'a> {
    /// Creates the bounds for a question whose mechanism is Collision. Returns `None` for other
    /// mechanisms.
    fn for_question(question: &Question, sums: Option<ShareSumEstimator<'a>>) -> Option<Self> {
        let (Some(ShareSumEstimator::Hits(rates)), Mechanism::Collision(collision)) =
            (sums, question.mechanism())
        else {
            return None;
        };
        Some(Self {
            hit_probabilities: rates,
            buckets: collision.buckets_per_hash(),
            slots_per_bucket: collision
                .hit_decoder(&question.domain())
                .slots_hit_per_report(),
        })
    }

    /// Returns the maximum number of elements that one report hits, out of `elements` given ones.
    ///
    /// With a balanced hash, this is at most the number of slots of a bucket. With an independent
    /// hash, it is the largest number of hits that some seed is expected to attain.
    fn max_hits(&self, elements: u32) -> u32 {
        if let Some(slots) = self.slots_per_bucket {
            return slots.min(elements);
        }
        let share = 1.0 / f64::from(self.buckets);
        let law = Binomial::new(share, elements.into()).expect("a probability");
        // The expected number of pairs (seed, bucket) with more hits, SEEDS·t·tail, is below 1.
        let is_rare = |hits: &u32| law.sf(u64::from(*hits)) * SEED_COUNT / share < 1.0;
        // sf(h) is P(more than h).
        (0..elements).find(is_rare).unwrap_or(elements)
    }

    /// Returns the range of one report's contribution to a weighted sum of shares. `worths` are the
    /// weights of the elements.
    fn weighted_sum_range(&self, worths: &[f64]) -> ContributionRange {
        let most = self.max_hits(worths.len() as u32) as usize;
        let mut sorted = worths.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // An extreme report hits the elements with the `most` smallest or greatest weights, and no
        // element whose weight has the wrong sign.
        let least: f64 = sorted.iter().take(most).map(|worth| worth.min(0.0)).sum();
        let top: f64 = sorted
            .iter()
            .rev()
            .take(most)
            .map(|worth| worth.max(0.0))
            .sum();
        let average = self.hit_probabilities.p_false * worths.iter().sum::<f64>();
        [least - average, top - average]
            .map(|sum| sum / self.hit_probabilities.hit_probability_gap())
    }

    /// Returns the range of one report's contribution to the share of people below an edge. The
    /// range covers all edges between `bins` bins.
    fn share_below_range(&self, bins: u32) -> ContributionRange {
        let below = |bins: u32| self.weighted_sum_range(&vec![1.0; bins as usize]);
        (1..bins)
            .map(below)
            .reduce(enclosing_range)
            .unwrap_or([0.0, 1.0])
    }

    /// Returns the range of one report's contribution to the share of people in a row or a column,
    /// which is a sum of cells. If the columns are levels of a number, only rows have shares.
    fn margin_range(&self, cross: &Cross) -> ContributionRange {
        let sum = |cells: u32| self.weighted_sum_range(&vec![1.0; cells as usize]);
        let [rows, columns] = cross.row_and_column_counts();
        match cross.level_scale() {
            Some(_) => sum(columns),
            None => enclosing_range(sum(columns), sum(rows)),
        }
    }

    /// Returns the range of one report's contribution to an option's share. The range covers the
    /// options of all parts. The estimate of the share includes the correction that makes the
    /// shares of a part sum to 1.
    fn option_range(&self, together: &Together) -> ContributionRange {
        let of = |cells: u32| {
            let gap = self.hit_probabilities.hit_probability_gap();
            if cells > CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT {
                return self.weighted_sum_range(&[1.0]);
            }
            let each = 1.0 / f64::from(cells);
            let others = f64::from(self.max_hits(cells - 1));
            // The minimum is a report that hits as many other options as possible. The maximum is a
            // report that hits this option alone.
            [each - others * each / gap, each + (1.0 - each) / gap]
        };
        let parts = together.parts().iter().map(|part| of(part.cell_count()));
        parts.reduce(enclosing_range).unwrap_or([0.0, 1.0])
    }
}

#[cfg(test)]
mod tests {
    use hushbin::mechanism::hash_bin::RandomisedResponse;
    use hushbin::mechanism::{coco, collision, hash_bin, window};
    use hushbin::{Report, Task, TaskDraft};

    use serde_json::{Value, json};

    use super::*;
    use crate::estimate::{EstimateOptions, EstimateQuery, Totals};

    fn task(draft: Value) -> Task {
        let draft: TaskDraft = serde_json::from_value(draft).unwrap();
        draft.resolve_task().unwrap()
    }

    /// Returns a task that asks this one question.
    fn asking(epsilon: f64, mut question: Value) -> Task {
        question["name"] = "q".into();
        task(json!({ "id": "t", "epsilon": epsilon, "questions": [question] }))
    }

    /// Returns every possible report with this seed. If reports are noisy bins, returns only those
    /// whose bins are at their limits.
    fn reports(task: &Task, seed: u64) -> Vec<Report> {
        let question = &task.questions()[0];
        match question.mechanism() {
            Mechanism::Collision(own) => (0..own.total_buckets())
                .map(|bucket| Report::Collision(collision::Report { seed, bucket }))
                .collect(),
            Mechanism::Coco(own) => (0..own.total_buckets())
                .map(|bucket| Report::Coco(coco::Report { seed, bucket }))
                .collect(),
            Mechanism::Pattern(own) => (0..own.output_count())
                .map(|bucket| Report::Pattern(pattern::Report { seed, bucket }))
                .collect(),
            Mechanism::Window(own) => (0..own.atom_combination_count())
                .map(|bucket| Report::Window(window::Report { seed, bucket }))
                .collect(),
            Mechanism::HashBin(own) => {
                let domain = question.domain();
                let limit = own
                    .response_distribution(domain.item_count(), question.epsilon())
                    .noisy_bin_limit();
                let responses = match limit {
                    None => [false, true].map(RandomisedResponse::Sign),
                    Some(limit) => [-limit, limit]
                        .map(|bin| RandomisedResponse::Bins(vec![bin; own.bin_count() as usize])),
                };
                responses
                    .into_iter()
                    .map(|response| Report::HashBin(hash_bin::Report { seed, response }))
                    .collect()
            }
        }
    }

    /// The estimate from a single report is that report's contribution. No contribution is outside
    /// the stated range, and some attain its ends.
    #[test]
    fn no_report_counts_more() {
        let rated = json!({
            "id": "t", "items": 12, "sparsity": 2, "epsilon": 1.0, "value": "sign",
        });
        let with = |mechanism: Value| {
            let mut draft = rated.clone();
            draft["mechanism"] = mechanism;
            task(draft)
        };
        let tasks = [
            with(json!({ "name": "collision", "buckets": 5 })),
            with(json!({ "name": "collision", "buckets": 30 })),
            with(json!({ "name": "collision", "buckets": 5, "hashing": "independent" })),
            with(json!({ "name": "coco", "buckets": 6 })),
            with(json!({ "name": "coco", "buckets": 2 })),
            with(json!({ "name": "coco", "buckets": 8, "rule": "overwrite" })),
            with(json!({ "name": "hash-bin", "level": "event" })),
            with(json!({ "name": "hash-bin", "level": "user" })),
            asking(1.0, json!({ "kind": "choice", "options": 9 })),
            asking(3.0, json!({ "kind": "choice", "options": 3 })),
            asking(2.0, json!({ "kind": "set", "options": 9, "sparsity": 3 })),
            asking(
                2.0,
                json!({ "kind": "numbers", "of": [
                { "name": "a", "min": 0, "max": 1 },
                { "name": "b", "min": 0, "max": 1 },
                { "name": "c", "min": 0, "max": 1 },
            ] }),
            ),
            asking(
                3.0,
                json!({ "kind": "numbers", "of": [
                { "name": "a", "min": 0, "max": 1 },
                { "name": "b", "min": 0, "max": 1 },
                { "name": "c", "min": 0, "max": 1 },
            ], "mechanism": { "name": "window", "drawn": 2, "atoms": 4, "favoured": 1, "values": [1, 3] } }),
            ),
        ];
        for task in tasks {
            let estimator = Estimator::for_task(task.clone());
            let question = &task.questions()[0];
            let items: Vec<u64> = match question.items() {
                hushbin::Items::Named(names) => (0..names.len() as u64).collect(),
                hushbin::Items::Count(count) => (0..u64::from(*count)).collect(),
                hushbin::Items::Open(_) => unreachable!(),
            };
            for estimand in estimator.prepared_questions()[0].estimands() {
                let [least, most] = estimator.prepared_questions()[0].contribution_range(*estimand);
                let mut seen = [f64::INFINITY, f64::NEG_INFINITY];
                for seed in 0..300 {
                    for report in reports(&task, seed) {
                        let mut totals = Totals::new(&task);
                        totals.add_report(&report);
                        for points in estimator.point_estimates(&totals, 0, &items) {
                            let counts = points.get(*estimand).unwrap().estimate;
                            seen = enclosing_range(seen, [counts; 2]);
                        }
                    }
                }
                let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
                assert!(
                    near(seen[0], least) && near(seen[1], most),
                    "{question:?} {estimand:?}: {seen:?} of {:?}",
                    [least, most]
                );
            }
        }
    }

    /// Contributions to sums over several elements stay within the stated range, too. A report hits
    /// few of these elements at once.
    #[test]
    fn no_report_counts_more_for_a_number_or_an_option() {
        let tasks = [
            (0.1, json!({ "min": -5, "max": 15 })),
            (1.0, json!({ "min": 0, "max": 1 })),
            (1.0, json!({ "edges": [0, 1, 2, 3, 5, 8] })),
            (3.0, json!({ "edges": [0, 1, 2] })),
            (
                1.0,
                json!({ "min": 0, "max": 8, "bins": 8, "want": "quantiles" }),
            ),
        ];
        let tasks = tasks.map(|(epsilon, mut question)| {
            question["kind"] = "number".into();
            asking(epsilon, question)
        });
        for task in tasks {
            let estimator = Estimator::for_task(task.clone());
            let all = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
            let range = match task.questions()[0].kind() {
                QuestionKind::Numbers(own) => own[0].range(),
                _ => [0.0, 1.0],
            };
            let [influence] = &estimator.forged_report_influence()[..] else {
                unreachable!()
            };
            let [low, high] = range;
            let mut seen = [f64::INFINITY, f64::NEG_INFINITY];
            for seed in 0..600 {
                for report in reports(&task, seed) {
                    let mut totals = Totals::new(&task);
                    totals.add_report(&report);
                    let number = estimator.estimates(&totals, &all).number.unwrap();
                    let below = number.distribution.iter().map(|own| own.share.estimate);
                    for counts in number
                        .mean
                        .map(|mean| mean.estimate)
                        .into_iter()
                        .chain(below)
                    {
                        seen = enclosing_range(seen, [counts; 2]);
                    }
                }
            }
            let said = [
                high - influence.down / FORGED_REPORT_FRACTION,
                low + influence.up / FORGED_REPORT_FRACTION,
            ];
            for (seen, said) in seen.into_iter().zip(said) {
                assert!(
                    (seen - said).abs() < 1e-9,
                    "{:?}: {seen} of {said}",
                    task.questions()
                );
            }
        }
    }
}
