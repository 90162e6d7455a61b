//! A published bound, and the batch that it is about.

use crate::roots::bisect;

/// Reports that a bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Reports of any ε-LDP randomizer.
    AnyRandomizer,
    /// Reports of the mechanism: the theorem assumes more than ε-LDP.
    Mechanism,
}

/// Favoured set of a report: given its seed, c of t buckets weigh e and the others 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Favoured {
    /// Number of favoured buckets, c.
    pub(super) count: f64,
    /// Number of the others, t − c.
    pub(super) others: f64,
}

impl Favoured {
    /// Number of buckets, t.
    pub(super) fn buckets(&self) -> f64 {
        self.count + self.others
    }

    /// Sum of the weights at local ε, Ω.
    pub(super) fn omega(&self, epsilon: f64) -> f64 {
        self.count * epsilon.exp() + self.others
    }
}

/// A published bound on ε_c.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Name of the bound in figures and tables.
    pub name: &'static str,
    /// Authors, year and place of the theorem.
    pub source: &'static str,
    /// Reports that the bound is about.
    pub scope: Scope,
    /// ε_c by the bound, rounded up; the local ε where that is smaller, which
    /// holds without any theorem. None where the theorem does not apply.
    pub central_epsilon: Option<f64>,
    /// The condition of the theorem that is not met.
    pub reason: Option<&'static str>,
}

/// Batch of reports that bounds are about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    pub(super) epsilon: f64,
    pub(super) favoured: Option<Favoured>,
    pub(super) n: u64,
    pub(super) delta: f64,
}

/// A value, or the condition that is not met.
pub(super) type Value = Result<f64, &'static str>;

impl Batch {
    /// Makes a bound of `value`, rounded up: formulas have a dozen operations.
    pub(super) fn published(
        &self,
        name: &'static str,
        source: &'static str,
        scope: Scope,
        value: Value,
    ) -> Published {
        let up = |value: f64| (value * (1.0 + 64.0 * f64::EPSILON)).min(self.epsilon);
        Published {
            name,
            source,
            scope,
            central_epsilon: value.ok().map(up),
            reason: value.err(),
        }
    }

    /// The least ε_c where `delta_at` is at most δ, to one part in 10¹² and rounded up; ε where
    /// there is none below. The δ computed is taken for one part in 10⁹ too small.
    pub(super) fn invert(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, 1e-12, enough)
    }
}
