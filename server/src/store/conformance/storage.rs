//! Storage of the engines under test.

use std::path::PathBuf;
use std::sync::Arc;

use hushbin_tests::postgres::{Server, shared};

use crate::store::engine::Engine;
use crate::store::files::FilesEngine;
use crate::store::location::Location;
use crate::store::postgres::{Database, PostgresEngine};

/// Storage for engines under test. It exists at least until the value is dropped.
pub(super) trait Storage {
    fn new() -> Self;
    /// Returns the location of the storage.
    fn place(&self) -> Location;

    /// Opens an engine, as at a start of the process.
    fn open(&self) -> Box<dyn Engine> {
        match self.place() {
            Location::Directory(directory) => Box::new(FilesEngine::open(&directory).unwrap()),
            Location::Database(database) => Box::new(PostgresEngine::open(&database).unwrap()),
        }
    }
}

pub(super) struct InFiles(tempfile::TempDir);

impl Storage for InFiles {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn place(&self) -> Location {
        Location::Directory(PathBuf::from(self.0.path()))
    }
}

pub(super) struct InDatabase {
    server: Arc<Server>,
    address: String,
    database: Database,
}

impl InDatabase {
    /// Returns the server's answer to an SQL statement.
    pub(super) fn ask(&self, statement: &str) -> String {
        let (_, name) = self.address.rsplit_once('/').unwrap();
        self.server.ask(name, statement)
    }
}

impl Storage for InDatabase {
    fn new() -> Self {
        let server = shared();
        let address = server.database();
        let database = Database::new(&address).unwrap();
        Self {
            server,
            address,
            database,
        }
    }

    fn place(&self) -> Location {
        Location::Database(self.database.clone())
    }
}
