//! How many elements of an input fall together, and how much the strongest
//! buckets hold: the sums G(c) that the rules `heaviest` and `strongest` live on.
//!
//! s elements fall into T cells, each element on its own (independent hash:
//! multinomial counts) or without replacement into cells of m slots (balanced
//! hash: multivariate hypergeometric counts). In both cases the counts are
//! those of T independent cells — Poisson, or binomial of m — given that they
//! sum to s. So the number K_v of cells with a count of v or more has
//!
//! P(K_v = k) ∝ C(T, k) · a^k · b^(T−k) · [x^s] A(x)^k · B(x)^(T−k),
//!
//! where a and b are the probabilities that a cell does and does not reach v,
//! and A and B generate its count given that it does or does not. And G(c) =
//! Σ_v E[min(c, K_v)], as min(c, K_v) counts those of the c strongest cells that
//! reach v. Strength is the count; or, where elements push with fair signs, the
//! absolute sum of the signs, which reaches v for a count of n with a
//! probability that splits the count's own between A and B. All factors are
//! probabilities: nothing overflows, what underflows is negligible, and with no
//! negative term nothing cancels.

use alloc::vec;
use alloc::vec::Vec;

/// s elements thrown into T cells.
///
/// ```
/// use hushbin::mechanism::occupancy::{Occupancy, Strength};
///
/// let occupancy = Occupancy { elements: 3, cells: 12, per_cell: Some(7) };
/// let top = occupancy.top_sums(Strength::Count, 3);
/// // Three cells hold at most all of three elements; the best one at least one.
/// assert!(top.sum(1) > 1.0 && (top.sum(3) - 3.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// s.
    pub elements: u32,
    /// T.
    pub cells: u32,
    /// m, slots in each cell, drawn without replacement; `None` for
    /// independent elements.
    pub per_cell: Option<u32>,
}

/// A measure of a cell's strength.
///
/// ```
/// use hushbin::mechanism::occupancy::{Occupancy, Strength};
///
/// let occupancy = Occupancy { elements: 3, cells: 12, per_cell: Some(7) };
/// let top = occupancy.top_sums(Strength::SignedSum, 3);
/// // Elements with opposite signs cancel.
/// assert!(top.sum(3) < occupancy.top_sums(Strength::Count, 3).sum(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// How many elements it holds (Collision).
    Count,
    /// The absolute sum of its elements' fair signs (CoCo).
    SignedSum,
}

/// Expected sums over the c strongest cells, for each c up to a maximum.
///
/// ```
/// use hushbin::mechanism::occupancy::{Occupancy, Strength};
///
/// let occupancy = Occupancy { elements: 3, cells: 12, per_cell: Some(7) };
/// let top = occupancy.top_sums(Strength::Count, 3);
/// assert!(top.sum(1) < top.sum(2) && top.square_sum(2) >= top.sum(2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopSums {
    sums: Vec<f64>,
    square_sums: Vec<f64>,
    loads: Vec<f64>,
    /// Expected number of the c strongest cells that have any strength.
    strong: Vec<f64>,
    /// Expected number of elements in a cell of strength 0.
    weak_load: f64,
}

/// Probabilities below this change no sum in the last place.
const NEGLIGIBLE: f64 = 1e-18;
/// Coefficients below this, relative to the greatest, are dropped.
const DROPPED: f64 = 1e-40;

impl TopSums {
    /// G(c): expected strength of the c strongest cells together. At most the
    /// maximum that the sums were computed for is looked at.
    #[must_use]
    pub fn sum(&self, c: u32) -> f64 {
        self.sums[(c as usize).min(self.sums.len() - 1)]
    }

    /// Expected sum of the squared strengths of the c strongest cells.
    #[must_use]
    pub fn square_sum(&self, c: u32) -> f64 {
        self.square_sums[(c as usize).min(self.square_sums.len() - 1)]
    }

    /// Expected number of elements in the c strongest cells: nearly, as each is
    /// taken to hold what its own strength alone leads to expect. For signed
    /// sums, where c beyond the cells with strength falls on sides of the others.
    #[must_use]
    pub fn load(&self, c: u32) -> f64 {
        let last = (c as usize).min(self.loads.len() - 1);
        self.loads[last] + (f64::from(c) - self.strong[last]) * self.weak_load
    }

    /// From P(K_v ≥ j) for v = 1, 2, …, and the expected number of elements in a
    /// cell of strength 0, 1, ….
    fn new(tails: impl Iterator<Item = Vec<f64>>, loads: &[f64], most: usize) -> Self {
        let zeros = || vec![0.0; most + 1];
        let mut top = Self {
            sums: zeros(),
            square_sums: zeros(),
            loads: zeros(),
            strong: zeros(),
            weak_load: loads[0],
        };
        for (v, at_least) in (1..).zip(tails) {
            // E[min(c, K)] = Σ_{j=1..c} P(K ≥ j); X² = Σ_{v ≤ X} (2v − 1); and
            // a load is the sum of its steps from one strength to the next.
            let step = if v == 1 {
                loads[1]
            } else {
                loads[v] - loads[v - 1]
            };
            let mut mean = 0.0;
            for c in 1..=most {
                mean += at_least.get(c).copied().unwrap_or(0.0);
                top.sums[c] += mean;
                top.square_sums[c] += (2 * v - 1) as f64 * mean;
                top.loads[c] += step * mean;
                if v == 1 {
                    top.strong[c] = mean;
                }
            }
        }
        top
    }
}

impl Occupancy {
    /// E[Σ X²] over all cells: each ordered pair of elements meets with
    /// probability 1/T, or (m − 1)/(N − 1) without replacement.
    #[must_use]
    pub fn mean_square_sum(&self) -> f64 {
        let s = f64::from(self.elements);
        let cells = f64::from(self.cells);
        let meet = match self.per_cell {
            None => 1.0 / cells,
            Some(m) => (f64::from(m) - 1.0) / (f64::from(m) * cells - 1.0),
        };
        s + s * (s - 1.0) * meet
    }

    /// G(c) and its twin for squares, for every c up to `most`, exactly up to
    /// rounding (relative errors near 1e-13). A few milliseconds at s = 64.
    #[must_use]
    pub fn top_sums(&self, strength: Strength, most: u32) -> TopSums {
        self.sums(strength, most, |law, reach| self.at_least(law, reach))
    }

    /// The same with the cells taken as independent: K_v binomial. Good to 8
    /// per cent for c up to s/2, to 23 beyond (both at s = 3; to 2 and 8 at
    /// s = 16), and cheap; for searches.
    #[must_use]
    pub fn top_sums_approximate(&self, strength: Strength, most: u32) -> TopSums {
        self.sums(strength, most, |law, reach| {
            let reaching: f64 = law.iter().zip(reach).map(|(p, reach)| p * reach).sum();
            binomial_tails(self.cells, reaching.min(1.0), self.elements as usize)
        })
    }

    /// From `tails`, which gives P(K_v ≥ j) by the law of a cell's count and the
    /// probability of each count to reach v.
    fn sums(
        &self,
        strength: Strength,
        most: u32,
        tails: impl Fn(&[f64], &[f64]) -> Vec<f64>,
    ) -> TopSums {
        let most = most.min(self.elements).min(self.cells) as usize;
        let law = self.cell_law();
        let reaches: Vec<Vec<f64>> = match strength {
            Strength::Count => (0..=law.len())
                .map(|v| (0..law.len()).map(|n| f64::from(n >= v)).collect())
                .collect(),
            Strength::SignedSum => signed_sum_reaches(law.len()),
        };
        let counts = self.count_law(law.len());
        let loads: Vec<f64> = reaches
            .windows(2)
            .map(|level| {
                let weights = || (0..law.len()).map(|n| counts[n] * (level[0][n] - level[1][n]));
                let elements: f64 = (0..)
                    .map(f64::from)
                    .zip(weights())
                    .map(|(n, p)| n * p)
                    .sum();
                let total: f64 = weights().sum();
                if total > 0.0 { elements / total } else { 0.0 }
            })
            .collect();
        let tails = reaches[1..law.len()].iter().map(|reach| tails(&law, reach));
        TopSums::new(tails.take_while(|tail| tail[1] > NEGLIGIBLE), &loads, most)
    }

    /// P(count = n) of one of all the cells, for n below `len`: binomial, or
    /// hypergeometric.
    fn count_law(&self, len: usize) -> Vec<f64> {
        let s = f64::from(self.elements);
        let cells = f64::from(self.cells);
        // P(n + 1) / P(n); infinite or negative below the least possible n.
        let ratio = |n: usize| {
            let n = n as f64;
            match self.per_cell {
                None => (s - n) / (n + 1.0) / (cells - 1.0),
                Some(m) => {
                    let m = f64::from(m);
                    (m - n) * (s - n) / ((n + 1.0) * (m * (cells - 1.0) - s + n + 1.0))
                }
            }
        };
        let most = self.elements.min(self.per_cell.unwrap_or(u32::MAX)) as usize;
        let most = most.min(len - 1);
        let mut law = from_mode(((s / cells) as usize).min(most), most, ratio);
        law.resize(len, 0.0);
        law
    }

    /// P(count = n) of one independent cell with mean s/T, for n from 0 until
    /// it is negligible: Poisson, or binomial of m.
    fn cell_law(&self) -> Vec<f64> {
        let mean = f64::from(self.elements) / f64::from(self.cells);
        let most = self.elements.min(self.per_cell.unwrap_or(u32::MAX)) as usize;
        // P(n + 1) / P(n).
        let ratio = |n: usize| match self.per_cell {
            None => mean / (n as f64 + 1.0),
            Some(m) => {
                let p = mean / f64::from(m);
                (f64::from(m) - n as f64) / (n as f64 + 1.0) * p / (1.0 - p)
            }
        };
        let mut law = from_mode((mean as usize).min(most), most, ratio);
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        trim(&mut law);
        law
    }

    /// P(K_v ≥ j) for j = 0, 1, …, `reach` being the probability of a count to
    /// reach v.
    fn at_least(&self, law: &[f64], reach: &[f64]) -> Vec<f64> {
        let s = self.elements as usize;
        let cells = self.cells as usize;
        // No smaller count reaches v.
        let v = reach.iter().position(|&p| p > 0.0).unwrap_or(s).max(1);
        let most = (s / v).min(cells);
        let split = |reached: bool| {
            let share = |p: f64| if reached { p } else { 1.0 - p };
            law.iter()
                .zip(reach)
                .map(|(p, &reach)| p * share(reach))
                .collect()
        };
        let (below, b) = normalised(split(false));
        let (reaching, a) = normalised(split(true));

        // B^(T − most), …, B^T.
        let mut powers = Vec::with_capacity(most + 1);
        powers.push(power(&below, cells - most, s));
        for i in 0..most {
            powers.push(product(&powers[i], &below, s));
        }
        // A^k meets B^(T − k) at x^s.
        let mut weights = binomial_weights(self.cells, a / b, most);
        let mut reached = vec![1.0];
        for (k, weight) in weights.iter_mut().enumerate() {
            if k > 0 {
                reached = product(&reached, &reaching, s);
            }
            *weight *= coefficient(&reached, &powers[most - k], s);
        }
        let total: f64 = weights.iter().sum();
        let mut tail = 0.0;
        for weight in weights.iter_mut().rev() {
            tail += *weight / total;
            *weight = tail;
        }
        // P(K ≥ most + 1), so that P(K ≥ 1) can always be asked for.
        weights.push(0.0);
        weights
    }
}

/// Divides by the sum, and drops what is negligible at the end; returns the sum
/// too.
fn normalised(mut law: Vec<f64>) -> (Vec<f64>, f64) {
    let total: f64 = law.iter().sum();
    law.iter_mut().for_each(|p| *p /= total);
    trim(&mut law);
    (law, total)
}

/// P(|sum of n fair signs| ≥ v) by v from 0 to `len` and n below `len`: the law
/// of |sum| is walked sign by sign.
fn signed_sum_reaches(len: usize) -> Vec<Vec<f64>> {
    // law[k]: probability of |sum| = k.
    let mut law = vec![0.0; len + 1];
    law[0] = 1.0;
    let mut reaches = vec![vec![0.0; len]; len + 1];
    for n in 0..len {
        let mut tail = 0.0;
        for (reaches, p) in reaches.iter_mut().zip(&law).take(n + 1).rev() {
            tail += p;
            reaches[n] = tail;
        }
        let mut next = vec![0.0; len + 1];
        for (k, &p) in law.iter().enumerate().take(n + 1) {
            if k == 0 {
                next[1] += p;
            } else {
                next[k - 1] += p / 2.0;
                next[k + 1] += p / 2.0;
            }
        }
        law = next;
    }
    reaches
}

/// Terms C(n, k)·odds^k of a binomial distribution for k up to `most`, the
/// greatest of them scaled to 1.
fn binomial_weights(n: u32, odds: f64, most: usize) -> Vec<f64> {
    // Term k + 1 over term k.
    let ratio = |k: usize| (f64::from(n) - k as f64) / (k as f64 + 1.0) * odds;
    let mode = (0..most).find(|&k| ratio(k) <= 1.0).unwrap_or(most);
    from_mode(mode, most, ratio)
}

/// Terms 0 to `most` of a sequence with one peak, given the ratio of each term
/// to the one before; walking from the mode keeps every product at most 1.
fn from_mode(mode: usize, most: usize, ratio: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut terms = vec![0.0; most + 1];
    terms[mode] = 1.0;
    for k in mode..most {
        terms[k + 1] = terms[k] * ratio(k);
    }
    for k in (0..mode).rev() {
        terms[k] = terms[k + 1] / ratio(k);
    }
    terms
}

/// P(K ≥ j) for j up to `most`, K binomial.
fn binomial_tails(trials: u32, p: f64, most: usize) -> Vec<f64> {
    let n = f64::from(trials);
    let mut tails = vec![0.0; most + 2];
    tails[0] = 1.0;
    if p >= 1.0 {
        return vec![1.0; most + 2];
    }
    let mut log_probability = n * libm::log1p(-p);
    let log_odds = libm::log(p) - libm::log1p(-p);
    let mut tail = 1.0;
    for (j, entry) in tails.iter_mut().enumerate().skip(1) {
        tail -= libm::exp(log_probability);
        *entry = f64::max(tail, 0.0);
        let j = j as f64;
        log_probability += libm::log(f64::max(n - j + 1.0, 0.0) / j) + log_odds;
    }
    tails
}

/// Drops what is negligible at the end.
fn trim(polynomial: &mut Vec<f64>) {
    let greatest = polynomial.iter().copied().fold(0.0, f64::max);
    while polynomial.len() > 1 && polynomial[polynomial.len() - 1] <= greatest * DROPPED {
        polynomial.pop();
    }
}

/// a·b up to x^degree.
fn product(a: &[f64], b: &[f64], degree: usize) -> Vec<f64> {
    let len = (a.len() + b.len() - 1).min(degree + 1);
    let mut result = vec![0.0; len];
    for (i, &x) in a.iter().enumerate().take(len) {
        if x != 0.0 {
            for (r, &y) in result[i..].iter_mut().zip(b) {
                *r += x * y;
            }
        }
    }
    result
}

/// a^exponent up to x^degree, by squaring.
fn power(a: &[f64], mut exponent: usize, degree: usize) -> Vec<f64> {
    let mut result = vec![1.0];
    let mut square = a.to_vec();
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &square, degree);
        }
        exponent >>= 1;
        if exponent > 0 {
            square = product(&square, &square, degree);
        }
    }
    result
}

/// [x^degree] a·b.
fn coefficient(a: &[f64], b: &[f64], degree: usize) -> f64 {
    let first = (degree + 1).saturating_sub(b.len());
    a.iter()
        .enumerate()
        .skip(first)
        .take_while(|(i, _)| *i <= degree)
        .map(|(i, &x)| x * b[degree - i])
        .sum()
}
