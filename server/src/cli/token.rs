//! `hushbin token`: who may read and administer.

use std::io::Write;

use clap::{Args, Subcommand};

use super::location::LocationOptions;
use super::output::Error;
use crate::tokens::{self, TokenRole};

/// Make, list and revoke tokens: what analysts and admins send to the collector
///
/// Changes hold at once, also for a collector that runs.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(CreateOptions),
    List(ListOptions),
    Revoke(RevokeOptions),
}

/// Make a token and print it, which is the only time that it can be seen
#[derive(Debug, Args)]
struct CreateOptions {
    #[command(flatten)]
    location: LocationOptions,
    /// What its holder may do: read what is released, or also close batches and make, change
    /// and delete tasks
    #[arg(long, value_enum)]
    role: TokenRole,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    name: String,
}

/// List the tokens, without what their holders send
#[derive(Debug, Args)]
struct ListOptions {
    #[command(flatten)]
    location: LocationOptions,
}

/// Revoke a token
#[derive(Debug, Args)]
struct RevokeOptions {
    #[command(flatten)]
    location: LocationOptions,
    /// Id of the token, as `hushbin token list` has it
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Create(options) => {
            let (_, text) =
                tokens::create(&options.location.location()?, options.role, &options.name)?;
            writeln!(out, "{text}")?;
        }
        Command::List(options) => {
            for token in tokens::list(&options.location.location()?)? {
                let role = token.role.name();
                writeln!(out, "{}  {role:<7}  {}", token.id, token.name)?;
            }
        }
        Command::Revoke(options) => {
            let token = tokens::revoke(&options.location.location()?, &options.id)?;
            writeln!(out, "revoked {}  {}", token.id, token.name)?;
        }
    }
    Ok(())
}
