//! Data of a later version is refused: the error names both versions, and no file is written.

use std::collections::BTreeMap;

use hushbin_tests::postgres::Server;
use hushbin_tests::process::Client;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::*;

/// Files of this version.
fn fixture() -> Fixture {
    Fixture(Path::new(ALL).join(VERSION))
}

/// Files below a directory, with contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

/// Files with this extension, by path.
fn ending(directory: &Path, extension: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let all = files(directory).into_iter();
    all.filter(|(path, _)| path.extension().is_some_and(|own| own == extension))
        .collect()
}

/// Checks that a command fails with this message.
#[track_caller]
fn refused(words: &[&str], expected: &str) {
    // If the command is not refused, a collector serves until the timeout.
    let mut limited = Command::new("timeout");
    limited.arg("60").arg(command().get_program()).args(words);
    let output = limited.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
    assert!(said.contains(expected), "{words:?}: {said}");
}

/// Checks that every command refuses a directory that `change` makes a later version's.
#[track_caller]
fn directory_is_refused(change: impl FnOnce(&Path), expected: &str) {
    let copy = fixture().copy("collector");
    change(copy.path());
    // A copy has no lock file.
    let _ = fs::remove_file(copy.path().join("lock"));
    let before = files(copy.path());
    let data = text(copy.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let to = elsewhere.path().join("to");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data];
    refused(&serve, expected);
    refused(&[&serve[..], &["--read-only"]].concat(), expected);
    refused(&["journal", "check", "--data", data], expected);
    refused(&["journal", "backup", "--data", data, text(&to)], expected);
    let export = ["journal", "export", "--data", data, "--task", "scores"];
    refused(&[&export[..], &["--format", "csv"]].concat(), expected);
    let salvage = ["journal", "salvage", "--data", data];
    refused(&[&salvage[..], &[text(&to)]].concat(), expected);
    assert!(!to.exists(), "nothing is copied, either");
    assert!(files(copy.path()) == before, "nothing is written");
}

fn sum(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes)[..8].to_vec()
}

#[test]
fn a_directory_of_another_version() {
    // The settings of version 2 had another field for the role.
    for version in [2, 4] {
        let said = format!("tasks.json has version {version}, this hushbin supports version 3");
        directory_is_refused(|data| says(data, version), &said);
    }
}

/// Sets the version of a directory's list, and adds an unknown field.
fn says(data: &Path, version: u64) {
    let path = data.join("tasks.json");
    let list = fs::read_to_string(&path).unwrap();
    let (list, _) = list.split_once('\n').unwrap();
    let mut list: Value = serde_json::from_str(list).unwrap();
    list["version"] = version.into();
    list["more"] = json!({ "of": "it" });
    let list = list.to_string();
    let sum = sum(list.as_bytes());
    let digits: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(path, format!("{list}\n{digits}\n")).unwrap();
}

/// The last task alone may be of a later version; no file of another task is touched first.
#[test]
fn a_file_of_a_later_version() {
    for (extension, header) in [("log", 64), ("batch", 80), ("ids", 56)] {
        let change = |data: &Path| {
            let (path, mut bytes) = ending(&data.join("tasks"), extension).pop().unwrap();
            bytes[7] = 2;
            let own = sum(&bytes[..header - 8]);
            bytes.splice(header - 8..header, own);
            fs::write(path, bytes).unwrap();
        };
        let said = format!(".{extension} has version 2, this hushbin supports version 1");
        directory_is_refused(change, &said);
    }
}

/// A changed byte is damage, not a version.
#[test]
fn a_version_that_has_changed_since_it_was_written_is_damage() {
    for extension in ["log", "batch", "ids"] {
        let copy = fixture().copy("collector");
        let (path, mut bytes) = ending(copy.path(), extension).remove(0);
        bytes[7] = 2;
        fs::write(path, bytes).unwrap();
        let check = ["journal", "check", "--data", text(copy.path())];
        refused(&check, "the journal is damaged");
        // A start says what to do. Ids and batches are read later, and only as far as needed.
        if extension == "log" {
            let serve = [
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--data",
                text(copy.path()),
            ];
            refused(&serve, "run hushbin journal check --data");
        }
    }
}

#[test]
fn tokens_of_a_later_version() {
    let copy = fixture().copy("collector");
    let path = copy.path().join("tokens.json");
    let mut tokens: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    tokens["version"] = 2.into();
    tokens["tokens"][0]["more"] = true.into();
    fs::write(path, tokens.to_string()).unwrap();
    let before = files(copy.path());
    let data = text(copy.path());
    let said = "tokens.json has version 2, this hushbin supports version 1";
    refused(&["serve", "--listen", "127.0.0.1:0", "--data", data], said);
    refused(&["token", "list", "--data", data], said);
    let create = ["token", "create", "--role", "admin", "--name", "a"];
    refused(&[&create[..], &["--data", data]].concat(), said);
    assert!(files(copy.path()) == before, "nothing is written");
}

/// Replaces a description by another one of at most the same length.
fn described(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let key = bytes.windows(6).position(|own| own == b"\"task\"").unwrap();
    let begin = bytes[..key].iter().rposition(|&own| own == b'{').unwrap();
    let mut read = serde_json::Deserializer::from_slice(&bytes[begin..]).into_iter::<Value>();
    let mut description = read.next().unwrap().unwrap();
    let length = read.byte_offset();
    change(&mut description);
    let mut own = description.to_string().into_bytes();
    own.resize(length, b' ');
    [&bytes[..begin], &own, &bytes[begin + length..]].concat()
}

#[test]
fn files_of_reports_of_a_later_version() {
    let copy = fixture().copy("exports");
    for (described_by, file) in [
        ("scores.csv.task.json", "scores.csv"),
        ("scores.json.task.json", "scores.json"),
        ("scores.parquet", "scores.parquet"),
    ] {
        let [own, path] = [described_by, file].map(|name| copy.path().join(name));
        let bytes = fs::read(&own).unwrap();
        fs::write(&own, described(&bytes, |_| {})).unwrap();
        succeeds(&["estimate", text(&path), "--format", "json"]);
        let later = described(&bytes, |description| {
            description["version"] = 2.into();
            description["more"] = true.into();
            // Removing these makes room in a footer of the same length.
            description.as_object_mut().unwrap().remove("batches");
        });
        fs::write(own, later).unwrap();
        let said = "it has version 2, this hushbin supports version 1";
        refused(&["estimate", text(&path), "--format", "json"], said);
        refused(&["estimate", text(&path), "--format", "totals"], said);
    }
}

#[test]
fn partial_totals_of_a_later_version() {
    let copy = fixture().copy("exports");
    let [path, task] =
        ["scores.partial", "scores.csv.task.json"].map(|name| copy.path().join(name));
    let merge = ["estimate", text(&path), "--task", text(&task)];
    let merge = [&merge[..], &["--format", "json"]].concat();
    succeeds(&merge);
    let mut line: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    line["version"] = 2.into();
    line["more"] = true.into();
    fs::write(&path, line.to_string()).unwrap();
    let said = "line 1: partial totals of version 2, this hushbin supports version 1";
    refused(&merge, said);
}

#[test]
fn uploads_of_a_later_version() {
    let copy = fixture().copy("collector");
    let task = fixture().task("scores");
    let (_collector, address) = serve(command(), ["--data", text(copy.path())], &[]);
    let mut bytes = fixture().upload_bytes(&task);
    bytes[0] = 4;
    let mut client = Client::connect(address).unwrap();
    let (status, said) = client.post("scores", &bytes).unwrap();
    let said: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(status, 400, "{said}");
    let detail = said["detail"].as_str().unwrap();
    assert_eq!(detail, "upload has format version 4, expected 1");
}

#[test]
fn a_database_of_another_version() {
    let server = Server::start(&[]);
    let address = server.database();
    let name = address.rsplit_once('/').unwrap().1;
    let sql = fs::read_to_string(fixture().path("postgres.sql")).unwrap();
    server.ask(name, &sql);
    let state = || {
        ["journal", "task", "batch", "slot", "token"].map(|table| {
            let query = format!("SELECT * FROM hushbin.{table} ORDER BY 1, 2");
            server.ask(name, &query)
        })
    };
    for version in [1, 3] {
        let change = format!("UPDATE hushbin.journal SET version = {version}");
        server.ask(name, &change);
        let before = state();
        let said = format!(
            "the schema hushbin of the database has version {version}, this hushbin supports \
             version 2"
        );
        for words in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["serve", "--listen", "127.0.0.1:0", "--read-only"],
            &["journal", "export", "--task", "scores", "--format", "csv"],
            &["token", "list"],
            &["token", "create", "--role", "admin", "--name", "a"],
        ] {
            refused(&[words, &["--database", &address]].concat(), &said);
        }
        assert_eq!(state(), before);
    }
}
