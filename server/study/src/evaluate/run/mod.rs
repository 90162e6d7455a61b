//! Runs experiments on all cores, and stores the finished units in files, from which an interrupted
//! study resumes.

pub(super) mod engine;
pub(super) mod finished_units;
