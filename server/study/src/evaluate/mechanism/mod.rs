//! hushbin's mechanisms and published ones, under one interface.

pub(super) mod choice_protocol;
pub(super) mod contestant;
pub(super) mod numbers_mechanism;
pub(super) mod shared_values;
pub(super) mod simulate;
