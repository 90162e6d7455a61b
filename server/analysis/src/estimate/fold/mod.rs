//! Counters into which reports are folded, and the encoding of the counts.

mod counted;
pub(crate) mod encoding;
mod independent;
mod signs;
mod spread;

pub(crate) use counted::{Counted, Hits, Slots};
pub(crate) use encoding::{MAX_REPORTS, Reader, TotalsError, append_header};
pub(crate) use independent::BucketWords;
pub(crate) use signs::SignCounter;
pub(crate) use spread::{MIN_EXPECTED, UniformityCounts};
