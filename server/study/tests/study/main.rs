//! Tests of published mechanisms, and of their comparison with hushbin.

#![allow(clippy::unwrap_used)]

mod bounds;
mod compare;
mod competitors;
mod evaluate;
mod published;

use std::process::{Command, Output};

/// Runs the command with these arguments.
fn study(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_hushbin-study");
    Command::new(program).args(arguments).output().unwrap()
}
