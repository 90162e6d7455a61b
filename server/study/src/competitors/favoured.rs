//! A set of outputs that a report is in with a probability of its own: what most of
//! these mechanisms come to.
//!
//! An input favours N₊ outputs and leaves N₋. A report is a uniform one of the favoured with
//! probability α, else a uniform one of the others. Some other input leaves O of the favoured
//! outside, and none leaves more; these outcomes alone count against (ε, δ), all together:
//!
//! δ(ε) = O·(α/N₊ − exp(ε)·(1 − α)/N₋).
//!
//! Solved for α it is α₀ + (1 − α₀)·δ·N₊/O, where α₀ = e·N₊/(e·N₊ + N₋) is that of δ = 0: with
//! probability δ·N₊/O a report is inside for certain, else it is one of the ε-LDP mechanism.

use hushbin::Error;
use hushbin::bounds::{BUCKETS, Bound};
use hushbin::sample::Threshold;

use super::budget::Budget;

/// N₊, N₋ and O, at least one each; as doubles, for they are up to 2¹⁰⁰⁰.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Favoured {
    pub(super) inside: f64,
    pub(super) outside: f64,
    pub(super) against: f64,
    /// How many roundings these three took together; 0 where they are exact.
    pub(super) roundings: u32,
}

impl Favoured {
    /// One output of `outputs`, at least two.
    pub(super) fn one_of(outputs: u32) -> Self {
        Self {
            inside: 1.0,
            outside: f64::from(outputs) - 1.0,
            against: 1.0,
            roundings: 0,
        }
    }

    /// α, at most 1.
    pub(super) fn probability(&self, budget: &Budget) -> f64 {
        let weight = budget.e() * self.inside;
        let all = weight + self.outside;
        let certain = (budget.delta() * (self.inside / self.against)).min(1.0);
        weight / all + certain * (self.outside / all)
    }

    /// 1 − α, without cancellation.
    pub(super) fn complement(&self, budget: &Budget) -> f64 {
        let certain = (budget.delta() * (self.inside / self.against)).min(1.0);
        self.outside / (budget.e() * self.inside + self.outside) * (1.0 - certain)
    }

    /// α rounded down.
    pub(super) fn threshold(&self, budget: &Budget) -> Threshold {
        rounded_down(self.probability(budget), self.roundings)
    }

    /// δ at an ε of a report that is inside with this probability.
    pub(super) fn delta_at(&self, inside: Threshold, epsilon: f64) -> f64 {
        let (p, q) = (inside.probability(), inside.complement());
        self.delta_of(p, q, epsilon)
    }

    /// The same of any α and 1 − α.
    pub(super) fn delta_of(&self, inside: f64, outside: f64, epsilon: f64) -> f64 {
        let favoured = inside * (self.against / self.inside);
        let left = outside * (self.against / self.outside);
        (favoured - epsilon.exp() * left).max(0.0)
    }
}

/// A threshold that is not above a probability, which was computed in so many
/// roundings and at most a dozen more, of half an ulp each.
pub(super) fn rounded_down(probability: f64, roundings: u32) -> Threshold {
    let slack = f64::from(roundings + 12) * (f64::EPSILON / 2.0);
    // Truncated, and below 2⁶⁴.
    Threshold((probability * (1.0 - slack) * TWO_64) as u64)
}

/// A threshold of about a probability, where privacy does not depend on which.
pub(super) fn truncated(probability: f64) -> Threshold {
    Threshold((probability * TWO_64) as u64)
}

/// 2⁶⁴.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// P(inside) of c favoured of t buckets under (ε, δ), 1 ≤ c < t, as Collision
/// `heaviest` and CoCo `strongest` would have it if they took a δ.
///
/// With 2c ≤ t inputs may favour c buckets each and share none; beyond, at most t − c
/// are not shared. The core does not offer δ, for it gains nothing: where 2c ≤ t what
/// estimates divide by grows by δ·(t/c)/(e − 1) of itself, and at δ ≤ 10⁻⁶ that is
/// nothing; and shuffled reports would lose δ each.
///
/// Source: enumeration of all pairs of favoured sets, in the tests.
///
/// # Errors
/// [`Error::OutOfRange`] where ε, δ, c or t is.
///
/// ```
/// use hushbin_study::competitors::{Budget, subset_delta};
///
/// let inside = |delta| subset_delta(4, 17, &Budget::new(1.0, delta).unwrap()).unwrap();
/// let e = 1.0_f64.exp();
/// assert!((inside(0.0) - 4.0 * e / (4.0 * e + 13.0)).abs() < 1e-15);
/// // One in a million of it, where each report may fail with that probability.
/// assert!(inside(1e-6) / inside(0.0) - 1.0 < 2e-6);
/// ```
pub fn subset_delta(favoured: u32, buckets: u32, budget: &Budget) -> Result<f64, Error> {
    BUCKETS.check(f64::from(buckets))?;
    Bound {
        name: "favoured",
        min: 1.0,
        max: f64::from(buckets) - 1.0,
    }
    .check(f64::from(favoured))?;
    let (c, rest) = (f64::from(favoured), f64::from(buckets - favoured));
    let sets = Favoured {
        inside: c,
        outside: rest,
        against: c.min(rest),
        roundings: 0,
    };
    Ok(sets.probability(budget))
}
