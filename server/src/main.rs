//! The `hushbin` command.

use std::process::ExitCode;

use clap::Parser;
use hushbin_server::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hushbin: {error}");
            ExitCode::FAILURE
        }
    }
}
