//! Sampling a report: one plan of who is favoured, read by the sampler and by
//! whoever wants its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::{Collision, Hash, Report, Thresholds};
use crate::domain::{Domain, Signed};
use crate::hash::Keys;
use crate::sample::below;

/// A bucket and how many elements it holds.
#[derive(Debug, Clone, Copy)]
struct Run {
    bucket: u32,
    count: u32,
}

/// Makes Collision's reports; see
/// [`crate::Randomizer`] for the whole way from entries.
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    hash: Hash,
    thresholds: Thresholds,
    hashed: Vec<u32>,
    occupied: Vec<Run>,
    by_count: Vec<Run>,
}

/// Who is favoured for one seed and input: C consists of the first `sure` runs
/// by falling count and of `chosen` of the `tied` buckets, each set of that
/// size as likely as any other.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// |C|.
    favoured: u32,
    /// Runs by falling count that are in C for sure.
    sure: u32,
    /// How many buckets tie for the last places in C. They are the runs after
    /// the sure ones; or, if `tie_is_empty`, all empty buckets.
    tied: u32,
    tie_is_empty: bool,
}

impl Plan {
    /// How many of the tied are chosen.
    const fn chosen(&self) -> u32 {
        self.favoured - self.sure
    }
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    ///
    /// # Panics
    /// If rule `occupied` has no more buckets than the domain's sparsity.
    #[must_use]
    pub fn new(collision: &Collision, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        Self {
            domain: *domain,
            hash: Hash::new(collision, domain),
            thresholds: collision.thresholds(domain.sparsity(), epsilon),
            hashed: Vec::with_capacity(capacity),
            occupied: Vec::with_capacity(capacity),
            by_count: Vec::with_capacity(capacity),
        }
    }

    /// Randomises at most s distinct signed items, padded to s elements.
    ///
    /// Draws, in this order: the seed (64 bits); inside or outside C (64 bits);
    /// a rank within; where the rank falls among tied buckets, one of them.
    pub(crate) fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        signed: &[Signed],
        rng: &mut R,
    ) -> Report {
        let seed = rng.next_u64();
        let plan = self.plan(seed, signed);
        let bucket = self.sample(&plan, rng);
        Report { seed, bucket }
    }

    /// The exact probability of each bucket, the seed being given, from the
    /// thresholds that [`crate::Randomizer::randomize`] draws against. Takes
    /// O(t): for tests and audits.
    ///
    /// # Panics
    /// If there are more than s signed items.
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed]) -> Vec<f64> {
        let plan = self.plan(seed, signed);
        let t = self.thresholds.buckets();
        let threshold = self.thresholds.inside(self.occupied.len() as u32);
        let inside = threshold.probability() / f64::from(plan.favoured);
        let outside = threshold.complement() / f64::from(t - plan.favoured);
        let tied =
            outside + (inside - outside) * f64::from(plan.chosen()) / f64::from(plan.tied.max(1));
        let empty = if plan.tie_is_empty { tied } else { outside };
        let mut probabilities = alloc::vec![empty; t as usize];
        for (rank, run) in (0..).zip(&self.by_count) {
            probabilities[run.bucket as usize] = if rank < plan.sure {
                inside
            } else if !plan.tie_is_empty && rank < plan.sure + plan.tied {
                tied
            } else {
                outside
            };
        }
        probabilities
    }

    /// Hashes the input and ranks its buckets.
    fn plan(&mut self, seed: u64, signed: &[Signed]) -> Plan {
        let keys = Keys::new(seed);
        let (domain, hash) = (&self.domain, &self.hash);
        let missing = domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries");
        self.hashed.clear();
        self.hashed.extend(
            signed
                .iter()
                .map(|&signed| domain.signed_element(signed))
                .chain((0..missing).map(|index| domain.signed_padding(index)))
                .map(|element| hash.bucket(&keys, element)),
        );
        self.hashed.sort_unstable();
        self.occupied.clear();
        for &bucket in &self.hashed {
            match self.occupied.last_mut() {
                Some(run) if run.bucket == bucket => run.count += 1,
                _ => self.occupied.push(Run { bucket, count: 1 }),
            }
        }
        self.by_count.clear();
        self.by_count.extend_from_slice(&self.occupied);
        self.by_count
            .sort_unstable_by_key(|run| (u32::MAX - run.count, run.bucket));

        let runs = &self.by_count;
        let favoured = self.thresholds.favoured(runs.len() as u32);
        match runs.get(favoured as usize - 1) {
            // Fewer buckets are occupied than favoured: empty ones tie.
            None => Plan {
                favoured,
                sure: runs.len() as u32,
                tied: self.thresholds.buckets() - runs.len() as u32,
                tie_is_empty: true,
            },
            Some(last) => {
                let sure = runs.partition_point(|run| run.count > last.count);
                let tied = runs[sure..].partition_point(|run| run.count == last.count);
                Plan {
                    favoured,
                    sure: sure as u32,
                    tied: tied as u32,
                    tie_is_empty: false,
                }
            }
        }
    }

    /// Draws a bucket: a uniform rank inside or outside C. Ranks of tied
    /// buckets are interchangeable, so one of them is drawn for such a rank;
    /// which of them are in C need never be settled.
    fn sample<R: CryptoRng + ?Sized>(&self, plan: &Plan, rng: &mut R) -> u32 {
        let t = self.thresholds.buckets();
        let threshold = self.thresholds.inside(self.occupied.len() as u32);
        if threshold.sample(rng) {
            let rank = below(rng, plan.favoured);
            if rank < plan.sure {
                self.by_count[rank as usize].bucket
            } else {
                self.tied(plan, below(rng, plan.tied))
            }
        } else {
            let rank = below(rng, t - plan.favoured);
            let tied_outside = plan.tied - plan.chosen();
            if rank < tied_outside {
                self.tied(plan, below(rng, plan.tied))
            } else {
                // Only where no empty bucket ties: the lighter runs, then the
                // empty buckets.
                let lighter = plan.sure + plan.tied + (rank - tied_outside);
                match self.by_count.get(lighter as usize) {
                    Some(run) => run.bucket,
                    None => self.empty(lighter - self.by_count.len() as u32),
                }
            }
        }
    }

    fn tied(&self, plan: &Plan, index: u32) -> u32 {
        if plan.tie_is_empty {
            self.empty(index)
        } else {
            self.by_count[(plan.sure + index) as usize].bucket
        }
    }

    /// The `index`-th bucket that holds nothing, in ascending order.
    fn empty(&self, index: u32) -> u32 {
        let mut bucket = index;
        for run in &self.occupied {
            if run.bucket > bucket {
                break;
            }
            bucket += 1;
        }
        bucket
    }
}
