//! Estimates for sums of shares, if every person gives exactly one answer. They are used for
//! histograms, distribution functions and means of numbers.
//!
//! A report hits the element of the person's answer with probability p, and any other element with
//! probability q. The probability of hitting two given elements at once is known, too. So the
//! variance of every sum of hits is known exactly before any report exists.

use hushbin::mechanism::collision::CollisionHitProbabilities;
use statrs::distribution::{Binomial, Discrete, Hypergeometric};

use super::score::{CrowdBetweenNodes, ScoreDistribution, ScoreProbabilities, ScoredGroups};
use crate::estimate::point::{PointEstimate, SamplingModel, share_variance_per_report};

/// Number of hits on every answer to one question. Each person gave one answer.
#[derive(Debug, Clone)]
pub(crate) struct SingleAnswerHits {
    pub(crate) hit_probabilities: CollisionHitProbabilities,
    pub(crate) sampling_model: SamplingModel,
    /// Number of hits on each answer.
    pub(crate) hits_by_answer: Vec<u64>,
    /// Number of reports n.
    pub(crate) reports: u64,
    /// Number m of slots that a report hits, and number N of all slots. `None` if elements are
    /// hashed independently.
    pub(crate) hit_and_total_slots: Option<[u32; 2]>,
}

impl SingleAnswerHits {
    /// Returns the raw estimate of an answer's share.
    pub(crate) fn share_estimate(&self, answer: usize) -> f64 {
        let part = self.hits_by_answer[answer] as f64 / self.reports as f64;
        (part - self.hit_probabilities.p_false) / self.hit_probabilities.hit_probability_gap()
    }

    /// Returns the estimated share of people whose answer is in `answers`, with its score
    /// distribution. `answers` has no duplicates.
    pub(crate) fn share_and_score_distribution(
        &self,
        answers: impl Iterator<Item = usize> + Clone,
    ) -> (PointEstimate, ScoreDistribution) {
        let estimate: f64 = answers
            .clone()
            .map(|answer| self.share_estimate(answer))
            .sum();
        let answers = answers.count();
        let variance = |among| {
            self.hit_probabilities
                .answer_set_variance(answers as u32, among)
        };
        let variance = share_variance_per_report(
            self.sampling_model,
            estimate,
            variance(true),
            variance(false),
        );
        let crowd =
            |among| ScoredGroups::of_one_group(self.hit_count_distribution(answers as u32, among));
        let law = ScoreDistribution {
            nodes: vec![(0.0, crowd(false)), (1.0, crowd(true))],
            is_fixed_population: self.sampling_model == SamplingModel::FixedPopulation,
            crowd_between_nodes: CrowdBetweenNodes::NeighbourMixture,
        };
        (
            PointEstimate::new(estimate, variance, self.reports as f64),
            law,
        )
    }

    /// Returns the distribution of a report's number of hits on a set of `answers` answers. `among`
    /// is true if the person's own answer is in the set.
    fn hit_count_distribution(&self, answers: u32, among: bool) -> ScoreProbabilities {
        let own = u64::from(among);
        let others = u64::from(answers) - own;
        let p = self.hit_probabilities.p_true;
        let most = answers as usize;
        let mut score = vec![0.0; most + 1];
        let mut add = |weight: f64, shift: u64, law: &dyn Fn(u64) -> f64| {
            for hit in 0..=others {
                score[(hit + shift) as usize] += weight * law(hit);
            }
        };
        match self.hit_and_total_slots {
            // If the report hits the person's answer, it also hits m − 1 of the N − 1 other slots.
            // Otherwise it hits m of them.
            Some([m, slots]) => {
                let of = |draws: u32| {
                    let law = Hypergeometric::new(u64::from(slots - 1), others, draws.into());
                    law.expect("as many slots as elements, at least")
                };
                let [beside, elsewhere] = [of(m - 1), of(m)];
                add(p, own, &|hit| beside.pmf(hit));
                add(1.0 - p, 0, &|hit| elsewhere.pmf(hit));
            }
            None => {
                let law =
                    Binomial::new(self.hit_probabilities.p_false, others).expect("a probability");
                add(p, own, &|hit| law.pmf(hit));
                add(1.0 - p, 0, &|hit| law.pmf(hit));
            }
        }
        let numbers = (0..).map(f64::from);
        numbers.zip(score).filter(|(_, p)| *p > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use hushbin::domain::Domain;
    use hushbin::hash::HashFamily;
    use hushbin::mechanism::collision::{Collision, FavouredBucketRule};

    use super::*;
    use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

    fn answers(hashing: HashFamily, cells: u32, buckets: u32, epsilon: f64) -> SingleAnswerHits {
        let favoured = 1 + u32::from(hashing == HashFamily::BalancedWindows);
        let rule = FavouredBucketRule::Heaviest { favoured };
        let collision = Collision::new(rule, hashing, buckets).unwrap();
        let domain = Domain::with_exact_entry_count(cells, 1);
        let support = collision.hit_decoder(&domain);
        let slots = support.visitable_slot_count() as u32;
        SingleAnswerHits {
            hit_probabilities: collision.hit_probabilities(&domain, epsilon),
            sampling_model: SamplingModel::FixedPopulation,
            hits_by_answer: vec![0; cells as usize],
            reports: 1,
            hit_and_total_slots: support.slots_hit_per_report().map(|hit| [hit, slots]),
        }
    }

    /// The distribution from which intervals are computed has the mean and the variance that follow
    /// from the rates.
    #[test]
    fn laws_of_hits_are_those_of_the_rates() {
        for hashing in [
            HashFamily::Balanced,
            HashFamily::Independent,
            HashFamily::BalancedWindows,
        ] {
            let windows = hashing == HashFamily::BalancedWindows;
            for (cells, buckets) in [
                (2, if windows { 3 } else { 2 }),
                (7, 3),
                (12, 12),
                (32, 4),
                (100, 9),
            ] {
                let answers = answers(hashing, cells, buckets, 1.5);
                let rates = &answers.hit_probabilities;
                for (among, first) in [(true, 1), (false, 1), (true, cells / 2), (false, cells / 2)]
                {
                    let score = answers.hit_count_distribution(first, among);
                    let moment =
                        |power: i32| -> f64 { score.iter().map(|(x, p)| p * x.powi(power)).sum() };
                    let what = format!("{hashing:?}, {cells}, {buckets}, {first}, {among}");
                    assert!((moment(0) - 1.0).abs() < 1e-12, "{what}");
                    let own = f64::from(u8::from(among));
                    let mean = rates.hit_probability_gap() * own + rates.p_false * f64::from(first);
                    assert!((moment(1) - mean).abs() < 1e-12, "{what}");
                    let variance = (moment(2) - mean * mean) / rates.hit_probability_gap().powi(2);
                    let expected = rates.answer_set_variance(first, among);
                    assert!((variance / expected - 1.0).abs() < 1e-9, "{what}");
                }
            }
        }
    }

    /// Computes the distribution of the sum of scores. Possible scores are 0, 1, …
    fn convolved(crowd: &[(usize, ScoreProbabilities)]) -> Vec<f64> {
        let mut all = vec![1.0];
        for (count, score) in crowd {
            for _ in 0..*count {
                let most = score.iter().map(|(x, _)| *x as usize).max().unwrap();
                let mut next = vec![0.0; all.len() + most];
                for (at, own) in all.iter().enumerate() {
                    for (x, p) in score {
                        next[at + *x as usize] += own * p;
                    }
                }
                all = next;
            }
        }
        all
    }

    /// Limits of the share below an edge miss the true share at most at the nominal rate. The rate
    /// is summed over all possible numbers of hits of n reports.
    #[test]
    fn limits_miss_no_more_often_than_they_say() {
        for (hashing, cells, buckets, epsilon) in [
            (HashFamily::Balanced, 8, 3, 1.0),
            (HashFamily::Balanced, 16, 4, 2.0),
            (HashFamily::Balanced, 6, 6, 4.0),
            (HashFamily::Balanced, 4, 2, 0.5),
            (HashFamily::BalancedWindows, 5, 5, 0.5),
            (HashFamily::BalancedWindows, 16, 5, 1.0),
        ] {
            let template = answers(hashing, cells, buckets, epsilon);
            let first = cells as usize / 2;
            for (n, with) in [(1, 0), (1, 1), (5, 1), (20, 0), (20, 7), (60, 30), (60, 60)] {
                let score = |among| template.hit_count_distribution(first as u32, among);
                let all = convolved(&[(with, score(true)), (n - with, score(false))]);
                let truth = with as f64 / n as f64;
                for failure in [0.05, 0.025, 0.005, 1e-4] {
                    let failure_law = TailThresholds::new(failure);
                    let mut missed = [0.0; 2];
                    for (hits, p) in all.iter().enumerate() {
                        let mut answers = template.clone();
                        answers.reports = n as u64;
                        answers.hits_by_answer[0] = hits as u64;
                        let (point, law) = answers.share_and_score_distribution(0..first);
                        let limit =
                            |side| law.confidence_limit(point, n as u64, &failure_law, side);
                        missed[0] +=
                            p * f64::from(u8::from(limit(LimitSide::Lower) > truth + 1e-12));
                        missed[1] +=
                            p * f64::from(u8::from(limit(LimitSide::Upper) < truth - 1e-12));
                    }
                    let what = format!(
                        "{hashing:?}, {cells}, {buckets}, {epsilon}, {with} of {n}: {missed:?} at {failure}"
                    );
                    assert!(missed[0].max(missed[1]) < 1.1 * failure, "{what}");
                }
            }
        }
    }
}
