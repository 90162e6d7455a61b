//! A published bound, and the batch that it covers.

use crate::roots::bisect;

/// Reports that a bound covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Reports of any ε-LDP randomizer.
    AnyRandomizer,
    /// Reports of the mechanism, because the theorem assumes more than ε-LDP.
    Mechanism,
}

/// Favoured set of a report: given its seed, c of t buckets have the weight e, the rest 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Favoured {
    /// Number of favoured buckets, c.
    pub(super) count: f64,
    /// Number of remaining buckets, t − c.
    pub(super) others: f64,
}

impl Favoured {
    /// Number of buckets, t.
    pub(super) fn buckets(&self) -> f64 {
        self.count + self.others
    }

    /// Sum Ω of the weights at local ε.
    pub(super) fn omega(&self, epsilon: f64) -> f64 {
        self.count * epsilon.exp() + self.others
    }
}

/// A published bound on the central ε_c.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Name of the bound in figures and tables.
    pub name: &'static str,
    /// Authors, year and place of the theorem.
    pub source: &'static str,
    /// Reports that the bound covers.
    pub scope: Scope,
    /// Central ε_c by the bound, rounded up. It is capped at the local ε, which is valid without a
    /// theorem. `None` if the theorem does not apply.
    pub central_epsilon: Option<f64>,
    /// Condition of the theorem that is not met; `None` if the theorem applies.
    pub reason: Option<&'static str>,
}

/// Batch of reports that a bound covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    pub(super) epsilon: f64,
    pub(super) favoured: Option<Favoured>,
    pub(super) n: u64,
    pub(super) delta: f64,
}

/// Value of a bound, or the condition that is not met.
pub(super) type Value = Result<f64, &'static str>;

impl Batch {
    /// Builds the published bound for `value`.
    pub(super) fn published(
        &self,
        name: &'static str,
        source: &'static str,
        scope: Scope,
        value: Value,
    ) -> Published {
        // Formulas have about a dozen operations, far fewer than 64 roundings.
        let up = |value: f64| (value * (1.0 + 64.0 * f64::EPSILON)).min(self.epsilon);
        Published {
            name,
            source,
            scope,
            central_epsilon: value.ok().map(up),
            reason: value.err(),
        }
    }

    /// Returns the least ε_c at which `delta_at` is at most δ, to one part in 10¹² and rounded up.
    /// Returns ε if no smaller value is enough.
    pub(super) fn invert(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        // The computed δ may be too small by one part in 10⁹.
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, 1e-12, enough)
    }
}
