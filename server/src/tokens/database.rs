//! Tokens in a database, for all processes that share it.

use std::sync::Arc;

use clap::ValueEnum;

use super::token::{Token, TokenRole, TokensError};
use crate::store::{DatabaseAddress, EngineError, Session, SessionPool, open_pool};

const SELECT_TOKENS: &str = "SELECT id, name, role, created, sha256 FROM hushbin.token";

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
    let query = format!("{SELECT_TOKENS} {condition} ORDER BY created, id");
    let rows = match value {
        Some(value) => session.client().query(&query, &[&value]),
        None => session.client().query(&query, &[]),
    }?;
    let token = |row: &postgres::Row| {
        Ok(Token {
            id: row.get("id"),
            name: row.get("name"),
            role: parse_role(row.get("role"))?,
            created: row.get::<_, i64>("created").cast_unsigned(),
            sha256: row.get("sha256"),
        })
    };
    Ok(rows.iter().map(token).collect())
}

/// Creates a pool of database sessions for looking up tokens.
pub(super) fn database_session_pool(database: &DatabaseAddress) -> Arc<SessionPool> {
    Arc::new(SessionPool::new(database, false))
}

/// Returns all tokens, oldest first.
///
/// # Errors
/// When the database fails.
pub(super) fn list_tokens(sessions: &SessionPool) -> Result<Vec<Token>, TokensError> {
    let found = sessions.with_session(|session| select_tokens(session, "", None))?;
    found.into_iter().collect()
}

/// Returns the token with this hash, or `None` if there is no such token.
///
/// # Errors
/// When the database fails.
pub(super) fn find_token_by_hash(
    sessions: &SessionPool,
    hash: &str,
) -> Result<Option<Token>, TokensError> {
    // The time of an index lookup depends on the hash. It reveals nothing about a text with that
    // hash.
    let found =
        sessions.with_session(|session| select_tokens(session, "WHERE sha256 = $1", Some(hash)))?;
    found.into_iter().next().transpose()
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
            Ok(transaction.execute(insert, values)?)
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
    let sessions = open_pool(database)?;
    let found = sessions.with_session(|session| {
        select_tokens(session, "WHERE $1 IN (id, name)", Some(id_or_name))
    })?;
    let delete = "DELETE FROM hushbin.token WHERE $1 IN (id, name)";
    let deleted = sessions.with_session(|session| {
        session.run_in_transaction(|transaction| Ok(transaction.execute(delete, &[&id_or_name])?))
    })?;
    let unknown = || TokensError::UnknownToken {
        id_or_name: id_or_name.to_owned(),
    };
    // Another process may have revoked the token meanwhile.
    let token = found.into_iter().next().filter(|_| deleted > 0);
    token.ok_or_else(unknown)?
}
