//! Exact sums over all possible counts.

/// Returns P(B = k) for k from 0, by products.
pub(super) fn binomial(trials: usize, q: f64) -> Vec<f64> {
    let mut law = vec![1.0];
    for _ in 0..trials {
        let mut next = vec![0.0; law.len() + 1];
        for (k, p) in law.iter().enumerate() {
            next[k] += p * (1.0 - q);
            next[k + 1] += p * q;
        }
        law = next;
    }
    law
}

/// Distribution of both counts of one coordinate: first that of +1, then that of −1.
pub(super) type Law = Vec<f64>;

/// Returns the distribution of (N⁺, N⁻) for one coordinate with value x, in rows.
pub(super) fn counts(noise: &[f64], x: i32, levels: usize) -> Law {
    let moved = |x: i32| {
        let mut count = vec![0.0; noise.len() + levels];
        let by = x.max(0) as usize;
        count[by..by + noise.len()].copy_from_slice(noise);
        count
    };
    let (plus, minus) = (moved(x), moved(-x));
    product(&plus, &minus)
}

/// Returns the distribution of independent counts.
pub(super) fn product(a: &[f64], b: &[f64]) -> Law {
    a.iter()
        .flat_map(|p| b.iter().map(move |r| p * r))
        .collect()
}

/// Returns E[(P − exp(ε)·Q)₊].
pub(super) fn delta(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    let scale = epsilon.exp();
    p.iter().zip(q).map(|(p, q)| (p - scale * q).max(0.0)).sum()
}
