//! What was published of ε_c before: the bounds that an exact sum is worth
//! something beside.
//!
//! They differ in what they ask of a randomizer, and in what they lose on the
//! way from a decomposition of reports to a number. P1's reduction, also found
//! as the variation-ratio reduction of Wang et al., "Privacy Amplification via
//! Shuffling: Unified, Simplified, and Tightened" (2024), is not listed: it is no
//! bound in small batches ([`errata`](crate::errata)).
//!
//! ```
//! use hushbin_analysis::accounting::{Mixture, account, published_bounds};
//!
//! let any = Mixture::generic(1.0).unwrap();
//! let ours = account(&any, 100_000, 1.0, 1e-7).unwrap();
//! for bound in published_bounds(&any, 100_000, 1.0, 1e-7).unwrap() {
//!     assert!(bound.central_epsilon.is_none_or(|other| other >= ours.reduction_lower_epsilon));
//! }
//! ```

mod balle_2019;
pub(super) mod bound;
mod erlingsson_2019;
mod feldman_2021;
mod feldman_2023;
pub(super) mod wang_collision;

use hushbin::Error;

use super::mixture::Mixture;
use super::ranges::{DELTA, honest_reports};
use bound::{Batch, Published};

/// The published bounds on what [`account`](super::account) computes, in the
/// order of their years. The n of the theorems are the honest reports.
///
/// # Errors
/// As [`account`](super::account).
pub fn published_bounds(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Vec<Published>, Error> {
    let n = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    let batch = Batch {
        n,
        delta,
        epsilon: mixture.epsilon(),
        favoured: mixture.favoured(),
    };
    let mut all = vec![erlingsson_2019::bound(&batch)];
    all.extend(balle_2019::bounds(&batch));
    all.push(wang_collision::bound(&batch));
    all.extend(feldman_2021::bounds(&batch)?);
    all.extend(feldman_2023::bounds(&batch)?);
    Ok(all)
}
