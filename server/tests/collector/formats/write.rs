//! Writes the fixture of this version, for later versions to read.

use hushbin_server::store::{FilesEngine, StorageEngine, UploadRecord};
use hushbin_tests::postgres::Server;
use hushbin_tests::process::{Client, create_journal, token_name};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::json;

use super::upgrade::{BY_HAND, release};
use super::*;
use crate::nodes::until;

/// A question of every kind.
const SURVEY: &str = r#"{
    "id": "survey", "epsilon": 4.0, "questions": [
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "a,b"] },
        { "name": "beta", "kind": "flag", "weight": 2 },
        { "name": "tags", "kind": "set", "options": "open", "sparsity": 2 },
        { "name": "features", "kind": "set", "options": ["search", "export"], "sparsity": 1 },
        { "name": "load", "kind": "number", "unit": "ms", "edges": [0, 100, 200, 400, 800] },
        { "name": "delay", "kind": "number", "min": 0, "max": 640, "bins": 16, "want": "quantiles" },
        { "name": "zoom", "kind": "number", "min": 0.5, "max": 2.5 },
        { "name": "layout", "kind": "numbers", "of": [
            { "name": "width", "min": 0, "max": 4000 }, { "name": "height", "min": 0, "max": 3000 }
        ] },
        { "name": "place", "kind": "numbers", "mechanism": { "name": "window", "drawn": 2 }, "of": [
            { "name": "x", "min": -1, "max": 1 }, { "name": "y", "min": -1, "max": 1 }
        ] },
        { "name": "plans", "kind": "cross", "of": [
            { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
            { "name": "load", "kind": "number", "min": 0, "max": 10, "unit": "s" }
        ] },
        { "name": "look", "kind": "together", "of": [
            { "name": "compact", "kind": "flag" },
            { "name": "font", "kind": "choice", "options": ["serif", "sans"] }
        ] },
        { "name": "query", "kind": "text", "length": 4 },
        { "name": "opinions", "kind": "ratings", "items": ["dark-mode", "autoplay"],
          "sparsity": 2, "value": "real" }
    ]
}"#;

/// A task with CoCo and a budget.
const SETTINGS: &str = r#"{
    "id": "settings", "items": ["dark-mode", "autoplay", "captions"], "sparsity": 2,
    "epsilon": 2.0, "value": "sign",
    "mechanism": { "name": "coco", "rule": "overwrite" },
    "budget": { "days": 7, "reports": 2 }
}"#;

/// A task with a memo.
const MEMO: &str = r#"{
    "id": "memo", "epsilon": 1.0, "questions": [{ "name": "dark", "kind": "flag" }],
    "budget": { "days": 7, "memo": { "epsilon": 2.0, "days": 365 } }
}"#;

const STRONGEST: &str = r#"{
    "id": "strongest", "items": 6, "sparsity": 3, "epsilon": 1.0, "value": "real",
    "mechanism": { "name": "coco", "rule": "strongest", "hashing": "independent" }
}"#;

const OCCUPIED: &str = r#"{
    "id": "occupied", "items": 8, "sparsity": 3, "epsilon": 1.0, "value": "sign",
    "mechanism": { "name": "collision", "rule": "occupied" }
}"#;

/// Reports of several bins.
const SCORES: &str = r#"{
    "id": "scores", "items": ["one", "two", "three"], "sparsity": 2, "epsilon": 1.0,
    "value": "real", "mechanism": { "name": "hash-bin", "level": "event", "bins": 2 }
}"#;

const CLIPPED: &str = r#"{
    "id": "clipped", "items": 4, "sparsity": 2, "epsilon": 1.0, "value": "real",
    "mechanism": { "name": "hash-bin", "level": "user" }
}"#;

const OPEN: &str = r#"{
    "id": "anything", "items": "open", "sparsity": 2, "epsilon": 2.0, "value": "sign"
}"#;

const TASKS: [&str; 8] = [
    SURVEY, SETTINGS, STRONGEST, OCCUPIED, SCORES, CLIPPED, OPEN, MEMO,
];

/// Requests for a task's estimates.
fn asked(task: &Task) -> Vec<String> {
    let base = format!("/tasks/{}", task.id());
    let mut asked = vec![
        base.clone(),
        format!("{base}/settings"),
        format!("{base}/batches"),
    ];
    asked.extend(task.questions().iter().map(|question| {
        let name = question.name();
        match (name, question.items().item_count()) {
            ("", None) => format!("{base}/estimates?items=dark-mode,other"),
            ("", Some(_)) => format!("{base}/estimates"),
            ("query", _) => format!("{base}/heavy-hitters?question=query&alphabet=darkx"),
            (_, None) => format!("{base}/estimates?question={name}&items=dark-mode,other"),
            (_, Some(_)) => format!("{base}/estimates?question={name}"),
        }
    }));
    asked
}

fn record(address: SocketAddr, token: &str, tasks: &[Task]) -> Value {
    let paths = tasks.iter().flat_map(asked);
    let answers = paths.map(|path| {
        let (status, answer) = ask(address, token, &format!("GET {path}"), "");
        assert_eq!(status, 200, "{path}: {answer}");
        (path, answer)
    });
    Value::Object(answers.collect())
}

/// Sends several rounds of uploads to all tasks, and releases each round but the last.
fn collect(place: [&str; 2], files: &[PathBuf], tasks: &[Task], token: &str, out: Option<&Path>) {
    let mut more: Vec<&str> = BY_HAND.into();
    for file in files {
        more.extend(["--task", text(file)]);
    }
    let (mut collector, address) = serve(command(), place, &more);
    for task in tasks {
        let mut uploads = Uploads::new(task, 8);
        let mut sent = Vec::new();
        let mut client = Client::connect(address).unwrap();
        for round in 0..6 {
            for reports in [1, 7 + round] {
                let bytes = uploads.bytes(reports);
                let (status, said) = client.post(task.id(), &bytes).unwrap();
                assert_eq!(status, 201, "{}", String::from_utf8_lossy(&said));
                sent.extend(bytes);
            }
            if round < 5 {
                release(address, token, task.id());
            }
        }
        if let Some(out) = out {
            fs::write(out.join(format!("{}.bin", task.id())), sent).unwrap();
        }
    }
    let settings = json!({
        "batch": { "least": 1, "most": 500_000, "hours": 0, "min_minutes": 0 }, "keep_reports_days": 100_000,
        "origins": ["https://example.org"], "max_reports_per_request": 4096,
    });
    let put = format!("PUT /tasks/{}/settings", tasks[tasks.len() - 1].id());
    assert_eq!(ask(address, token, &put, &settings.to_string()).0, 200);
    collector.stop(std::time::Duration::from_secs(60));
}

fn create_token(place: [&str; 2], role: &str) -> String {
    if let ["--data", directory] = place {
        create_journal(directory.as_ref());
    }
    let name = token_name();
    let words = ["token", "create", "--role", role, "--name", &name];
    let said = succeeds(&[&words[..], &place].concat());
    String::from_utf8(said).unwrap().trim_end().to_owned()
}

/// Deletes the reports of a task's first batch, as retention does. Its second-to-last batch is
/// closed but not counted yet.
fn leave_unfinished(data: &Path, task: &Task) {
    let mut files = FilesEngine::open(data).unwrap();
    let rows = files.tasks().unwrap();
    let key = rows.iter().find(|row| row.id == task.id()).unwrap().key;
    files.reader().delete_reports(key, 1).unwrap();
    let open = *files.batches(key).last().unwrap();
    files
        .close_batch(key, open.number, open.opened_at + 60)
        .unwrap();
    let last = Uploads::new(task, 9).make(3);
    let record = UploadRecord {
        id: last.id.0,
        report_count: 3,
        body: last.encode(&task.fingerprint())[33..].to_vec(),
    };
    files.append_uploads(key, &[record]).unwrap();
}

/// Dumps a database as SQL: its tables and all rows.
fn dump(server: &Server, database: &str) -> String {
    let mut all = include_str!("../../../src/store/postgres/schema.sql").to_owned();
    all += "\nDELETE FROM hushbin.journal;\n";
    let tables = "SELECT table_name FROM information_schema.tables \
        WHERE table_schema = 'hushbin' ORDER BY table_name";
    for table in server.ask(database, tables).lines() {
        let columns = format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'hushbin' \
             AND table_name = '{table}' ORDER BY ordinal_position"
        );
        let columns = server.ask(database, &columns);
        let names: Vec<&str> = columns.lines().collect();
        let values: Vec<String> = names
            .iter()
            .map(|name| format!("quote_nullable({name}::TEXT)"))
            .collect();
        let (names, values) = (names.join(", "), values.join(" || ', ' || "));
        let rows = format!("SELECT {values} FROM hushbin.{table} ORDER BY 1");
        for row in server.ask(database, &rows).lines() {
            all += &format!("INSERT INTO hushbin.{table} ({names}) VALUES ({row});\n");
        }
    }
    // The sequence continues after the given keys.
    all + "SELECT setval(pg_get_serial_sequence('hushbin.task', 'key'), max(key)) \
        FROM hushbin.task;\n"
}

#[test]
#[ignore = "writes what a version is released with, once"]
fn what_this_version_writes() {
    let root = Path::new(ALL).join(VERSION);
    // A fixture that exists may have been released, so it is not overwritten.
    fs::create_dir(&root).unwrap();
    let path = |name: &str| root.join(name);
    for name in ["uploads", "drafts", "exports"] {
        fs::create_dir(path(name)).unwrap();
    }
    let tasks: Vec<Task> = TASKS.map(|json| draft(json).resolve_task().unwrap()).into();
    let files: Vec<PathBuf> = TASKS
        .iter()
        .zip(&tasks)
        .map(|(json, task)| {
            let file = path(&format!("drafts/{}.json", task.id()));
            fs::write(&file, format!("{json}\n")).unwrap();
            file
        })
        .collect();
    let shown = |task: &Task| json!({ "task": task, "fingerprint": task.fingerprint() });
    let shown: Vec<String> = tasks.iter().map(|task| shown(task).to_string()).collect();
    fs::write(path("tasks.json"), format!("[\n{}\n]\n", shown.join(",\n"))).unwrap();

    let data = path("collector");
    let place = ["--data", text(&data)];
    create_token(place, "analyst");
    let token = create_token(place, "admin");
    fs::write(path("token.txt"), format!("{token}\n")).unwrap();
    collect(place, &files, &tasks, &token, Some(&path("uploads")));
    leave_unfinished(&data, &tasks[1]);
    let mut sent = fs::read(path("uploads/settings.bin")).unwrap();
    sent.extend(
        Uploads::new(&tasks[1], 9)
            .make(3)
            .encode(&tasks[1].fingerprint()),
    );
    fs::write(path("uploads/settings.bin"), sent).unwrap();

    // This version itself reads a copy: it releases the closed batch at the start.
    let fixture = Fixture(root.clone());
    let copy = fixture.copy("collector");
    let place = ["--data", text(copy.path())];
    let (collector, address) = serve(command(), place, &[]);
    until(|| {
        let (_, said) = ask(address, &token, "GET /tasks/settings/batches", "");
        said["batches"][5]["state"] == "released"
    });
    write_lines(&path("answers.json"), &record(address, &token, &tasks));
    drop(collector);

    for format in ["csv", "json", "parquet"] {
        for (task, batches) in [("survey", "1-5"), ("settings", "2-6"), ("scores", "1-5")] {
            let out = path(&format!("exports/{task}.{format}"));
            let words = ["journal", "export", "--task", task, "--format", format];
            let more = ["--batches", batches, "--out", text(&out)];
            succeeds(&[&words[..], &place, &more].concat());
        }
    }
    read::record(&fixture);

    let server = Server::start(&[]);
    let address = server.database();
    let place = ["--database", address.as_str()];
    let admin = create_token(place, "admin");
    let two = [tasks[1].clone(), tasks[4].clone()];
    let files = [files[1].clone(), files[4].clone()];
    collect(place, &files, &two, &admin, None);
    let name = address.rsplit_once('/').unwrap().1;
    // One token then serves all processes.
    let update = format!("UPDATE hushbin.token SET sha256 = encode(sha256('{token}'), 'hex')");
    server.ask(name, &update);
    fs::write(path("postgres.sql"), dump(&server, name)).unwrap();
    let (collector, address) = serve(command(), place, &[]);
    write_lines(&path("postgres.json"), &record(address, &token, &two));
    drop(collector);

    parties::write(&fixture);
    forget_probes(&root);
}

/// Empties the files written by readiness probes.
fn forget_probes(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            forget_probes(&path);
        } else if path.ends_with("probe") {
            fs::remove_file(path).unwrap();
        }
    }
}
