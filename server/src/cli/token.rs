//! `hushbin token`: who may read and administer.

use std::io::Write;

use clap::{Args, Subcommand};

use super::output::Error;
use super::place::PlaceOptions;
use crate::tokens::{self, Role};

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
    place: PlaceOptions,
    /// What its holder may do: read what is released, or also close batches and make, change
    /// and delete tasks
    #[arg(long, value_enum)]
    role: Role,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    name: String,
}

/// List the tokens, without what their holders send
#[derive(Debug, Args)]
struct ListOptions {
    #[command(flatten)]
    place: PlaceOptions,
}

/// Revoke a token
#[derive(Debug, Args)]
struct RevokeOptions {
    #[command(flatten)]
    place: PlaceOptions,
    /// Id of the token, as `hushbin token list` has it
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Create(options) => {
            let (_, text) = tokens::create(&options.place.place()?, options.role, &options.name)?;
            writeln!(out, "{text}")?;
        }
        Command::List(options) => {
            for token in tokens::list(&options.place.place()?)? {
                let role = token.role.name();
                writeln!(out, "{}  {role:<7}  {}", token.id, token.name)?;
            }
        }
        Command::Revoke(options) => {
            let token = tokens::revoke(&options.place.place()?, &options.id)?;
            writeln!(out, "revoked {}  {}", token.id, token.name)?;
        }
    }
    Ok(())
}
