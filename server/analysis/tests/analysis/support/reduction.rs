//! Slow evaluation of P1's reduction, straight from its definition.

use std::f64::consts::LN_2;

use statrs::function::factorial::ln_factorial;

/// Probabilities of one batch if the person in question has the one input, and if the person has
/// the other.
pub(crate) type Pair = (f64, f64);

/// Returns the hockey-stick divergence at ε_c, the greater of both directions.
pub(crate) fn divergence(batches: &[Pair], central: f64) -> f64 {
    let k = central.exp();
    let excess = |p: f64, q: f64| (p - k * q).max(0.0);
    let forth: f64 = batches.iter().map(|&(p, q)| excess(p, q)).sum();
    let back: f64 = batches.iter().map(|&(p, q)| excess(q, p)).sum();
    forth.max(back)
}

/// Returns the least ε_c up to `most` at which a falling δ(ε_c) is at most `delta`, to one part in
/// 10⁷.
pub(crate) fn least_central(most: f64, delta: f64, divergence: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    while high - low > 1e-7 * high {
        let middle = (low + high) / 2.0;
        if divergence(middle) <= delta {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Divergence δ(ε_c) by the reduction of P1's Theorem 1: the difference of P = (A + Δ1, C − A + Δ2)
/// and Q = (A + Δ2, C − A + Δ1). Here C ~ Binomial(n − 1, 2α), A ~ Binomial(C, 1/2), and (Δ1, Δ2)
/// is (1, 0) with probability eα, (0, 1) with α, else (0, 0).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reduction {
    pub(crate) alpha: f64,
    pub(crate) epsilon: f64,
    pub(crate) n: u64,
}

impl Reduction {
    /// Returns P(neither), which is negative if α is too large.
    pub(crate) fn rest(&self) -> f64 {
        let rest = 1.0 - self.alpha * (1.0 + self.epsilon.exp());
        if rest.abs() < 1e-15 { 0.0 } else { rest }
    }

    /// Returns P(C = c).
    fn clones(&self, c: u64) -> f64 {
        if c >= self.n {
            return 0.0;
        }
        let (others, p) = (self.n - 1, 2.0 * self.alpha);
        let log = ln_factorial(others) - ln_factorial(c) - ln_factorial(others - c);
        (log + c as f64 * p.ln() + (others - c) as f64 * (-p).ln_1p()).exp()
    }

    /// Returns the batches by the definition, term by term.
    pub(crate) fn all(&self) -> Vec<Pair> {
        let e = self.epsilon.exp();
        let half = |c: u64, a: i64| {
            let b = c as i64 - a;
            if a < 0 || b < 0 {
                return 0.0;
            }
            let ways = ln_factorial(c) - ln_factorial(a as u64) - ln_factorial(b as u64);
            (ways - c as f64 * LN_2).exp()
        };
        let mut pairs = Vec::new();
        for total in 0..=self.n {
            let (same, fewer) = (self.clones(total), total.checked_sub(1));
            let fewer = fewer.map_or((0, 0.0), |c| (c, self.clones(c)));
            for a in 0..=total as i64 {
                let neither = self.rest() * same * half(total, a);
                let one = self.alpha * fewer.1 * half(fewer.0, a - 1);
                let other = self.alpha * fewer.1 * half(fewer.0, a);
                pairs.push((neither + e * one + other, neither + one + e * other));
            }
        }
        pairs
    }

    /// Returns the divergence for many reports.
    ///
    /// For a total T the terms are C(T, a)/2^T times a linear function of a, which changes sign
    /// once. Totals further than ten standard deviations from the mean are left out, less than
    /// 10⁻²⁰.
    pub(crate) fn divergence(&self, central: f64) -> f64 {
        assert!(self.rest() >= 0.0, "{self:?} is no distribution");
        let (e, k) = (self.epsilon.exp(), central.exp());
        let mean = 2.0 * self.alpha * self.n as f64;
        let window = 10.0 * mean.sqrt() + 30.0;
        let first = (mean - window).max(1.0) as u64;
        let last = self.n.min((mean + window) as u64);
        let mut sum = 0.0;
        for total in first..=last {
            let t = total as f64;
            let one = 2.0 * self.clones(total - 1) * self.alpha / t;
            let at_zero = one * t * (1.0 - k * e) + self.rest() * self.clones(total) * (1.0 - k);
            let slope = one * (e - 1.0) * (1.0 + k);
            let from = (-at_zero / slope).ceil().max(0.0) as u64;
            if from > total {
                continue;
            }
            let ways = ln_factorial(total) - ln_factorial(from) - ln_factorial(total - from);
            let mut ways = (ways - t * LN_2).exp();
            let mut inner = 0.0;
            for a in from..=total {
                let term = ways * (at_zero + slope * a as f64);
                inner += term;
                if a > total / 2 && term < 1e-15 * inner {
                    break;
                }
                ways *= (total - a) as f64 / (a + 1) as f64;
            }
            sum += inner;
        }
        sum
    }

    pub(crate) fn central(&self, delta: f64) -> f64 {
        least_central(self.epsilon, delta, |central| self.divergence(central))
    }
}
