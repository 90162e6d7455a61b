//! The `hushbin` command.

use std::process::ExitCode;

use hushbin_server::cli::Cli;

// A request makes some dozens of small allocations, often freed on another thread. mimalloc is fast
// at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::parse_process_arguments().run_on_standard_streams()
}
