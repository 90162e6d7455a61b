//! Published mechanisms for choices and dense numbers, corrected, for comparison with hushbin.
//!
//! Most mechanisms come from T. Wang, Zhao, Yang, Ren, "Locally Differentially Private Data
//! Collection and Analysis" (P4 in the [`paper_errata`](hushbin_analysis::paper_errata)). Each report has a
//! budget (ε, δ): for any set of outcomes, P(set under one input) ≤ exp(ε)·P(set under another) +
//! δ. In all formulas, e = exp(ε). Errors of the paper are corrected here. [`as_printed`] has the
//! printed formulas and the privacy loss that they really cause.
//!
//! | paper | here | equation |
//! |---|---|---|
//! | GRR | [`RandomizedResponse`] | p = (e + (k − 1)δ)/(e + k − 1) |
//! | PRR, SPRR, and OUE | [`UnaryEncoding`] | p = (q·e + δ)/(1 − q + q·e) |
//! | LH, OLH | [`LocalHash`], [`OptimalLocalHashing`] | GRR over g buckets, g near e + 1 |
//! | Algorithm 1, Mechanism-1 | [`MajorityMechanism`] | α = (e + δ)/(e + 1) for odd d |
//! | Algorithm 2 | [`TwoPointMechanism`] | A = (e + 1)/(e + 2δ − 1) |
//! | Mechanism-2 | [`SampledTwoPointMechanism`] | k attributes at (ε/k, δ/k) |
//! | optimal Gaussian | [`GaussianMechanism`] | Δ = √2 of a choice, 2√d of numbers |
//!
//! Each type of the table checks its parameters. It computes δ at any ε and the variance of its
//! unbiased estimate, and it draws reports. Draws use the caller's generator, and thresholds that
//! are rounded so that privacy holds. There are two exceptions: [`GaussianMechanism`] draws in floating
//! point, for simulations, and [`piecewise_variance`] is a formula only. A small δ for each report
//! improves estimates by a negligible factor ([`favoured_probability_with_delta`]), so hushbin does
//! not offer it.
//!
//! Further mechanisms have a distribution and a variance, but do not draw reports:
//! [`RandomizedLevelResponse`], [`PiecewiseMechanism`] (PM, its best width, OPM), [`ThreeOutputMechanism`],
//! [`HybridThreeOutputPiecewise`] (HM-TP), [`StaircaseMechanism`], [`SampledNumberMechanism`] and [`HadamardResponse`].
//! [`variance_lower_bound`] is a lower bound for all unbiased mechanisms for one number.
//!
//! [`ratings`] has mechanisms for sparse ratings. The papers P1, P2 and P3 of the
//! [`paper_errata`](hushbin_analysis::paper_errata) compare their mechanisms with these. [`distribution`] has
//! mechanisms for the distribution of one number.
//!
//! [`sums`] implements the mechanism of a different paper: sums of vectors from shuffled messages,
//! without a local ε. [`shuffled_counts`] has protocols for histograms from shuffled messages.
//!
//! All of these mechanisms serve only comparisons, such as [`compare_mechanisms`], and figures;
//! pages cannot use them for reports. [`LossFunction`] computes the gradients that private learning
//! reports.
//!
//! ```
//! use hushbin_study::competitors::{Budget, OptimalLocalHashing, UnaryEncoding};
//!
//! let budget = Budget::new(1.0, 1e-6)?;
//! let olh = OptimalLocalHashing::new(100, &budget)?.support_probabilities();
//! let oue = UnaryEncoding::optimized_encoding(100, &budget)?.support_probabilities();
//! assert!((olh.single_report_variance(false) / oue.single_report_variance(false) - 1.0).abs() < 0.01);
//! # Ok::<(), hushbin::Error>(())
//! ```

pub mod as_printed;
mod budget;
mod choice;
mod compare;
pub mod distribution;
mod favoured_set;
mod gaussian;
mod learning;
mod numbers;
pub mod ratings;
pub mod shuffled_counts;
pub mod sums;

pub use budget::{Budget, DELTA_RANGE, hockey_stick_divergence, least_epsilon};
pub use choice::{
    HadamardResponse, HashReport, LocalHash, OptimalLocalHashing, RandomizedResponse,
    SubsetSelection, SupportProbabilities, UnaryEncoding, best_bucket_count,
};
pub use compare::{
    ComparedQuestion, ComparisonRow, EstimateVariance, MechanismComparison, compare_mechanisms,
};
pub use favoured_set::favoured_probability_with_delta;
pub use gaussian::GaussianMechanism;
pub use learning::{LossFunction, clip_gradient_coordinates, encode_category_as_signs};
pub use numbers::{
    ATTRIBUTE_COUNT_RANGE, EPSILON_PER_DRAWN_ATTRIBUTE, HybridThreeOutputPiecewise,
    MajorityMechanism, PiecewiseMechanism, RandomizedLevelResponse, SampledNumberMechanism,
    SampledTwoPointMechanism, SingleNumberMechanismKind, StaircaseMechanism, ThreeOutputMechanism,
    TwoPointMechanism, hybrid_variance, piecewise_variance, variance_lower_bound,
};
