//! Mechanisms for one choice among k answers: the mechanisms of the paper's §5, OUE, Hadamard
//! response and subset selection. In all formulas, e = exp(ε).

mod hadamard;
mod local_hash;
mod randomized_response;
mod rates;
mod subset;
mod unary;

pub use hadamard::HadamardResponse;
pub use local_hash::{HashReport, LocalHash, OptimalLocalHashing, best_bucket_count};
pub use randomized_response::RandomizedResponse;
pub use rates::SupportProbabilities;
pub use subset::SubsetSelection;
pub use unary::UnaryEncoding;
