//! Replacement for the module `postgres`, in a build without the feature `postgres`.
//!
//! The type [`Database`] has no values. So code that handles databases compiles, but can never run.

use std::convert::Infallible;
use std::sync::Arc;

use super::engine::{Engine, EngineError, StorageReader, TaskBatches};
use crate::missing_feature::MissingFeature;

/// Address of a PostgreSQL database. In this build the type has no values.
#[derive(Debug, Clone)]
pub struct Database(Infallible);

impl Database {
    /// Refuses every address.
    ///
    /// # Errors
    /// [`EngineError::MissingFeature`].
    pub fn new(_: &str) -> Result<Self, EngineError> {
        Err(EngineError::MissingFeature(MissingFeature {
            what: "PostgreSQL",
            feature: "postgres",
        }))
    }
}

pub(super) fn open(database: &Database) -> Result<Box<dyn Engine>, EngineError> {
    match database.0 {}
}

pub(super) fn open_read_only(
    database: &Database,
) -> Result<(Vec<TaskBatches>, Arc<dyn StorageReader>), EngineError> {
    match database.0 {}
}

/// Pool of sessions with a database.
pub(crate) struct SessionPool(pub(crate) Infallible);

impl SessionPool {
    pub(crate) fn of(database: &Database) -> Arc<Self> {
        match database.0 {}
    }
}

pub(crate) fn open_pool(database: &Database) -> Result<SessionPool, EngineError> {
    match database.0 {}
}

pub(crate) fn open_existing_pool(database: &Database) -> Result<SessionPool, EngineError> {
    match database.0 {}
}
