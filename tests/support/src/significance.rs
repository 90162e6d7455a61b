//! Tests of random draws against stated distributions. Each fails by chance with probability at
//! most 10⁻⁶, shared among its cells.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

const ALPHA: f64 = 1e-6;

/// Checks by Pearson's test that `counts` come from these probabilities.
pub fn assert_distributed(counts: &[u64], probabilities: &[f64], what: &str) {
    assert_eq!(counts.len(), probabilities.len());
    let n = counts.iter().sum::<u64>() as f64;
    let cells = || counts.iter().zip(probabilities);
    assert!(cells().all(|(&count, &p)| p > 0.0 || count == 0), "{what}");
    assert!(
        cells().all(|(_, &p)| p == 0.0 || n * p > 20.0),
        "{what}: too few draws"
    );
    let terms = cells().filter(|(_, p)| **p > 0.0);
    let terms = terms.map(|(&count, &p)| (count as f64 - n * p).powi(2) / (n * p));
    let (statistic, cells) = terms.fold((0.0, 0), |(sum, cells), term| (sum + term, cells + 1));
    if cells > 1 {
        let law = ChiSquared::new(f64::from(cells - 1)).unwrap();
        let chance = law.sf(statistic);
        assert!(chance > ALPHA, "{what}: {counts:?}, chance {chance:e}");
    }
}

pub fn assert_uniform(counts: &[u64], what: &str) {
    let p = 1.0 / counts.len() as f64;
    assert_distributed(counts, &vec![p; counts.len()], what);
}

/// Checks that each of several events has its stated probability.
pub fn assert_rates(n: u64, events: &[(String, u64, f64)]) {
    let normal = Normal::standard();
    let limit = normal.inverse_cdf(1.0 - ALPHA / (2 * events.len()) as f64);
    for (what, count, p) in events {
        let sigma = (n as f64 * p * (1.0 - p)).sqrt();
        let off = *count as f64 - n as f64 * p;
        if sigma == 0.0 {
            assert_eq!(off, 0.0, "{what}");
        } else {
            assert!(n as f64 * p * (1.0 - p) > 20.0, "{what}: too few draws");
            assert!(
                off.abs() <= limit * sigma,
                "{what}: off by {} σ",
                off / sigma
            );
        }
    }
}

/// Checks that sums of `n` draws, given with the sums of their squares, have the stated means.
pub fn assert_means(n: u64, sums: &[(String, f64, f64, f64)]) {
    let limit = Normal::standard().inverse_cdf(1.0 - ALPHA / (2 * sums.len()) as f64);
    let n = n as f64;
    for (what, sum, squares, mean) in sums {
        let sigma = (squares - sum * sum / n).sqrt();
        assert!(sigma > 0.0, "{what}: nothing varies");
        let off = (sum - n * mean) / sigma;
        assert!(
            off.abs() <= limit,
            "{what}: {} instead of {mean}, off by {off} σ",
            sum / n
        );
    }
}

/// Sums of the powers of draws.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    n: f64,
    powers: [f64; 4],
}

impl Moments {
    pub fn add(&mut self, draw: f64) {
        self.n += 1.0;
        let square = draw * draw;
        for (sum, power) in
            self.powers
                .iter_mut()
                .zip([draw, square, square * draw, square * square])
        {
            *sum += power;
        }
    }
}

/// Checks that draws have the stated means, and the variances if given.
pub fn assert_moments(draws: &[(String, Moments, f64, Option<f64>)]) {
    let limit = Normal::standard().inverse_cdf(1.0 - ALPHA / (4 * draws.len()) as f64);
    for (what, moments, mean, variance) in draws {
        let (n, [a, b, c, d]) = (moments.n, moments.powers.map(|sum| sum / moments.n));
        let spread = b - a * a;
        assert!(spread > 0.0, "{what}: nothing varies");
        let off = (a - mean) / (spread / n).sqrt();
        assert!(
            off.abs() <= limit,
            "{what}: {a} instead of {mean}, off by {off} σ"
        );
        let Some(variance) = variance else { continue };
        // The fourth moment gives the standard error of a variance. For two points of nearly equal
        // weight that is less than its own 1/n.
        let fourth = d - 4.0 * a * c + 6.0 * a * a * b - 3.0 * a.powi(4);
        let sigma = ((fourth - spread * spread).max(0.0) / n).sqrt() + variance / n;
        let off = (spread - variance) / sigma;
        assert!(
            off.abs() <= limit,
            "{what}: variance {spread} instead of {variance}, off by {off} σ"
        );
    }
}
