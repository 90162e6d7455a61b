//! P2's Theorem 3 for the collision mechanism, with n reports: ε_c = √(14·ln(2/δ)·Ω/(n − 1)). A
//! report has t buckets, c of which are favoured, and Ω = c·exp(ε) + t − c.
//!
//! This is the bound of Balle et al. 2019 (Theorem 3.1) for randomised response over t answers, in
//! which a report is uniform with probability γ = t/Ω. The bound therefore assumes ε_c ≤ 1. It
//! covers the reports of all mechanisms that favour buckets, not only of the collision mechanism.
//! Proof:
//!
//! 1. With probability t/Ω a report is a uniform bucket, for every input.
//! 2. Otherwise the target report is the i-th favoured bucket of one input or of the other. The
//!    divergence of a mixture over i is at most that of its worst part.
//! 3. In that part, buckets can be renumbered seed by seed until the report is one of two answers
//!    of t.
//!
//! The theorem's other condition, ε_c ≤ 14·ln(2/δ)/27, holds for δ up to 0.1.

use super::bound::{BoundOrUnmetCondition, BoundScope, BoundedBatch, PublishedBound};

pub(super) fn collision_bound(batch: &BoundedBatch) -> PublishedBound {
    batch.published_bound(
        "Collision's closed form",
        "Wang et al. 2021 (P2), Theorem 3",
        BoundScope::BatchMechanism,
        central_epsilon_bound(batch),
    )
}

fn central_epsilon_bound(batch: &BoundedBatch) -> BoundOrUnmetCondition {
    let favoured = batch
        .favoured_buckets
        .ok_or("a report that favours buckets, c of t")?;
    let omega = favoured.total_weight(batch.epsilon);
    let central =
        (14.0 * (2.0 / batch.delta).ln() * omega / (batch.honest_report_count as f64 - 1.0)).sqrt();
    // The theorem assumes ε_c ≤ 1.
    if central <= 1.0 {
        Ok(central)
    } else {
        Err("a value of at most 1")
    }
}
