//! PCKV: pads the input with dummies to s entries, draws one of these entries, and randomises the
//! drawn item among all items.
//!
//! Source: Gu, Li, Cheng, Xiong, Cao, "PCKV: Locally Differentially Private Correlated Key-Value
//! Data Collection with Optimized Utility" (USENIX Security 2020). Estimates are the paper's
//! unbiased linear estimates, without the paper's clipping.

mod grr;
mod rates;
mod ue;

pub use grr::PckvGrr;
pub use rates::PckvProbabilities;
pub use ue::PckvUe;
