//! Accounting for histograms through a shuffler: central privacy of counts of options, hidden by a
//! lottery of noise messages.
//!
//! A person sends exactly s own messages, each about a cell. For a choice, s is 1 and the cells are
//! the options. A set of at most s options is filled up to s with distinct padding cells. For k
//! flags asked as yes/no pairs, s is k and there are 2k cells. For a tree of L levels, s is L and
//! the cells are all nodes. In addition, the person makes r draws. Each sends, with probability ρ, a
//! noise message about one of all K cells, drawn uniformly. The analyser sees only the number of
//! messages of each cell.
//!
//! One person's change moves at most s cells up by 1, and as many down. The n_h honest people make
//! M = r·n_h draws, each of which hits a given cell with probability q = ρ/K.
//!
//! - **s = 1.** The total of both cells is seen and its distribution does not depend on the input. So
//!   δ is one sum, which is exact: see `pair`.
//! - **s > 1.** For a known total m of the 2s cells, the counts have the distribution of independent
//!   Poisson counts with the same total. So δ is at most R times the δ of s such pairs with mean λ =
//!   M·q, where R is the maximum over m of P(Binomial(M, 2sq) = m)/P(Poisson(2sλ) = m). The maximum
//!   is at m = min(M, ⌊2sλ⌋ + 1). With 2sq near 1, R is near √(2πM). But draws with a larger ρ are
//!   draws with a smaller ρ′ and further noise. So the bounds for all ρ′ ≤ ρ hold, too.
//! - **Lower bounds for s > 1.** A person may change a single cell, which is the exact case above. And
//!   a draw that hits with probability p is stochastically smaller than a Poisson number of mean
//!   −ln(1 − p), because both are 0 equally often. More messages in the 2s cells hide more, so δ is
//!   at least that of s pairs with mean −M·ln(1 − 2sq)/(2s).
//!
//! Over B batches, s·B pairs are composed, and the factor is R^B. All rounding errors and truncated
//! sums are accounted for to the safe side. An observer who can link messages to people learns the
//! answers, so there is no local ε.

mod batch;
mod calibration;
mod pair;
#[cfg(test)]
mod tests;

pub use batch::{DRAW_COUNT_RANGE, LotteryBatch, LotteryNoise};
pub use calibration::{CalibratedLottery, calibrate_lottery};
