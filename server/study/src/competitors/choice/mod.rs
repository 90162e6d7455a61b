//! Mechanisms for one choice among k answers: those of the paper's §5, OUE, Hadamard response and
//! subset selection. In all formulas, e = exp(ε).

mod direct;
mod hadamard;
mod local_hash;
mod rates;
mod subset;
mod unary;

pub use direct::Direct;
pub use hadamard::Hadamard;
pub use local_hash::{HashReport, LocalHash, OptimalHash, best_buckets};
pub use rates::Rates;
pub use subset::SubsetSelection;
pub use unary::Unary;
