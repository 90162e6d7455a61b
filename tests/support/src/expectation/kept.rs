//! Effect of sampling down on a person's entries.

use std::collections::HashMap;

use hushbin::Entry;

/// Returns the probability that each entry survives sampling down, given that ternarisation left
/// it. That is E[min(1, s/(1 + R))], where R is the number of other entries that ternarisation
/// left.
///
/// The time is of the order k·√k for k entries: all but about √k values of R have negligible
/// probability. Entries of one magnitude are computed once.
pub(super) fn kept_probabilities(entries: &[Entry], sparsity: usize) -> Vec<f64> {
    if entries.len() <= sparsity {
        return vec![1.0; entries.len()];
    }
    let mut all = Left::default();
    for entry in entries {
        all.add(entry.value.abs());
    }
    let mut by_magnitude = HashMap::new();
    entries
        .iter()
        .map(|entry| {
            let p = entry.value.abs();
            *by_magnitude
                .entry(p.to_bits())
                .or_insert_with(|| all.without(p).kept(sparsity))
        })
        .collect()
}

/// Probabilities below this are dropped at either end: for 2²⁰ entries less than 10⁻¹⁸ in total.
const NEGLIGIBLE: f64 = 1e-25;

/// Distribution of the number of entries that ternarisation leaves: probabilities of `first`,
/// `first` + 1, ….
struct Left {
    first: usize,
    probabilities: Vec<f64>,
}

impl Default for Left {
    /// Distribution for no entries.
    fn default() -> Self {
        Self {
            first: 0,
            probabilities: vec![1.0],
        }
    }
}

impl Left {
    /// Adds an entry that is left with probability `p`.
    fn add(&mut self, p: f64) {
        if p == 1.0 {
            self.first += 1;
            return;
        }
        self.probabilities.push(0.0);
        let mut fewer = 0.0;
        for probability in &mut self.probabilities {
            let same = *probability;
            *probability = same * (1.0 - p) + fewer * p;
            fewer = same;
        }
        let counts = |probability: &f64| *probability >= NEGLIGIBLE;
        let end = self.probabilities.iter().rposition(counts);
        self.probabilities.truncate(end.map_or(1, |last| last + 1));
        let begin = self.probabilities.iter().position(counts).unwrap_or(0);
        self.probabilities.drain(..begin);
        self.first += begin;
    }

    /// Removes one entry: divides the generating polynomial by (1 − p) + p·x, from the end at which
    /// that is stable.
    fn without(&self, p: f64) -> Self {
        if p == 1.0 {
            return Self {
                first: self.first - 1,
                probabilities: self.probabilities.clone(),
            };
        }
        let all = &self.probabilities;
        let mut others = vec![0.0; all.len()];
        let mut carried = 0.0;
        let mut first = self.first;
        if p < 0.5 {
            for (other, own) in others.iter_mut().zip(all) {
                *other = (own - p * carried) / (1.0 - p);
                carried = *other;
            }
        } else {
            // Coefficients are of one entry less, from `first` on. That of −1 is only rounding.
            for (other, own) in others.iter_mut().zip(all).rev() {
                *other = (own - (1.0 - p) * carried) / p;
                carried = *other;
            }
            match self.first.checked_sub(1) {
                Some(fewer) => first = fewer,
                None => {
                    others.remove(0);
                }
            }
        }
        Self {
            first,
            probabilities: others,
        }
    }

    /// Returns E[min(1, s/(1 + R))].
    fn kept(&self, sparsity: usize) -> f64 {
        let kept = |(index, probability): (usize, &f64)| {
            let others = self.first + index;
            probability * (sparsity as f64 / (others as f64 + 1.0)).min(1.0)
        };
        self.probabilities.iter().enumerate().map(kept).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(values: &[f64]) -> Vec<Entry> {
        let entry = |(item, &value): (u64, &f64)| Entry {
            item,
            value: if item % 2 == 0 { value } else { -value },
        };
        (0..).zip(values).map(entry).collect()
    }

    fn largest_difference(ours: &[f64], theirs: &[f64]) -> f64 {
        assert_eq!(ours.len(), theirs.len());
        let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    }

    /// Enumerates every subset.
    fn by_enumeration(values: &[f64], sparsity: usize) -> Vec<f64> {
        (0..values.len())
            .map(|j| {
                (0_u32..1 << values.len())
                    .filter(|set| set >> j & 1 == 1)
                    .map(|set| {
                        let probability: f64 = (0..values.len())
                            .filter(|&i| i != j)
                            .map(|i| {
                                if set >> i & 1 == 1 {
                                    values[i]
                                } else {
                                    1.0 - values[i]
                                }
                            })
                            .product();
                        let left = f64::from(set.count_ones());
                        probability * (sparsity as f64 / left).min(1.0)
                    })
                    .sum()
            })
            .collect()
    }

    #[test]
    fn kept_probabilities_are_those_of_all_subsets() {
        let values = [1.0, 0.3, 0.5, 0.999, 0.02, 0.7, 1.0, 0.0, 0.5];
        for sparsity in 1..=10 {
            let ours = kept_probabilities(&entries(&values), sparsity);
            let off = largest_difference(&ours, &by_enumeration(&values, sparsity));
            assert!(off < 1e-12, "s = {sparsity}: {off}");
        }
    }

    /// Computes each entry from the full distribution of the other entries, without dropping or
    /// removing any.
    fn by_definition(values: &[f64], sparsity: usize) -> Vec<f64> {
        let kept = |j: usize| {
            let mut left = vec![1.0];
            for (_, p) in values.iter().enumerate().filter(|&(i, _)| i != j) {
                left.push(0.0);
                for count in (0..left.len()).rev() {
                    let fewer = if count == 0 { 0.0 } else { left[count - 1] };
                    left[count] = left[count] * (1.0 - p) + fewer * p;
                }
            }
            let share = |others: usize| (sparsity as f64 / (others as f64 + 1.0)).min(1.0);
            left.iter().enumerate().map(|(r, p)| p * share(r)).sum()
        };
        (0..values.len()).map(kept).collect()
    }

    #[test]
    fn many_entries_leave_out_what_is_negligible_and_nothing_else() {
        let spread = |i: usize| (i as f64 * 0.618_033_988_749_895).fract();
        let near_half = |i: usize| 0.49 + 0.02 * spread(i);
        let often = |i: usize| {
            if i.is_multiple_of(3) {
                1.0
            } else {
                spread(i).sqrt()
            }
        };
        for value in [&spread as &dyn Fn(usize) -> f64, &near_half, &often] {
            let values: Vec<f64> = (0..300).map(value).collect();
            for sparsity in [1, 20, 150, 170, 299] {
                let ours = kept_probabilities(&entries(&values), sparsity);
                let off = largest_difference(&ours, &by_definition(&values, sparsity));
                assert!(off < 1e-12, "s = {sparsity}: {off}");
            }
        }
        // Adding an entry takes time proportional to 22 standard deviations, here at most
        // √(10,000/4) each.
        let mut all = Left::default();
        (0..10_000).map(spread).for_each(|p| all.add(p));
        assert!(
            all.probabilities.len() < 1_100,
            "{}",
            all.probabilities.len()
        );
    }
}
