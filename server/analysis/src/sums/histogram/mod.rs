//! Histograms through a shuffler: estimates from counts of cells that a noise lottery hides, and
//! predictions of the errors.
//!
//! Every upload has exactly s own messages, so n uploads have n·s of them, and all other messages
//! are noise. If there are T of them, each noise message is about one of K cells, drawn uniformly.
//! So a cell with N messages has the unbiased estimate N − T/K, and its noise has exactly the
//! distribution Binomial(T, 1/K). The probability ρ of a noise message is not needed, and people
//! who leave noise out cause no bias. There is no sampling error: the estimates are about the very
//! people who reported.
//!
//! | module | contents |
//! |---|---|
//! | `cells` | counts of options, and of flags as yes/no pairs |
//! | `tree` | numbers: histograms of one or several levels, least squares |
//! | `number` | distribution function and quantiles |
//! | `predict` | errors before any upload, comparisons, influence |

mod cells;
mod number;
mod predict;
#[cfg(test)]
mod tests;
mod tree;

pub use cells::{HistogramCountsError, estimate_cells, estimate_flags};
pub use number::{BinQuantile, NumberCounts};
pub use predict::{
    LotteryErrors, central_gaussian_error, central_geometric_error, local_share_error,
    most_moved_by_one_person,
};
pub use tree::BinTree;
