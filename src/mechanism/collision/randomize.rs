//! Sampling a report: who is favoured is settled once, then read by the sampler
//! and by whoever wants its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::rule::Collision;
use crate::domain::{Domain, Entry, Signed};
use crate::hash::Functions;
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Cells, Drawn, Favoured, Thresholds};
use crate::sample::Threshold;

/// The sampler of Collision's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
///
/// let rule = Rule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, Hashing::Balanced, 12).unwrap();
/// let mut randomizer = Randomizer::new(&collision, &Domain::rated(Some(40), 3), 1.0);
/// // Of an input without entries, under the seed 7.
/// let probabilities = randomizer.probabilities(7, &[]);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    functions: Functions,
    pub(super) thresholds: Thresholds,
    /// What is left of the entries, at most s.
    signed: Vec<Signed>,
    /// The s elements, where they stand before they are hashed.
    placed: Vec<u64>,
    /// The bucket of each under each hash function, then that cell's plus side.
    hashed: Vec<u32>,
    /// Buckets, which are cells that nothing pushes to the minus side of.
    pub(super) cells: Cells,
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
            functions: Functions::new(collision.hash(domain), collision.hashes(), 0),
            thresholds: collision.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            placed: Vec::new(),
            hashed: alloc::vec![0; capacity * (collision.hashes() * collision.width()) as usize],
            cells: collision.tally(domain),
        }
    }

    /// Hashes the input and ranks its buckets.
    pub(super) fn favoured(&mut self, seed: u64, signed: &[Signed]) -> Favoured {
        let domain = &self.domain;
        let missing = domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries");
        let items = signed.iter().map(|&signed| domain.element(signed));
        let paddings = (0..missing).map(|index| domain.padding(index));
        self.placed.clear();
        self.placed.extend(
            items
                .chain(paddings)
                .map(|element| self.functions.place(element)),
        );
        self.functions.take_seed(seed);
        self.functions.buckets_of(&self.placed, &mut self.hashed);
        // The rest of the one answer's window.
        for next in self.placed.len() * self.functions.count()..self.hashed.len() {
            self.hashed[next] = (self.hashed[next - 1] + 1) % self.thresholds.outcomes;
        }
        self.hashed.iter_mut().for_each(|bucket| *bucket *= 2);
        self.cells.fill(&self.hashed);
        let occupied = self.cells.len();
        let empty = self.thresholds.outcomes - occupied;
        Favoured::new(self.thresholds.favoured(occupied), &self.cells, empty)
    }

    /// The probability of reporting inside the set, for the input last ranked.
    pub(super) fn threshold(&self) -> Threshold {
        self.thresholds.inside(self.cells.len())
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order: what ternarisation and sampling down need;
    /// inside or outside C (64 bits); a rank within; where the rank
    /// falls among tied buckets, one of them.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let mut signed = core::mem::take(&mut self.signed);
        let sampled_down = self.domain.draw_signed(entries, rng, &mut signed);
        let favoured = self.favoured(seed, &signed);
        self.signed = signed;
        let (buckets, threshold) = (self.thresholds.outcomes, self.threshold());
        let bucket = match favoured.sample(buckets, threshold, rng) {
            Drawn::Ranked(rank) => self.cells.ranked(rank) / 2,
            // Whether they tie or not, these are the buckets that hold nothing.
            Drawn::Zero(index) | Drawn::Other(index) => self.cells.weak(2 * index) / 2,
        };
        *report = Report { seed, bucket };
        sampled_down
    }
}
