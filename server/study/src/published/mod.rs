//! Published bounds on the central ε of a batch, one file per paper.
//!
//! The bounds differ in what they assume about a randomizer. They also differ in the precision with
//! which they turn a decomposition of reports into a number. P1's reduction is not included,
//! because it is not a bound for small batches ([`paper_errata`](hushbin_analysis::paper_errata)). It is also
//! known as the variation-ratio reduction of Wang et al., "Privacy Amplification via Shuffling:
//! Unified, Simplified, and Tightened" (2024).
//!
//! ```
//! use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
//! use hushbin_study::published::published_bounds;
//!
//! let any = ReportMixture::for_any_randomizer(1.0).unwrap();
//! let ours = compute_batch_privacy(&any, 100_000, 1.0, 1e-7).unwrap();
//! for bound in published_bounds(&any, 100_000, 1.0, 1e-7).unwrap() {
//!     assert!(bound.central_epsilon.is_none_or(|other| other >= ours.reduction_lower_epsilon));
//! }
//! ```

mod balle_2019;
mod bound;
mod erlingsson_2019;
mod feldman_2021;
mod feldman_2023;
mod wang_collision;

use hushbin::Error;
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};

pub use bound::{BoundScope, PublishedBound};
use bound::{BoundedBatch, FavouredBucketCounts};

/// Computes the published bounds on the central ε of a batch, ordered by year. hushbin's own value
/// is computed by [`compute_batch_privacy`]. The n of the theorems is the number of honest reports.
///
/// # Errors
/// Same errors as [`compute_batch_privacy`].
pub fn published_bounds(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Vec<PublishedBound>, Error> {
    let epsilon = mixture.epsilon();
    let any = compute_batch_privacy(
        &ReportMixture::for_any_randomizer(epsilon)?,
        reports,
        honest_fraction,
        delta,
    )?;
    let favoured = mixture.favoured_and_other_counts();
    let batch = BoundedBatch {
        epsilon,
        favoured_buckets: favoured.map(|[count, others]| FavouredBucketCounts {
            favoured_count: count,
            other_count: others,
        }),
        honest_report_count: any.honest_reports,
        delta,
    };
    let mut all = vec![erlingsson_2019::erlingsson_bound(&batch)];
    all.extend(balle_2019::blanket_bounds(&batch));
    all.push(wang_collision::collision_bound(&batch));
    all.extend(feldman_2021::clone_bounds(&batch)?);
    all.extend(feldman_2023::stronger_clone_bounds(
        &batch,
        any.central_epsilon,
    ));
    Ok(all)
}
