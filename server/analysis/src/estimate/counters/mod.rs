//! Counters into which reports are folded, and the encoding of the counts.

mod bucket_hash_range;
pub(crate) mod encoding;
mod hit_counters;
mod sign_counter;
mod uniformity_counts;
mod wide_vectors;

pub(crate) use bucket_hash_range::BucketHashRange;
pub(crate) use encoding::{MAX_REPORTS, TotalsError, TotalsReader, append_header};
pub(crate) use hit_counters::{HitCounters, HitsBySign, SlotCounters};
pub(crate) use sign_counter::ItemSignAgreementCounter;
pub(crate) use uniformity_counts::{MIN_EXPECTED_COUNT, UniformityCounts};
pub(crate) use wide_vectors::WideVectors;
