//! The `hushbin` command.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use hushbin_server::cli::Cli;

// A request allocates some dozens of small pieces on whichever thread, freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Cli::parse().run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hushbin: {error}");
            ExitCode::FAILURE
        }
    }
}
