//! A published bound on the central ε of a batch, and the batch that it covers.

use crate::roots::bisect;

/// Class of reports for which a bound is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundScope {
    /// Reports of any ε-LDP randomizer.
    AnyRandomizer,
    /// Reports of the batch's mechanism only, because the theorem assumes more than ε-LDP.
    BatchMechanism,
}

/// Numbers of favoured and of remaining buckets of a report. Given the report's seed, c of the t
/// buckets are favoured: they have the weight exp(ε). The remaining buckets have the weight 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct FavouredBucketCounts {
    /// Number of favoured buckets, c.
    pub(super) favoured_count: f64,
    /// Number of buckets that are not favoured, t − c.
    pub(super) other_count: f64,
}

impl FavouredBucketCounts {
    /// Total number t of buckets.
    pub(super) fn bucket_count(&self) -> f64 {
        self.favoured_count + self.other_count
    }

    /// Returns the sum Ω of the weights of all buckets at a local ε.
    pub(super) fn total_weight(&self, epsilon: f64) -> f64 {
        self.favoured_count * epsilon.exp() + self.other_count
    }
}

/// Published bound on the central ε of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedBound {
    /// Name of the bound in figures and tables.
    pub name: &'static str,
    /// Authors, year and place of the theorem.
    pub theorem_source: &'static str,
    /// Class of reports for which the bound is proven.
    pub scope: BoundScope,
    /// Value of the bound on the central ε, rounded up, but at most the local ε, which is always a
    /// bound. `None` if the theorem does not apply.
    pub central_epsilon: Option<f64>,
    /// Condition of the theorem that is not met; `None` if the theorem applies.
    pub unmet_condition: Option<&'static str>,
}

/// Batch of reports whose central ε is bounded.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundedBatch {
    pub(super) epsilon: f64,
    pub(super) favoured_buckets: Option<FavouredBucketCounts>,
    pub(super) honest_report_count: u64,
    pub(super) delta: f64,
}

/// Value of a bound, or the condition of its theorem that the batch does not meet.
pub(super) type BoundOrUnmetCondition = Result<f64, &'static str>;

impl BoundedBatch {
    /// Creates the published bound from the value that its formula yields for this batch.
    pub(super) fn published_bound(
        &self,
        name: &'static str,
        source: &'static str,
        scope: BoundScope,
        value: BoundOrUnmetCondition,
    ) -> PublishedBound {
        // Formulas have about a dozen operations, far fewer than 64 roundings.
        let up = |value: f64| (value * (1.0 + 64.0 * f64::EPSILON)).min(self.epsilon);
        PublishedBound {
            name,
            theorem_source: source,
            scope,
            central_epsilon: value.ok().map(up),
            unmet_condition: value.err(),
        }
    }

    /// Returns the least central ε at which `delta_at` is at most the batch's δ, to one part in
    /// 10¹² and rounded up. Returns the local ε if no smaller value is enough.
    pub(super) fn least_central_epsilon(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        // The computed δ may be too small by one part in 10⁹.
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, 1e-12, enough)
    }
}
