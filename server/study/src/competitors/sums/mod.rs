//! Sums of real vectors from shuffled messages, by a published protocol, corrected. [`as_printed`]
//! has a table for each erratum of the paper.
//!
//! The paper is Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the
//! Shuffle Model: Optimal Rates Require Many Messages" (PVME). In every coordinate it runs the
//! protocol of Ghazi, Kumar, Manurangsi, Pagh, Sinha 2021 (GKMPS). A person sends an integer
//! without randomising it, and noise messages, most of which sum to zero. One person's messages
//! alone are not private. The shuffled messages of a whole batch are private.
//!
//! | part | here |
//! |---|---|
//! | tuples of sum zero, and the decomposition of a value into them | [`ZeroSumTuples`] |
//! | shares of noise | [`NegativeBinomial`] |
//! | noise of a coordinate: messages, variance, exact δ | [`CoordinateNoise`] |
//! | (ε₀, δ₀) of a coordinate, and the composition of many coordinates | [`CoordinateBudget`] |
//! | messages and sums | [`VectorSumProtocol`] |
//! | reports of one cell of a grid | [`grid_cell_reports`] |
//! | printed parameters and the privacy loss that they cause | [`as_printed`] |
//!
//! The code is for comparisons only: counts are drawn in floating point.

pub mod as_printed;
mod budget;
mod divergence;
pub mod grid_cell_reports;
mod losses;
mod negative_binomial;
mod noise;
mod protocol;
mod tuples;

pub use budget::{COORDINATE_COUNT_RANGE, CoordinateBudget, TotalPrivacyLoss};
pub use negative_binomial::NegativeBinomial;
pub use noise::{CoordinateNoise, TUPLE_EPSILON_FRACTION};
pub use protocol::{CoordinateMessage, HONEST_PEOPLE_COUNT_RANGE, VectorSumProtocol};
pub use tuples::{LEVEL_COUNT_RANGE, MaxTupleCountShift, ZeroSumTuples};
