//! Privacy of small hash-bin tasks, by enumeration of every pair of neighbours.

use hushbin::mechanism;
use hushbin::mechanism::hash_bin::{HashBin, Randomizer, ResponseDistribution};
use hushbin::{Entry, Mechanism, Question};
use rand_core::Rng;

use super::enumerate_inputs::{EnumeratedLoss, MAX_ENUMERATED_SEEDS, MIN_ENUMERATED_SEEDS};

/// Enumerates the loss between all neighbouring inputs, for random seeds. The values of an input
/// are −1, 0 and 1, and also the distance L of the privacy level if L is below 1. Returns `None` if
/// more than `steps` steps are needed, the domain is open, or the guarantee has a δ.
///
/// The seed is public, and bins are independent given the seed. The sum of a bin is rounded up or
/// down at random, and two-sided geometric noise of rate r is added. Let x be the rounded sum, and
/// let M± = E[exp(±r·x)]. Up to a common factor, an output y above both possible values of x has
/// probability M₊·exp(−r·y). An output y below both values has probability M₋·exp(r·y).
///
/// For two inputs, the ratio of a bin's probabilities is M₊/M₊' above all possible values of x, and
/// M₋/M₋' below them. Between these values the ratio is monotone, since neither probability grows
/// by more than exp(r) a step. The loss of a report is therefore a sum over bins: each bin adds the
/// greater logarithm of these two ratios. Cutting off noise does not change this. Under the
/// two-point response, the output is a sign. The two ratios are then the ratio for the sign plus
/// and the ratio for the sign minus.
pub fn enumerate_hash_bin_loss<R: Rng + ?Sized>(
    question: &Question,
    steps: u64,
    rng: &mut R,
) -> Option<EnumeratedLoss> {
    let Mechanism::HashBin(hash_bin) = question.mechanism() else {
        return None;
    };
    if question.mechanism().delta() > 0.0 {
        return None;
    }
    let values = possible_item_values(hash_bin);
    let items = question.items().item_count()?;
    let inputs = (values.len() as u64).checked_pow(items)?;
    let pairs = inputs.checked_mul(inputs)?;
    let each = pairs.checked_mul(u64::from(hash_bin.bin_count()))?;
    let seeds = (steps / each).min(MAX_ENUMERATED_SEEDS);
    if seeds < MIN_ENUMERATED_SEEDS {
        return None;
    }
    let sampling =
        hash_bin.response_distribution(question.items().item_count(), question.epsilon());
    let mut randomizer = Randomizer::new(hash_bin, &question.domain(), question.epsilon());
    let all: Vec<Vec<f64>> = (0..inputs)
        .map(|index| input_at_index(index, items, &values))
        .collect();
    let neighbours = question.mechanism().neighbours();
    let mut loss = 0.0_f64;
    for _ in 0..seeds {
        let seed = rng.next_u64();
        let weights: Vec<Vec<[f64; 2]>> = all
            .iter()
            .map(|values| {
                let entries: Vec<Entry> = (0..)
                    .zip(values)
                    .map(|(item, &value)| Entry { item, value })
                    .collect();
                let bins = randomizer.bins_before_noise(seed, &entries);
                bins.iter()
                    .map(|&bin| upper_lower_log_weights(&sampling, bin))
                    .collect()
            })
            .collect();
        loss = loss.max(greatest_loss_between_neighbours(neighbours, &all, &weights));
    }
    Some(EnumeratedLoss {
        input_count: inputs,
        seed_count: seeds,
        privacy_loss: loss,
        // Logarithms of up to 2¹¹·2¹⁶ steps at a rate of ε/Δ. Each bin takes a few roundings. Their
        // size depends on the logarithms, not on the difference of the logarithms.
        loss_rounding_error: 64.0
            * f64::EPSILON
            * f64::from(hash_bin.bin_count())
            * max_bin_log_weight(&sampling, hash_bin, items),
    })
}

/// Returns the greatest loss between neighbouring inputs. For each input, `weights` contains the
/// [`upper_lower_log_weights`] of each bin.
fn greatest_loss_between_neighbours(
    neighbours: mechanism::NeighbouringInputs,
    inputs: &[Vec<f64>],
    weights: &[Vec<[f64; 2]>],
) -> f64 {
    let of_bin = |(a, b): (&[f64; 2], &[f64; 2])| (a[0] - b[0]).max(a[1] - b[1]);
    let mut loss = 0.0_f64;
    // Both orders of a pair, since the loss depends on the order.
    for (first, ours) in inputs.iter().zip(weights) {
        for (second, theirs) in inputs.iter().zip(weights) {
            if are_neighbouring_inputs(neighbours, first, second) {
                let of_report: f64 = ours.iter().zip(theirs).map(of_bin).sum();
                loss = loss.max(of_report);
            }
        }
    }
    loss
}

/// Returns the values that an item can take.
fn possible_item_values(hash_bin: &HashBin) -> Vec<f64> {
    let mut values = vec![-1.0, 0.0, 1.0];
    values.extend(
        hash_bin
            .privacy_level()
            .neighbour_distance()
            .filter(|distance| *distance < 1.0),
    );
    values
}

/// Returns the input whose values are the digits of `index` in base `values.len()`.
fn input_at_index(mut index: u64, items: u32, values: &[f64]) -> Vec<f64> {
    let base = values.len() as u64;
    let digit = |_| {
        let value = values[(index % base) as usize];
        index /= base;
        value
    };
    (0..items).map(digit).collect()
}

/// Returns true if the guarantee covers this pair of inputs.
fn are_neighbouring_inputs(
    neighbours: mechanism::NeighbouringInputs,
    first: &[f64],
    second: &[f64],
) -> bool {
    let differences = || first.iter().zip(second).map(|(a, b)| (a - b).abs());
    match neighbours {
        mechanism::NeighbouringInputs::AnyTwoInputs => true,
        mechanism::NeighbouringInputs::DifferInOneItem => {
            differences().filter(|d| *d > 0.0).count() <= 1
        }
        mechanism::NeighbouringInputs::WithinDistance(distance) => {
            differences().sum::<f64>() <= distance
        }
    }
}

/// Returns ln M₊ and ln M₋ of a bin under Laplace noise (see [`enumerate_hash_bin_loss`]). Under the
/// two-point response, returns the log probabilities of the signs plus and minus. `bin` is the
/// bin's sum in grid steps.
fn upper_lower_log_weights(sampling: &ResponseDistribution, bin: f64) -> [f64; 2] {
    let (floor, up) = (bin.floor(), bin - bin.floor());
    match sampling.laplace_noise() {
        // ln((1 − u) + u·exp(±r)) ± r·floor.
        Some(noise) => {
            let rate = noise.rate();
            let above = (up * rate.exp_m1()).ln_1p() + rate * floor;
            let below = (up * (-rate).exp_m1()).ln_1p() - rate * floor;
            [above, below]
        }
        None => {
            let plus = |steps: f64| sampling.plus_probability(steps as i32).unwrap_or(0.5);
            let plus = (1.0 - up) * plus(floor) + up * plus(floor + 1.0);
            [plus.ln(), (1.0 - plus).ln()]
        }
    }
}

/// Returns the approximate maximum of the absolute [`upper_lower_log_weights`].
fn max_bin_log_weight(sampling: &ResponseDistribution, hash_bin: &HashBin, items: u32) -> f64 {
    let rate = sampling.laplace_noise().map_or(0.0, |noise| noise.rate());
    let steps = f64::from(items) * f64::from(hash_bin.grid_steps()) + 1.0;
    (rate * steps).max(sampling.effective_epsilon()).max(1.0)
}
