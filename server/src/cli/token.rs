//! `hushbin token`: access tokens of analysts and admins.

use std::io::Write;

use clap::{Args, Subcommand};

use super::journal_location::JournalLocationOptions;
use super::output::Error;
use super::visible_text::VisibleTextWriter;
use crate::tokens::{self, TokenRole};

/// Create, list and revoke the access tokens of analysts and admins
///
/// Changes apply at once, also to a running collector.
#[derive(Debug, Args)]
pub(super) struct TokenCommandOptions {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(TokenCreateOptions),
    List(TokenListOptions),
    Revoke(TokenRevokeOptions),
}

/// Create a token and print it; it cannot be shown again
#[derive(Debug, Args)]
struct TokenCreateOptions {
    #[command(flatten)]
    location: JournalLocationOptions,
    /// Permissions that the token gives
    #[arg(long, value_enum)]
    role: TokenRole,
    /// Unique name of the token in 'hushbin token list', such as its holder or purpose
    #[arg(long, value_name = "TEXT")]
    name: String,
}

/// List the id, role and name of every token; the tokens themselves are never shown
#[derive(Debug, Args)]
struct TokenListOptions {
    #[command(flatten)]
    location: JournalLocationOptions,
}

/// Revoke a token, so that requests with this token are refused from now on
#[derive(Debug, Args)]
struct TokenRevokeOptions {
    #[command(flatten)]
    location: JournalLocationOptions,
    /// Id or name of the token, as 'hushbin token list' prints it
    #[arg(value_name = "ID_OR_NAME")]
    id_or_name: String,
}

pub(super) fn run_token_command(
    options: &TokenCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let out = &mut VisibleTextWriter::new(out);
    match &options.command {
        TokenCommand::Create(options) => {
            let (_, text) = tokens::create_token(
                &options.location.journal_location()?,
                options.role,
                &options.name,
            )?;
            writeln!(out, "{text}")?;
        }
        TokenCommand::List(options) => {
            for token in tokens::list_tokens(&options.location.journal_location()?)? {
                let (role, unknown) = (&token.role_name, " (unknown role: permits nothing)");
                let note = token.role().map_or(unknown, |_| "");
                writeln!(out, "{}  {role:<7}{note}  {}", token.id, token.name)?;
            }
        }
        TokenCommand::Revoke(options) => {
            let token =
                tokens::revoke_token(&options.location.journal_location()?, &options.id_or_name)?;
            writeln!(out, "revoked {}  {}", token.id, token.name)?;
        }
    }
    Ok(())
}
