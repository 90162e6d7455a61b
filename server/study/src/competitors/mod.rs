//! Mechanisms of others for choices and dense numbers, repaired, to compare with.
//!
//! They are those of T. Wang, Zhao, Yang, Ren, "Locally Differentially Private Data
//! Collection and Analysis" (called P4 in the [`errata`](hushbin_analysis::errata)), under (ε, δ)
//! of one report: whatever a set of outcomes, one input makes it likelier than another
//! by at most exp(ε) times, plus δ. Where the paper errs they are as they should be,
//! and [`as_printed`] says what was printed and what that gives away.
//!
//! | paper | here | equation |
//! |---|---|---|
//! | GRR | [`Direct`] | p = (e + (k − 1)δ)/(e + k − 1) |
//! | PRR, SPRR; OUE beside them | [`Unary`] | p = (q·e + δ)/(1 − q + q·e) |
//! | LH, OLH | [`LocalHash`], [`OptimalHash`] | GRR over g buckets, g near e + 1 |
//! | Algorithm 1, Mechanism-1 | [`Majority`] | α = (e + δ)/(e + 1) for odd d |
//! | Algorithm 2 | [`TwoPoints`] | A = (e + 1)/(e + 2δ − 1) |
//! | Mechanism-2 | [`SampledTwoPoints`] | k attributes at (ε/k, δ/k) |
//! | optimal Gaussian | [`Gaussian`] | Δ = √2 of a choice, 2√d of numbers |
//!
//! Each has its parameters and their errors, its δ at any ε, the variance of its
//! unbiased estimate, and a sampler, which takes the caller's generator and draws by
//! thresholds rounded to the safe side; but [`Gaussian`] draws in floating point, for
//! simulations, and [`piecewise_variance`] is a formula. δ as in these is worth
//! nothing where it is small ([`subset_delta`]), and hushbin does not offer it.
//!
//! More mechanisms have a law and a variance, and no sampler: [`Grid`], [`Sliding`] (PM, its
//! best width, OPM), [`ThreeOutputs`], [`Mixed`] (HM-TP), [`Staircase`], [`SampledPiecewise`]
//! and [`Hadamard`]. [`least_variance`] bounds all unbiased ones for one number.
//!
//! [`ratings`] has those for sparse ratings, which P1, P2 and P3 compare with, and
//! [`distribution`] those for the distribution of one number.
//!
//! [`sums`] is another paper's: sums of vectors from shuffled messages, without a local ε.
//!
//! They are for comparisons, [`compare`] and figures; pages cannot report by them.
//! [`Loss`] is what private learning feeds them with.
//!
//! ```
//! use hushbin_study::competitors::{Budget, OptimalHash, Unary};
//!
//! let budget = Budget::new(1.0, 1e-6)?;
//! let olh = OptimalHash::new(100, &budget)?.rates();
//! let oue = Unary::optimized(100, &budget)?.rates();
//! assert!((olh.variance(false) / oue.variance(false) - 1.0).abs() < 0.01);
//! # Ok::<(), hushbin::Error>(())
//! ```

pub mod as_printed;
mod budget;
mod choice;
mod compare;
pub mod distribution;
mod favoured;
mod gaussian;
mod learning;
mod numbers;
pub mod ratings;
pub mod sums;

pub use budget::{Budget, DELTA, hockey_stick, least_epsilon};
pub use choice::{
    Direct, Hadamard, HashReport, LocalHash, OptimalHash, Rates, SubsetSelection, Unary,
    best_buckets,
};
pub use compare::{Asked, Comparison, Row, Variance, compare};
pub use favoured::subset_delta;
pub use gaussian::Gaussian;
pub use learning::{Loss, clip, encode_category};
pub use numbers::{
    ANSWERED_EPSILON, ATTRIBUTES, Grid, Majority, Mixed, Part, SampledPiecewise, SampledTwoPoints,
    Sliding, Staircase, ThreeOutputs, TwoPoints, hybrid_variance, least_variance,
    piecewise_variance,
};
