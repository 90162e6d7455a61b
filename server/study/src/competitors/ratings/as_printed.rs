//! Mechanisms with the parameters printed in P1 and P3, as drafts for task files.
//!
//! The [`errata`](hushbin_analysis::errata) list how much worse these parameters are than the ones
//! that hushbin chooses.

use hushbin::mechanism::hash_bin::GRID;
use serde_json::{Value, json};

/// Maximum probability β that P3's clip changes a sum. The paper does not print it.
const BETA: f64 = 0.05;

/// Returns the number of buckets of Collision, t = ⌊s·e + 2s − 1⌋ (P1, §5).
pub(crate) fn buckets(sparsity: u32, epsilon: f64) -> u32 {
    let s = f64::from(sparsity);
    (s * libm::exp(epsilon) + 2.0 * s - 1.0).floor() as u32
}

/// Returns Collision as in P1: rule `occupied`, an independent hash and ⌊s·e + 2s − 1⌋ buckets.
///
/// ```
/// use hushbin_study::competitors::ratings::as_printed;
///
/// // 4e + 7 = 17.87
/// assert_eq!(as_printed::collision(4, 1.0)["buckets"], 17);
/// ```
#[must_use]
pub fn collision(sparsity: u32, epsilon: f64) -> Value {
    json!({
        "name": "collision", "rule": "occupied", "hashing": "independent",
        "buckets": buckets(sparsity, epsilon),
    })
}

/// Returns CoCo as in P1: rule `overwrite` and an independent hash. The draft has no number of
/// buckets, so the best one is chosen.
#[must_use]
pub fn coco() -> Value {
    json!({ "name": "coco", "rule": "overwrite", "hashing": "independent" })
}

/// Returns hash-bin at level `user` as in P3, for n people with k entries each. It has one bin,
/// Laplace noise and the clip η = √(2k·ln(4n/β)), rounded up to the grid.
#[must_use]
pub fn clipped(entries: u32, people: u64) -> Value {
    let grid = f64::from(GRID);
    let clip = (2.0 * f64::from(entries) * libm::log(4.0 * people as f64 / BETA)).sqrt();
    json!({
        "name": "hash-bin", "level": "user", "hashing": "independent", "bins": 1,
        "noise": "laplace", "clip": (clip * grid).ceil() / grid,
    })
}

/// Returns hash-bin at level `event` as in P3: ε²k/4 bins for people with k entries.
#[must_use]
pub fn event(entries: u32, epsilon: f64) -> Value {
    json!({
        "name": "hash-bin", "level": "event", "hashing": "independent",
        "bins": bins(epsilon * epsilon * f64::from(entries) / 4.0),
    })
}

/// Returns hash-bin at level `neighbouring` as in P3, for people with k entries: ε²k/L² bins, or
/// √(ε²k/(L·ln(1/δ))) bins if δ is given.
#[must_use]
pub fn neighbouring(entries: u32, epsilon: f64, distance: f64, delta: Option<f64>) -> Value {
    let square = epsilon * epsilon * f64::from(entries);
    json!({
        "name": "hash-bin", "level": "neighbouring", "distance": distance, "delta": delta,
        "hashing": "independent",
        "bins": bins(match delta {
            None => square / (distance * distance),
            Some(delta) => (square / (distance * -libm::log(delta))).sqrt(),
        }),
    })
}

/// Rounds to the nearest number of bins, at least 1.
fn bins(exact: f64) -> u32 {
    exact.round().max(1.0) as u32
}
