//! Privacy of small tasks, by enumeration of every input.

use crate::likelihood::{ExactProbabilities, exact_probabilities};
use hushbin::Question;
use hushbin::domain::SignedItem;
use hushbin::task::{QuestionKind, QuestionPart};
use rand_core::Rng;

/// Default limit on the steps of an enumeration. A step is one combination of seed, input, padding
/// of missing entries, and bucket.
pub const DEFAULT_MAX_ENUMERATION_STEPS: u64 = 1 << 26;
/// Maximum number of seeds. Fewer seeds are used if this number needs more than the limit of steps.
pub(super) const MAX_ENUMERATED_SEEDS: u64 = 64;
/// Minimum number of seeds. A task is not enumerated if this number needs more than the limit of
/// steps.
pub(super) const MIN_ENUMERATED_SEEDS: u64 = 8;

/// Result of enumerating the privacy loss between all inputs of a small task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnumeratedLoss {
    /// Number of inputs that are compared. Under mechanisms with buckets, these are all inputs with
    /// values −1 and 1 and at most s entries, where s is the sparsity. Under hash-bin,
    /// `enumerate_hash_bin` states the values.
    pub input_count: u64,
    /// Number of random seeds.
    pub seed_count: u64,
    /// Computed loss in nats: the greatest log ratio of a report's probabilities under any two
    /// inputs. Under hash-bin, only neighbouring inputs are compared.
    pub privacy_loss: f64,
    /// Bound on the rounding error of the loss, in nats.
    pub loss_rounding_error: f64,
}

impl EnumeratedLoss {
    /// Returns an upper bound of the loss: the computed loss plus its rounding error, or
    /// `effective` if that is smaller. `effective` is an upper bound of the loss that was computed
    /// in integers. If the computed loss [exceeds](Self::certainly_exceeds_epsilon) `effective`, the result
    /// is always the sum.
    ///
    /// The exact loss lies within the error of the computed one. If part of that range is at most
    /// `effective`, the enumeration does not contradict this bound. The smaller of the two bounds
    /// is then the better one.
    #[must_use]
    pub fn loss_upper_bound(&self, effective: f64) -> f64 {
        let most = self.privacy_loss + self.loss_rounding_error;
        if self.certainly_exceeds_epsilon(effective) {
            most
        } else {
            most.min(effective)
        }
    }

    /// Combines the results of two questions. A report answers one of them, so the greater loss
    /// counts.
    pub(super) fn greater_loss_of_two(self, other: Self) -> Self {
        let inputs = self.input_count + other.input_count;
        let worse = if self.privacy_loss < other.privacy_loss {
            other
        } else {
            self
        };
        Self {
            input_count: inputs,
            seed_count: self.seed_count.min(other.seed_count),
            loss_rounding_error: self.loss_rounding_error.max(other.loss_rounding_error),
            ..worse
        }
    }

    /// Returns true if the loss is above `epsilon` even after the rounding error is subtracted.
    #[must_use]
    pub fn certainly_exceeds_epsilon(&self, epsilon: f64) -> bool {
        self.privacy_loss - self.loss_rounding_error > epsilon
    }
}

/// Enumerates the loss between all inputs of `question`, for random seeds. `probabilities` returns
/// the probability of each bucket, as [`ExactProbabilities::bucket_probability_function`] does. Returns `None` if
/// more than `steps` steps are needed, the domain is open, or reports have no buckets.
///
/// The seed is public, and drawn independently of the input. The loss of a report is therefore the
/// loss of its bucket given the seed. Padding for missing entries is drawn after the seed and is
/// secret. An input's distribution is the average over all possible paddings.
///
/// Inputs with real values, or with more entries than the sparsity s, are mixtures of the
/// enumerated inputs. A ratio of mixtures is at most the greatest ratio of the mixed distributions.
/// This argument assumes that ternarisation and sampling down are independent of the random words
/// for seed and bucket. Enumeration cannot check this assumption.
pub fn enumerate_max_loss<R: Rng + ?Sized>(
    question: &Question,
    steps: u64,
    rng: &mut R,
    mut probabilities: impl FnMut(u64, &[SignedItem], u64) -> Vec<f64>,
) -> Option<EnumeratedLoss> {
    let space = InputSpace::for_question(question)?;
    let ExactProbabilities {
        bucket_count: buckets,
        count_padding_choices: completions,
        ..
    } = exact_probabilities(question)?;
    let (inputs, rows, most) = space.enumeration_sizes(&completions)?;
    let seeds = (steps / rows.checked_mul(u64::from(buckets))?).min(MAX_ENUMERATED_SEEDS);
    if seeds < MIN_ENUMERATED_SEEDS {
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
            // Exact, since the count is at most `steps`.
            let count = count as f64;
            for (p, (least, most)) in row.iter().zip(&mut extremes) {
                *least = least.min(p / count);
                *most = most.max(p / count);
            }
        });
        // The greatest ratio over all pairs of inputs is the one of the greatest and the least
        // probability.
        let losses = extremes.iter().map(|(least, most)| (most / least).ln());
        loss = losses.fold(loss, f64::max);
    }
    Some(EnumeratedLoss {
        input_count: inputs,
        seed_count: seeds,
        privacy_loss: loss,
        loss_rounding_error: rounding_error_bound(space.max_entries, most as f64),
    })
}

/// Returns a generous bound on the effect of rounding on a loss.
///
/// A probability of the core is a convex combination of at most two integer thresholds over counts.
/// Computing it takes fewer than 16 roundings; the rounding of a share of s entries may weigh s
/// times. A sum over n paddings adds n roundings. The ratio of two such probabilities has twice as
/// many roundings, and one more for the division. The logarithm adds at most 8, as losses are at
/// most 16. In units of 2⁻⁵³, the total is `2(16 + s + n) + 1 + 8`. The result is above twice that.
fn rounding_error_bound(sparsity: u32, sums: f64) -> f64 {
    (64.0 + 2.0 * f64::from(sparsity) + 2.0 * sums) * f64::EPSILON
}

/// Set of all inputs of a question whose values are −1 and 1.
struct InputSpace {
    item_count: u32,
    max_entries: u32,
    /// Minimum number of entries: 0 if the domain has padding, otherwise the sparsity.
    min_entries: u32,
    /// Possible signs of an item, where true means negative.
    possible_item_signs: &'static [bool],
    /// Number of items of each part, for questions of kind `together`. The inputs have one item
    /// of each part. Empty for other questions.
    item_counts_by_part: Vec<u32>,
}

impl InputSpace {
    fn for_question(question: &Question) -> Option<Self> {
        let domain = question.domain();
        let sparsity = domain.sparsity();
        Some(Self {
            item_count: domain.item_count()?,
            max_entries: sparsity,
            min_entries: if domain.is_padded() { 0 } else { sparsity },
            possible_item_signs: if domain.is_rated() {
                &[false, true]
            } else {
                &[false]
            },
            item_counts_by_part: match question.kind() {
                QuestionKind::JointChoices(together) => together
                    .parts()
                    .iter()
                    .map(QuestionPart::cell_count)
                    .collect(),
                _ => Vec::new(),
            },
        })
    }

    /// Returns three numbers: the number of inputs, the number of pairs of an input and a padding,
    /// and the maximum number of paddings of one input. Returns `None` on overflow.
    ///
    /// With d items, sparsity s and signs, the number of inputs is Σ C(d, k)·2^k over `min_entries`
    /// ≤ k ≤ s. Without signs, the factor 2^k is missing. With parts, the number of inputs is the
    /// product of the numbers of items of all parts.
    fn enumeration_sizes(
        &self,
        completions: impl Fn(u32) -> Option<u64>,
    ) -> Option<(u64, u64, u64)> {
        if !self.item_counts_by_part.is_empty() {
            let mut parts = self.item_counts_by_part.iter();
            let inputs = parts.try_fold(1_u64, |all, own| all.checked_mul(u64::from(*own)))?;
            return Some((inputs, inputs, 1));
        }
        let (mut inputs, mut rows, mut most) = (0_u64, 0_u64, 1);
        let signs = self.possible_item_signs.len() as u64;
        let mut signed_sets = 1_u64;
        for k in 0..=self.max_entries.min(self.item_count) {
            if k >= self.min_entries {
                inputs = inputs.checked_add(signed_sets)?;
                let ways = completions(k)?;
                rows = rows.checked_add(signed_sets.checked_mul(ways)?)?;
                most = most.max(ways);
            }
            let next = signs * u64::from(self.item_count - k);
            // C(d, k + 1) = C(d, k)·(d − k)/(k + 1), and the division is exact.
            signed_sets = signed_sets.checked_mul(next)? / u64::from(k + 1);
        }
        Some((inputs, rows, most))
    }

    /// Calls `visit` with every input that extends `chosen` by items whose index is at least
    /// `first`.
    fn for_each_input(
        &self,
        first: u32,
        chosen: &mut Vec<SignedItem>,
        visit: &mut impl FnMut(&[SignedItem]),
    ) {
        let count = chosen.len() as u32;
        if count >= self.min_entries {
            visit(chosen);
        }
        if count == self.max_entries {
            return;
        }
        let end = self
            .item_counts_by_part
            .get(count as usize)
            .map(|own| first + own);
        for item in first..end.unwrap_or(self.item_count) {
            for &negative in self.possible_item_signs {
                chosen.push(SignedItem {
                    item: u64::from(item),
                    is_negative: negative,
                });
                self.for_each_input(end.unwrap_or(item + 1), chosen, visit);
                chosen.pop();
            }
        }
    }
}
