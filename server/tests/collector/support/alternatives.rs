//! Random questions to a planner, and random tasks as alternatives to its plan.

use hushbin::choose::{Population, PredictedSquaredError};
use hushbin::hash::HashFamily;
use hushbin::mechanism::NeighbouringInputs;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, SumNoiseKind};
use hushbin::sample::draw_below;
use hushbin::{Error, Items, Mechanism, RatingsTaskFields, Task, ValueKind};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// δ of every question with a central target.
pub(crate) const DELTA: f64 = 1e-8;

/// Greatest number of reports over all runs of a question, approximately.
const REPORTS: f64 = 3e6;

/// Privacy requirement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privacy {
    /// Greatest local ε.
    pub(crate) epsilon: f64,
    /// Greatest ε of the shuffled batch, if it is shuffled.
    pub(crate) central: Option<f64>,
}

/// Question to a planner.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) items: u32,
    /// Number of entries that everyone has, or the numbers of people with 0, 1, 2, … entries.
    pub(crate) entries: Result<u32, Vec<u64>>,
    pub(crate) people: u64,
    pub(crate) privacy: Privacy,
    pub(crate) frequency: bool,
    pub(crate) event: bool,
}

impl Asked {
    /// Draws a question. Few items need many runs, so such questions have fewer people.
    pub(crate) fn random(seed: u64, runs: impl Fn(u32) -> u32) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rng = &mut rng;
        let items = log_uniform(rng, 4.0, 2000.0) as u32;
        let most = log_uniform(rng, 1.0, f64::from(items.min(64)) + 0.999) as u32;
        let reports = REPORTS / f64::from(runs(items));
        let people = log_uniform(rng, 1000.0, reports.clamp(1000.0, 50_000.0)) as u64;
        let entries = if draw_below(rng, 2) == 0 || most == 1 {
            Ok(most)
        } else {
            Err(histogram(rng, most, people))
        };
        let central = (draw_below(rng, 4) == 0).then(|| log_uniform(rng, 0.03, 0.5));
        Self {
            items,
            people,
            privacy: Privacy {
                epsilon: match central {
                    Some(_) => 4.0,
                    None => log_uniform(rng, 0.2, 4.0),
                },
                central,
            },
            frequency: draw_below(rng, 4) == 0,
            event: draw_below(rng, 2) == 0,
            entries,
        }
    }

    pub(crate) fn crowd(&self) -> Population {
        match &self.entries {
            Ok(sparsity) => Population::with_equal_entries(self.people as f64, *sparsity),
            Err(counts) => Population::from_people_by_entry_count(counts).unwrap(),
        }
    }

    /// Number of entries of each person.
    pub(crate) fn by_person(&self) -> Vec<u32> {
        match &self.entries {
            Ok(sparsity) => vec![*sparsity; self.people as usize],
            Err(counts) => (0..)
                .zip(counts)
                .flat_map(|(entries, &people)| (0..people).map(move |_| entries))
                .collect(),
        }
    }

    /// Greatest number of entries of a person.
    fn most(&self) -> u32 {
        match &self.entries {
            Ok(sparsity) => *sparsity,
            Err(counts) => counts.len() as u32 - 1,
        }
    }

    /// Arguments of `hushbin plan` for this question.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--items={}", self.items),
            format!("--people={}", self.people),
            format!("--epsilon={}", self.privacy.epsilon),
            format!("--delta={DELTA}"),
            format!(
                "--objective={}",
                if self.frequency { "frequency" } else { "mean" }
            ),
            format!("--level={}", if self.event { "event" } else { "user" }),
        ];
        arguments.push(match &self.entries {
            Ok(sparsity) => format!("--sparsity={sparsity}"),
            Err(counts) => {
                let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                format!("--entries={}", counts.join(","))
            }
        });
        arguments.extend(
            self.privacy
                .central
                .map(|central| format!("--central-epsilon={central}")),
        );
        arguments
    }

    /// Squared error of the wanted estimates; `None` if the mechanism does not estimate them.
    pub(crate) fn error(&self, task: &Task) -> Option<PredictedSquaredError> {
        let (domain, epsilon) = (task.questions()[0].domain(), task.epsilon());
        let predicted =
            task.questions()[0]
                .mechanism()
                .predict_errors(&domain, epsilon, &self.crowd());
        if self.frequency {
            predicted.frequency_error
        } else {
            predicted.mean_error
        }
    }

    /// Returns whether the task meets the requirements: enough is protected, enough is hidden, and
    /// no estimate has an avoidable bias.
    pub(crate) fn keeps(&self, task: &Task) -> bool {
        let Privacy { epsilon, central } = self.privacy;
        let protects = match task.questions()[0].mechanism().neighbours() {
            NeighbouringInputs::AnyTwoInputs => true,
            NeighbouringInputs::DifferInOneItem => self.event,
            // One value can change by 2.
            NeighbouringInputs::WithinDistance(distance) => self.event && distance >= 2.0,
        };
        let hides = central.is_none_or(|central| {
            let mixture = ReportMixture::for_task(task);
            let account =
                mixture.map(|mixture| compute_batch_privacy(&mixture, self.people, 1.0, DELTA));
            matches!(account, Ok(Ok(account)) if account.central_epsilon <= central)
        });
        // A question with a fixed sparsity keeps all its entries without bias, and a single entry
        // is never clipped.
        let whole = match &self.entries {
            Ok(sparsity) => *sparsity,
            Err(_) => 1,
        };
        let unbiased = match task.questions()[0].mechanism() {
            Mechanism::HashBin(hash_bin) => hash_bin.share_surviving_clipping(whole) == 1.0,
            _ => task.questions()[0].max_entries_per_report() >= whole,
        };
        let exact = task.questions()[0].mechanism().delta() == 0.0;
        // More bins reduce the variance by at most an eighth, but make reports larger in proportion
        // (`tests/core/choose/hash_bin.rs` of the core).
        let small = match task.questions()[0].mechanism() {
            Mechanism::HashBin(hash_bin) => hash_bin.bin_count() <= self.bins(),
            _ => true,
        };
        task.epsilon() <= epsilon && protects && hides && unbiased && exact && small
    }

    /// Bins at level `event` for which other entries add an eighth of the noise: s/b of 8/ε².
    fn bins(&self) -> u32 {
        let entries = self.crowd().average_over_people(f64::from).ceil();
        let bins = self.privacy.epsilon.powi(2) * entries;
        (bins.round() as u32).clamp(1, self.items)
    }

    /// Draws a task that meets the requirements and has the wanted estimates: of any mechanism, or
    /// near `ours`.
    pub(crate) fn alternative(&self, ours: &Task, rng: &mut ChaCha20Rng) -> Task {
        loop {
            let sparsity = match &self.entries {
                Ok(sparsity) => *sparsity,
                Err(_) if draw_below(rng, 2) == 0 => {
                    near(rng, ours.questions()[0].max_entries_per_report())
                }
                Err(_) => log_uniform(rng, 1.0, f64::from(self.most()) + 0.999) as u32,
            };
            let mechanism = if draw_below(rng, 2) == 0 {
                neighbour(ours.questions()[0].mechanism(), rng)
            } else {
                self.any(sparsity, rng)
            };
            let at = |epsilon: f64| -> Option<Task> {
                Task::new(RatingsTaskFields {
                    id: "alternative".to_owned(),
                    items: Items::Count(self.items),
                    sparsity,
                    epsilon,
                    value: ValueKind::Sign,
                    mechanism: mechanism.clone().ok()?,
                })
                .ok()
                .filter(|task| self.keeps(task))
            };
            let task = match self.privacy.central {
                None => at(self.privacy.epsilon),
                Some(_) => self.largest(&at, rng),
            };
            if let Some(task) = task.filter(|task| self.error(task).is_some()) {
                return task;
            }
        }
    }

    /// Returns the task at the largest ε that meets the requirements, to one part in 500, or at a
    /// random smaller one.
    fn largest(&self, at: &impl Fn(f64) -> Option<Task>, rng: &mut ChaCha20Rng) -> Option<Task> {
        let cap = self.privacy.epsilon;
        if let Some(task) = at(cap) {
            return Some(task);
        }
        let mut below = at(log_uniform(rng, 0.02, cap))?;
        if rng.next_u32() & 1 == 0 {
            return Some(below);
        }
        let mut above = cap;
        while above > 1.002 * below.epsilon() {
            let middle = (below.epsilon() * above).sqrt();
            match at(middle) {
                Some(task) => below = task,
                None => above = middle,
            }
        }
        Some(below)
    }

    /// Draws any mechanism, mostly a reasonable one.
    fn any(&self, sparsity: u32, rng: &mut ChaCha20Rng) -> Result<Mechanism, Error> {
        let hashing = [HashFamily::Balanced, HashFamily::Independent][draw_below(rng, 2) as usize];
        // The number that the papers' rules give, and an order of magnitude around it.
        let wide = f64::from(sparsity) * (self.privacy.epsilon.exp() + 2.0);
        let buckets = log_uniform(rng, 2.0, 10.0 * wide) as u32;
        // The numbers of hash functions that the planner tries; half of the time one.
        let most = (512 / sparsity).max(1).ilog2() + 1;
        let hashes = 1 << draw_below(rng, 2 * most).saturating_sub(most);
        let most = hashes * buckets.min(2 * sparsity);
        let favoured = log_uniform(rng, 1.0, f64::from(most) + 0.5) as u32;
        let draw = draw_below(rng, if self.frequency { 3 } else { 8 });
        match draw {
            0 => Collision::new(collision::FavouredBucketRule::Occupied, hashing, buckets)
                .map(Mechanism::Collision),
            1 | 2 => {
                let rule = collision::FavouredBucketRule::Heaviest { favoured };
                Collision::new_with_hash_count(rule, hashing, buckets, hashes)
                    .map(Mechanism::Collision)
            }
            3 => Coco::new(
                coco::FavouredSideRule::RandomEntryDecides,
                hashing,
                2 * buckets,
            )
            .map(Mechanism::Coco),
            4 | 5 => {
                let rule = coco::FavouredSideRule::Strongest { favoured };
                let hashing = match hashing {
                    HashFamily::Balanced if draw == 4 => HashFamily::BalancedItems,
                    hashing => hashing,
                };
                Coco::new_with_hash_count(rule, hashing, 2 * buckets, hashes).map(Mechanism::Coco)
            }
            6 if self.event => {
                let bins = log_uniform(rng, 1.0, f64::from(self.items)) as u32;
                let levels = [
                    PrivacyLevel::Event,
                    PrivacyLevel::Neighbouring {
                        distance: 2.0,
                        delta: None,
                    },
                ];
                let level = levels[draw_below(rng, 2) as usize];
                HashBin::new(level, hashing, bins, GRID).map(Mechanism::HashBin)
            }
            _ => {
                let clip = log_uniform(rng, 1.0, f64::from(self.most()) + 0.5);
                let clip = match &self.entries {
                    Ok(sparsity) => f64::from(*sparsity),
                    Err(_) => on_grid(clip),
                };
                let noise =
                    [SumNoiseKind::TwoPoint, SumNoiseKind::Laplace][draw_below(rng, 2) as usize];
                let level = PrivacyLevel::User { clip, noise };
                HashBin::new(level, hashing, 1, GRID).map(Mechanism::HashBin)
            }
        }
    }
}

const GRID: u32 = 1024;

fn on_grid(clip: f64) -> f64 {
    (clip * f64::from(GRID)).round() / f64::from(GRID)
}

/// Returns the same mechanism with slightly different parameters.
fn neighbour(mechanism: &Mechanism, rng: &mut ChaCha20Rng) -> Result<Mechanism, Error> {
    let other = |hashing, rng: &mut ChaCha20Rng| match (hashing, draw_below(rng, 4)) {
        (HashFamily::Balanced | HashFamily::BalancedItems, 0) => HashFamily::Independent,
        (HashFamily::Independent, 0) => HashFamily::Balanced,
        (same, _) => same,
    };
    match mechanism {
        Mechanism::Collision(collision) => {
            let hashing = other(collision.hash_family(), rng);
            let buckets = near(rng, collision.buckets_per_hash());
            let rule = match collision.favouring_rule() {
                collision::FavouredBucketRule::Heaviest { favoured } => {
                    collision::FavouredBucketRule::Heaviest {
                        favoured: near(rng, favoured),
                    }
                }
                collision::FavouredBucketRule::Occupied => collision::FavouredBucketRule::Occupied,
            };
            Collision::new_with_hash_count(rule, hashing, buckets, collision.hash_count())
                .map(Mechanism::Collision)
        }
        Mechanism::Coco(coco) => {
            let hashing = other(coco.hash_family(), rng);
            let pairs = near(rng, coco.pairs_per_function());
            let rule = match coco.favouring_rule() {
                coco::FavouredSideRule::Strongest { favoured } => {
                    coco::FavouredSideRule::Strongest {
                        favoured: near(rng, favoured),
                    }
                }
                coco::FavouredSideRule::RandomEntryDecides => {
                    coco::FavouredSideRule::RandomEntryDecides
                }
            };
            Coco::new_with_hash_count(rule, hashing, 2 * pairs, coco.hash_count())
                .map(Mechanism::Coco)
        }
        Mechanism::HashBin(hash_bin) => {
            let hashing = other(hash_bin.hash_family(), rng);
            let (level, bins) = match hash_bin.privacy_level() {
                PrivacyLevel::User { clip, noise } => {
                    let clip = on_grid(clip * log_uniform(rng, 0.7, 1.0 / 0.7));
                    (PrivacyLevel::User { clip, noise }, 1)
                }
                level @ (PrivacyLevel::Event | PrivacyLevel::Neighbouring { .. }) => {
                    (level, near(rng, hash_bin.bin_count()))
                }
            };
            HashBin::new(level, hashing, bins, GRID).map(Mechanism::HashBin)
        }
        Mechanism::Window(_) | Mechanism::Pattern(_) => unreachable!("ratings are asked for"),
    }
}

/// Returns the number, one more or less, or up to a third more or less.
fn near(rng: &mut ChaCha20Rng, number: u32) -> u32 {
    match draw_below(rng, 4) {
        0 => number,
        1 => number + 1,
        2 => number.saturating_sub(1).max(1),
        _ => (f64::from(number) * log_uniform(rng, 0.75, 1.0 / 0.75)).round() as u32,
    }
}

/// Draws the numbers of people with 0, 1, 2, … entries. At least one person has `most`.
fn histogram(rng: &mut ChaCha20Rng, most: u32, people: u64) -> Vec<u64> {
    let decay = log_uniform(rng, 0.2, 8.0) / f64::from(most);
    let mut weights: Vec<f64> = (0..=most)
        .map(|entries| uniform(rng) * (-decay * f64::from(entries)).exp())
        .collect();
    let sum: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight *= people as f64 / sum;
    }
    let mut counts: Vec<u64> = weights.iter().map(|weight| *weight as u64).collect();
    counts[most as usize] += 1;
    let counted: u64 = counts.iter().sum();
    counts[1] += people - counted.min(people);
    counts
}

fn uniform(rng: &mut ChaCha20Rng) -> f64 {
    f64::from(rng.next_u32()) / 4_294_967_296.0
}

fn log_uniform(rng: &mut ChaCha20Rng, least: f64, most: f64) -> f64 {
    least * (most / least).powf(uniform(rng))
}
