//! Protocols for the choice of one of k options. Each protocol estimates the options' shares from
//! the reports of a whole crowd.

use crate::competitors::{
    Budget, GaussianMechanism, LocalHash, OptimalLocalHashing, RandomizedResponse,
    SupportProbabilities, UnaryEncoding,
};
use hushbin::choose::{KindDraft, MechanismDraft, QuestionDraft};
use hushbin::task::ReportBudget as Reports;
use hushbin::{Entry, Error, Items, Mechanism, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{Totals, point_estimates};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, StandardNormal};

/// Name, in figures, of a protocol for the choice of one of k options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoiceProtocolName {
    /// hushbin's mechanism for a choice, at δ = 0.
    HushbinChoice,
    /// GRR: randomised response over the options.
    RandomizedResponse,
    /// SPRR: one bit for each option, flipped with the same probability whether it is 0 or 1.
    SymmetricUnaryEncoding,
    /// OUE: one bit for each option. A bit of 0 is reported as 1 with the probability q for which
    /// the variance is least.
    OptimizedUnaryEncoding,
    /// PRR: one bit for each option. A bit of 0 is reported as 1 with the probability q = 1/2.
    HalfZeroFlipUnaryEncoding,
    /// OLH: hashing to the best number of buckets.
    OptimalLocalHashing,
    /// LH: hashing to two buckets.
    BinaryLocalHashing,
    /// Gaussian mechanism: normal noise on the one-hot vector of the answer.
    Gaussian,
}

impl ChoiceProtocolName {
    /// List of all protocols.
    pub(crate) const ALL: [Self; 8] = [
        Self::HushbinChoice,
        Self::RandomizedResponse,
        Self::SymmetricUnaryEncoding,
        Self::OptimizedUnaryEncoding,
        Self::HalfZeroFlipUnaryEncoding,
        Self::OptimalLocalHashing,
        Self::BinaryLocalHashing,
        Self::Gaussian,
    ];

    /// Name of the protocol in legends.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::HushbinChoice => "hushbin, choice",
            Self::RandomizedResponse => "GRR",
            Self::SymmetricUnaryEncoding => "SPRR",
            Self::OptimizedUnaryEncoding => "OUE",
            Self::HalfZeroFlipUnaryEncoding => "PRR, q = 1/2",
            Self::OptimalLocalHashing => "OLH",
            Self::BinaryLocalHashing => "LH, g = 2",
            Self::Gaussian => "Gaussian",
        }
    }

    /// Creates the protocol for k = `options` options under a budget.
    ///
    /// # Errors
    /// [`Error`] if the protocol refuses its parameters.
    pub(crate) fn build(self, options: u32, budget: &Budget) -> Result<ChoiceProtocol, Error> {
        Ok(match self {
            Self::HushbinChoice => hushbin_choice_protocol(options, budget.epsilon())?,
            Self::RandomizedResponse => {
                ChoiceProtocol::RandomizedResponse(RandomizedResponse::new(options, budget)?)
            }
            Self::SymmetricUnaryEncoding => ChoiceProtocol::IndependentSupports(
                UnaryEncoding::symmetric_encoding(options, budget)?.support_probabilities(),
            ),
            Self::OptimizedUnaryEncoding => ChoiceProtocol::IndependentSupports(
                UnaryEncoding::optimized_encoding(options, budget)?.support_probabilities(),
            ),
            Self::HalfZeroFlipUnaryEncoding => ChoiceProtocol::IndependentSupports(
                UnaryEncoding::new(options, 0.5, budget)?.support_probabilities(),
            ),
            Self::OptimalLocalHashing => match OptimalLocalHashing::new(options, budget)? {
                OptimalLocalHashing::LocalHashing(hash) => {
                    ChoiceProtocol::IndependentSupports(hash.support_probabilities())
                }
                OptimalLocalHashing::RandomizedResponse(direct) => {
                    ChoiceProtocol::RandomizedResponse(direct)
                }
            },
            Self::BinaryLocalHashing => ChoiceProtocol::IndependentSupports(
                LocalHash::new(options, 2, budget)?.support_probabilities(),
            ),
            Self::Gaussian => {
                ChoiceProtocol::Gaussian(GaussianMechanism::for_one_hot_vectors(budget)?)
            }
        })
    }
}

/// Protocol for the choice of one of k options, with its parameters.
#[derive(Debug)]
pub(crate) enum ChoiceProtocol {
    /// Task of hushbin, whose reports are randomised and decoded as in production.
    HushbinTask(Box<Task>, SupportProbabilities),
    /// GRR, in which a report is one of the options.
    RandomizedResponse(RandomizedResponse),
    /// Protocol in which, given the answer, a report supports each option independently of all
    /// other options.
    ///
    /// This holds for one bit for each option, because each bit is flipped independently. It also
    /// holds for hashing with independent buckets: given the answer's bucket and the reported one,
    /// the bucket of any other option is still uniform.
    IndependentSupports(SupportProbabilities),
    /// Gaussian mechanism, with normal noise on every option.
    Gaussian(GaussianMechanism),
}

impl ChoiceProtocol {
    /// Returns the variance of one report's estimate of an option's share. `own` is true if the
    /// reporting person chose this option.
    pub(crate) fn single_report_variance(&self, own: bool) -> f64 {
        match self {
            Self::HushbinTask(_, rates) | Self::IndependentSupports(rates) => {
                rates.single_report_variance(own)
            }
            Self::RandomizedResponse(direct) => {
                direct.support_probabilities().single_report_variance(own)
            }
            Self::Gaussian(noise) => noise.variance(),
        }
    }

    /// Draws the reports of a crowd and returns the estimated shares of the options. `counts` has
    /// the number of people who chose each option.
    ///
    /// For competitors, the sums over all people are drawn at once, with the right distribution. In
    /// [`Self::IndependentSupports`], the number of reports that support an option is the sum of two
    /// binomial counts. One counts the people who chose the option, the other counts the remaining
    /// people. The sum of normal noise is normal.
    ///
    /// # Errors
    /// [`Error`] if the task refuses an answer.
    pub(crate) fn simulate_estimated_shares(
        &self,
        counts: &[u64],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>, Error> {
        let people: u64 = counts.iter().sum();
        Ok(match self {
            Self::HushbinTask(task, _) => simulate_task(task, counts, rng)?,
            Self::RandomizedResponse(direct) => {
                let rates = direct.support_probabilities();
                let supports = draw_randomized_response_supports(&rates, counts, rng);
                let share = |own: &u64| rates.estimate_share(*own, people);
                supports.iter().map(share).collect()
            }
            Self::IndependentSupports(rates) => {
                let mut share = |own: &u64| {
                    let supporting = draw_binomial(*own, rates.own_answer_probability, rng)
                        + draw_binomial(people - own, rates.other_answer_probability, rng);
                    rates.estimate_share(supporting, people)
                };
                counts.iter().map(&mut share).collect()
            }
            Self::Gaussian(noise) => {
                let n = people as f64;
                let deviation = noise.sigma() / n.sqrt();
                let mut share = |own: &u64| {
                    let normal: f64 = StandardNormal.sample(rng);
                    *own as f64 / n + deviation * normal
                };
                counts.iter().map(&mut share).collect()
            }
        })
    }
}

/// Draws the number of successes in `people` independent trials, each with this success
/// `probability`.
pub(crate) fn draw_binomial(people: u64, probability: f64, rng: &mut ChaCha8Rng) -> u64 {
    let law = Binomial::new(people, probability.clamp(0.0, 1.0));
    law.expect("probabilities are from 0 to 1").sample(rng)
}

/// Draws how many reports support each option under randomised response. A report is the person's
/// answer with probability p − q. Otherwise the report is drawn uniformly from all k options.
fn draw_randomized_response_supports(
    rates: &SupportProbabilities,
    counts: &[u64],
    rng: &mut ChaCha8Rng,
) -> Vec<u64> {
    let mut answer = |own: &u64| {
        draw_binomial(
            *own,
            rates.own_answer_probability - rates.other_answer_probability,
            rng,
        )
    };
    let mut supports: Vec<u64> = counts.iter().map(&mut answer).collect();
    let mut left = counts.iter().sum::<u64>() - supports.iter().sum::<u64>();
    // Draws a multinomial by conditional binomials: each remaining report is this option with
    // probability 1/(number of options left).
    let options = (1..=counts.len()).rev();
    for (support, options) in supports.iter_mut().zip(options) {
        let here = draw_binomial(left, 1.0 / options as f64, rng);
        *support += here;
        left -= here;
    }
    supports
}

/// Returns the protocol that is hushbin's task for a choice among `options` options.
fn hushbin_choice_protocol(options: u32, epsilon: f64) -> Result<ChoiceProtocol, Error> {
    let draft = TaskDraft {
        id: "study".to_owned(),
        epsilon,
        people_count: None,
        questions: vec![QuestionDraft {
            name: "answer".to_owned(),
            kind: KindDraft::Choice(Items::Count(options)),
            sparsity: Some(1),
            people_count_by_entry_count: None,
            mean_item_overlap: None,
            sampling_weight: None,
            mechanism: MechanismDraft::default(),
        }],
        budget_per_person: Reports::default(),
    };
    let task = draft.resolve_task()?;
    let question = &task.questions()[0];
    let Mechanism::Collision(collision) = question.mechanism() else {
        unreachable!("choices are asked by Collision")
    };
    let rates = collision.hit_probabilities(&question.domain(), epsilon);
    let rates = SupportProbabilities {
        own_answer_probability: rates.p_true,
        other_answer_probability: rates.p_false,
    };
    Ok(ChoiceProtocol::HushbinTask(Box::new(task), rates))
}

/// Draws one report for each person, randomised and decoded as in production, and returns the
/// estimated shares.
fn simulate_task(task: &Task, counts: &[u64], rng: &mut ChaCha8Rng) -> Result<Vec<f64>, Error> {
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    for (item, &people) in (0..).zip(counts) {
        let answer = [Entry { item, value: 1.0 }];
        for _ in 0..people {
            totals.add_report(&randomizer.randomize(&answer, rng)?.report);
        }
    }
    let options: Vec<u64> = (0..counts.len() as u64).collect();
    let share = |own: hushbin_analysis::estimate::ItemPointEstimates| {
        own.estimated_answer_share
            .expect("shares of options are estimated")
            .estimate
    };
    Ok(point_estimates(task, &totals, &options)
        .into_iter()
        .map(share)
        .collect())
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const COUNTS: [u64; 6] = [50, 20, 10, 10, 10, 0];

    /// Estimates of a small crowd, repeated many times, are unbiased and have the stated variance.
    #[test]
    fn estimates_are_unbiased_and_vary_as_said() {
        let runs = 4000;
        let people = 100.0;
        for (seed, name) in ChoiceProtocolName::ALL.into_iter().enumerate() {
            for epsilon in [1.0, 3.0] {
                let budget = Budget::new(epsilon, 1e-6).unwrap();
                let protocol = name.build(6, &budget).unwrap();
                let rng = &mut ChaCha8Rng::seed_from_u64(seed as u64);
                let (mut means, mut squares) = ([0.0; 6], [0.0; 6]);
                for _ in 0..runs {
                    let shares = protocol.simulate_estimated_shares(&COUNTS, rng).unwrap();
                    for (place, own) in shares.iter().enumerate() {
                        means[place] += own / f64::from(runs);
                        squares[place] += own * own / f64::from(runs);
                    }
                }
                for (place, &count) in COUNTS.iter().enumerate() {
                    let share = count as f64 / people;
                    let [own, other] =
                        [true, false].map(|own| protocol.single_report_variance(own));
                    let variance = (share * own + (1.0 - share) * other) / people;
                    let error = (variance / f64::from(runs)).sqrt();
                    let off = means[place] - share;
                    assert!(off.abs() < 5.0 * error, "{name:?} {epsilon}: {off}");
                    let ratio = (squares[place] - means[place].powi(2)) / variance;
                    assert!((ratio - 1.0).abs() < 0.12, "{name:?} {epsilon}: {ratio}");
                }
            }
        }
    }

    /// Compares sums that are drawn at once with sums of reports that are drawn one by one. The two
    /// ways must agree in the variances and the covariance of the sums of two options.
    #[test]
    fn crowds_at_once_are_as_people_one_by_one() {
        let budget = Budget::new(1.5, 1e-6).unwrap();
        let (direct, hash) = (
            RandomizedResponse::new(6, &budget).unwrap(),
            LocalHash::new(6, 2, &budget).unwrap(),
        );
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let one_by_one = |rng: &mut ChaCha8Rng, hashed: bool| {
            let mut supports = [0_u64; 6];
            for (answer, &count) in (0..).zip(&COUNTS) {
                for _ in 0..count {
                    if hashed {
                        let report = hash.randomize(answer, rng).unwrap();
                        for (option, own) in (0..).zip(&mut supports) {
                            *own += u64::from(hash.report_supports_answer(&report, option));
                        }
                    } else {
                        supports[direct.randomize(answer, rng).unwrap() as usize] += 1;
                    }
                }
            }
            supports
        };
        for hashed in [true, false] {
            let rates = if hashed {
                hash.support_probabilities()
            } else {
                direct.support_probabilities()
            };
            let protocol = if hashed {
                ChoiceProtocol::IndependentSupports(rates)
            } else {
                ChoiceProtocol::RandomizedResponse(direct)
            };
            let runs = 8000;
            let mut moments = [[0.0; 3]; 2];
            for _ in 0..runs {
                let alone = one_by_one(rng, hashed);
                let alone = alone.map(|own| rates.estimate_share(own, 100));
                let crowd = protocol.simulate_estimated_shares(&COUNTS, rng).unwrap();
                for (sums, own) in moments.iter_mut().zip([&alone[..], &crowd]) {
                    let (a, b) = (own[0] - 0.5, own[1] - 0.2);
                    for (sum, product) in sums.iter_mut().zip([a * a, b * b, a * b]) {
                        *sum += product / f64::from(runs);
                    }
                }
            }
            let [alone, crowd] = moments;
            let scale = (alone[0] * alone[1]).sqrt();
            for (one, other) in alone.iter().zip(crowd) {
                assert!((one - other).abs() < 0.08 * scale, "{moments:?}");
            }
        }
    }
}
