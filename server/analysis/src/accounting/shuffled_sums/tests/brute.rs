//! Exact δ of small batches, by sums over all possible counts.

/// Returns the probabilities P(B = k) for k from 0 to `trials`, where B ~ Binomial(`trials`, q),
/// computed by products.
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

/// Joint distribution of counts, as a list of probabilities.
pub(super) type Law = Vec<f64>;

/// Returns the joint distribution of the counts N⁺ and N⁻ of one coordinate whose value is x, with
/// one row for each N⁺.
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

/// Returns the joint distribution of independent counts with distributions `a` and `b`.
pub(super) fn product(a: &[f64], b: &[f64]) -> Law {
    a.iter()
        .flat_map(|p| b.iter().map(move |r| p * r))
        .collect()
}

/// Returns the δ at ε between two distributions: the sum of (p − exp(ε)·q)₊ over all outcomes.
pub(super) fn delta(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    let scale = epsilon.exp();
    p.iter().zip(q).map(|(p, q)| (p - scale * q).max(0.0)).sum()
}
