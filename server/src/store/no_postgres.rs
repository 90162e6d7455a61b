//! Replacement for the module `postgres`, in a build without the feature `postgres`.
//!
//! The type [`DatabaseAddress`] has no values. So code that handles databases compiles, but can
//! never run.

use std::convert::Infallible;
use std::sync::Arc;

use super::database_diagnosis::DatabaseDiagnosis;
use super::engine::{EngineError, StorageEngine, StorageReader, TaskRow, TaskWithBatches};
use crate::missing_feature::MissingFeature;

/// Address of a PostgreSQL database. In this build the type has no values.
#[derive(Debug, Clone)]
pub struct DatabaseAddress(Infallible);

impl DatabaseAddress {
    /// Refuses every address.
    ///
    /// # Errors
    /// [`EngineError::MissingFeature`].
    pub fn new(_: &str) -> Result<Self, EngineError> {
        Err(EngineError::MissingFeature(MissingFeature {
            functionality: "PostgreSQL",
            feature: "postgres",
        }))
    }
}

pub(super) fn open(database: &DatabaseAddress) -> Result<Box<dyn StorageEngine>, EngineError> {
    match database.0 {}
}

pub(super) fn open_existing(
    database: &DatabaseAddress,
    _read_only: bool,
) -> Result<(Vec<TaskWithBatches>, Arc<dyn StorageReader>), EngineError> {
    match database.0 {}
}

pub(super) fn stored_tasks(database: &DatabaseAddress) -> Result<Vec<TaskRow>, EngineError> {
    match database.0 {}
}

/// Pool of sessions with a database.
pub(crate) struct SessionPool(pub(crate) Infallible);

impl SessionPool {
    pub(crate) fn uninhabited_pool(database: &DatabaseAddress) -> Self {
        match database.0 {}
    }
}

pub(crate) fn diagnose_database(
    database: &DatabaseAddress,
) -> Result<DatabaseDiagnosis, EngineError> {
    match database.0 {}
}

pub(crate) fn open_pool(database: &DatabaseAddress) -> Result<SessionPool, EngineError> {
    match database.0 {}
}

pub(crate) fn open_existing_pool(database: &DatabaseAddress) -> Result<SessionPool, EngineError> {
    match database.0 {}
}
