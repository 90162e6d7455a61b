//! Tokens in a database, for all processes that share it.

use parking_lot::Mutex;

use super::token::{Token, TokensError, log_changes, warn_if_role_unknown};
use crate::store::{DatabaseAddress, EngineError, Session, SessionPool, open_pool};

const TOKEN_COLUMNS: &str = "id, name, role, created, sha256";

fn select_tokens(
    session: &mut Session,
    condition: &str,
    value: Option<&str>,
) -> Result<Vec<Token>, EngineError> {
    let query =
        format!("SELECT {TOKEN_COLUMNS} FROM hushbin.token {condition} ORDER BY created, id");
    let rows = match value {
        Some(value) => session.client().query(&query, &[&value]),
        None => session.client().query(&query, &[]),
    }?;
    Ok(rows.iter().map(token_from_row).collect())
}

fn token_from_row(row: &postgres::Row) -> Token {
    Token {
        id: row.get("id"),
        name: row.get("name"),
        role_name: row.get("role"),
        created: row.get::<_, i64>("created").cast_unsigned(),
        sha256: row.get("sha256"),
    }
}

/// Current tokens of a database.
pub(crate) struct DatabaseTokens {
    sessions: SessionPool,
    /// Tokens at the last comparison, or `None` before the first.
    last_seen: Mutex<Option<Vec<Token>>>,
}

impl DatabaseTokens {
    pub(super) fn new(database: &DatabaseAddress) -> Self {
        Self {
            sessions: SessionPool::new(database, false),
            last_seen: Mutex::default(),
        }
    }

    /// Returns true if there are no tokens, so that no one has access.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn is_empty(&self) -> Result<bool, TokensError> {
        Ok(self.compare_tokens(&mut self.last_seen.lock())?.is_empty())
    }

    /// Returns the current tokens, and logs the changes since the last comparison.
    fn compare_tokens<'a>(
        &self,
        last_seen: &'a mut Option<Vec<Token>>,
    ) -> Result<&'a [Token], TokensError> {
        let tokens = list_tokens(&self.sessions)?;
        match last_seen {
            Some(before) => log_changes(before, &tokens),
            None => tokens.iter().for_each(warn_if_role_unknown),
        }
        Ok(last_seen.insert(tokens))
    }

    /// Returns the token with this hash, or `None` if there is no such token. Logs which tokens
    /// other processes have created or revoked.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn find_token_by_hash(&self, hash: &str) -> Result<Option<Token>, TokensError> {
        // The time of a comparison or an index lookup depends on the hash. It reveals nothing about
        // a text with that hash.
        let Some(mut last_seen) = self.last_seen.try_lock() else {
            // Another request compares. Comparisons are not concurrent, since a late one could take
            // a new token for a revoked one.
            let select =
                |session: &mut Session| select_tokens(session, "WHERE sha256 = $1", Some(hash));
            let found = self.sessions.with_session(select)?;
            return Ok(found.into_iter().next());
        };
        let mut tokens = self.compare_tokens(&mut last_seen)?.iter();
        Ok(tokens.find(|token| token.sha256 == hash).cloned())
    }
}

/// Returns all tokens, oldest first.
///
/// # Errors
/// When the database fails.
pub(super) fn list_tokens(sessions: &SessionPool) -> Result<Vec<Token>, TokensError> {
    Ok(sessions.with_session(|session| select_tokens(session, "", None))?)
}

/// Adds a token.
///
/// # Errors
/// When another token has this name, or the database fails.
pub(super) fn add_token(database: &DatabaseAddress, token: &Token) -> Result<(), TokensError> {
    // Two processes may add tokens at the same time.
    let lock = "LOCK TABLE hushbin.token IN SHARE ROW EXCLUSIVE MODE";
    let insert = "INSERT INTO hushbin.token (id, name, role, created, sha256) \
        SELECT $1::TEXT, $2::TEXT, $3::TEXT, $4::BIGINT, $5::TEXT \
        WHERE NOT EXISTS (SELECT FROM hushbin.token WHERE $2 IN (id, name))";
    let created = token.created.cast_signed();
    let added = open_pool(database)?.with_session(|session| {
        session.run_in_transaction(|transaction| {
            transaction.execute(lock, &[])?;
            let values: &[&(dyn postgres::types::ToSql + Sync)] = &[
                &token.id,
                &token.name,
                &token.role_name,
                &created,
                &token.sha256,
            ];
            transaction.execute(insert, values)
        })
    })?;
    match added {
        0 => Err(TokensError::NameTaken {
            name: token.name.clone(),
        }),
        _ => Ok(()),
    }
}

/// Revokes the token with this id or name.
///
/// # Errors
/// When no token has this id or name, or the database fails.
pub(super) fn revoke_token(
    database: &DatabaseAddress,
    id_or_name: &str,
) -> Result<Token, TokensError> {
    let delete =
        format!("DELETE FROM hushbin.token WHERE $1 IN (id, name) RETURNING {TOKEN_COLUMNS}");
    let revoked = open_pool(database)?.with_session(|session| {
        session.run_in_transaction(|transaction| transaction.query_opt(&delete, &[&id_or_name]))
    })?;
    let row = revoked.ok_or_else(|| TokensError::UnknownToken {
        id_or_name: id_or_name.to_owned(),
    })?;
    Ok(token_from_row(&row))
}
