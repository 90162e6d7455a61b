//! `hushbin-study experiments`: its tables agree with numbers computed independently and with what is
//! predicted, and come out the same wherever it was cut off.
//!
//! `HUSHBIN_EVALUATION` names a directory that `npm run evaluate -- experiments --preset full` has filled, to be
//! looked at in place of that of the quick preset.

mod pages;
mod peers;
mod quantiles;
mod reference;
mod resumed;
mod table;

use std::env;
use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::study;
use table::Tables;

/// What the quick preset found, run once for all tests.
static QUICK: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let output = study(&["experiments", "--preset", "quick", "--out", out]);
    assert!(output.status.success(), "{output:?}");
    directory
});

/// The tables of the directory that is asked for, or else of the quick preset.
fn tables() -> Tables {
    Tables::new(&directory())
}

fn directory() -> PathBuf {
    match env::var_os("HUSHBIN_EVALUATION") {
        Some(directory) => directory.into(),
        None => QUICK.path().to_owned(),
    }
}
