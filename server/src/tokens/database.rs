//! Tokens in a database, for all processes that share it.

use clap::ValueEnum;
use parking_lot::Mutex;

use super::token::{Token, TokenRole, TokensError, log_changes};
use crate::store::{DatabaseAddress, EngineError, Session, SessionPool, open_pool};

const TOKEN_COLUMNS: &str = "id, name, role, created, sha256";

/// Parses a stored role, which has the same name as on the command line.
fn parse_role(text: &str) -> Result<TokenRole, TokensError> {
    TokenRole::from_str(text, false).map_err(|_| TokensError::UnknownRole {
        found: text.to_owned(),
    })
}

fn select_tokens(
    session: &mut Session,
    condition: &str,
    value: Option<&str>,
) -> Result<Vec<Result<Token, TokensError>>, EngineError> {
    let query =
        format!("SELECT {TOKEN_COLUMNS} FROM hushbin.token {condition} ORDER BY created, id");
    let rows = match value {
        Some(value) => session.client().query(&query, &[&value]),
        None => session.client().query(&query, &[]),
    }?;
    Ok(rows.iter().map(token_from_row).collect())
}

fn token_from_row(row: &postgres::Row) -> Result<Token, TokensError> {
    Ok(Token {
        id: row.get("id"),
        name: row.get("name"),
        role: parse_role(row.get("role"))?,
        created: row.get::<_, i64>("created").cast_unsigned(),
        sha256: row.get("sha256"),
    })
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
        Ok(list_tokens(&self.sessions)?.is_empty())
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
            return found.into_iter().next().transpose();
        };
        let tokens = list_tokens(&self.sessions)?;
        if let Some(before) = &*last_seen {
            log_changes(before, &tokens);
        }
        let found = tokens.iter().find(|token| token.sha256 == hash).cloned();
        *last_seen = Some(tokens);
        Ok(found)
    }
}

/// Returns all tokens, oldest first.
///
/// # Errors
/// When the database fails.
pub(super) fn list_tokens(sessions: &SessionPool) -> Result<Vec<Token>, TokensError> {
    let found = sessions.with_session(|session| select_tokens(session, "", None))?;
    found.into_iter().collect()
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
    let (role, created) = (token.role.name(), token.created.cast_signed());
    let added = open_pool(database)?.with_session(|session| {
        session.run_in_transaction(|transaction| {
            transaction.execute(lock, &[])?;
            let values: &[&(dyn postgres::types::ToSql + Sync)] =
                &[&token.id, &token.name, &role, &created, &token.sha256];
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
    token_from_row(&row)
}
