//! Published mechanisms for the distribution of one number in [0, 1].
//!
//! | mechanism | here | estimate |
//! |---|---|---|
//! | Square Wave (Li et al., SIGMOD 2020) | [`SquareWaveMechanism`] | [`expectation_maximization_shares`]: expectation maximisation with smoothing |
//! | hierarchy (Cormode, Kulkarni, Srivastava, VLDB 2019) | [`HierarchicalHistogram`] | least squares over all levels |
//! | choice of a bin (Ye and Barg, 2018) | [`BinSelection`] | unbiased share of each bin |
//!
//! Noisy unbiased estimates need not form a distribution function. [`shares_of_isotonic_cdf`] finds the
//! nearest distribution function, and [`histogram_quantile`] computes its quantiles. The mechanisms are for
//! simulations only: Square Wave draws its reports in floating point.

mod bins;
mod ems;
mod hierarchy;
mod isotonic;
mod square_wave;

pub use bins::BinSelection;
pub use ems::expectation_maximization_shares;
pub use hierarchy::HierarchicalHistogram;
pub use isotonic::{histogram_quantile, shares_of_isotonic_cdf};
pub use square_wave::{SquareWaveMechanism, TransitionMatrix};
