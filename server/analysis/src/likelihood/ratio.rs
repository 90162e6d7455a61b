//! How much likelier a report is under one input than under another, by the
//! mechanisms' definitions.
//!
//! An audit that shared the randomizer's code would share its mistakes. This
//! is written from the definitions (Wang et al., "Differentially Private
//! Numerical Vector Analyses in the Local and Shuffle Model", Definition 5 and
//! Algorithm 1, and the rules `heaviest` and `strongest`; Zhou et al., "Locally
//! Differentially Private Sparse Vector Aggregation", Algorithm 1), in floating point
//! and from the requested ε. In common are the numbering of elements and the
//! hashes, which say what a report means.

use hushbin::domain::{Domain, Signed};
use hushbin::hash::{Balanced, Hashing, Keys, closed_sign, independent_bucket, open_sign};
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::mechanism::hash_bin::{HashBin, Response};
use hushbin::{Entry, Mechanism, Report, Task};

/// What an attacker who holds two inputs against a report sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight {
    /// The logarithm of the first input's likelihood over the second's: the
    /// statistic of Neyman and Pearson, of which a threshold separates best if
    /// the randomizer does what it says.
    pub log_ratio: f64,
    /// The seed.
    pub seed: u64,
    /// The bucket reported, where there is one.
    pub bucket: u64,
    /// For either input, which of its entries is the first to lie in it.
    pub first_entries: [usize; 2],
    /// For either input, where it stands among the buckets of its entries;
    /// under hash-bin, the only one if bins hold the input's very sums.
    pub places: [Place; 2],
}

/// Where a bucket stands among those that hold the entries of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is none of them.
    Elsewhere,
    /// The only one.
    Only,
    /// The one of the least number.
    Lowest,
    /// The one of the greatest number.
    Highest,
    /// Neither the least nor the greatest.
    Between,
}

/// Reads a report of `task` against two inputs of
/// [`neighbours`](super::neighbours).
///
/// Exact but for CoCo's rule `strongest` with fewer than s entries, where the
/// paddings, whose signs are secret, are left out; and for Laplace noise on sums
/// that are off the grid.
///
/// # Panics
/// If the report is of another mechanism.
pub fn look(task: &Task, inputs: [&[Entry]; 2], report: &Report) -> Sight {
    let domain = task.domain();
    let exp = task.epsilon().exp();
    match (task.mechanism(), report) {
        (Mechanism::Collision(collision), Report::Collision(report)) => {
            let keys = Keys::new(report.seed);
            of_bucket(report, inputs, |input| {
                let held = held(collision, &domain, &keys, input);
                let weight = collision_weight(collision, domain.sparsity(), exp, &held, report);
                (held.entries, weight)
            })
        }
        (Mechanism::Coco(coco), Report::Coco(report)) => {
            let keys = Keys::new(report.seed);
            of_bucket(report, inputs, |input| {
                let pushes = pushes(coco, &domain, &keys, input);
                let weight = coco_weight(coco, domain.sparsity(), exp, &pushes, report);
                (pushes.entries, weight)
            })
        }
        (Mechanism::HashBin(hash_bin), Report::HashBin(report)) => {
            let keys = Keys::new(report.seed);
            let sums = inputs.map(|input| sums(hash_bin, &domain, &keys, input));
            Sight {
                log_ratio: response_log_ratio(hash_bin, task.epsilon(), &sums, &report.response),
                seed: report.seed,
                bucket: 0,
                first_entries: [0; 2],
                places: [0, 1].map(|which| in_clear(hash_bin, &sums[which], &report.response)),
            }
        }
        _ => panic!("reports are of the task's mechanism"),
    }
}

/// From the buckets of each input's entries and the weight of the reported one.
fn of_bucket(
    report: &BucketReport,
    inputs: [&[Entry]; 2],
    read: impl Fn(&[Entry]) -> (Vec<u32>, f64),
) -> Sight {
    let [(first, first_weight), (second, second_weight)] = inputs.map(read);
    let bucket = report.bucket;
    let first_entry = |buckets: &[u32]| {
        let found = buckets.iter().position(|&held| held == bucket);
        found.unwrap_or(buckets.len())
    };
    Sight {
        log_ratio: (first_weight / second_weight).ln(),
        seed: report.seed,
        bucket: u64::from(bucket),
        first_entries: [first_entry(&first), first_entry(&second)],
        places: [place(&first, bucket), place(&second, bucket)],
    }
}

fn place(buckets: &[u32], bucket: u32) -> Place {
    if !buckets.contains(&bucket) {
        return Place::Elsewhere;
    }
    let lower = buckets.iter().any(|&other| other < bucket);
    let higher = buckets.iter().any(|&other| other > bucket);
    match (lower, higher) {
        (false, false) => Place::Only,
        (false, true) => Place::Lowest,
        (true, false) => Place::Highest,
        (true, true) => Place::Between,
    }
}

fn bucket_of(hashing: Hashing, elements: Option<u32>, buckets: u32, keys: &Keys, key: u64) -> u32 {
    match (hashing, elements) {
        // Elements of a closed domain are numbered below 2³².
        (Hashing::Balanced, Some(elements)) => {
            Balanced::new(elements, buckets).bucket(keys, key as u32)
        }
        (Hashing::Balanced | Hashing::Independent, _) => independent_bucket(keys, key, buckets),
    }
}

/// Buckets of an input's elements under Collision; under CoCo the sides that
/// its entries push to, and the pairs of its paddings.
struct Held {
    entries: Vec<u32>,
    paddings: Vec<u32>,
}

fn held(collision: &Collision, domain: &Domain, keys: &Keys, input: &[Entry]) -> Held {
    let bucket = |element| {
        let elements = domain.signed_elements();
        let (hashing, buckets) = (collision.hashing(), collision.buckets());
        bucket_of(hashing, elements, buckets, keys, element)
    };
    let element = |entry: &Entry| {
        domain.signed_element(Signed {
            item: entry.item,
            negative: entry.value < 0.0,
        })
    };
    let missing = domain.sparsity() - input.len() as u32;
    Held {
        entries: input.iter().map(|entry| bucket(element(entry))).collect(),
        paddings: (0..missing)
            .map(|index| bucket(domain.signed_padding(index)))
            .collect(),
    }
}

fn pushes(coco: &Coco, domain: &Domain, keys: &Keys, input: &[Entry]) -> Held {
    let pair = |element| {
        let elements = domain.elements();
        bucket_of(coco.hashing(), elements, coco.pairs(), keys, element)
    };
    let side = |entry: &Entry| {
        let sign = match domain.items() {
            Some(_) => closed_sign(keys, entry.item as u32),
            None => open_sign(keys, entry.item),
        };
        2 * pair(entry.item) + u32::from((entry.value < 0.0) != (sign < 0))
    };
    let missing = domain.sparsity() - input.len() as u32;
    Held {
        entries: input.iter().map(side).collect(),
        paddings: (0..missing)
            .map(|index| pair(domain.padding(index)))
            .collect(),
    }
}

/// The share of a bucket in the c places of the favoured set, when so many
/// buckets are stronger and so many, itself included, equally strong.
fn share(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}

/// The reported bucket's probability, times the rule's Ω.
fn collision_weight(
    collision: &Collision,
    sparsity: u32,
    exp: f64,
    held: &Held,
    report: &BucketReport,
) -> f64 {
    let t = collision.buckets();
    let mut buckets = [held.entries.as_slice(), &held.paddings].concat();
    buckets.sort_unstable();
    let counts = || buckets.chunk_by(|a, b| a == b);
    let occupied = counts().count() as u32;
    let here = buckets.iter().filter(|&&b| b == report.bucket).count();
    match collision.rule() {
        collision::Rule::Occupied if here > 0 => exp,
        collision::Rule::Occupied => {
            let total = f64::from(sparsity) * exp + f64::from(t - sparsity);
            (total - f64::from(occupied) * exp) / f64::from(t - occupied)
        }
        collision::Rule::Heaviest { favoured } => {
            let stronger = counts().filter(|held| held.len() > here).count() as u32;
            let equal = match here {
                0 => t - occupied,
                _ => counts().filter(|held| held.len() == here).count() as u32,
            };
            1.0 + (exp - 1.0) * share(favoured, stronger, equal)
        }
    }
}

/// The reported side's probability, times the rule's Ω.
fn coco_weight(coco: &Coco, sparsity: u32, exp: f64, pushes: &Held, report: &BucketReport) -> f64 {
    let (side, pair) = (report.bucket, report.bucket / 2);
    match coco.rule() {
        coco::Rule::Overwrite => {
            let of_entries = pushes.entries.iter().map(|side| side / 2);
            let mut pairs: Vec<u32> = of_entries.chain(pushes.paddings.iter().copied()).collect();
            let here = pairs.iter().filter(|&&other| other == pair).count() as f64;
            pairs.sort_unstable();
            pairs.dedup();
            let pushed = pairs.len() as u32;
            if here > 0.0 {
                // A padding decides for either side equally often.
                let own = pushes.entries.iter().filter(|&&p| p == side).count() as f64;
                let paddings = pushes.paddings.iter().filter(|&&p| p == pair).count() as f64;
                1.0 + (exp - 1.0) * (own + 0.5 * paddings) / here
            } else {
                let t = coco.buckets();
                let total = f64::from(sparsity) * (exp + 1.0) + f64::from(t - 2 * sparsity);
                (total - f64::from(pushed) * (exp + 1.0)) / f64::from(t - 2 * pushed)
            }
        }
        coco::Rule::Strongest { favoured } => {
            let mut sides = pushes.entries.clone();
            sides.sort_unstable();
            // Of the plus side; the minus side has the opposite.
            let strengths = || {
                sides.chunk_by(|a, b| a / 2 == b / 2).map(|sides| {
                    let plus = sides.iter().filter(|&side| side % 2 == 0).count() as i64;
                    (sides[0] / 2, 2 * plus - sides.len() as i64)
                })
            };
            let plus = strengths()
                .find(|&(other, _)| other == pair)
                .map_or(0, |(_, strength)| strength);
            let here = if side.is_multiple_of(2) { plus } else { -plus };
            let sides = || strengths().flat_map(|(_, plus)| [plus, -plus]);
            let untouched = coco.buckets() - sides().count() as u32;
            let count = |of: &dyn Fn(i64) -> bool| {
                let pushed = sides().filter(|&strength| of(strength)).count() as u32;
                pushed + if of(0) { untouched } else { 0 }
            };
            let stronger = count(&|strength| strength > here);
            let equal = count(&|strength| strength == here);
            1.0 + (exp - 1.0) * share(favoured, stronger, equal)
        }
    }
}

/// The sums of hash-bin's bins, clipped at user level.
fn sums(hash_bin: &HashBin, domain: &Domain, keys: &Keys, input: &[Entry]) -> Vec<f64> {
    let support = hash_bin.support(domain);
    let mut sums = vec![0.0; hash_bin.bins() as usize];
    for entry in input {
        let (bin, sign) = support.place(keys, entry.item);
        sums[bin as usize] += f64::from(sign) * entry.value;
    }
    if let Some(clip) = hash_bin.level().clip() {
        sums[0] = sums[0].clamp(-clip, clip);
    }
    sums
}

/// Whether a response is the sums without noise.
fn in_clear(hash_bin: &HashBin, sums: &[f64], response: &Response) -> Place {
    let grid = f64::from(hash_bin.grid());
    match response {
        Response::Bins(bins)
            if bins
                .iter()
                .zip(sums)
                .all(|(&bin, sum)| bin as f64 == grid * sum) =>
        {
            Place::Only
        }
        Response::Bins(_) | Response::Sign(_) => Place::Elsewhere,
    }
}

/// The log-likelihood ratio of a response to either sums.
fn response_log_ratio(
    hash_bin: &HashBin,
    epsilon: f64,
    [first, second]: &[Vec<f64>; 2],
    response: &Response,
) -> f64 {
    match response {
        // Plus with probability (1 + B/A)/2, A = η(e + 1)/(e − 1).
        Response::Sign(plus) => {
            let clip = hash_bin.level().clip().unwrap_or(f64::INFINITY);
            let lean = (0.5 * epsilon).tanh() / clip;
            let sign = if *plus { 1.0 } else { -1.0 };
            let [p, q] = [first, second].map(|sums| 1.0 + sign * lean * sums[0]);
            (p / q).ln()
        }
        Response::Bins(bins) => {
            let rate = epsilon / hash_bin.sensitivity() as f64;
            let grid = f64::from(hash_bin.grid());
            let off = |sums: &[f64]| -> f64 {
                let pairs = bins.iter().zip(sums);
                pairs
                    .map(|(&bin, sum)| (bin as f64 - grid * sum).abs())
                    .sum()
            };
            rate * (off(second) - off(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use hushbin::mechanism::{coco, collision};
    use hushbin::{Items, TaskParts, ValueKind};

    use super::*;

    fn task(items: u32, sparsity: u32, epsilon: f64, mechanism: Mechanism) -> Task {
        Task::new(TaskParts {
            id: "likelihood".to_owned(),
            items: Items::Count(items),
            sparsity,
            epsilon,
            value: ValueKind::Sign,
            mechanism,
        })
        .unwrap()
    }

    /// Every rule and hashing, with few and many buckets and favoured.
    fn tasks() -> Vec<Task> {
        let mut tasks = Vec::new();
        for hashing in [Hashing::Balanced, Hashing::Independent] {
            for (items, sparsity) in [(1, 1), (4, 2), (9, 3), (12, 6)] {
                for buckets in [2, 4, 8, 14, 40] {
                    for favoured in [1, sparsity, buckets / 2] {
                        let rule = collision::Rule::Heaviest { favoured };
                        if let Ok(collision) = Collision::new(rule, hashing, buckets) {
                            tasks.push((items, sparsity, Mechanism::Collision(collision)));
                        }
                        let rule = coco::Rule::Strongest { favoured };
                        if let Ok(coco) = Coco::new(rule, hashing, buckets) {
                            tasks.push((items, sparsity, Mechanism::Coco(coco)));
                        }
                    }
                    if buckets > sparsity {
                        let rule = collision::Rule::Occupied;
                        let collision = Collision::new(rule, hashing, buckets).unwrap();
                        tasks.push((items, sparsity, Mechanism::Collision(collision)));
                    }
                    if buckets >= 2 * sparsity + 2 {
                        let coco = Coco::new(coco::Rule::Overwrite, hashing, buckets).unwrap();
                        tasks.push((items, sparsity, Mechanism::Coco(coco)));
                    }
                }
            }
        }
        let epsilons = [0.1, 1.0, 5.0].into_iter().cycle();
        let tasks = tasks.into_iter().zip(epsilons);
        tasks
            .map(|((items, sparsity, mechanism), epsilon)| {
                task(items, sparsity, epsilon, mechanism)
            })
            .collect()
    }

    /// The core's probabilities of buckets, averaged over signs of paddings.
    fn core(task: &Task, seed: u64, input: &[Entry]) -> Vec<f64> {
        let signed: Vec<Signed> = input
            .iter()
            .map(|entry| Signed {
                item: entry.item,
                negative: entry.value < 0.0,
            })
            .collect();
        let mut probabilities = crate::likelihood::core_probabilities(task).unwrap();
        let signs = 1 << (task.sparsity() as usize - input.len());
        let mut mean = probabilities(seed, &signed, 0);
        for signs in 1..signs {
            let other = probabilities(seed, &signed, signs);
            mean.iter_mut().zip(other).for_each(|(sum, p)| *sum += p);
        }
        mean.iter().map(|p| p / signs as f64).collect()
    }

    #[test]
    fn ratios_are_those_of_the_core() {
        let mut compared = 0;
        let tasks = tasks();
        for task in &tasks {
            let approximate = |input: &[Entry]| match task.mechanism() {
                Mechanism::Coco(coco) => {
                    let full = input.len() as u32 == task.sparsity();
                    !full && coco.rule_name() == coco::RuleName::Strongest
                }
                Mechanism::Collision(_) | Mechanism::HashBin(_) => false,
            };
            for pair in crate::likelihood::neighbours(task) {
                let inputs = [&pair.inputs[0][..], &pair.inputs[1][..]];
                if inputs.iter().any(|input| approximate(input)) {
                    continue;
                }
                for seed in [0, 7, 0x0123_4567_89ab_cdef, u64::MAX] {
                    let [first, second] = inputs.map(|input| core(task, seed, input));
                    for (bucket, (p, q)) in (0..).zip(first.iter().zip(&second)) {
                        let report = BucketReport { seed, bucket };
                        let report = match task.mechanism() {
                            Mechanism::Collision(_) => Report::Collision(report),
                            Mechanism::Coco(_) => Report::Coco(report),
                            Mechanism::HashBin(_) => unreachable!(),
                        };
                        let ours = look(task, inputs, &report).log_ratio;
                        let exact = (p / q).ln();
                        assert!(
                            (ours - exact).abs() < 1e-11,
                            "{ours}, not {exact}: {task:?}, {pair:?}, {report:?}"
                        );
                        compared += 1;
                    }
                }
            }
        }
        assert!(
            tasks.len() > 150 && compared > 15_000,
            "{} {compared}",
            tasks.len()
        );
    }
}
