//! A file that is whole or not there.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file to be, beside the one that may be there: what cannot be written is
/// known before there is anything to write, and nobody finds half of it.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl Output {
    /// Begins a file.
    ///
    /// # Errors
    /// What keeps a file of this path from being written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"));
        }
        let part = path.with_added_extension(format!("{}.part", std::process::id()));
        let file = File::create(&part)?;
        Ok(Self {
            path: path.to_owned(),
            part,
            file,
        })
    }

    /// Puts the file in its place, once all of it is on the disk.
    ///
    /// # Errors
    /// What the disk says.
    pub(crate) fn finish(mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        fs::rename(&self.part, &self.path)
    }
}

impl Drop for Output {
    /// Leaves nothing behind where it was not finished.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}
