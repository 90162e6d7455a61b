//! Shares of options, for a question that asks several parts together in one report.
//!
//! Every person gives one option per part, so the true shares of a part's options sum to 1. Any
//! excess of the estimated sum over 1 is noise. For a part with c options, the excess divided by c
//! is subtracted from each estimate. The contribution of a report is then (hit − H/c)/gap + 1/c,
//! where H is the number of the part's options that the report hits.
//!
//! If people's answers are uniform, this is the best linear unbiased estimate. The options of a
//! part are then exchangeable, so the sums of other parts carry no information about differences
//! between these options.
//!
//! The score distribution of an option depends on whether the person gave it. Let M be the number
//! of elements of the person's input (*members*) that the report hits. Given M, every set of M
//! members is equally likely, and so is every choice of the other elements in the bucket. So the
//! distribution of M determines the distribution of the score.

use std::collections::HashMap;
use std::sync::Arc;

use hushbin::mechanism::collision::{Collision, CollisionHitProbabilities};
use hushbin::task::{QuestionKind, Together};
use hushbin::{Mechanism, Question};
use statrs::distribution::{Binomial, Discrete, Hypergeometric};

use crate::estimate::distribution::{
    ContributionDistribution, CrowdBetweenNodes, ScoreDistribution, ScoreProbabilities,
    ScoredGroups,
};
use crate::estimate::point::{
    ItemPointEstimates, PointEstimate, SamplingModel, share_variance_per_report,
};

/// Parts of a question that asks several parts together, with the score distributions of the parts'
/// options.
#[derive(Debug, Clone)]
pub(crate) struct JointChoiceParts {
    joint_choices: Together,
    collision_hit_probabilities: CollisionHitProbabilities,
    sampling_model: SamplingModel,
    /// Score distribution of an option, by the number of options in the option's part. Parts with
    /// more than [`CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT`] options have no score distribution.
    scores_by_option_count: HashMap<u32, Arc<ScoreDistribution>>,
}

impl JointChoiceParts {
    /// Creates the parts of a question. `None` if the question does not ask several parts together,
    /// or if its mechanism is not Collision.
    pub(crate) fn for_question(question: &Question, whose: SamplingModel) -> Option<Self> {
        let (QuestionKind::JointChoices(together), Mechanism::Collision(collision)) =
            (question.kind(), question.mechanism())
        else {
            return None;
        };
        let hits = OptionHitDistribution::new(question, collision);
        let law = |options: u32| {
            let crowd =
                |given| ScoredGroups::of_one_group(hits.option_score_distribution(options, given));
            let law = ScoreDistribution {
                nodes: vec![(0.0, crowd(false)), (1.0, crowd(true))],
                is_fixed_population: whose == SamplingModel::FixedPopulation,
                crowd_between_nodes: CrowdBetweenNodes::NeighbourMixture,
            };
            (options, Arc::new(law))
        };
        let options = together
            .parts()
            .iter()
            .map(hushbin::task::QuestionPart::cell_count);
        Some(Self {
            joint_choices: together.clone(),
            collision_hit_probabilities: collision
                .hit_probabilities(&question.domain(), question.epsilon()),
            sampling_model: whose,
            scores_by_option_count: options
                .filter(|&count| count <= CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT)
                .map(law)
                .collect(),
        })
    }

    /// Returns the number of items. The items are the options of all parts.
    pub(crate) fn item_count(&self) -> u64 {
        self.joint_choices.cell_count().into()
    }

    /// Returns the number of options in the part to which this item belongs. `None` if there are
    /// more than [`CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT`].
    fn part_option_count(&self, item: u64) -> Option<u32> {
        let (part, _) = self.joint_choices.part_and_option(item as u32);
        let options = self.joint_choices.parts()[part].cell_count();
        self.scores_by_option_count
            .contains_key(&options)
            .then_some(options)
    }

    /// Computes the corrected estimates of `items` from `raw`, the raw estimates of all items.
    pub(crate) fn estimates_summing_to_one(
        &self,
        raw: &[ItemPointEstimates],
        items: &[u64],
        reports: u64,
    ) -> Vec<ItemPointEstimates> {
        let share = |item: u32| {
            raw[item as usize]
                .estimated_answer_share
                .map_or(0.0, |own| own.estimate)
        };
        let surplus: Vec<f64> = (0..self.joint_choices.parts().len())
            .map(|part| {
                let cells = self.joint_choices.parts()[part].cell_count();
                let shares =
                    (0..cells).map(|option| share(self.joint_choices.cell_of_option(part, option)));
                (shares.sum::<f64>() - 1.0) / f64::from(cells)
            })
            .collect();
        let point = |&item: &u64| {
            let Some(options) = self.part_option_count(item) else {
                return raw[item as usize];
            };
            let (part, _) = self.joint_choices.part_and_option(item as u32);
            let estimate = share(item as u32) - surplus[part];
            let [with, without] = [true, false].map(|given| {
                self.collision_hit_probabilities
                    .option_variance(options, given)
            });
            let variance = share_variance_per_report(self.sampling_model, estimate, with, without);
            ItemPointEstimates {
                estimated_answer_share: Some(PointEstimate::new(
                    estimate,
                    variance,
                    reports as f64,
                )),
                ..ItemPointEstimates::default()
            }
        };
        items.iter().map(point).collect()
    }

    /// Returns the variance of one report's contribution to the estimate of an item that no person
    /// has.
    pub(crate) fn absent_item_variance(&self, item: u64) -> f64 {
        let (part, _) = self.joint_choices.part_and_option(item as u32);
        let options = self.joint_choices.parts()[part].cell_count();
        self.collision_hit_probabilities
            .option_variance(options, false)
    }

    /// Returns the score distribution of an item. `None` if the item's part has more than
    /// [`CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT`] options.
    pub(crate) fn contribution_distribution(&self, item: u64) -> Option<ContributionDistribution> {
        let law = &self.scores_by_option_count[&self.part_option_count(item)?];
        Some(ContributionDistribution::Scores(Arc::clone(law)))
    }
}

/// Distribution of one report's hits on the options of a part.
struct OptionHitDistribution {
    /// Distribution of the number M of members that a report hits: P(M = k) for k = 0..=s. Members
    /// are the elements of the person's input.
    input_hit_count_pmf: Vec<f64>,
    /// Number m of slots that a report hits, and number N of all slots. `None` if elements are
    /// hashed independently.
    hit_and_total_slots: Option<[u32; 2]>,
    /// Probability that a report hits a non-member, if elements are hashed independently.
    independent_hashing_hit_rate: f64,
}

impl OptionHitDistribution {
    fn new(question: &Question, collision: &Collision) -> Self {
        let domain = question.domain();
        let support = collision.hit_decoder(&domain);
        let slots = support.visitable_slot_count() as u32;
        Self {
            input_hit_count_pmf: collision.hit_member_distribution(&domain, question.epsilon()),
            hit_and_total_slots: support.slots_hit_per_report().map(|hit| [hit, slots]),
            independent_hashing_hit_rate: 1.0 / f64::from(collision.buckets_per_hash()),
        }
    }

    /// Returns the score distribution of one option of a part with c = `options` options. `given`
    /// states whether the person gave this option. A hit on the option counts 1, and a hit on
    /// another option of the part counts −1/(c − 1).
    fn option_score_distribution(&self, options: u32, given: bool) -> ScoreProbabilities {
        let others = options - 1;
        // Probabilities of the scores from −1 at index 0 to 1 at the last index, in steps of 1/(c −
        // 1).
        let mut counts = vec![0.0; 2 * others as usize + 1];
        for (members, &p) in (0_u32..)
            .zip(&self.input_hit_count_pmf)
            .filter(|(_, p)| **p > 0.0)
        {
            let mut add = |p: f64, own: bool, beside: u32, rest: &[f64]| {
                let first = if own { 2 * others } else { others } - beside;
                for (hits, q) in rest.iter().enumerate() {
                    counts[first as usize - hits] += p * q;
                }
            };
            // Probability that the option which the person gave in this part is among the hit
            // members, by symmetry.
            let member = f64::from(members) / f64::from(self.sparsity());
            if given {
                let rest = self.non_input_hit_count_pmf(others, members, None);
                add(p * member, true, 0, &rest);
                add(p * (1.0 - member), false, 0, &rest);
                continue;
            }
            // The person gave another option of the part. `beside` is 1 if the report hits that
            // one.
            let own = self.non_input_hit_probability(members);
            for (own, p) in [(true, p * own), (false, p * (1.0 - own))] {
                if p > 0.0 {
                    let rest = self.non_input_hit_count_pmf(others - 1, members, Some(own));
                    add(p * member, own, 1, &rest);
                    add(p * (1.0 - member), own, 0, &rest);
                }
            }
        }
        let count = |index: usize| index as f64 / f64::from(others) - 1.0;
        let counts = counts.into_iter().enumerate();
        counts
            .filter(|(_, p)| *p > 0.0)
            .map(|(index, p)| (count(index), p))
            .collect()
    }

    fn sparsity(&self) -> u32 {
        self.input_hit_count_pmf.len() as u32 - 1
    }

    /// Returns the probability that a report which hits `members` members also hits a given
    /// non-member.
    fn non_input_hit_probability(&self, members: u32) -> f64 {
        self.hit_and_total_slots
            .map_or(self.independent_hashing_hit_rate, |[m, slots]| {
                f64::from(m - members) / f64::from(slots - self.sparsity())
            })
    }

    /// Returns the distribution of the number of hits on `count` non-members, for a report that
    /// hits `members` members. If `known` is set, it states whether the report hits one further
    /// non-member.
    fn non_input_hit_count_pmf(&self, count: u32, members: u32, known: Option<bool>) -> Vec<f64> {
        let all = 0..=u64::from(count);
        let Some([m, slots]) = self.hit_and_total_slots else {
            let law = Binomial::new(self.independent_hashing_hit_rate, count.into())
                .expect("a probability");
            return all.map(|hits| law.pmf(hits)).collect();
        };
        // The remaining hits are drawn from the slots of neither members nor the known non-member.
        let left = slots - self.sparsity() - u32::from(known.is_some());
        let drawn = m - members - u32::from(known == Some(true));
        let law = Hypergeometric::new(left.into(), count.into(), drawn.into());
        let law = law.expect("as many slots as elements, at least");
        all.map(|hits| law.pmf(hits)).collect()
    }
}

#[cfg(test)]
mod tests {
    use hushbin::hash::HashFamily;
    use hushbin::mechanism::collision::FavouredBucketRule;
    use hushbin::task::{QuestionFields, QuestionPart};
    use hushbin::{Items, TaskDraft};
    use hushbin_tests::fillings;

    use super::*;
    use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

    fn question(options: &[u32], collision: Collision, epsilon: f64) -> Question {
        let part = |(at, &count): (usize, &u32)| {
            QuestionPart::new_choice(at.to_string(), Items::Count(count))
        };
        let together = Together::new(options.iter().enumerate().map(part).collect());
        Question::new(QuestionFields {
            name: "q".to_owned(),
            items: Items::Count(together.cell_count()),
            max_entries_per_report: options.len() as u32,
            kind: QuestionKind::JointChoices(together),
            weight: 1,
            epsilon,
            mechanism: collision.into(),
        })
        .unwrap()
    }

    fn heaviest(favoured: u32, hashing: HashFamily, buckets: u32, hashes: u32) -> Collision {
        let rule = FavouredBucketRule::Heaviest { favoured };
        Collision::new_with_hash_count(rule, hashing, buckets, hashes).unwrap()
    }

    /// Score distributions match an enumeration of all ways to fill buckets. The test covers
    /// options that the person gave and other options.
    #[test]
    fn scores_have_the_law_of_all_ways_to_fill_buckets() {
        for (options, collision) in [
            (&[2, 2][..], heaviest(1, HashFamily::Balanced, 2, 1)),
            (&[2, 2], heaviest(3, HashFamily::Balanced, 2, 3)),
            (&[3, 2], heaviest(1, HashFamily::Balanced, 2, 1)),
            (&[3, 2], heaviest(2, HashFamily::Balanced, 5, 1)),
            (&[2, 4], heaviest(1, HashFamily::Balanced, 3, 1)),
            (&[4, 2], heaviest(2, HashFamily::Balanced, 2, 2)),
            (&[2, 2, 2, 2], heaviest(2, HashFamily::Balanced, 4, 1)),
            (&[3, 3, 2], heaviest(1, HashFamily::Balanced, 2, 1)),
        ] {
            let question = question(options, collision, 1.6);
            let hits = OptionHitDistribution::new(&question, &collision);
            let QuestionKind::JointChoices(together) = question.kind() else {
                unreachable!()
            };
            // Each person gives the first option of each part.
            let given: Vec<u32> = (0..options.len())
                .map(|part| together.cell_of_option(part, 0))
                .collect();
            let found = fillings::hits(&collision, &question.domain(), 1.6, &given);
            for (part, &count) in options.iter().enumerate() {
                let first = together.cell_of_option(part, 0);
                for option in 0..count {
                    let mut score = hits.option_score_distribution(count, option == 0);
                    let others = f64::from(count - 1);
                    for (set, p) in &found {
                        let own = set >> (first + option) & 1;
                        let all = (set >> first & ((1 << count) - 1)).count_ones();
                        let counts = f64::from(own) - f64::from(all - own) / others;
                        let near = |(x, _): &&mut (f64, f64)| (x - counts).abs() < 1e-9;
                        score.iter_mut().find(near).unwrap().1 -= p;
                    }
                    let off = score.iter().map(|(_, p)| p.abs()).fold(0.0, f64::max);
                    assert!(
                        off < 1e-12,
                        "{options:?}, {collision:?}, {option}: {score:?}"
                    );
                }
            }
        }
    }

    /// Checks the mean and variance of the score against the variances that standard errors use.
    #[test]
    fn scores_have_the_variance_of_the_rates() {
        for (options, collision, epsilon) in [
            (&[2; 8][..], heaviest(2, HashFamily::Balanced, 4, 8), 4.0),
            (&[2; 40], heaviest(9, HashFamily::Balanced, 20, 1), 3.0),
            (&[7, 32, 2], heaviest(2, HashFamily::Independent, 5, 4), 2.0),
            (&[7, 32, 2], heaviest(2, HashFamily::Balanced, 9, 4), 2.0),
            (
                &[3, 3],
                Collision::new(FavouredBucketRule::Occupied, HashFamily::Balanced, 4).unwrap(),
                1.0,
            ),
        ] {
            let question = question(options, collision, epsilon);
            let hits = OptionHitDistribution::new(&question, &collision);
            let rates = collision.hit_probabilities(&question.domain(), epsilon);
            for &count in options {
                let scale = f64::from(count) / f64::from(count - 1) * rates.hit_probability_gap();
                for given in [true, false] {
                    let score = hits.option_score_distribution(count, given);
                    let moment =
                        |power: i32| -> f64 { score.iter().map(|(x, p)| p * x.powi(power)).sum() };
                    assert!((moment(0) - 1.0).abs() < 1e-11);
                    let what = format!("{options:?}, {collision:?}, {count}, {given}");
                    let share = f64::from(u8::from(given)) - 1.0 / f64::from(count);
                    assert!((moment(1) / scale - share).abs() < 1e-9, "{what}");
                    let variance = (moment(2) - moment(1).powi(2)) / (scale * scale);
                    let stated = rates.option_variance(count, given);
                    assert!(
                        (variance / stated - 1.0).abs() < 1e-8,
                        "{what}: {variance}, {stated}"
                    );
                }
            }
        }
    }

    /// Computes the distribution of the sum of scores, in units of 1/(c − 1).
    fn convolved(options: u32, crowd: &[(usize, ScoreProbabilities)]) -> Vec<f64> {
        let others = f64::from(options - 1);
        let mut all = vec![1.0];
        for (count, score) in crowd {
            for _ in 0..*count {
                let mut next = vec![0.0; all.len() + 2 * others as usize];
                for (at, own) in all.iter().enumerate() {
                    for (x, p) in score {
                        next[at + ((x + 1.0) * others).round() as usize] += own * p;
                    }
                }
                all = next;
            }
        }
        all
    }

    /// Limits miss the true share at most 10 per cent more often than stated. The miss rate is
    /// summed over all possible sums of scores.
    #[test]
    fn limits_miss_no_more_often_than_they_say() {
        for (options, epsilon) in [
            (&[2, 2][..], 1.0),
            (&[2; 8], 4.0),
            (&[2; 4], 8.0),
            (&[5, 2], 1.0),
            (&[5, 2], 5.0),
            (&[9, 3, 2], 3.0),
            (&[3; 6], 12.0),
        ] {
            let part = |(at, &count): (usize, &u32)| serde_json::json!({ "name": at.to_string(), "kind": "choice", "options": count });
            let parts: Vec<_> = options.iter().enumerate().map(part).collect();
            let draft: TaskDraft = serde_json::from_value(serde_json::json!({
                "id": "t", "epsilon": epsilon,
                "questions": [{ "name": "q", "kind": "together", "of": parts }],
            }))
            .unwrap();
            let task = draft.resolve_task().unwrap();
            let question = &task.questions()[0];
            let parts =
                JointChoiceParts::for_question(question, SamplingModel::FixedPopulation).unwrap();
            let count = options[0];
            let law = &parts.scores_by_option_count[&count];
            for (n, with) in [
                (1, 0),
                (1, 1),
                (6, 2),
                (25, 0),
                (40, 13),
                (60, 60),
                (90, 45),
            ] {
                let crowd = [with, n - with].into_iter().zip([1, 0]);
                let crowd = crowd.map(|(people, node)| {
                    let ScoredGroups {
                        group_shares_and_scores: own,
                        ..
                    } = &law.nodes[node].1;
                    (people, own[0].1.clone())
                });
                let all = convolved(count, &crowd.collect::<Vec<_>>());
                let truth = with as f64 / n as f64;
                for failure in [0.05, 0.025, 0.005, 1e-4] {
                    let missed = missed(&parts, count, &all, n as u64, truth, failure);
                    let what = format!("{options:?}, {epsilon}, {with} of {n}: {missed:?}");
                    assert!(
                        missed[0].max(missed[1]) < 1.1 * failure,
                        "{what} at {failure}"
                    );
                }
            }
        }
    }

    /// Returns the probabilities that the lower and the upper limit of the first option miss the
    /// true share.
    fn missed(
        parts: &JointChoiceParts,
        options: u32,
        all: &[f64],
        reports: u64,
        truth: f64,
        failure: f64,
    ) -> [f64; 2] {
        let (law, failure) = (
            &parts.scores_by_option_count[&options],
            TailThresholds::new(failure),
        );
        let (n, c) = (reports as f64, f64::from(options));
        let mut missed = [0.0; 2];
        for (at, p) in all.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let sum = at as f64 / (c - 1.0) - n;
            let share =
                sum * (c - 1.0) / c / n / parts.collision_hit_probabilities.hit_probability_gap()
                    + 1.0 / c;
            let [with, without] = [true, false].map(|given| {
                parts
                    .collision_hit_probabilities
                    .option_variance(options, given)
            });
            let variance =
                share_variance_per_report(SamplingModel::FixedPopulation, share, with, without);
            let point = PointEstimate::new(share, variance, n);
            let limit = |side| law.confidence_limit(point, reports, &failure, side);
            missed[0] += p * f64::from(u8::from(limit(LimitSide::Lower) > truth + 1e-12));
            missed[1] += p * f64::from(u8::from(limit(LimitSide::Upper) < truth - 1e-12));
        }
        missed
    }
}
