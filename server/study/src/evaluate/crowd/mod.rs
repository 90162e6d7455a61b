//! People whose true answers are known. They are drawn from a distribution or read from a file.

pub(super) mod census;
pub(super) mod data_set;
pub(super) mod entry_distribution;
pub(super) mod number;
pub(super) mod people;
pub(super) mod random;
