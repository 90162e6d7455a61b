//! Privacy of small tasks, by looking at every input.

use hushbin::Question;
use hushbin::domain::Signed;
use hushbin::task::{Kind, Part};
use hushbin_analysis::likelihood::{Enumerable, enumerable};
use rand_core::Rng;

/// Steps that an enumeration may take, unless told otherwise: one for each
/// seed, input, way to make up for its missing entries, and bucket.
pub const STEPS: u64 = 1 << 26;
/// Seeds that are enumerated where that many are affordable.
pub(super) const MOST_SEEDS: u64 = 64;
/// A task for which fewer are affordable is not small.
pub(super) const FEWEST_SEEDS: u64 = 8;

/// The loss between all inputs of a small task, as enumerated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enumeration {
    /// Inputs compared: all that have entries of values −1 and 1, at most s under
    /// the mechanisms of buckets.
    pub inputs: u64,
    /// Seeds under which they were compared, drawn at random.
    pub seeds: u64,
    /// The greatest logarithm of a ratio of probabilities of a report between
    /// any two inputs, or under hash-bin any two neighbours, as computed.
    pub loss: f64,
    /// Greatest distance of that from the loss without rounding.
    pub error: f64,
}

impl Enumeration {
    /// The loss rounded up: by the error, but not beyond `effective`, an upper bound of the loss in
    /// integers, unless rounding cannot explain what is beyond it.
    ///
    /// The loss without rounding lies within the error of the one computed. If
    /// some of that range is at most `effective`, nothing that was seen
    /// contradicts this bound, and the lesser of the two is the better one.
    #[must_use]
    pub fn epsilon(&self, effective: f64) -> f64 {
        let most = self.loss + self.error;
        if self.exceeds(effective) {
            most
        } else {
            most.min(effective)
        }
    }

    /// The greater loss of two questions, of which a report answers either.
    pub(super) fn worse(self, other: Self) -> Self {
        let inputs = self.inputs + other.inputs;
        let worse = if self.loss < other.loss { other } else { self };
        Self {
            inputs,
            seeds: self.seeds.min(other.seeds),
            error: self.error.max(other.error),
            ..worse
        }
    }

    /// True if the loss is above `epsilon`, rounding accounted for.
    #[must_use]
    pub fn exceeds(&self, epsilon: f64) -> bool {
        self.loss - self.error > epsilon
    }
}

/// The loss between all inputs of `question` under random seeds, by the probabilities
/// of each bucket, as [`Enumerable::probabilities`]. `None` where it would take more
/// than `steps`, the domain is open, or reports have no buckets.
///
/// The seed is drawn without looking at the input, and public: the loss of a report is that of its
/// bucket, the seed being given. What makes up for missing entries is drawn after it and secret: an
/// input's distribution is the average over all that may. Inputs with real values, or with more
/// than s entries, are mixtures of those enumerated, and a ratio of mixtures is at most the
/// greatest ratio of their parts; if what ternarisation and sampling down draw is independent of
/// the words that seed and bucket are drawn with, which enumeration does not see.
pub fn enumerate<R: Rng + ?Sized>(
    question: &Question,
    steps: u64,
    rng: &mut R,
    mut probabilities: impl FnMut(u64, &[Signed], u64) -> Vec<f64>,
) -> Option<Enumeration> {
    let space = Space::of(question)?;
    let Enumerable {
        buckets,
        completions,
        ..
    } = enumerable(question)?;
    let (inputs, rows, most) = space.inputs(&completions)?;
    let seeds = (steps / rows.checked_mul(u64::from(buckets))?).min(MOST_SEEDS);
    if seeds < FEWEST_SEEDS {
        return None;
    }
    let mut loss: f64 = 0.0;
    for _ in 0..seeds {
        let seed = rng.next_u64();
        let mut extremes = vec![(f64::INFINITY, 0.0_f64); buckets as usize];
        space.for_each_input(0, &mut Vec::new(), &mut |input| {
            let count = completions(input.len() as u32).expect("rows are counted");
            let mut row = probabilities(seed, input, 0);
            for completion in 1..count {
                let other = probabilities(seed, input, completion);
                row.iter_mut().zip(other).for_each(|(sum, p)| *sum += p);
            }
            // At most as many as steps.
            let count = count as f64;
            for (p, (least, most)) in row.iter().zip(&mut extremes) {
                *least = least.min(p / count);
                *most = most.max(p / count);
            }
        });
        let losses = extremes.iter().map(|(least, most)| (most / least).ln());
        loss = losses.fold(loss, f64::max);
    }
    Some(Enumeration {
        inputs,
        seeds,
        loss,
        error: rounding(space.sparsity, most as f64),
    })
}

/// How far rounding may move a loss, generously.
///
/// A probability of the core is a convex combination of at most two integer thresholds over counts:
/// fewer than 16 roundings, of which a share out of s entries may weigh s times. A sum over the n
/// ways to make up for entries that are missing adds n roundings. The ratio of two such, its
/// logarithm, and that logarithm's own rounding (at most 8 in the units of 2⁻⁵³ below, as losses
/// are at most 16) add up to 2(16 + s + n) + 1 + 8 of these units; what is returned is above twice
/// that.
fn rounding(sparsity: u32, sums: f64) -> f64 {
    (64.0 + 2.0 * f64::from(sparsity) + 2.0 * sums) * f64::EPSILON
}

/// The inputs of a question, without fractions.
struct Space {
    items: u32,
    sparsity: u32,
    /// The fewest entries: s where there are no paddings.
    fewest: u32,
    /// What an item may be: positive, or either.
    signs: &'static [bool],
    /// Where one item of each part is given, how many items each has, one after another.
    parts: Vec<u32>,
}

impl Space {
    fn of(question: &Question) -> Option<Self> {
        let domain = question.domain();
        let sparsity = domain.sparsity();
        Some(Self {
            items: domain.items()?,
            sparsity,
            fewest: if domain.is_padded() { 0 } else { sparsity },
            signs: if domain.is_rated() {
                &[false, true]
            } else {
                &[false]
            },
            parts: match question.kind() {
                Kind::Together(together) => together.parts().iter().map(Part::cells).collect(),
                _ => Vec::new(),
            },
        })
    }

    /// Number of inputs, Σ C(d, k)·2^k for k ≤ s with signs, or the product of all parts;
    /// and of inputs with what makes up for missing entries, and the most that one of them
    /// has. `None` where that is beyond counting.
    fn inputs(&self, completions: impl Fn(u32) -> Option<u64>) -> Option<(u64, u64, u64)> {
        if !self.parts.is_empty() {
            let mut parts = self.parts.iter();
            let inputs = parts.try_fold(1_u64, |all, own| all.checked_mul(u64::from(*own)))?;
            return Some((inputs, inputs, 1));
        }
        let (mut inputs, mut rows, mut most) = (0_u64, 0_u64, 1);
        let signs = self.signs.len() as u64;
        let mut signed_sets = 1_u64;
        for k in 0..=self.sparsity.min(self.items) {
            if k >= self.fewest {
                inputs = inputs.checked_add(signed_sets)?;
                let ways = completions(k)?;
                rows = rows.checked_add(signed_sets.checked_mul(ways)?)?;
                most = most.max(ways);
            }
            let next = signs * u64::from(self.items - k);
            signed_sets = signed_sets.checked_mul(next)? / u64::from(k + 1);
        }
        Some((inputs, rows, most))
    }

    /// Calls `visit` with every input of items from `first` on, added to those in `chosen`.
    fn for_each_input(
        &self,
        first: u32,
        chosen: &mut Vec<Signed>,
        visit: &mut impl FnMut(&[Signed]),
    ) {
        let count = chosen.len() as u32;
        if count >= self.fewest {
            visit(chosen);
        }
        if count == self.sparsity {
            return;
        }
        let end = self.parts.get(count as usize).map(|own| first + own);
        for item in first..end.unwrap_or(self.items) {
            for &negative in self.signs {
                chosen.push(Signed {
                    item: u64::from(item),
                    negative,
                });
                self.for_each_input(end.unwrap_or(item + 1), chosen, visit);
                chosen.pop();
            }
        }
    }
}
