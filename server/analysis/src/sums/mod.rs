//! Sums in the shuffle model: from the messages of a [`SumTask`](hushbin::sums::SumTask) to sums
//! and means with error bars.
//!
//! Also predicts the cost, the privacy and the influence of dishonest people. ε here is central: it
//! applies to an observer who sees the shuffled messages and nothing that links them to a person.
//! There is no local ε.

mod error;
mod estimate;
mod influence;
mod items;
mod plan;
mod totals;

pub use error::SumQueryError;
pub use estimate::{SumEstimate, SumEstimates, SumQuery};
pub use influence::SumInfluence;
pub use plan::{
    BATCH_MESSAGES, SumError, SumPlan, account_people, account_sums, local_task, resolve,
};
pub use totals::SumTotals;
