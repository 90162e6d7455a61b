//! Data of released versions can be read, continued and taken back. `tests/reference/formats` has a
//! directory of each version, and `formats.md` in the book states the guarantees.

mod frozen;
mod later;
mod nodes;
mod parties;
mod read;
mod upgrade;
mod write;

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hushbin::upload::EncodedUpload;
use hushbin::{Task, Upload};
use hushbin_tests::process::{Collector, command, create_journal};
use serde_json::Value;
use tempfile::TempDir;

use crate::nodes::ask;

/// Directory of all fixtures.
const ALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reference/formats");

/// Version that a release of this workspace would have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files that one version wrote.
struct Fixture(PathBuf);

/// Fixtures of all versions.
fn all() -> Vec<Fixture> {
    let entries = fs::read_dir(ALL).unwrap();
    let mut all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all.into_iter().map(Fixture).collect()
}

/// A version is released with its fixture, written by `cargo test -p hushbin-server --test
/// collector formats::write -- --ignored`. Later versions are tested against it.
#[test]
fn every_version_has_what_it_wrote() {
    let names: Vec<_> = all()
        .iter()
        .map(|own| own.0.file_name().unwrap().to_owned())
        .collect();
    for version in ["0.1.0", VERSION] {
        assert!(names.iter().any(|own| own == version), "{names:?}");
    }
}

impl Fixture {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Copies one of the directories, with permissions as the collector sets them.
    fn copy(&self, name: &str) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        copy(&self.path(name), directory.path());
        directory
    }

    /// Tasks of the fixture's collector.
    fn tasks(&self) -> Vec<Task> {
        let complete = self.json("tasks.json");
        let tasks = complete.as_array().unwrap().iter();
        tasks
            .map(|own| serde_json::from_value(own["task"].clone()).unwrap())
            .collect()
    }

    fn task(&self, id: &str) -> Task {
        let mut tasks = self.tasks().into_iter();
        tasks.find(|task| task.id() == id).unwrap()
    }

    /// Bytes of all accepted uploads of the task, back to back.
    fn upload_bytes(&self, task: &Task) -> Vec<u8> {
        fs::read(self.path(&format!("uploads/{}.bin", task.id()))).unwrap()
    }

    fn uploads(&self, task: &Task) -> Vec<Upload> {
        let bytes = self.upload_bytes(task);
        let all = EncodedUpload::read_checked_uploads(&bytes, task)
            .unwrap()
            .into_iter();
        all.map(|(_, range)| Upload::decode(&bytes[range], task).unwrap())
            .collect()
    }

    fn token(&self) -> String {
        let text = fs::read_to_string(self.path("token.txt")).unwrap();
        text.trim_end().to_owned()
    }

    /// Checks that a collector's answers match the recorded ones of this version.
    #[track_caller]
    fn answers(&self, name: &str, address: SocketAddr) {
        let recorded = self.json(name);
        let recorded = recorded.as_object().unwrap();
        assert!(!recorded.is_empty());
        for (path, expected) in recorded {
            let (status, found) = ask(address, &self.token(), &format!("GET {path}"), "");
            assert_eq!(status, 200, "{path}: {found}");
            assert_says(&found, expected, path);
        }
    }
}

/// Fields with prose, which a later version may reword.
const WORDS: [&str; 4] = ["bias_statement", "memo_warning", "protects", "statement"];

/// Checks that an answer contains everything of an earlier version's, equal except for prose. A
/// later version may add fields.
#[track_caller]
fn assert_says(found: &Value, expected: &Value, at: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (name, expected) in expected {
                let at = format!("{at} {name}");
                let found = found.get(name).unwrap_or_else(|| panic!("missing: {at}"));
                match WORDS.iter().any(|words| name.ends_with(words)) {
                    true => assert!(found.is_string(), "{at}: {found}"),
                    false => assert_says(found, expected, &at),
                }
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{at}");
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_says(found, expected, &format!("{at} {index}"));
            }
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}

/// Writes an object with one line per key.
fn write_lines(path: &Path, value: &Value) {
    let fields = value.as_object().unwrap().iter();
    let lines: Vec<_> = fields
        .map(|(key, value)| format!("{}: {value}", Value::from(key.as_str())))
        .collect();
    fs::write(path, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
}

/// Copies a file or directory, with private permissions as the collector sets them. Git does not keep
/// these.
pub(crate) fn copy(from: &Path, to: &Path) {
    let mode = if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
        0o700
    } else {
        fs::copy(from, to).unwrap();
        0o600
    };
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).unwrap();
}

/// The program of another version, named by `HUSHBIN_BEFORE`. The default is this program, which
/// then follows itself.
fn before() -> Command {
    env::var_os("HUSHBIN_BEFORE").map_or_else(command, Command::new)
}

/// Starts a collector on a directory or database.
fn serve(mut program: Command, place: [&str; 2], more: &[&str]) -> (Collector, SocketAddr) {
    if place[0] == "--data" {
        create_journal(place[1].as_ref());
    }
    program.arg("serve").args(place).args(["--log", "error"]);
    let free = ["--listen", "127.0.0.1:0"];
    program.args(if more.contains(&"--listen") {
        &[][..]
    } else {
        &free
    });
    let mut collector = Collector::start({
        program.args(more);
        program
    });
    let address = collector.address();
    (collector, address)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run(words: &[&str]) -> Output {
    command().args(words).output().unwrap()
}

#[track_caller]
fn succeeds(words: &[&str]) -> Vec<u8> {
    let output = run(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    output.stdout
}
