//! The `hushbin` command.

use std::io;
use std::process::ExitCode;

use hushbin_server::cli::Cli;

// A request makes some dozens of small allocations, often freed on another thread. mimalloc is fast
// at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Cli::parse_process_arguments().run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hushbin: {error}");
            ExitCode::FAILURE
        }
    }
}
