//! Privacy of any task, by running its randomizer and trying to tell two inputs
//! apart.
//!
//! An event that an attacker can see happens with probabilities p₀ and p₁ under
//! two neighbouring inputs. If ln(p₀/p₁) is above ε for any event, the
//! randomizer is not ε-locally private; so a lower bound of p₀ over an upper
//! bound of p₁ is a lower bound of its loss, whatever the randomizer does
//! inside. Part of the trials choose the event, the rest judge it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use hushbin::{Entry, Report, Task};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::plan::{Plan, judging};
use hushbin_analysis::likelihood::{NeighbourPair, Observation, neighbour_pairs, observe};
use hushbin_analysis::numeric::clopper_pearson::{lower_bound, upper_bound};

/// A number read off a report, by which an attacker tells two inputs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The logarithm of the likelihood ratio of the two inputs, from the
    /// mechanism's definition: best against a randomizer that follows it.
    LikelihoodRatio,
    /// The whole report, learned: against randomness that repeats.
    Report,
    /// The seed, learned: against one that depends on the input.
    Seed,
    /// The likelihood ratio and the bucket, learned: against one that draws
    /// the remainder of a sum.
    Bucket,
    /// The likelihood ratio and which entry of either input lies in the bucket,
    /// learned: against favourites among entries.
    Entry,
    /// The likelihood ratio and where the bucket stands among those of either
    /// input, learned: against favourites among buckets.
    Place,
}

const STATISTICS: [Statistic; 6] = [
    Statistic::LikelihoodRatio,
    Statistic::Report,
    Statistic::Seed,
    Statistic::Bucket,
    Statistic::Entry,
    Statistic::Place,
];

impl Statistic {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LikelihoodRatio => "log-likelihood ratio",
            Self::Report => "learned score of the whole report",
            Self::Seed => "learned score of the seed",
            Self::Bucket => "learned score of the bucket",
            Self::Entry => "learned score of the entries in the bucket",
            Self::Place => "learned score of the bucket's place",
        }
    }
}

/// The event that was judged: a score's being above or below a threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// The input under which it should be likelier, and the other.
    pub inputs: [String; 2],
    /// The statistic that is scored.
    pub statistic: Statistic,
    /// The lowest score in the event, or the lowest above it.
    pub threshold: f64,
    /// True if scores from the threshold on are in it, false if those below are.
    pub at_least: bool,
}

/// A lower bound of the loss of a randomizer, as measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// A lower bound of the loss, at the plan's confidence; 0 where nothing
    /// was found.
    pub lower_bound: f64,
    /// The event that it was found by.
    pub event: Event,
    /// Number of trials in which it happened, under either input.
    pub hits: [u64; 2],
    /// Number of trials with either input, none of which helped to choose.
    pub judged: u64,
}

/// Trials that the likelihood ratio is worth, against what was counted of a
/// value: values that never came are scored by it.
const PRIOR: f64 = 16.0;

/// A lower bound of the loss of `randomize`, in nats, from running it on
/// neighbouring inputs of `task`. It holds with the plan's confidence if reports
/// are drawn independently. `progress` is called with the runs done and all to do.
///
/// Half of the choosing trials give the values of learned statistics a score;
/// the others choose pair, statistic and threshold by the bound that the
/// judging trials may be expected to give, under Wilson's approximation, which
/// the choice alone depends on. The event stands before any of the judging
/// trials is made, so Clopper and Pearson's bounds, each of which fails with
/// half of what the confidence leaves, hold together.
///
/// # Panics
/// If a report is of another mechanism than the task's.
pub fn measure(
    task: &Task,
    plan: &Plan,
    mut randomize: impl FnMut(&[Entry]) -> Report,
    mut progress: impl FnMut(u64, u64),
) -> Measured {
    let pairs = neighbour_pairs(task);
    let judged = judging(plan.trials());
    let choosing = plan.trials() - judged;
    let total = 2 * (pairs.len() as u64 * choosing + judged);
    let mut done = 0;
    let mut run = |inputs: &NeighbourPair, which: usize| {
        let inputs = [0, 1].map(|which| inputs.inputs[which].as_slice());
        let report = randomize(inputs[which]);
        done += 1;
        if done % 1024 == 0 || done == total {
            progress(done, total);
        }
        (observe(task, inputs, &report), report_key(&report))
    };

    let delta = task.mechanism().delta();
    let failure = 0.5 * plan.failure();
    let prospect = Prospect {
        judged: judged as f64,
        reach: -Normal::standard().inverse_cdf(failure),
        luck: (2.0 * ((pairs.len() * STATISTICS.len()) as f64).ln()).sqrt(),
        delta,
    };
    let Attack {
        cut,
        pair,
        statistic,
        learned,
    } = choose(&pairs, choosing, &prospect, &mut run);
    let mut hits = [0; 2];
    for _ in 0..judged {
        for (which, hits) in hits.iter_mut().enumerate() {
            let (seen, key) = run(pair, which);
            *hits += u64::from(cut.holds(learned.score(statistic, &seen, key)));
        }
    }
    let mut inputs = pair.names.clone();
    if !cut.at_least {
        inputs.reverse();
        hits.reverse();
    }
    let low = lower_bound(hits[0], judged, failure);
    let high = upper_bound(hits[1], judged, failure);
    Measured {
        lower_bound: ((low - delta).max(0.0) / high).ln().max(0.0),
        event: Event {
            inputs,
            statistic,
            threshold: cut.threshold,
            at_least: cut.at_least,
        },
        hits,
        judged,
    }
}

/// An event to watch for: a cut of the scores of a statistic on a pair of inputs.
struct Attack<'a> {
    cut: Cut,
    pair: &'a NeighbourPair,
    statistic: Statistic,
    learned: Learned,
}

/// The most promising attack, after so many trials of each input of each pair.
fn choose<'a>(
    pairs: &'a [NeighbourPair],
    trials: u64,
    prospect: &Prospect,
    run: &mut impl FnMut(&NeighbourPair, usize) -> (Observation, u64),
) -> Attack<'a> {
    let mut best: Option<Attack<'a>> = None;
    for pair in pairs {
        let mut learned = Learned::default();
        for _ in 0..trials / 2 {
            for which in [0, 1] {
                let (seen, key) = run(pair, which);
                learned.add(which, &seen, key);
            }
        }
        let mut scored = STATISTICS.map(|_| Vec::new());
        for _ in 0..trials - trials / 2 {
            for which in [0, 1] {
                let (seen, key) = run(pair, which);
                for (scored, statistic) in scored.iter_mut().zip(STATISTICS) {
                    scored.push((learned.score(statistic, &seen, key), which));
                }
            }
        }
        for (scored, statistic) in scored.iter_mut().zip(STATISTICS) {
            if let Some(cut) = best_cut(scored, prospect)
                && best.as_ref().is_none_or(|best| cut.bound > best.cut.bound)
            {
                best = Some(Attack {
                    cut,
                    pair,
                    statistic,
                    learned: learned.clone(),
                });
            }
        }
    }
    // Where all reports look alike any event will do: this one never happens.
    best.unwrap_or_else(|| Attack {
        cut: Cut {
            bound: 0.0,
            threshold: f64::INFINITY,
            at_least: true,
        },
        pair: &pairs[0],
        statistic: Statistic::LikelihoodRatio,
        learned: Learned::default(),
    })
}

/// Equal for equal reports.
fn report_key(report: &Report) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(report)
}

/// Equal ratios that rounding tells apart are made equal.
fn log_ratio(seen: &Observation) -> f64 {
    const GRID: f64 = (1 << 30) as f64;
    (seen.log_ratio * GRID).round() / GRID
}

/// A statistic and its value; those that go with it.
type Value = (Statistic, u64, u64);

/// The value of a statistic that is learned.
fn value(statistic: Statistic, seen: &Observation, report_key: u64) -> Option<Value> {
    let pair = |[first, second]: [usize; 2]| (first as u64) << 32 | second as u64;
    let with_ratio = |value| Some((statistic, value, log_ratio(seen).to_bits()));
    match statistic {
        Statistic::LikelihoodRatio => None,
        Statistic::Report => Some((statistic, report_key, 0)),
        Statistic::Seed => Some((statistic, seen.seed, 0)),
        Statistic::Bucket => with_ratio(seen.bucket),
        Statistic::Entry => with_ratio(pair(seen.first_entries)),
        Statistic::Place => with_ratio(pair(seen.places.map(|place| place as usize))),
    }
}

/// Counts of each value of the learned statistics, under either input.
#[derive(Clone, Default)]
struct Learned(HashMap<Value, [u32; 2]>);

impl Learned {
    fn add(&mut self, which: usize, seen: &Observation, report_key: u64) {
        for statistic in STATISTICS {
            if let Some(value) = value(statistic, seen, report_key) {
                self.0.entry(value).or_default()[which] += 1;
            }
        }
    }

    /// The logarithm of the ratio at which the value came under either input.
    fn score(&self, statistic: Statistic, seen: &Observation, report_key: u64) -> f64 {
        let prior = log_ratio(seen);
        let counts = value(statistic, seen, report_key).and_then(|value| self.0.get(&value));
        counts.map_or(prior, |&[first, second]| {
            let share = 1.0 / (1.0 + (-prior).exp());
            let first = f64::from(first) + PRIOR * share;
            let second = f64::from(second) + PRIOR * (1.0 - share);
            (first / second).ln()
        })
    }
}

/// Where a score is cut in two.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The bound that the cut promises.
    bound: f64,
    threshold: f64,
    at_least: bool,
}

impl Cut {
    fn holds(&self, score: f64) -> bool {
        (score >= self.threshold) == self.at_least
    }
}

/// The judging as far as it is known when an event is chosen.
struct Prospect {
    /// Judging trials of either input.
    judged: f64,
    /// Standard errors of the bounds then.
    reach: f64,
    /// Standard errors by which the hits of the choosing trials are taken to be
    /// lucky. The luckiest of m scores is about √(2 ln m) off; without it the
    /// rarest events would be chosen.
    luck: f64,
    delta: f64,
}

impl Prospect {
    /// The bound to expect of an event with so many hits under either input.
    fn bound(&self, [hits, others]: [f64; 2], trials: f64) -> f64 {
        let expected = |hits, luck| self.judged * wilson(hits, trials, luck);
        let low = wilson(expected(hits, -self.luck), self.judged, -self.reach);
        let high = wilson(expected(others, self.luck), self.judged, self.reach);
        ((low - self.delta).max(0.0) / high).ln()
    }
}

/// The cut of scores, each with which input it came from, that promises the
/// greatest bound; `None` where all are equal.
fn best_cut(scored: &mut [(f64, usize)], prospect: &Prospect) -> Option<Cut> {
    scored.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let trials = scored.len() as f64 / 2.0;
    let least = scored.last()?.0;
    let mut hits = [0.0; 2];
    let mut best: Option<Cut> = None;
    for group in scored.chunk_by(|(a, _), (b, _)| a == b) {
        let threshold = group[0].0;
        if threshold == least {
            break;
        }
        for &(_, which) in group {
            hits[which] += 1.0;
        }
        let [first, second] = hits;
        let above = ([first, second], true);
        let below = ([trials - second, trials - first], false);
        for (hits, at_least) in [above, below] {
            let bound = prospect.bound(hits, trials);
            if best.is_none_or(|best| bound > best.bound) {
                best = Some(Cut {
                    bound,
                    threshold,
                    at_least,
                });
            }
        }
    }
    best
}

/// Wilson's bound of a probability, `reach` standard errors away.
fn wilson(hits: f64, trials: f64, reach: f64) -> f64 {
    let square = reach * reach;
    let spread = (hits * (1.0 - hits / trials) + 0.25 * square).sqrt();
    ((hits + 0.5 * square + reach * spread) / (trials + square)).max(0.0)
}
