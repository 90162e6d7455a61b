//! Published mechanisms for people who rate at most s of d items.
//!
//! P1, P2 and P3 of the [`paper_errata`](hushbin_analysis::paper_errata) compare their mechanisms with these,
//! which are called oracles. Each oracle states its privacy loss, which tests check by enumeration,
//! and has unbiased estimates. [`PUBLISHED_RATING_ORACLES`] lists all oracles. In all formulas, e = exp(ε).
//!
//! ```
//! use hushbin_study::competitors::ratings::{PUBLISHED_RATING_ORACLES, OracleSetting};
//!
//! let setting = OracleSetting { item_count: 256, sparsity: 4, epsilon: 1.0, delta: 1e-5, protected_distance: 1.0 };
//! for named in PUBLISHED_RATING_ORACLES {
//!     let oracle = (named.build)(&setting)?;
//!     println!("{}: ε {:.3}, {} bits", named.name, oracle.privacy_loss(), oracle.report_bits());
//! }
//! # Ok::<(), hushbin::Error>(())
//! ```

pub mod drafts_as_printed;
mod entry_sampling;
mod harmony;
mod k_fold;
mod laplace_noise;
mod naive_bits;
mod normal_noise;
mod one_sparse;
mod pckv;
mod privkv;
mod rating_oracle;
mod registry;
mod report_sums;
mod signed_bit;
mod signed_item_hashing;
mod slots;
mod three_answers;

pub use entry_sampling::SingleEntrySampling;
pub use harmony::HarmonyMechanism;
pub use k_fold::KFoldRepetition;
pub use laplace_noise::LaplaceMechanism;
pub use naive_bits::NaivePerturbation;
pub use normal_noise::GaussianRatingMechanism;
pub use one_sparse::OneSparseOracle;
pub use pckv::{PckvGrr, PckvProbabilities, PckvUe};
pub use privkv::PrivKv;
pub use rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments, RatingOracle};
pub use registry::{NamedOracle, PUBLISHED_RATING_ORACLES, PrivacyUnit};
pub use report_sums::{LinearEstimator, ReportSums};
pub use signed_bit::HashedSignBitOracle;
pub use signed_item_hashing::SignedItemHashOracle;
pub use slots::Slot;
pub use three_answers::PrivKvThreeAnswers;
