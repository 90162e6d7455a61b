//! Choosing among the mechanisms, and how many entries a report is made of, by
//! predicted squared error.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Mechanism;
use super::budget::{Budget, HIDES_TOO_LITTLE};
use super::coco::{self, Coco};
use super::collision::{self, Collision};
use super::crowd::{Crowd, Predicted, SquaredError};
use super::hash_bin::{HashBin, HashBinDraft, LevelName};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;

/// What estimates are wanted for: how much their squared errors weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// Of means.
    pub mean: f64,
    /// Of the frequencies of an item with either sign.
    pub frequency: f64,
}

impl Objective {
    /// Means alone.
    pub const MEAN: Self = Self {
        mean: 1.0,
        frequency: 0.0,
    };
    /// Frequencies alone.
    pub const FREQUENCY: Self = Self {
        mean: 0.0,
        frequency: 1.0,
    };

    /// The weighed average of the errors; `None` where something that weighs is
    /// not estimated.
    #[must_use]
    pub fn of(&self, predicted: &Predicted) -> Option<SquaredError> {
        let mut average = SquaredError {
            variance: 0.0,
            squared_bias: 0.0,
        };
        for (weight, error) in [
            (self.mean, predicted.mean),
            (self.frequency, predicted.frequency),
        ] {
            if weight > 0.0 {
                let (part, error) = (weight / (self.mean + self.frequency), error?);
                average.variance += part * error.variance;
                average.squared_bias += part * error.squared_bias;
            }
        }
        Some(average)
    }
}

/// A mechanism that could answer, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// With all its parameters.
    pub mechanism: Mechanism,
    /// The sparsity that goes with it.
    pub sparsity: u32,
    /// The errors to expect.
    pub predicted: Predicted,
    /// The objective's; infinite where the mechanism does not meet it, or is
    /// biased for people with as many entries as were asked for.
    pub error: f64,
}

/// What a search may choose from.
pub(crate) struct Search<'a> {
    /// d.
    pub(crate) items: Option<u32>,
    /// s where it is given, else chosen.
    pub(crate) sparsity: Option<u32>,
    pub(crate) budget: Budget,
    pub(crate) crowd: &'a Crowd,
    pub(crate) objective: Objective,
}

/// From this many items on, CoCo's single pair is preferred where it costs at
/// most [`SINGLE_PAIR_COST`]: its reports are decoded 64 items to a word.
const MANY_ITEMS: u32 = 1024;
/// See [`MANY_ITEMS`].
const SINGLE_PAIR_COST: f64 = 1.02;
/// Sparsities that are closer than this part of themselves are not told apart.
const FINE: u32 = 32;
/// Every s up to it is tried where more than one may be.
const SMALL_SPARSITY: usize = 12;

impl Search<'_> {
    /// Every mechanism that protects as much as `level` asks, at its best; the
    /// one of least error first.
    ///
    /// Of Collision and CoCo their own rules with balanced hashing are
    /// considered, independent in open domains: nowhere have the papers' been
    /// found better.
    ///
    /// Bias is accepted only where the sparsity is left open, to be weighed
    /// against the noise. Who asks for s entries is to get estimates that are
    /// unbiased for people with at most s.
    ///
    /// None where no mechanism keeps to the budget, which then bounds α.
    ///
    /// # Errors
    /// As the mechanisms' `choose`.
    pub(crate) fn all(&self, level: LevelName) -> Result<Vec<Candidate>, Error> {
        let mut candidates = Vec::new();
        if self.budget.limit().allows_buckets() {
            candidates.push(self.best(collision_default)?);
            candidates.push(self.best(coco_default)?);
        }
        if self.budget.limit().allows(1, 2) {
            candidates.push(self.hash_bin(LevelName::User)?);
        }
        if level == LevelName::Event && self.budget.alpha.is_infinite() {
            candidates.push(self.hash_bin(LevelName::Event)?);
        }
        // Stable: of equals the first.
        candidates.sort_by(|a, b| a.error.total_cmp(&b.error));
        Ok(candidates)
    }

    /// The mechanism that `choose` makes for a domain, at the best sparsity
    /// unless that is given.
    ///
    /// # Errors
    /// Those of `choose`.
    pub(crate) fn best(
        &self,
        choose: impl Fn(&Domain, Budget) -> Result<Mechanism, Error>,
    ) -> Result<Candidate, Error> {
        let tried = self.sparsities();
        let mut best: Option<Candidate> = None;
        // The best so far.
        let mut consider = |sparsity: u32| {
            let domain = Domain::new(self.items, sparsity);
            let candidate = self.candidate(choose(&domain, self.budget)?, &domain);
            let before = |best: &Candidate| {
                let order = candidate.error.total_cmp(&best.error);
                order.then(sparsity.cmp(&best.sparsity)).is_lt()
            };
            if best.as_ref().is_none_or(before) {
                best = Some(candidate);
            }
            Ok(best.as_ref().map_or(sparsity, |best| best.sparsity))
        };
        let place = |sparsity: u32| tried.partition_point(|s| *s < sparsity);
        // Choosing for a large s takes long: the neighbourhood of the best of a
        // few is tried in full. The noise grows with s and the bias falls.
        let stride = if tried.len() > SMALL_SPARSITY { 4 } else { 1 };
        let last = tried.len() - 1;
        let mut centre = consider(tried[last])?;
        for index in (0..last).step_by(stride) {
            centre = consider(tried[index])?;
        }
        let around = place(centre);
        let near = around.saturating_sub(stride - 1)..=(around + stride - 1).min(last);
        for index in near.filter(|index| index % stride != 0 && *index != last) {
            centre = consider(tried[index])?;
        }
        // Of large ones some were left out: of 1000 random questions these make
        // the error of one 5 per cent smaller and of one 2, at s = 16 and 22.
        let around = place(centre);
        let mut low = tried[around.saturating_sub(1)];
        let mut high = tried[(around + 1).min(last)];
        while centre - low > 1 + centre / FINE || high - centre > 1 + centre / FINE {
            let (below, above) = (centre - (centre - low) / 2, centre + (high - centre) / 2);
            let mut found = centre;
            for sparsity in [below, above] {
                if sparsity != centre {
                    found = consider(sparsity)?;
                }
            }
            (low, high) = match found.cmp(&centre) {
                Ordering::Less => (low, centre),
                Ordering::Equal => (below, above),
                Ordering::Greater => (centre, high),
            };
            centre = found;
        }
        Ok(best.expect("there is a sparsity"))
    }

    /// Hash-bin takes every entry: its sparsity is how many people have on
    /// average, which its number of bins is chosen for.
    ///
    /// # Errors
    /// Those of [`HashBin::choose`], and [`Error::Combination`] where it does not
    /// keep to the budget.
    pub(crate) fn best_hash_bin(&self, draft: &HashBinDraft) -> Result<Candidate, Error> {
        // Whether it has one bin or many, and however it answers, nothing is
        // known to hide it better than any other randomizer of its ε; and who is
        // no neighbour hides nobody.
        let user = draft.level.unwrap_or(LevelName::User) == LevelName::User;
        if !(self.budget.limit().allows(1, 2) && (user || self.budget.alpha.is_infinite())) {
            return Err(HIDES_TOO_LITTLE);
        }
        let average = libm::ceil(self.crowd.average(f64::from)) as u32;
        let sparsity = self.sparsity.unwrap_or(average.clamp(1, self.most()));
        let domain = Domain::new(self.items, sparsity);
        let chosen = HashBin::choose(&domain, self.budget.epsilon, draft, self.crowd)?;
        Ok(self.candidate(Mechanism::HashBin(chosen), &domain))
    }

    fn hash_bin(&self, level: LevelName) -> Result<Candidate, Error> {
        self.best_hash_bin(&HashBinDraft {
            level: Some(level),
            ..HashBinDraft::default()
        })
    }

    fn candidate(&self, mechanism: Mechanism, domain: &Domain) -> Candidate {
        let predicted = mechanism.predict(domain, self.budget.epsilon, self.crowd);
        let clips = match &mechanism {
            Mechanism::HashBin(hash_bin) => hash_bin.left(domain.sparsity()) < 1.0,
            Mechanism::Collision(_) | Mechanism::Coco(_) => false,
        };
        let error = self.objective.of(&predicted).filter(|_| {
            let asked_for = self.sparsity.is_some();
            !(asked_for && clips)
        });
        Candidate {
            sparsity: domain.sparsity(),
            error: error.map_or(f64::INFINITY, |error| error.total()),
            predicted,
            mechanism,
        }
    }

    /// The largest sparsity worth trying.
    fn most(&self) -> u32 {
        let items = self.items.unwrap_or(u32::MAX);
        self.crowd
            .most()
            .min(items)
            .clamp(1, bounds::SPARSITY.max as u32)
    }

    /// Every small sparsity, then steps of a fifth.
    fn sparsities(&self) -> Vec<u32> {
        if let Some(sparsity) = self.sparsity {
            return alloc::vec![sparsity];
        }
        let most = self.most();
        let next = |s: &u32| Some(s + 1 + if *s < SMALL_SPARSITY as u32 { 0 } else { s / 5 });
        let mut tried: Vec<u32> = core::iter::successors(Some(1), next)
            .take_while(|s| *s < most)
            .collect();
        tried.push(most);
        tried
    }
}

fn hashing(domain: &Domain) -> Hashing {
    Hashing::default_for(None, domain)
}

fn collision_default(domain: &Domain, budget: Budget) -> Result<Mechanism, Error> {
    let rule = collision::RuleName::Heaviest;
    Collision::choose(domain, budget, rule, None, hashing(domain), None).map(Mechanism::Collision)
}

fn coco_default(domain: &Domain, budget: Budget) -> Result<Mechanism, Error> {
    let rule = coco::RuleName::Strongest;
    let choose = |buckets| Coco::choose(domain, budget, rule, None, hashing(domain), buckets);
    let best = choose(None)?;
    let few = domain.items().is_none_or(|items| items < MANY_ITEMS);
    if few || !budget.limit().allows(1, 2) {
        return Ok(Mechanism::Coco(best));
    }
    let single = choose(Some(2))?;
    let variance = |coco: &Coco| coco.rates(domain, budget.epsilon).total_variance(domain);
    let preferred = variance(&single) <= SINGLE_PAIR_COST * variance(&best);
    Ok(Mechanism::Coco(if preferred { single } else { best }))
}
