//! Mechanisms with the parameters that P1 and P3 print, as drafts for task files.
//!
//! The [`errata`](hushbin_analysis::errata) table how much worse these parameters are than
//! those that hushbin chooses.

use hushbin::mechanism::hash_bin::GRID;
use serde_json::{Value, json};

/// Probability β that P3's clip bites, at most. The paper does not print it.
const BETA: f64 = 0.05;

/// Number of buckets of Collision, t = ⌊s·e + 2s − 1⌋ (P1, §5).
pub(crate) fn buckets(sparsity: u32, epsilon: f64) -> u32 {
    let s = f64::from(sparsity);
    (s * libm::exp(epsilon) + 2.0 * s - 1.0).floor() as u32
}

/// Collision as P1 has it: the rule `occupied`, an independent hash and ⌊s·e + 2s − 1⌋ buckets.
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

/// CoCo as P1 has it: the rule `overwrite` and an independent hash. The paper prints no number
/// of buckets, so the best is chosen.
#[must_use]
pub fn coco() -> Value {
    json!({ "name": "coco", "rule": "overwrite", "hashing": "independent" })
}

/// Hash-bin at level `user` as P3 has it: one bin, Laplace noise and η = √(2k·ln(4n/β)),
/// rounded up to the grid, for n people with k entries.
#[must_use]
pub fn clipped(entries: u32, people: u64) -> Value {
    let grid = f64::from(GRID);
    let clip = (2.0 * f64::from(entries) * libm::log(4.0 * people as f64 / BETA)).sqrt();
    json!({
        "name": "hash-bin", "level": "user", "hashing": "independent", "bins": 1,
        "noise": "laplace", "clip": (clip * grid).ceil() / grid,
    })
}

/// Hash-bin at level `event` as P3 has it: ε²k/4 bins for people with k entries.
#[must_use]
pub fn event(entries: u32, epsilon: f64) -> Value {
    json!({
        "name": "hash-bin", "level": "event", "hashing": "independent",
        "bins": bins(epsilon * epsilon * f64::from(entries) / 4.0),
    })
}

/// Hash-bin at level `neighbouring` as P3 has it: ε²k/L² bins for people with k entries, with a
/// δ √(ε²k/(L·ln(1/δ))).
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

/// The nearest number of bins, at least 1.
fn bins(exact: f64) -> u32 {
    exact.round().max(1.0) as u32
}
