//! A file that is whole or not there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::Error;

/// A file to be, beside the one that may be there: what cannot be written is
/// known before there is anything to write, and nobody finds half of it.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(format!("cannot write {}: it is a directory", path.display()).into());
        }
        let part = path.with_added_extension(format!("{}.part", std::process::id()));
        let file = File::create(&part).map_err(|error| refused(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            part,
            file,
        })
    }

    pub(crate) fn finish(mut self, text: &str) -> Result<(), Error> {
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_all())
            .and_then(|()| fs::rename(&self.part, &self.path));
        written.map_err(|error| refused(&self.path, &error))
    }
}

impl Drop for Output {
    /// Leaves nothing behind where it was not finished.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    format!("cannot write {}: {error}", path.display()).into()
}
