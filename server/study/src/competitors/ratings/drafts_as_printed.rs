//! Mechanisms with the parameters that P1 and P3 print, as JSON drafts for task files. P1 and P3
//! are papers of the [`paper_errata`](hushbin_analysis::paper_errata), and e = exp(ε).
//!
//! The errata list by which factor these parameters are worse than the parameters that hushbin
//! chooses.

use hushbin::mechanism::hash_bin::DEFAULT_GRID_STEPS_PER_UNIT;
use serde_json::{Value, json};

/// Maximum probability β that clipping changes a sum in P3. The paper does not print its value.
const MAX_CLIPPING_PROBABILITY: f64 = 0.05;

/// Returns the number of buckets that P1 prints for the collision mechanism (§5): ⌊s·e + 2s − 1⌋,
/// where s is `sparsity` and e = exp(ε).
pub(crate) fn printed_collision_bucket_count(sparsity: u32, epsilon: f64) -> u32 {
    let s = f64::from(sparsity);
    (s * libm::exp(epsilon) + 2.0 * s - 1.0).floor() as u32
}

/// Returns the JSON draft of the collision mechanism as P1 prints it. It has the rule `occupied`,
/// independent hashing and ⌊s·e + 2s − 1⌋ buckets, where s is `sparsity` and e = exp(ε).
///
/// ```
/// use hushbin_study::competitors::ratings::drafts_as_printed;
///
/// // 4e + 7 = 17.87
/// assert_eq!(drafts_as_printed::collision_draft(4, 1.0)["buckets"], 17);
/// ```
#[must_use]
pub fn collision_draft(sparsity: u32, epsilon: f64) -> Value {
    json!({
        "name": "collision", "rule": "occupied", "hashing": "independent",
        "buckets": printed_collision_bucket_count(sparsity, epsilon),
    })
}

/// Returns the JSON draft of CoCo as P1 prints it, with the rule `overwrite` and independent
/// hashing. The draft leaves the number of buckets unset, so the best number is chosen.
#[must_use]
pub fn coco_draft() -> Value {
    json!({ "name": "coco", "rule": "overwrite", "hashing": "independent" })
}

/// Returns the JSON draft of hash-bin at level `user` (whole inputs are protected) as P3 prints it,
/// for n people with k entries each. The mechanism has one bin and Laplace noise. Its clipping
/// bound is √(2k·ln(4n/β)) with β = 0.05, rounded up to a multiple of 1/[`DEFAULT_GRID_STEPS_PER_UNIT`].
#[must_use]
pub fn hash_bin_draft_at_user_level(entries: u32, people: u64) -> Value {
    let grid = f64::from(DEFAULT_GRID_STEPS_PER_UNIT);
    let clip =
        (2.0 * f64::from(entries) * libm::log(4.0 * people as f64 / MAX_CLIPPING_PROBABILITY))
            .sqrt();
    json!({
        "name": "hash-bin", "level": "user", "hashing": "independent", "bins": 1,
        "noise": "laplace", "clip": (clip * grid).ceil() / grid,
    })
}

/// Returns the JSON draft of hash-bin at level `event` (single entries are protected) as P3 prints
/// it. For people with k entries each, it has ε²k/4 bins.
#[must_use]
pub fn hash_bin_draft_at_event_level(entries: u32, epsilon: f64) -> Value {
    json!({
        "name": "hash-bin", "level": "event", "hashing": "independent",
        "bins": round_bin_count(epsilon * epsilon * f64::from(entries) / 4.0),
    })
}

/// Returns the JSON draft of hash-bin at level `neighbouring` (inputs at most a distance L apart
/// are protected) as P3 prints it. For people with k entries each, it has ε²k/L² bins, or
/// √(ε²k/(L·ln(1/δ))) bins if δ is given.
#[must_use]
pub fn hash_bin_draft_by_distance(
    entries: u32,
    epsilon: f64,
    distance: f64,
    delta: Option<f64>,
) -> Value {
    let square = epsilon * epsilon * f64::from(entries);
    json!({
        "name": "hash-bin", "level": "neighbouring", "distance": distance, "delta": delta,
        "hashing": "independent",
        "bins": round_bin_count(match delta {
            None => square / (distance * distance),
            Some(delta) => (square / (distance * -libm::log(delta))).sqrt(),
        }),
    })
}

/// Rounds a number of bins to the nearest integer, but at least 1.
fn round_bin_count(exact: f64) -> u32 {
    exact.round().max(1.0) as u32
}
