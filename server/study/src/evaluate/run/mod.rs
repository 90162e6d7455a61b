//! Runs of experiments on all cores, and the files that they continue from.

pub(super) mod engine;
pub(super) mod runs;
