//! Files and pipes that are opened once, and whose beginning was already read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::atomic_file::display_path;
use super::error::ReadError;
use crate::text_file::BYTE_ORDER_MARK;

/// Number of bytes read to detect the format, unless the file begins with a JSON object.
const FORMAT_DETECTION_BYTES: u64 = 4096;

/// File whose beginning was read and is kept, since a pipe cannot be read twice.
pub(crate) struct PeekedFile {
    path: PathBuf,
    /// Bytes read so far: blank lines, and part or all of the first line that is not blank.
    beginning: Vec<u8>,
    remaining_reader: BufReader<File>,
}

/// Reader of all bytes of a file, including those that were read before.
pub(super) type WholeFileReader = Chain<Cursor<Vec<u8>>, BufReader<File>>;

impl PeekedFile {
    /// Opens a file and reads its beginning. If the first line that is not blank is a JSON object,
    /// reads this whole line. Otherwise reads only enough to detect the format.
    ///
    /// # Errors
    /// When the file cannot be read, for example a directory.
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| file_access_error(path, source);
        let mut rest = BufReader::new(File::open(path).map_err(failed)?);
        let beginning = read_beginning(&mut rest).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            beginning,
            remaining_reader: rest,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the beginning of the file. If the first line that is not blank is a JSON object, the
    /// result contains this whole line.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// Returns a reader of the whole file, without a byte order mark.
    pub(crate) fn into_reader(self) -> WholeFileReader {
        Cursor::new(self.beginning).chain(self.remaining_reader)
    }

    /// Returns the file, positioned at its first byte, for random access.
    ///
    /// # Errors
    /// When the file is a pipe.
    pub(super) fn into_seekable(self) -> Result<File, ReadError> {
        let mut file = self.remaining_reader.into_inner();
        match file.rewind() {
            Ok(()) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotSeekable => {
                Err(ReadError::UnseekablePipe {
                    path: display_path(&self.path),
                })
            }
            Err(source) => Err(file_access_error(&self.path, source)),
        }
    }
}

fn read_beginning(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        // Bounded, so that a binary file without line breaks does not fill memory.
        let read = input
            .by_ref()
            .take(FORMAT_DETECTION_BYTES)
            .read_until(b'\n', &mut bytes)?;
        if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            bytes.drain(..BYTE_ORDER_MARK.len());
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

pub(super) fn file_access_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::FileAccess {
        path: display_path(path),
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
            (
                "x".repeat(5000),
                &"x".repeat(FORMAT_DETECTION_BYTES as usize),
            ),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            fs::write(&path, &text).unwrap();
            let begun = PeekedFile::open(&path).unwrap();
            assert_eq!(begun.beginning(), expected.as_bytes());
            let mut whole = String::new();
            begun.into_reader().read_to_string(&mut whole).unwrap();
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn byte_order_marks_are_no_part_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "\u{feff}{}\n{}\n").unwrap();
        let begun = PeekedFile::open(&path).unwrap();
        assert_eq!(begun.beginning(), b"{}\n");
        let mut whole = String::new();
        begun.into_reader().read_to_string(&mut whole).unwrap();
        assert_eq!(whole, "{}\n{}\n");
    }
}
