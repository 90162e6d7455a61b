//! Stand-in for tokens in a database, in a build without the feature `postgres`.

use super::token::{Token, TokensError};
use crate::store::{DatabaseAddress, SessionPool, open_pool};

pub(crate) struct DatabaseTokens(SessionPool);

impl DatabaseTokens {
    pub(super) fn new(database: &DatabaseAddress) -> Self {
        Self(SessionPool::uninhabited_pool(database))
    }

    pub(super) fn is_empty(&self) -> Result<bool, TokensError> {
        match self.0.0 {}
    }

    pub(super) fn find_token_by_hash(&self, _: &str) -> Result<Option<Token>, TokensError> {
        match self.0.0 {}
    }
}

pub(super) fn list_tokens(sessions: &SessionPool) -> Result<Vec<Token>, TokensError> {
    match sessions.0 {}
}

pub(super) fn add_token(database: &DatabaseAddress, _: &Token) -> Result<(), TokensError> {
    match open_pool(database)?.0 {}
}

pub(super) fn revoke_token(database: &DatabaseAddress, _: &str) -> Result<Token, TokensError> {
    match open_pool(database)?.0 {}
}
