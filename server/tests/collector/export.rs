//! `hushbin journal export` and `hushbin estimate`: estimates from files equal the collector's to
//! the last byte, and invalid reports are named.

mod erased;
#[cfg(unix)]
mod pipes;
mod saved;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, Upload, UploadId};
use hushbin_server::store::{FilesEngine, StorageEngine};
use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::draft;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use tempfile::TempDir;

/// Most kinds of questions, one without a list of items.
const VISITS: &str = r#"{
    "id": "visits", "epsilon": 4.0, "questions": [
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "a,b"] },
        { "name": "beta", "kind": "flag" },
        { "name": "tags", "kind": "set", "options": "open", "sparsity": 2 },
        { "name": "features", "kind": "set", "options": ["search", "export"], "sparsity": 1 },
        { "name": "load", "kind": "number", "unit": "ms", "edges": [0, 100, 200, 400, 800] },
        { "name": "delay", "kind": "number", "min": 0, "max": 640, "bins": 64, "want": "quantiles" },
        { "name": "zoom", "kind": "number", "min": 0.5, "max": 2.5 },
        { "name": "layout", "kind": "numbers", "of": [
            { "name": "width", "min": 0, "max": 4000 }, { "name": "height", "min": 0, "max": 3000 }
        ] },
        { "name": "query", "kind": "text", "length": 4 }
    ]
}"#;

/// Reports of several bins, for a task that asks without a name.
const SCORES: &str = r#"{
    "id": "scores", "items": ["one", "two", "three"], "sparsity": 2, "epsilon": 1.0,
    "value": "real",
    "mechanism": { "name": "hash-bin", "level": "event", "bins": 2 }
}"#;

/// Queries as arguments and as query strings. `theme` needs no further options.
const ASKED: [(&str, &[&str], &str); 11] = [
    ("visits", &["--question", "theme"], "question=theme"),
    (
        "visits",
        &["--question", "theme", "--items", "dark,\"a,b\""],
        "question=theme&items=dark,a%2Cb",
    ),
    (
        "visits",
        &[
            "--question",
            "theme",
            "--post-processing",
            "projection,shrinkage",
        ],
        "question=theme&post_processing=projection,shrinkage",
    ),
    ("visits", &["--question", "beta"], "question=beta"),
    (
        "visits",
        &["--question", "tags", "--items", "wide,née"],
        "question=tags&items=wide,n%C3%A9e",
    ),
    (
        "visits",
        &["--question", "features", "--false-discovery-rate", "0.1"],
        "question=features&false_discovery_rate=0.1",
    ),
    (
        "visits",
        &["--question", "load", "--quantiles", "0.5,0.9"],
        "question=load&quantiles=0.5,0.9",
    ),
    ("visits", &["--question", "delay"], "question=delay"),
    (
        "visits",
        &["--question", "zoom", "--confidence", "0.99"],
        "question=zoom&confidence=0.99",
    ),
    ("visits", &["--question", "layout"], "question=layout"),
    ("scores", &[], ""),
];

const FORMATS: [&str; 3] = ["csv", "json", "parquet"];

/// Uploads of people with equal answers.
struct People {
    task: Task,
    randomizer: Randomizer,
    rng: ChaCha20Rng,
    uploads: u8,
}

impl People {
    fn of(json: &str) -> Self {
        let task = draft(json).resolve_task().unwrap();
        Self {
            randomizer: Randomizer::new(&task),
            task,
            rng: ChaCha20Rng::seed_from_u64(1),
            uploads: 0,
        }
    }

    fn upload(&mut self, people: usize) -> Vec<u8> {
        self.uploads += 1;
        let values = [1.0, 1.0, 1.0, 1.0, 250.0, 300.0, 1.25, 800.0, 1.0];
        let answers: Vec<Vec<Entry>> = self
            .task
            .questions()
            .iter()
            .zip(values)
            .map(|(question, value)| {
                let items = match question.kind() {
                    QuestionKind::Numbers(of) => (0..of.len() as u64).collect(),
                    QuestionKind::Text(prefixes) => prefixes.prefix_hashes("ab"),
                    _ => vec![0],
                };
                let entry = |item| Entry { item, value };
                items.into_iter().map(entry).collect()
            })
            .collect();
        let answers: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
        let report = |_| {
            let made = self.randomizer.randomize_answers(&answers, &mut self.rng);
            made.unwrap().report
        };
        let upload = Upload {
            id: UploadId([self.uploads; 16]),
            reports: (0..people).map(report).collect(),
        };
        upload.encode(&self.task.fingerprint())
    }
}

/// A collector with three released batches of each task, and reports in an open one.
struct Collecting {
    directory: TempDir,
    collector: Option<Collector>,
    client: Client,
}

impl Collecting {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let paths = [VISITS, SCORES].map(|json| {
            let path = directory.path().join(format!("{}.json", draft(json).id));
            fs::write(&path, json).unwrap();
            path
        });
        let data = directory.path().join("data");
        let mut collector = Collector::spawn(&data, &paths.each_ref().map(|path| &**path), &[]);
        let mut client = Client::connect(collector.address()).unwrap();
        for (id, json) in [("visits", VISITS), ("scores", SCORES)] {
            let mut people = People::of(json);
            for round in 0..3 {
                let (status, _) = client.post(id, &people.upload(70 + round)).unwrap();
                assert_eq!(status, 201);
                let (status, _) = client.get(&format!("/tasks/{id}/privacy")).unwrap();
                assert_eq!(status, 200, "released, as it is for development");
            }
            let (status, _) = client.post(id, &people.upload(5)).unwrap();
            assert_eq!(status, 201);
        }
        Self {
            directory,
            collector: Some(collector),
            client,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn export(&self, task: &str, format: &str, more: &[&str]) -> Output {
        let data = self.path("data");
        let mut command = process::command();
        command.current_dir(self.directory.path());
        command.args(["journal", "export", "--task", task, "--format", format]);
        command.arg("--data").arg(data).args(more);
        command.output().unwrap()
    }

    fn estimate(&self, arguments: &[&str]) -> Output {
        let mut command = process::command();
        command.current_dir(self.directory.path());
        command.arg("estimate").args(arguments).output().unwrap()
    }

    /// Response of the collector, as JSON or CSV.
    fn answer(&mut self, path: &str, format: &str) -> Vec<u8> {
        let accept = match format {
            "csv" => "text/csv",
            _ => "application/json",
        };
        let head = format!("GET {path} HTTP/1.1\r\nhost: test\r\naccept: {accept}\r\n\r\n");
        self.client.write(head.as_bytes()).unwrap();
        let (status, body) = self.client.read().unwrap();
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        body
    }
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

fn succeeds(output: &Output) -> &[u8] {
    assert!(output.status.success(), "{}", said(output));
    &output.stdout
}

/// Checks that a command fails with a message that contains all of this.
#[track_caller]
fn fails(output: &Output, expected: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in expected {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn estimates_of_files_are_those_of_the_collector() {
    let mut collecting = Collecting::new();
    for task in ["visits", "scores"] {
        for format in FORMATS {
            let out = format!("{task}.1-2.{format}");
            let written = collecting.export(task, format, &["--batches", "1-2", "--out", &out]);
            succeeds(&written);
            let out = format!("{task}.3.{format}");
            let written = collecting.export(task, format, &["--batches", "3", "--out", &out]);
            succeeds(&written);
            let beside = collecting.path(&format!("{out}.task.json"));
            assert_eq!(beside.exists(), format != "parquet");
            assert!(!collecting.path(&format!("{out}.unfinished")).exists());
        }
    }
    // Reading releases new reports, so all batches are named.
    for (task, arguments, query) in ASKED {
        for answered in ["json", "csv"] {
            let url = |batches| format!("/tasks/{task}/estimates?batches={batches}&{query}");
            let of_two = collecting.answer(&url("1-2"), answered);
            let of_all = collecting.answer(&url("1-3"), answered);
            assert_ne!(of_two, of_all);
            for (format, other) in FORMATS.iter().zip(["json", "parquet", "csv"]) {
                let first = format!("{task}.1-2.{format}");
                // The second file has another format.
                let second = format!("{task}.3.{other}");
                for (files, expected) in [(vec![&first], &of_two), (vec![&first, &second], &of_all)]
                {
                    let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
                    let estimated = [&files[..], arguments, &["--format", answered]].concat();
                    let output = collecting.estimate(&estimated);
                    assert!(
                        succeeds(&output) == expected,
                        "{estimated:?}: {}\n{}",
                        said(&output),
                        String::from_utf8_lossy(expected)
                    );
                }
            }
        }
    }
    // Texts have no items to post-process.
    let text = ["visits.3.csv", "--question", "query", "--format", "json"];
    let post = [&text[..], &["--post-processing", "projection"]].concat();
    fails(
        &collecting.estimate(&post),
        &["--post-processing is not for"],
    );
}

#[test]
fn the_same_batches_make_the_same_file_and_nothing_is_written_over() {
    let collecting = Collecting::new();
    let at_work = collecting.collector.is_some();
    assert!(at_work, "the collector runs all the time");
    for format in FORMATS {
        let (one, two) = (format!("one.{format}"), format!("two.{format}"));
        succeeds(&collecting.export("visits", format, &["--out", &one]));
        succeeds(&collecting.export("visits", format, &["--out", &two, "--batches", "3,1-2"]));
        let before = fs::read(collecting.path(&one)).unwrap();
        assert!(
            before == fs::read(collecting.path(&two)).unwrap(),
            "{format}"
        );
        let again = collecting.export("visits", format, &["--out", &one, "--batches", "1"]);
        fails(&again, &[&one, "already exists"]);
        assert!(before == fs::read(collecting.path(&one)).unwrap());
        if format != "parquet" {
            let printed = collecting.export("visits", format, &[]);
            assert!(succeeds(&printed) == before);
            fs::remove_file(collecting.path(&one)).unwrap();
            let again = collecting.export("visits", format, &["--out", &one]);
            fails(&again, &[&format!("{one}.task.json"), "already exists"]);
            assert!(!collecting.path(&one).exists());
        }
    }
    // Both files are of the same batch.
    let question = ["--question", "theme", "--format", "csv"];
    let twice = collecting.estimate(&[&["one.parquet", "two.csv"][..], &question].concat());
    fails(&twice, &["one.parquet", "two.csv", "batch 1", "twice"]);
}

#[test]
fn what_is_not_there_to_be_exported_is_named() {
    let collecting = Collecting::new();
    let open = collecting.export("visits", "csv", &["--batches", "2-4"]);
    fails(&open, &["batch 4", "\"visits\" is not released", "1-3"]);
    let unknown = collecting.export("visit", "csv", &[]);
    fails(&unknown, &["\"visit\"", "\"visits\""]);
    let bad = collecting.export("visits", "csv", &["--batches", "1-x"]);
    fails(&bad, &["1-x"]);
    let parquet = collecting.export("visits", "parquet", &[]);
    assert_eq!(parquet.status.code(), Some(2), "{}", said(&parquet));
    assert!(said(&parquet).contains("--out"), "{}", said(&parquet));
}

#[test]
fn what_retention_has_deleted_is_named_and_the_rest_is_exported() {
    let mut collecting = Collecting::new();
    let url = "/tasks/visits/estimates?question=theme&batches=";
    let of_last = collecting.answer(&format!("{url}3"), "json");
    drop(collecting.collector.take());
    let data = collecting.path("data");
    let mut files = FilesEngine::open(&data).unwrap();
    let task = files.tasks().unwrap()[0].key;
    for batch in [1, 2] {
        files.reader().delete_reports(task, batch).unwrap();
        files.refresh_changed_batch(task, batch).unwrap();
    }
    drop(files);
    let all = collecting.export("visits", "csv", &["--out", "all.csv", "--batches", "1-3"]);
    fails(
        &all,
        &["batches 1-2 of task \"visits\"", "deleted", "--batches 3"],
    );
    assert!(!collecting.path("all.csv").exists());
    assert!(!collecting.path("all.csv.task.json").exists());
    for format in FORMATS {
        let file = format!("rest.{format}");
        succeeds(&collecting.export("visits", format, &["--batches", "3", "--out", &file]));
        let output = collecting.estimate(&[&file, "--question", "theme", "--format", "json"]);
        assert!(succeeds(&output) == of_last, "{}", said(&output));
    }
}

/// Replaces the first `from` in a line, counted from 1.
fn change(path: &Path, line: usize, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let changed = lines[line - 1].replacen(from, to, 1);
    assert_ne!(changed, lines[line - 1]);
    lines[line - 1] = changed;
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn rows_that_are_no_reports_are_named_and_nothing_is_estimated() {
    let collecting = Collecting::new();
    let question = ["--question", "theme", "--format", "json"];
    let estimate = |file: &str| collecting.estimate(&[&[file][..], &question].concat());
    for format in FORMATS {
        let file = format!("v.{format}");
        succeeds(&collecting.export("visits", format, &["--out", &file]));
        succeeds(&estimate(&file));
    }
    let bad = |format: &str, line: usize, from: &str, to: &str, expected: &[&str]| {
        let file = format!("v.{format}");
        let path = collecting.path(&file);
        let before = fs::read(&path).unwrap();
        change(&path, line, from, to);
        let output = estimate(&file);
        fails(&output, &[&file, &format!("line {line}: ")]);
        fails(&output, expected);
        assert!(output.stdout.is_empty());
        fs::write(&path, before).unwrap();
    };
    let text = fs::read_to_string(collecting.path("v.csv")).unwrap();
    let row: Vec<&str> = text.lines().nth(4).unwrap().split(',').collect();
    let [batch, name, seed, bucket, report] = row[..] else {
        panic!("{row:?}")
    };
    assert_eq!(batch, "1");
    let whole = row.join(",");
    let with = |column: usize, value: &str| {
        let mut row = row.clone();
        row[column] = value;
        row.join(",")
    };
    let other = if name == "beta" { "zoom" } else { "beta" };
    let wrong = format!("seed is \"1\", expected \"{seed}\" as in the report");
    bad("csv", 5, &whole, &with(0, "first"), &["batch", "digit"]);
    bad(
        "csv",
        5,
        &whole,
        &with(1, other),
        &[&format!("expected \"{name}\"")],
    );
    bad("csv", 5, &whole, &with(2, "1"), &[&wrong]);
    bad(
        "csv",
        5,
        &whole,
        &with(2, "-1"),
        &["seed is \"-1\", expected 0 to"],
    );
    bad("csv", 5, &whole, &with(3, "x"), &["bucket is \"x\": "]);
    bad("csv", 5, &whole, &with(3, "3.0"), &["bucket is \"3.0\": "]);
    let rounded = "1.2345678901234567e+19";
    bad(
        "csv",
        5,
        &whole,
        &with(2, rounded),
        &[rounded, "expected 0 to"],
    );
    bad(
        "csv",
        5,
        &whole,
        &with(4, &report[1..]),
        &["expected pairs of hexadecimal digits"],
    );
    bad(
        "csv",
        5,
        &whole,
        &with(4, &report[..16]),
        &["report is malformed at byte"],
    );
    bad(
        "csv",
        5,
        &whole,
        &format!("{whole},1"),
        &["it has 6 fields, expected 5"],
    );
    bad(
        "json",
        2,
        "\"seed\"",
        "\"sead\"",
        &["sead", "expected one of"],
    );
    bad("json", 3, ",\"bucket\"", ",\"x\":1,\"bucket\"", &["x"]);
    for member in ["seed", "report"] {
        let twice = format!(",\"{member}\":\"00\",\"bucket\"");
        let expected = format!("duplicate field `{member}`");
        bad("json", 3, ",\"bucket\"", &twice, &[&expected]);
    }
    bad("json", 70, "}", "", &["EOF"]);
    bad(
        "json",
        1,
        "\"report\":\"",
        "\"report\":\"G",
        &["hexadecimal"],
    );

    // Editors may add a byte order mark before the same rows.
    let expected = succeeds(&estimate("v.csv")).to_vec();
    let description = fs::read_to_string(collecting.path("v.csv.task.json")).unwrap();
    let json = fs::read_to_string(collecting.path("v.json")).unwrap();
    for (file, text) in [("saved.csv", &text), ("saved.json", &json)] {
        fs::write(collecting.path(file), format!("\u{feff}{text}")).unwrap();
        let beside = collecting.path(&format!("{file}.task.json"));
        fs::write(beside, format!("\u{feff}{description}")).unwrap();
        assert_eq!(succeeds(&estimate(file)), expected);
    }

    // Some rows are missing, or belong to a batch that was not exported.
    for format in ["csv", "json"] {
        let name = format!("v.{format}");
        let before = fs::read_to_string(collecting.path(&name)).unwrap();
        let mut lines: Vec<&str> = before.lines().collect();
        lines.pop();
        fs::write(collecting.path(&name), lines.join("\n") + "\n").unwrap();
        let output = estimate(&name);
        fails(&output, &[&name, "71 reports of batch 3, expected 72"]);
        fs::write(collecting.path(&name), before).unwrap();
    }
    fs::write(collecting.path("header.csv"), format!("\"\",{text}")).unwrap();
    fs::write(collecting.path("empty.csv"), "").unwrap();
    for file in ["header.csv", "empty.csv"] {
        let arguments = [&[file, "--task", "visits.json"][..], &question].concat();
        let output = collecting.estimate(&arguments);
        fails(&output, &[file, "no exported reports", "batch,question"]);
    }
    fails(&estimate("none.csv"), &["none.csv", "No such file"]);
    let parquet = fs::read(collecting.path("v.parquet")).unwrap();
    fs::write(
        collecting.path("cut.parquet"),
        &parquet[..parquet.len() / 2],
    )
    .unwrap();
    fails(&estimate("cut.parquet"), &["cut.parquet"]);
    assert!(bucket.parse::<u32>().is_ok() || bucket.is_empty());
}

#[test]
fn files_are_of_the_task_that_they_say_or_that_is_said() {
    let mut collecting = Collecting::new();
    let url = "/tasks/scores/estimates?batches=1-3";
    let expected = collecting.answer(url, "json");
    let shown = collecting.answer("/tasks/scores", "json");
    fs::write(collecting.path("shown.json"), shown).unwrap();
    succeeds(&collecting.export("scores", "csv", &["--batches", "1-3", "--out", "s.csv"]));
    succeeds(&collecting.export("visits", "parquet", &["--out", "v.parquet"]));
    let format = ["--format", "json"];
    let estimate = |more: &[&str]| collecting.estimate(&[more, &format[..]].concat());
    fails(
        &estimate(&["s.csv", "v.parquet"]),
        &["v.parquet", "fingerprint"],
    );
    fails(
        &estimate(&["s.csv", "--task", "visits.json"]),
        &["s.csv", "fingerprint"],
    );
    fs::rename(
        collecting.path("s.csv.task.json"),
        collecting.path("t.json"),
    )
    .unwrap();
    fails(&estimate(&["s.csv"]), &["s.csv.task.json", "--task"]);
    fails(
        &estimate(&["v.parquet", "s.csv"]),
        &["s.csv.task.json", "--task"],
    );
    for task in ["scores.json", "t.json", "shown.json"] {
        let output = estimate(&["s.csv", "--task", task]);
        assert!(succeeds(&output) == expected, "{task}: {}", said(&output));
    }
    fails(
        &estimate(&["s.csv", "--task", "visits.json", "--question", "theme"]),
        &["line 2"],
    );
}
