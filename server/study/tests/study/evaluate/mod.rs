//! Tests of `hushbin-study experiments`. The tables agree with independently computed numbers and
//! with predictions. Interrupted runs give the same tables.
//!
//! `HUSHBIN_EVALUATION` names a directory filled by `npm run evaluate -- experiments --preset
//! full`. The tests then read it instead of the quick preset's results.

mod pages;
mod peers;
mod quantiles;
mod reference;
mod resumed;
mod shuffled;
mod table;

use std::env;
use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::study;
use table::Tables;

/// Results of the quick preset, run once for all tests.
static QUICK: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let output = study(&["experiments", "--preset", "quick", "--out", out]);
    assert!(output.status.success(), "{output:?}");
    directory
});

/// Tables of the directory in `HUSHBIN_EVALUATION`, or else of the quick preset.
fn tables() -> Tables {
    Tables::new(&directory())
}

fn directory() -> PathBuf {
    match env::var_os("HUSHBIN_EVALUATION") {
        Some(directory) => directory.into(),
        None => QUICK.path().to_owned(),
    }
}
