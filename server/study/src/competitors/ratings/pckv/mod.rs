//! PCKV: one entry of the input, padded to s, is drawn and reported among all items.
//!
//! Source: Gu, Li, Cheng, Xiong, Cao, "PCKV: Locally Differentially Private Correlated Key-Value
//! Data Collection with Optimized Utility" (USENIX Security 2020). Estimates are the linear ones,
//! before clipping.

mod grr;
mod rates;
mod ue;

pub use grr::PckvGrr;
pub use rates::PckvRates;
pub use ue::PckvUe;
