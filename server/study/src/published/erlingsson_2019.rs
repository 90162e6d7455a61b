//! Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta, "Amplification by Shuffling: From
//! Local to Central Differential Privacy via Anonymity" (SODA 2019).
//!
//! The bound on the central ε of n reports is ε_c = 12·ε·√(ln(1/δ)/n) for any randomizer, proven
//! for ε < 1/2, n ≥ 1000 and δ < 1/100.

use super::bound::{BoundOrUnmetCondition, BoundScope, BoundedBatch, PublishedBound};

pub(super) fn erlingsson_bound(batch: &BoundedBatch) -> PublishedBound {
    batch.published_bound(
        "amplification by shuffling",
        "Erlingsson et al. 2019",
        BoundScope::AnyRandomizer,
        central_epsilon_bound(batch),
    )
}

fn central_epsilon_bound(batch: &BoundedBatch) -> BoundOrUnmetCondition {
    let &BoundedBatch {
        epsilon,
        honest_report_count: n,
        delta,
        ..
    } = batch;
    if epsilon >= 0.5 {
        return Err("local epsilon below 1/2");
    }
    if n < 1000 {
        return Err("n of at least 1000");
    }
    if delta >= 0.01 {
        return Err("delta below 1/100");
    }
    Ok(12.0 * epsilon * ((1.0 / delta).ln() / n as f64).sqrt())
}
