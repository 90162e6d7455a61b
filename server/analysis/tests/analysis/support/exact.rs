//! Exact pair of distributions behind shuffling, in integers.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// Probabilities of all outcomes if the person in question has the one input and the other, times
/// one integer.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    pairs: Vec<(BigInt, BigInt)>,
    whole: BigInt,
}

type Counts = BTreeMap<(u32, u32), BigInt>;

/// Adds one report of the first kind, of the second, or of neither.
fn more(counts: &Counts, ways: &[BigInt; 3]) -> Counts {
    let mut sum = Counts::new();
    for ((a, b), count) in counts {
        for (way, to) in ways.iter().zip([(a + 1, *b), (*a, b + 1), (*a, *b)]) {
            *sum.entry(to).or_default() += count * way;
        }
    }
    sum
}

impl Exact {
    /// Returns a batch of `n` reports, `own` of them the person's, with c favoured of t buckets.
    /// exp(ε) is the nearest double.
    pub(crate) fn batch(c: u32, t: u32, epsilon: f64, n: u32, own: u32) -> Self {
        Self::beside(c, t, epsilon, n, own, false)
    }

    /// Returns a batch in which the other people have the first of the two inputs.
    pub(crate) fn beside_holders(c: u32, t: u32, epsilon: f64, n: u32) -> Self {
        Self::beside(c, t, epsilon, n, 1, true)
    }

    fn beside(c: u32, t: u32, epsilon: f64, n: u32, own: u32, holders: bool) -> Self {
        let e = BigRational::from_float(epsilon.exp()).unwrap();
        let (first, second) = (e.numer() * c.min(t - c), e.denom() * c.min(t - c));
        let whole = e.numer() * c + e.denom() * (t - c);
        let rest = &whole - &first - &second;
        let hidden: BigInt = &whole - &second * 2u32;
        let others = (own..n).fold(Counts::from([((0, 0), BigInt::one())]), |counts, _| {
            if holders {
                more(&counts, &[first.clone(), second.clone(), rest.clone()])
            } else {
                more(&counts, &[second.clone(), second.clone(), hidden.clone()])
            }
        });
        let with =
            |ways: [BigInt; 3]| (0..own).fold(others.clone(), |counts, _| more(&counts, &ways));
        let one = with([first.clone(), second.clone(), rest.clone()]);
        let mut other = with([second, first, rest]);
        let pairs = one
            .into_iter()
            .map(|(seen, p)| (p, other.remove(&seen).unwrap_or_default()))
            .collect();
        Self {
            pairs,
            whole: num_traits::pow(whole, n as usize),
        }
    }

    /// Returns the pair for this number of batches.
    pub(crate) fn times(&self, batches: u32) -> Self {
        (1..batches).fold(self.clone(), |all, _| {
            // Outcomes with equal likelihood ratio are merged.
            let mut pairs = BTreeMap::<BigRational, (BigInt, BigInt)>::new();
            for (p, q) in &all.pairs {
                for (r, s) in &self.pairs {
                    let (p, q) = (p * r, q * s);
                    if p.is_zero() && q.is_zero() {
                        continue;
                    }
                    let both = &p + &q;
                    let sum = pairs.entry(BigRational::new(p.clone(), both)).or_default();
                    sum.0 += p;
                    sum.1 += q;
                }
            }
            Self {
                pairs: pairs.into_values().collect(),
                whole: &all.whole * &self.whole,
            }
        })
    }

    /// Returns δ(ε_c). exp(ε_c) − 1 is the nearest double.
    pub(crate) fn at(&self, central: f64) -> f64 {
        let k = BigRational::from_float(central.exp_m1()).unwrap() + BigInt::one();
        let excess = self.pairs.iter().fold(BigInt::zero(), |sum, (p, q)| {
            sum + (p * k.denom() - q * k.numer()).max(BigInt::zero())
        });
        BigRational::new(excess, &self.whole * k.denom())
            .to_f64()
            .unwrap()
    }
}
