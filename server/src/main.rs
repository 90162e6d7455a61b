//! The `hushbin` command.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use hushbin_server::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hushbin: {error}");
            ExitCode::FAILURE
        }
    }
}
