//! Storage of the engines under test.

use std::path::PathBuf;
use std::sync::Arc;

use hushbin_tests::cable::Cable;
use hushbin_tests::postgres::{Server, shared};

use crate::store::engine::StorageEngine;
use crate::store::files::FilesEngine;
use crate::store::location::JournalLocation;
use crate::store::postgres::{DatabaseAddress, PostgresEngine};

/// Storage for engines under test. The storage lasts at least until this value is dropped.
pub(super) trait TestStorage {
    fn new() -> Self;
    /// Returns the location of the storage.
    fn location(&self) -> JournalLocation;

    /// Opens an engine in the way that a starting process does.
    fn open(&self) -> Box<dyn StorageEngine> {
        match self.location() {
            JournalLocation::Directory(directory) => {
                Box::new(FilesEngine::open(&directory).unwrap())
            }
            JournalLocation::Database(database) => {
                Box::new(PostgresEngine::open(&database).unwrap())
            }
        }
    }
}

pub(super) struct FilesTestStorage(tempfile::TempDir);

impl TestStorage for FilesTestStorage {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn location(&self) -> JournalLocation {
        JournalLocation::Directory(PathBuf::from(self.0.path()))
    }
}

pub(super) struct DatabaseTestStorage {
    server: Arc<Server>,
    address: String,
    parsed_address: DatabaseAddress,
}

impl DatabaseTestStorage {
    /// Opens an engine that reaches the server through a cable.
    pub(super) fn open_over_cable(&self) -> (Cable, Box<dyn StorageEngine>) {
        let port = self.server.port();
        let cable = Cable::to(([127, 0, 0, 1], port).into());
        let address = self.address.replace(
            &format!(":{port}/"),
            &format!(":{}/", cable.address().port()),
        );
        let database = DatabaseAddress::new(&address).unwrap();
        (cable, Box::new(PostgresEngine::open(&database).unwrap()))
    }

    /// Returns the server's answer to an SQL statement.
    pub(super) fn query_server(&self, statement: &str) -> String {
        let (_, name) = self.address.rsplit_once('/').unwrap();
        self.server.ask(name, statement)
    }
}

impl TestStorage for DatabaseTestStorage {
    fn new() -> Self {
        let server = shared();
        let address = server.database();
        let database = DatabaseAddress::new(&address).unwrap();
        Self {
            server,
            address,
            parsed_address: database,
        }
    }

    fn location(&self) -> JournalLocation {
        JournalLocation::Database(self.parsed_address.clone())
    }
}
