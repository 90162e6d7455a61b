//! Exact sums over inputs. Inputs are grouped by the number of hits, which is how many favoured
//! items they have.

/// Table of the probabilities P(Binomial(h, 1/2) ≥ b). The row for h contains b from 0 to h + 1.
pub(super) struct BinomialTails(Vec<f64>);

impl BinomialTails {
    /// Computes the table for h up to `most`, by the recurrence P_h(b) = (P_{h−1}(b − 1) +
    /// P_{h−1}(b))/2.
    ///
    /// All terms are positive, so small values have the same relative precision as large ones.
    pub(super) fn new(most: u32) -> Self {
        let mut all = Vec::with_capacity(Self::row_start(most as usize + 1));
        all.extend([1.0, 0.0]);
        for h in 1..=most as usize {
            let before = Self::row_start(h - 1);
            all.push(1.0);
            for b in 1..=h {
                let (less, same) = (all[before + b - 1], all[before + b]);
                all.push(0.5 * (less + same));
            }
            all.push(0.0);
        }
        Self(all)
    }

    /// Returns the index at which the row for h starts. The rows before it have 2, 3, …, h + 1
    /// entries.
    const fn row_start(h: usize) -> usize {
        h * (h + 3) / 2
    }

    /// Returns P(D > `above`), and the expectation of D restricted to D > `above`, where D is the
    /// sum of h fair signs.
    ///
    /// If b of the signs are positive, D = 2b − h. The expectation uses Σ_{b ≥ c} (2b − h)·C(h, b)
    /// = c·C(h, c).
    pub(super) fn sign_sum_tail_moments(&self, h: u32, above: f64) -> [f64; 2] {
        let first = (0.5 * (above + f64::from(h))).floor() + 1.0;
        // The cast to an integer saturates.
        let first = first.max(0.0) as usize;
        if first > h as usize {
            return [0.0, 0.0];
        }
        let at = Self::row_start(h as usize) + first;
        [self.0[at], first as f64 * (self.0[at] - self.0[at + 1])]
    }

    /// Returns the probability that b of h fair signs are positive.
    pub(super) fn positive_count_probability(&self, h: u32, b: u32) -> f64 {
        let at = Self::row_start(h as usize) + b as usize;
        self.0[at] - self.0[at + 1]
    }
}

/// Distribution of the number of favoured items in a random input. It is hypergeometric: k of d
/// items are favoured, and s items are drawn without replacement.
pub(super) struct HitDistribution {
    min_hit_count: u32,
    probabilities: Vec<f64>,
}

/// Probability, relative to that of the mode, below which terms are omitted. Even exp(ε) times the
/// sum of all these terms is negligible.
const MIN_RELATIVE_PROBABILITY: f64 = 1e-25;

impl HitDistribution {
    /// Computes the distribution from the mode outwards, by the ratios of successive probabilities.
    pub(super) fn new(items: u32, entries: u32, favoured: u32) -> Self {
        let [d, s, k] = [items, entries, favoured].map(f64::from);
        let least = (entries + favoured).saturating_sub(items);
        let most = entries.min(favoured);
        // Ratio P(h + 1)/P(h).
        let ratio = |h: u32| {
            let h = f64::from(h);
            (s - h) * (k - h) / ((h + 1.0) * (d - k - s + h + 1.0))
        };
        let mode = ((s + 1.0) * (k + 1.0) / (d + 2.0)) as u32;
        let mode = mode.clamp(least, most);
        let outwards = |term: &mut f64, factor: f64| {
            *term *= factor;
            (*term > MIN_RELATIVE_PROBABILITY).then_some(*term)
        };
        let below = (least..mode)
            .rev()
            .scan(1.0, |term, h| outwards(term, 1.0 / ratio(h)));
        let mut probabilities: Vec<f64> = below.collect();
        let first = mode - probabilities.len() as u32;
        probabilities.reverse();
        probabilities.push(1.0);
        probabilities.extend((mode..most).scan(1.0, |term, h| outwards(term, ratio(h))));
        let sum: f64 = probabilities.iter().sum();
        for probability in &mut probabilities {
            *probability /= sum;
        }
        Self {
            min_hit_count: first,
            probabilities,
        }
    }

    /// Returns each possible number of hits with its probability.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        (self.min_hit_count..).zip(self.probabilities.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the binomial coefficient C(n, k), for small n.
    fn choose(n: u32, k: u32) -> f64 {
        if k > n {
            return 0.0;
        }
        (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1))
    }

    #[test]
    fn sums_of_signs_are_those_of_all_patterns() {
        let tails = BinomialTails::new(12);
        for h in 0..=12_u32 {
            for above in [
                -13.0,
                -2.0,
                -1.0,
                -0.5,
                0.0,
                0.3,
                1.0,
                2.0,
                7.9,
                11.0,
                12.0,
                f64::INFINITY,
            ] {
                let [mut mass, mut sum] = [0.0; 2];
                for pattern in 0..1_u32 << h {
                    let d = 2.0 * f64::from(pattern.count_ones()) - f64::from(h);
                    if d > above {
                        mass += 0.5_f64.powi(h as i32);
                        sum += d * 0.5_f64.powi(h as i32);
                    }
                }
                // The results are exact, because they are dyadic numbers with few digits.
                assert_eq!(
                    tails.sign_sum_tail_moments(h, above),
                    [mass, sum],
                    "{h} above {above}"
                );
            }
            for b in 0..=h {
                assert_eq!(
                    tails.positive_count_probability(h, b),
                    choose(h, b) * 0.5_f64.powi(h as i32)
                );
            }
        }
    }

    #[test]
    fn hits_are_those_of_all_draws() {
        for (d, s) in [(1, 1), (2, 1), (5, 2), (5, 5), (12, 4), (12, 9)] {
            for k in 1..=d {
                let found: Vec<(u32, f64)> = HitDistribution::new(d, s, k).iter().collect();
                for h in 0..=s {
                    let expected = if h <= k {
                        choose(k, h) * choose(d - k, s - h) / choose(d, s)
                    } else {
                        0.0
                    };
                    let got = found
                        .iter()
                        .find(|(hits, _)| *hits == h)
                        .map_or(0.0, |f| f.1);
                    assert!(
                        (got - expected).abs() < 1e-15,
                        "{h} of {k}: {got}, {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn large_domains_lose_nothing() {
        for (d, s, k) in [
            (1 << 20, 1024, 1 << 19),
            (1 << 20, 1024, 1 << 20),
            (4096, 1024, 1),
        ] {
            let mean: f64 = HitDistribution::new(d, s, k)
                .iter()
                .map(|(h, p)| f64::from(h) * p)
                .sum();
            let expected = f64::from(s) * f64::from(k) / f64::from(d);
            assert!((mean / expected - 1.0).abs() < 1e-12);
        }
    }
}
