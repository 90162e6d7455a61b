//! Sums in the shuffle model. Sums and means with error bars are estimated from the shuffled
//! messages of a [`SumTask`](hushbin::sums::SumTask).
//!
//! The module also predicts the cost and the privacy of a task, and the influence of dishonest
//! people. ε is central here: it applies to an observer who sees the shuffled messages and nothing
//! that links them to a person. There is no local ε.

mod counted;
mod error;
mod estimate;
mod histogram;
mod influence;
mod items;
mod plan;
mod totals;

pub use error::SumQueryError;
pub use estimate::{SumEstimate, SumEstimates, SumQuery};
pub use histogram::{
    BinQuantile, BinTree, HistogramCountsError, LotteryErrors, NumberCounts,
    central_gaussian_error, central_geometric_error, estimate_cells, estimate_flags,
    local_share_error, most_moved_by_one_person,
};
pub use influence::SumInfluence;
pub use plan::{
    BATCH_MESSAGE_COUNT_RANGE, PredictedMeanError, SumPlan, central_epsilon_bounds,
    epsilon_bounds_for_people, local_choice_task, local_numbers_task, resolve_sum_draft,
};
pub use totals::SumTotals;
