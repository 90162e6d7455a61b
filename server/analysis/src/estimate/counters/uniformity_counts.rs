//! Test whether a value that every report names is uniformly distributed. The value is the seed or
//! the reported outcome, such as a bucket.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::encoding::{TotalsError, TotalsReader, append_counts};

/// Maximum number of groups into which the possible values are divided.
const MAX_GROUP_COUNT: u128 = 256;

/// Minimum expected count of a group. From this value on, the distribution of the count is close to
/// normal, also in its tails.
pub(crate) const MIN_EXPECTED_COUNT: f64 = 20.0;

/// Counts of reports by the value (place) that they name. Neighbouring places are counted together
/// in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UniformityCounts {
    possible_value_count: u128,
    groups: Vec<u64>,
}

impl UniformityCounts {
    /// Creates counters for values in 0..`places`. With fewer than two places nothing is counted.
    pub(crate) fn for_values_below(places: u128) -> Self {
        let groups = if places < 2 {
            0
        } else {
            places.min(MAX_GROUP_COUNT)
        };
        Self {
            possible_value_count: places,
            groups: vec![0; groups as usize],
        }
    }

    #[inline]
    pub(crate) fn count_value(&mut self, place: u64) {
        let groups = self.groups.len() as u128;
        if groups > 0 {
            // Multiply in 128 bits, because a place may have 64.
            self.groups[(u128::from(place) * groups / self.possible_value_count) as usize] += 1;
        }
    }

    pub(crate) fn merge(&mut self, others: &Self) {
        for (own, other) in self.groups.iter_mut().zip(&others.groups) {
            *own += other;
        }
    }

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        append_counts(self.groups.iter().copied(), bytes);
    }

    pub(crate) fn decode(
        &mut self,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        let groups = self.groups.len();
        bytes.read_counts(0..groups, groups, reports, |group, count| {
            self.groups[group] = count;
        })
    }

    /// Returns the p-value of Pearson's chi-squared test for a uniform distribution. `None` if
    /// there are too few reports for the test.
    pub(crate) fn p_value(&self) -> Option<f64> {
        let groups = self.groups.len() as u128;
        let reports: u64 = self.groups.iter().sum();
        // Returns the first place of a group.
        let first = |group: u128| (group * self.possible_value_count).div_ceil(groups);
        let each = reports as f64 / self.possible_value_count as f64;
        let mut joined: Vec<[f64; 2]> = Vec::new();
        for (group, &count) in (0..).zip(&self.groups) {
            let expected = (first(group + 1) - first(group)) as f64 * each;
            // Join neighbouring groups until the expected count of each is large enough.
            match joined
                .last_mut()
                .filter(|last| last[1] < MIN_EXPECTED_COUNT)
            {
                Some([counts, sum]) => {
                    *counts += count as f64;
                    *sum += expected;
                }
                None => joined.push([count as f64, expected]),
            }
        }
        // If the last group is still too small, add it to its neighbour.
        if let Some([counts, sum]) = joined.pop_if(|last| last[1] < MIN_EXPECTED_COUNT) {
            let last = joined.last_mut()?;
            last[0] += counts;
            last[1] += sum;
        }
        let degrees = joined.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
        let far = |[count, expected]: &[f64; 2]| (count - expected).powi(2) / expected;
        let law = ChiSquared::new(degrees as f64).expect("degrees of freedom");
        Some(law.sf(joined.iter().map(far).sum()))
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn even_places_are_even_and_others_not() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for places in [2, 3, 250, 256, 257, 400, 1000, 1 << 64] {
            let mut spread = UniformityCounts::for_values_below(places);
            for _ in 0..100_000 {
                spread.count_value(((u128::from(rng.next_u64()) * places) >> 64) as u64);
            }
            let p = spread.p_value().unwrap();
            assert!(p > 1e-3, "{places}: {p}");
            let mut other = spread.clone();
            (0..3000).for_each(|_| other.count_value(1));
            assert!(other.p_value().unwrap() < 1e-9, "{places}");
            spread.merge(&UniformityCounts::for_values_below(places));
            assert!((spread.p_value().unwrap() - p).abs() < 1e-12);
        }
        assert!(
            UniformityCounts::for_values_below(1).p_value().is_none()
                && UniformityCounts::for_values_below(2).p_value().is_none()
        );
    }

    /// Small p-values are no more frequent than nominal, even with just enough reports for the
    /// test.
    #[test]
    fn few_reports_flag_no_more_often_than_is_said() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for reports in [40, 100, 1000] {
            let small = (0..20_000).filter(|_| {
                let mut spread = UniformityCounts::for_values_below(1 << 64);
                (0..reports).for_each(|_| spread.count_value(rng.next_u64()));
                spread.p_value().unwrap() < 1e-3
            });
            // The expected number is 20. More than 45 has a probability of about one in a million.
            let small = small.count();
            assert!(small < 45, "{reports}: {small}");
        }
    }
}
