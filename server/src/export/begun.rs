//! Files that are opened once, pipes among them, of which the first line is known.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::error::ReadError;
use super::whole::shown;
use crate::text::MARK;

/// Bytes read to tell what a file holds, unless it begins with an object of JSON.
const BEGINNING: u64 = 4096;

/// File of which the beginning was read: what a pipe gave is not given again.
pub(crate) struct Begun {
    path: PathBuf,
    /// What was read: blank lines, and some or all of the line behind them.
    beginning: Vec<u8>,
    rest: BufReader<File>,
}

/// All bytes of a file, those among them that were read before.
pub(super) type Whole = Chain<Cursor<Vec<u8>>, BufReader<File>>;

impl Begun {
    /// Opens a file, and reads its first line that is not blank: the whole line if it is an object
    /// of JSON, else no more than tells what it is.
    ///
    /// # Errors
    /// When the file cannot be read, as a directory cannot.
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| file_error(path, source);
        let mut rest = BufReader::new(File::open(path).map_err(failed)?);
        let beginning = beginning(&mut rest).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            beginning,
            rest,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file begins with: all of its first line that is not blank, if that is an object.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// All bytes of the file, from the first that is no byte order mark.
    pub(crate) fn whole(self) -> Whole {
        Cursor::new(self.beginning).chain(self.rest)
    }

    /// The file at its first byte, to be read in any order.
    ///
    /// # Errors
    /// When it is a pipe.
    pub(super) fn seekable(self) -> Result<File, ReadError> {
        let mut file = self.rest.into_inner();
        match file.rewind() {
            Ok(()) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotSeekable => Err(ReadError::Pipe {
                path: shown(&self.path),
            }),
            Err(source) => Err(file_error(&self.path, source)),
        }
    }
}

fn beginning(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let read = input
            .by_ref()
            .take(BEGINNING)
            .read_until(b'\n', &mut bytes)?;
        if bytes.starts_with(MARK.as_bytes()) {
            bytes.drain(..MARK.len());
        }
        let line = bytes.trim_ascii_start();
        if line.starts_with(b"{") && !line.ends_with(b"\n") {
            input.read_until(b'\n', &mut bytes)?;
            return Ok(bytes);
        }
        if read == 0 || !line.is_empty() {
            return Ok(bytes);
        }
    }
}

pub(super) fn file_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::File {
        path: shown(path),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_bytes_are_read_behind_the_first_line() {
        let object = format!("{{{}}}\n", " ".repeat(20_000));
        for (text, expected) in [
            (String::new(), ""),
            ("\n \r\n".to_owned(), "\n \r\n"),
            ("a,b\n1,2\n".to_owned(), "a,b\n"),
            ("\n\n{}\n{}\n".to_owned(), "\n\n{}\n"),
            (format!("{object}x"), &object),
            (format!(" {object}"), &format!(" {object}")),
            ("x".repeat(5000), &"x".repeat(BEGINNING as usize)),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            fs::write(&path, &text).unwrap();
            let begun = Begun::open(&path).unwrap();
            assert_eq!(begun.beginning(), expected.as_bytes());
            let mut whole = String::new();
            begun.whole().read_to_string(&mut whole).unwrap();
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn byte_order_marks_are_no_part_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "\u{feff}{}\n{}\n").unwrap();
        let begun = Begun::open(&path).unwrap();
        assert_eq!(begun.beginning(), b"{}\n");
        let mut whole = String::new();
        begun.whole().read_to_string(&mut whole).unwrap();
        assert_eq!(whole, "{}\n{}\n");
    }
}
