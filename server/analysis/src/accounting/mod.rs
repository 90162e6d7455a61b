//! Shuffle accounting: the central privacy of a batch of reports if an observer sees only the
//! shuffled batch.
//!
//! A batch has n reports. Each is randomised at local ε, and e is exp(ε). The batch is (ε_c,
//! δ)-differentially private with a central ε_c that is smaller than ε, because other people's
//! reports hide a person's.
//!
//! P1's Theorem 1 (the *reduction* of Feldman, McMillan and Talwar) compares two distributions.
//! They depend on n, ε and one parameter α of the mechanism's [`ReportMixture`]. The reduction's ε_c is
//! not an upper bound if reports may be uninformative, although it is nearly one in large batches.
//! The *privacy blanket* yields an ε_c that is proven for every batch. Both are computed here as
//! sums, in memory that does not increase with n. All rounding errors are accounted for in the
//! upward direction.
//!
//! | module | contents |
//! |---|---|
//! | `mixture` | α of a mechanism |
//! | `informative_reports` | number of informative reports |
//! | `hockey_stick` | divergence of the reduction at one ε_c |
//! | `privacy_blanket` | privacy blanket: theorem, proof and sum |
//! | `grouped_sum` | the blanket's sum where it is long |
//! | `privacy_profile` | δ(ε_c) by both methods, and its inverse |
//! | `account` | one batch |
//! | `group_privacy` | several reports of one person in a batch |
//! | `composition` | several batches, by privacy loss distributions |
//! | `calibration` | largest ε, largest α, smallest batch |
//! | `memoised` | reports made from a permanent randomised answer |
//! | `sums` | unit messages for sums of vectors, hidden by other people's noise |
//!
//! Sources: Balle, Bell, Gascón, Nissim, "The Privacy Blanket of the Shuffle Model"; Wang et al.
//! (P1) as in [`hushbin::mechanism::collision`], with [`paper_errata`](crate::paper_errata); Feldman, McMillan,
//! Talwar, "Stronger Privacy Amplification by Shuffling for Rényi and Approximate Differential
//! Privacy" (arXiv 2208.04591), with its erratum; Su, Cheng, Wang, "Decomposition-Based Optimal
//! Bounds for Privacy Amplification via Shuffling" (arXiv 2504.07414): no decomposition of reports
//! is better than the blanket's.

mod batch_privacy;
mod calibration;
mod composition;
mod gaussian;
mod group_privacy;
mod grouped_sum;
mod hockey_stick;
mod informative_reports;
mod memoised;
mod method;
mod mixture;
mod privacy_blanket;
mod privacy_profile;
mod ranges;
pub(crate) mod shuffled_sums;

pub use batch_privacy::{
    BatchPrivacy, clone_argument_epsilon, compute_batch_privacy, delta_bounds,
};
pub(crate) use calibration::meets_central_epsilon;
pub use calibration::{largest_alpha, mixture_at_largest_epsilon, smallest_batch_size};
pub use composition::{ComposedPrivacy, PersonExposure, compute_composed_privacy};
pub use gaussian::gaussian_delta;
pub use memoised::MemoisedAnswers;
pub use method::AccountingMethod;
pub use mixture::{alpha::ReportMixture, contract::AccountingError};
pub use privacy_profile::DeltaBounds;
pub use ranges::{
    BATCH_COUNT_RANGE, DEFAULT_DELTA, DEFAULT_HONEST_FRACTION, DELTA_RANGE, HONEST_FRACTION_RANGE,
    HONEST_REPORT_COUNT_RANGE, REPORT_COUNT_RANGE, REPORTS_PER_PERSON_RANGE,
};
pub(crate) use ranges::{CENTRAL_EPSILON_RANGE, checked_honest_report_count};
pub(crate) use shuffled_sums::required_gaussian_variance;
pub use shuffled_sums::{
    CalibratedLottery, DRAW_COUNT_RANGE, LotteryBatch, LotteryNoise, ProvenBounds,
    calibrate_lottery,
};
