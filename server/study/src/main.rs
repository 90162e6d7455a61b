//! Program `hushbin-study`: runs its command line and prints errors.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use hushbin_study::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hushbin-study: {error}");
            ExitCode::FAILURE
        }
    }
}
