//! Interfaces that hushbin's mechanisms and published mechanisms share, and the simulation of
//! crowds that report by them.

pub(super) mod choice_protocol;
pub(super) mod contestant;
pub(super) mod numbers_mechanism;
pub(super) mod shared_values;
pub(super) mod simulate;
