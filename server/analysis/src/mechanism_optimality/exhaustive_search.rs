//! Exhaustive search over all sets of inputs, for a tiny domain.

use std::collections::BTreeSet;

use super::information::Information;

/// Information of every set of inputs. Sets with equal information are listed once.
pub(super) struct AllInputSetsSearch(Vec<Information>);

/// Maximum number of inputs. 16 inputs have 65,536 sets.
const MAX_INPUTS: u32 = 16;

impl AllInputSetsSearch {
    /// Computes the information of every set of inputs. Returns `None` if the domain has more than
    /// [`MAX_INPUTS`] inputs.
    pub(super) fn new(items: u32, entries: u32, excess: f64) -> Option<Self> {
        let inputs = all_inputs(items, entries, MAX_INPUTS)?;
        let mut signs = vec![0_i32; items as usize];
        let mut presence = signs.clone();
        let mut inside = 0_i32;
        let mut distinct = BTreeSet::new();
        // Enumerate the sets in Gray code, so that each differs from the previous one by a single
        // input.
        for step in 1_u32..1 << inputs.len() {
            let index = step.trailing_zeros() as usize;
            let comes = (step ^ (step >> 1)) >> index & 1;
            let change = 2 * comes as i32 - 1;
            inside += change;
            for (item, &value) in inputs[index].iter().enumerate() {
                signs[item] += change * value;
                presence[item] += change * value.abs();
            }
            let square = |sums: &[i32]| sums.iter().map(|sum| sum * sum).sum::<i32>();
            distinct.insert((inside, square(&signs), square(&presence)));
        }
        let [d, s] = [items, entries].map(f64::from);
        let all = inputs.len() as f64;
        let told = distinct.into_iter().map(|(inside, signs, presence)| {
            let [inside, signs, presence] = [inside, signs, presence].map(f64::from);
            let scale = (excess / (all + excess * inside)).powi(2);
            Information {
                sign_information: scale * signs,
                presence_information: scale * (presence - (s * inside).powi(2) / d).max(0.0),
            }
        });
        Some(Self(told.collect()))
    }

    pub(super) fn max_set_information(&self, weights: [f64; 2]) -> Information {
        let told = self.0.iter();
        told.fold(Information::ZERO, |a, b| a.max_by_weight(*b, weights))
    }
}

/// Returns all vectors of −1, 0 and 1 that have `entries` non-zero entries. Returns `None` if there
/// are more than `most`.
pub(super) fn all_inputs(items: u32, entries: u32, most: u32) -> Option<Vec<Vec<i32>>> {
    let factor = |i: u32| 2.0 * f64::from(items - i) / f64::from(i + 1);
    if (0..entries).map(factor).product::<f64>() > f64::from(most) {
        return None;
    }
    let mut found: Vec<Vec<i32>> = vec![Vec::new()];
    for left in (0..items as usize).rev() {
        let longer = found.iter().flat_map(|input| {
            [-1, 0, 1].map(|value| input.iter().copied().chain([value]).collect())
        });
        let possible = |input: &Vec<i32>| {
            let had = input.iter().filter(|value| **value != 0).count();
            had <= entries as usize && had + left >= entries as usize
        };
        found = longer.filter(possible).collect();
    }
    Some(found)
}
