//! The `hushbin` command.
fn main() {}
