//! Protocols for one choice of k options, and what a whole crowd's reports come to.

use crate::competitors::{Budget, Direct, Gaussian, LocalHash, OptimalHash, Rates, Unary};
use hushbin::choose::{Asked, MechanismDraft, QuestionDraft};
use hushbin::task::Budget as Reports;
use hushbin::{Entry, Error, Items, Mechanism, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{Totals, points};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, StandardNormal};

/// A protocol, as figures name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolName {
    /// hushbin's choice, at δ = 0.
    Choice,
    /// Randomised response over the options.
    Grr,
    /// A bit for each option, flipped alike whether set or not.
    Sprr,
    /// A bit for each option, at the q of least variance.
    Oue,
    /// A bit for each option, at q = 1/2.
    Prr,
    /// Hashing to the best number of buckets.
    Olh,
    /// Hashing to two buckets.
    Lh,
    /// Normal noise on a vector with a 1 for the answer.
    Gaussian,
}

impl ProtocolName {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Choice,
        Self::Grr,
        Self::Sprr,
        Self::Oue,
        Self::Prr,
        Self::Olh,
        Self::Lh,
        Self::Gaussian,
    ];

    /// The name in legends.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Choice => "hushbin, choice",
            Self::Grr => "GRR",
            Self::Sprr => "SPRR",
            Self::Oue => "OUE",
            Self::Prr => "PRR, q = 1/2",
            Self::Olh => "OLH",
            Self::Lh => "LH, g = 2",
            Self::Gaussian => "Gaussian",
        }
    }

    /// The protocol for k options under a budget.
    ///
    /// # Errors
    /// [`Error`] where it refuses its parameters.
    pub(crate) fn build(self, options: u32, budget: &Budget) -> Result<Protocol, Error> {
        Ok(match self {
            Self::Choice => choice(options, budget.epsilon())?,
            Self::Grr => Protocol::Direct(Direct::new(options, budget)?),
            Self::Sprr => Protocol::Apart(Unary::symmetric(options, budget)?.rates()),
            Self::Oue => Protocol::Apart(Unary::optimized(options, budget)?.rates()),
            Self::Prr => Protocol::Apart(Unary::new(options, 0.5, budget)?.rates()),
            Self::Olh => match OptimalHash::new(options, budget)? {
                OptimalHash::Hash(hash) => Protocol::Apart(hash.rates()),
                OptimalHash::Direct(direct) => Protocol::Direct(direct),
            },
            Self::Lh => Protocol::Apart(LocalHash::new(options, 2, budget)?.rates()),
            Self::Gaussian => Protocol::Gaussian(Gaussian::on_one_hot(budget)?),
        })
    }
}

/// A protocol for k options.
#[derive(Debug)]
pub(crate) enum Protocol {
    /// A task that is run as in use.
    Task(Box<Task>, Rates),
    /// An option is reported.
    Direct(Direct),
    /// Whether a report supports an option does not depend on what it says of others.
    ///
    /// True of bits, each of which is flipped alone. True of hashing, too, where a
    /// function's values are independent: with those of the own answer and the reported
    /// bucket given, each other option's value is still uniform.
    Apart(Rates),
    /// Normal noise on every option.
    Gaussian(Gaussian),
}

impl Protocol {
    /// Variance of one report's estimate of an option's share, of a person who gives it or another.
    pub(crate) fn variance(&self, own: bool) -> f64 {
        match self {
            Self::Task(_, rates) | Self::Apart(rates) => rates.variance(own),
            Self::Direct(direct) => direct.rates().variance(own),
            Self::Gaussian(noise) => noise.variance(),
        }
    }

    /// Estimates of shares, of reports of a crowd of which so many give each option.
    ///
    /// What competitors' reports add up to is drawn at once and has the law of a sum over
    /// people: where options are told of apart, so many of those who give an option support
    /// it and so many of the others, two binomials; normal noise adds up to normal noise.
    ///
    /// # Errors
    /// [`Error`] where the task refuses an answer.
    pub(crate) fn estimate(&self, counts: &[u64], rng: &mut ChaCha8Rng) -> Result<Vec<f64>, Error> {
        let people: u64 = counts.iter().sum();
        Ok(match self {
            Self::Task(task, _) => asked(task, counts, rng)?,
            Self::Direct(direct) => {
                let rates = direct.rates();
                let supports = direct_supports(&rates, counts, rng);
                let share = |own: &u64| rates.estimate(*own, people);
                supports.iter().map(share).collect()
            }
            Self::Apart(rates) => {
                let mut share = |own: &u64| {
                    let supporting =
                        binomial(*own, rates.p, rng) + binomial(people - own, rates.q, rng);
                    rates.estimate(supporting, people)
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

/// How many of so many succeed.
pub(crate) fn binomial(people: u64, probability: f64, rng: &mut ChaCha8Rng) -> u64 {
    let law = Binomial::new(people, probability.clamp(0.0, 1.0));
    law.expect("probabilities are from 0 to 1").sample(rng)
}

/// How many report each option. Randomised response is the answer with probability p − q,
/// or else any of all k, uniformly.
fn direct_supports(rates: &Rates, counts: &[u64], rng: &mut ChaCha8Rng) -> Vec<u64> {
    let mut answer = |own: &u64| binomial(*own, rates.p - rates.q, rng);
    let mut supports: Vec<u64> = counts.iter().map(&mut answer).collect();
    let mut left = counts.iter().sum::<u64>() - supports.iter().sum::<u64>();
    let options = (1..=counts.len()).rev();
    for (support, options) in supports.iter_mut().zip(options) {
        let here = binomial(left, 1.0 / options as f64, rng);
        *support += here;
        left -= here;
    }
    supports
}

/// hushbin's task of a choice.
fn choice(options: u32, epsilon: f64) -> Result<Protocol, Error> {
    let draft = TaskDraft {
        id: "study".to_owned(),
        epsilon,
        people: None,
        questions: vec![QuestionDraft {
            name: "answer".to_owned(),
            asked: Asked::Choice(Items::Count(options)),
            sparsity: Some(1),
            entries: None,
            overlap: None,
            weight: None,
            mechanism: MechanismDraft::default(),
        }],
        budget: Reports::default(),
    };
    let task = draft.resolve()?;
    let question = &task.questions()[0];
    let Mechanism::Collision(collision) = question.mechanism() else {
        unreachable!("choices are asked by Collision")
    };
    let rates = collision.rates(&question.domain(), epsilon);
    let rates = Rates {
        p: rates.p_true,
        q: rates.p_false,
    };
    Ok(Protocol::Task(Box::new(task), rates))
}

/// A report of everybody, made and estimated from as in use.
fn asked(task: &Task, counts: &[u64], rng: &mut ChaCha8Rng) -> Result<Vec<f64>, Error> {
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    for (item, &people) in (0..).zip(counts) {
        let answer = [Entry { item, value: 1.0 }];
        for _ in 0..people {
            totals.fold(&randomizer.randomize(&answer, rng)?.report);
        }
    }
    let options: Vec<u64> = (0..counts.len() as u64).collect();
    let share = |own: hushbin_analysis::estimate::ItemPoints| {
        own.share.expect("shares of options are estimated").estimate
    };
    Ok(points(task, &totals, &options)
        .into_iter()
        .map(share)
        .collect())
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const COUNTS: [u64; 6] = [50, 20, 10, 10, 10, 0];

    /// Every protocol's estimates of a small crowd, many times.
    #[test]
    fn estimates_are_unbiased_and_vary_as_said() {
        let runs = 4000;
        let people = 100.0;
        for (seed, name) in ProtocolName::ALL.into_iter().enumerate() {
            for epsilon in [1.0, 3.0] {
                let budget = Budget::new(epsilon, 1e-6).unwrap();
                let protocol = name.build(6, &budget).unwrap();
                let rng = &mut ChaCha8Rng::seed_from_u64(seed as u64);
                let (mut means, mut squares) = ([0.0; 6], [0.0; 6]);
                for _ in 0..runs {
                    let shares = protocol.estimate(&COUNTS, rng).unwrap();
                    for (place, own) in shares.iter().enumerate() {
                        means[place] += own / f64::from(runs);
                        squares[place] += own * own / f64::from(runs);
                    }
                }
                for (place, &count) in COUNTS.iter().enumerate() {
                    let share = count as f64 / people;
                    let [own, other] = [true, false].map(|own| protocol.variance(own));
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

    /// Against reports made one by one: of two options all three of a pair's moments.
    #[test]
    fn crowds_at_once_are_as_people_one_by_one() {
        let budget = Budget::new(1.5, 1e-6).unwrap();
        let (direct, hash) = (
            Direct::new(6, &budget).unwrap(),
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
                            *own += u64::from(hash.supports(&report, option));
                        }
                    } else {
                        supports[direct.randomize(answer, rng).unwrap() as usize] += 1;
                    }
                }
            }
            supports
        };
        for hashed in [true, false] {
            let rates = if hashed { hash.rates() } else { direct.rates() };
            let protocol = if hashed {
                Protocol::Apart(rates)
            } else {
                Protocol::Direct(direct)
            };
            let runs = 8000;
            let mut moments = [[0.0; 3]; 2];
            for _ in 0..runs {
                let alone = one_by_one(rng, hashed);
                let alone = alone.map(|own| rates.estimate(own, 100));
                let crowd = protocol.estimate(&COUNTS, rng).unwrap();
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
