//! A published bound on the central ε of a batch, and the batch that it covers.

use crate::roots::bisect;

/// Class of reports for which a bound is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Reports of any ε-LDP randomizer.
    AnyRandomizer,
    /// Reports of the batch's mechanism only, because the theorem assumes more than ε-LDP.
    Mechanism,
}

/// Favoured set of a report. Given the report's seed, c of the t buckets have the weight e =
/// exp(ε), and the remaining buckets have the weight 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct FavouredBuckets {
    /// Number of favoured buckets, c.
    pub(super) count: f64,
    /// Number of remaining buckets, t − c.
    pub(super) others: f64,
}

impl FavouredBuckets {
    /// Number of buckets, t.
    pub(super) fn buckets(&self) -> f64 {
        self.count + self.others
    }

    /// Returns the sum Ω of the weights of all buckets at a local ε.
    pub(super) fn omega(&self, epsilon: f64) -> f64 {
        self.count * epsilon.exp() + self.others
    }
}

/// Published bound on the central ε_c of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedBound {
    /// Name of the bound in figures and tables.
    pub name: &'static str,
    /// Authors, year and place of the theorem.
    pub source: &'static str,
    /// Class of reports for which the bound is proven.
    pub scope: Scope,
    /// Value of the bound on ε_c, rounded up, or the local ε if the local ε is smaller. (The local
    /// ε is always a bound.) `None` if the theorem does not apply.
    pub central_epsilon: Option<f64>,
    /// Condition of the theorem that is not met; `None` if the theorem applies.
    pub reason: Option<&'static str>,
}

/// Batch of reports that a bound covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundInput {
    pub(super) epsilon: f64,
    pub(super) favoured: Option<FavouredBuckets>,
    pub(super) n: u64,
    pub(super) delta: f64,
}

/// Value of a bound, or the condition of its theorem that the batch does not meet.
pub(super) type BoundValue = Result<f64, &'static str>;

impl BoundInput {
    /// Creates the published bound from the value that its formula yields for this batch.
    pub(super) fn published_bound(
        &self,
        name: &'static str,
        source: &'static str,
        scope: Scope,
        value: BoundValue,
    ) -> PublishedBound {
        // Formulas have about a dozen operations, far fewer than 64 roundings.
        let up = |value: f64| (value * (1.0 + 64.0 * f64::EPSILON)).min(self.epsilon);
        PublishedBound {
            name,
            source,
            scope,
            central_epsilon: value.ok().map(up),
            reason: value.err(),
        }
    }

    /// Returns the least ε_c at which `delta_at` is at most δ, to one part in 10¹² and rounded up.
    /// Returns ε if no smaller value is enough.
    pub(super) fn least_central_epsilon(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        // The computed δ may be too small by one part in 10⁹.
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, 1e-12, enough)
    }
}
