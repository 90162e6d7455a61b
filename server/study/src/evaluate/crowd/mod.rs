//! People whose truth is known: drawn by a law, or read from a file.

pub(super) mod census;
pub(super) mod data_set;
pub(super) mod number;
pub(super) mod people;
pub(super) mod random;
pub(super) mod workload;
