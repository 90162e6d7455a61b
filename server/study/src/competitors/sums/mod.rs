//! Sums of real vectors from shuffled messages, as a paper has them, repaired; and a
//! table for each of its errata.
//!
//! The paper is Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean
//! Estimation in the Shuffle Model: Optimal Rates Require Many Messages" (PVME). In
//! every coordinate it runs the protocol of Ghazi, Kumar, Manurangsi, Pagh, Sinha 2021
//! (GKMPS): a person sends a whole number in clear, and shares of noise that cancels.
//! Nothing is private of one person's messages; that of all of them, shuffled, is.
//!
//! | part | here |
//! |---|---|
//! | tuples of sum zero, what a value takes of them | [`Tuples`] |
//! | shares of noise | [`NegativeBinomial`] |
//! | noise of a coordinate, its messages, its variance, its real δ | [`CoordinateNoise`] |
//! | (ε₀, δ₀) of a coordinate, and what many of them are worth | [`CoordinateBudget`] |
//! | messages and sums | [`VectorSum`] |
//! | reports of one cell of a grid | [`grid`] |
//! | what is printed, and what that gives away | [`as_printed`] |
//!
//! For comparisons: counts are drawn in floating point.

pub mod as_printed;
mod budget;
mod divergence;
pub mod grid;
mod losses;
mod negative_binomial;
mod noise;
mod protocol;
mod tuples;

pub use budget::{COORDINATES, CoordinateBudget, Total};
pub use negative_binomial::NegativeBinomial;
pub use noise::{CoordinateNoise, TUPLES_PART};
pub use protocol::{HONEST, Message, VectorSum};
pub use tuples::{LEVELS, Reach, Tuples};
