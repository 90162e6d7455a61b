//! Access control: tokens are created, valid for one role, and revoked while the collector runs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;

use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::{Value, json};

use crate::support::{COUNTED, SETTINGS};

/// A collector that requires tokens.
struct Guarded {
    _collector: Collector,
    address: SocketAddr,
    data: PathBuf,
    _directory: tempfile::TempDir,
}

impl Guarded {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (task, data) = (
            directory.path().join("t.json"),
            directory.path().join("data"),
        );
        fs::write(&task, SETTINGS).unwrap();
        process::create_journal(&data);
        let mut command = process::command();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--log",
            "error",
            "--batch-least",
            "3",
        ]);
        command.arg("--data").arg(&data).arg("--task").arg(&task);
        let mut collector = Collector::start(command);
        let address = collector.address();
        Self {
            _collector: collector,
            address,
            data,
            _directory: directory,
        }
    }

    /// Status and body of a response.
    fn ask(&self, line: &str, token: Option<&str>, body: &str) -> (u16, Value) {
        let mut client = Client::connect(self.address).unwrap();
        let authorization = token.map_or_else(String::new, |token| {
            format!("authorization: Bearer {token}\r\n")
        });
        let head = format!(
            "{line} HTTP/1.1\r\nhost: test\r\n{authorization}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write(head.as_bytes()).unwrap();
        let (status, body) = client.read().unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }
}

fn token(data: &Path, words: &[&str]) -> String {
    let mut command = process::command();
    command.arg("token").args(words).arg("--data").arg(data);
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Creates a token for a role.
pub(crate) fn create_token(data: &Path, role: &str) -> String {
    token(
        data,
        &["create", "--role", role, "--name", &process::token_name()],
    )
}

const SETTINGS_OF_TASK: &str = r#"{ "batch": { "least": 5, "most": 50, "hours": 1 } }"#;

/// Every request, and the role it needs: none, an analyst's token or an admin's.
const REQUESTS: [(&str, &str, &str); 24] = [
    ("GET /livez", "", ""),
    ("GET /readyz", "", ""),
    ("GET /metrics", "", ""),
    ("GET /openapi.json", "", ""),
    ("GET /", "", ""),
    ("GET /dashboard", "", ""),
    ("GET /dashboard/", "", ""),
    ("GET /dashboard/dashboard.js", "", ""),
    ("GET /dashboard/dashboard.css", "", ""),
    ("GET /dashboard/icon.svg", "", ""),
    ("GET /tasks/settings", "", ""),
    ("POST /tasks/settings/reports", "", ""),
    ("GET /tasks/settings/keys", "", ""),
    ("POST /tasks/settings/blocks", "", ""),
    ("GET /tasks", "analyst", ""),
    ("GET /tasks/settings/settings", "analyst", ""),
    ("GET /tasks/settings/batches", "analyst", ""),
    ("GET /tasks/settings/estimates", "analyst", ""),
    ("POST /tasks/settings/estimates", "analyst", ""),
    ("GET /tasks/settings/heavy-hitters", "analyst", ""),
    ("GET /tasks/settings/privacy", "analyst", ""),
    ("POST /tasks", "admin", "{}"),
    ("PUT /tasks/settings/settings", "admin", SETTINGS_OF_TASK),
    ("POST /tasks/settings/batches", "admin", ""),
];

#[test]
fn nobody_may_more_than_their_token_says() {
    let guarded = Guarded::new();
    let (analyst, admin) = (
        create_token(&guarded.data, "analyst"),
        create_token(&guarded.data, "admin"),
    );
    let unknown = format!("hushbin_{}", "0".repeat(64));
    for (line, role, body) in REQUESTS
        .into_iter()
        .chain([("DELETE /tasks/settings", "admin", "")])
    {
        let refused = |token: Option<&str>| {
            let (status, body) = guarded.ask(line, token, body);
            match status {
                401 => assert_eq!(body["type"], "urn:hushbin:problem:unauthorized"),
                403 => assert_eq!(body["type"], "urn:hushbin:problem:forbidden"),
                _ => {}
            }
            [401, 403].contains(&status).then_some(status)
        };
        let with = |role: &str| if role.is_empty() { None } else { Some(401) };
        assert_eq!(refused(None), with(role), "{line}");
        for wrong in [unknown.as_str(), "", "hushbin_", &admin[..admin.len() - 1]] {
            assert_eq!(refused(Some(wrong)), with(role), "{line} {wrong}");
        }
        let analysts = if role == "admin" { Some(403) } else { None };
        assert_eq!(refused(Some(&analyst)), analysts, "{line}");
        assert_eq!(refused(Some(&admin)), None, "{line}");
    }
}

#[test]
fn a_token_holds_until_it_is_revoked() {
    let guarded = Guarded::new();
    let analyst = create_token(&guarded.data, "analyst");
    let other = create_token(&guarded.data, "analyst");
    let status = |token: &str| guarded.ask("GET /tasks", Some(token), "").0;
    assert_eq!((status(&analyst), status(&other)), (200, 200));
    let listed = token(&guarded.data, &["list"]);
    assert_eq!(listed.lines().count(), 2);
    for secret in [&analyst, &other] {
        assert!(!listed.contains(&secret[8..]), "{listed}");
        let kept = fs::read_to_string(guarded.data.join("tokens.json")).unwrap();
        assert!(!kept.contains(&secret[8..]), "{kept}");
    }
    let id = &listed[..8];
    token(&guarded.data, &["revoke", id]);
    assert_eq!((status(&analyst), status(&other)), (401, 200));
    // A token is also known by its name, which no other token has.
    let name = listed.lines().last().unwrap().rsplit("  ").next().unwrap();
    for taken in [name, &token(&guarded.data, &["list"])[..8]] {
        let mut again = process::command();
        again.args([
            "token", "create", "--role", "analyst", "--name", taken, "--data",
        ]);
        let output = again.arg(&guarded.data).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!("there is already a token {taken:?}")),
            "{said}"
        );
        assert!(said.contains("revoke that token first"), "{said}");
    }
    token(&guarded.data, &["revoke", name]);
    assert_eq!(status(&other), 401);
    let detail = |token| guarded.ask("GET /tasks", token, "").1["detail"].to_string();
    assert!(detail(Some(&analyst)).contains("revoked"));
    assert!(detail(None).contains("create a token with hushbin token create"));
}

/// A newer version may know more roles. Its tokens stop nobody else's, and stay as they are.
#[test]
fn a_token_of_an_unknown_role_permits_nothing_and_stays() {
    let guarded = Guarded::new();
    let [admin, other] = ["admin", "analyst"].map(|role| create_token(&guarded.data, role));
    let status = |token: &str| guarded.ask("GET /tasks", Some(token), "").0;
    assert_eq!((status(&admin), status(&other)), (200, 200));
    let file = guarded.data.join("tokens.json");
    let tokens = fs::read_to_string(&file).unwrap();
    fs::write(&file, tokens.replace("\"analyst\"", "\"auditor\"")).unwrap();
    assert_eq!((status(&admin), status(&other)), (200, 403));
    create_token(&guarded.data, "analyst");
    let listed = token(&guarded.data, &["list"]);
    let row = listed
        .lines()
        .find(|line| line.contains("auditor"))
        .unwrap();
    assert!(row.contains("unknown role"), "{listed}");
    token(&guarded.data, &["revoke", &row[..8]]);
    assert_eq!((status(&admin), status(&other)), (200, 401));
}

#[test]
fn tokens_are_those_of_a_directory_that_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("misspelt");
    for words in [&["list"][..], &["revoke", "1f2e3d4c"]] {
        let mut command = process::command();
        command.arg("token").args(words).arg("--data").arg(&data);
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{words:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("misspelt: No such file"), "{said}");
    }
    let mut command = process::command();
    command.args(["token", "create", "--role", "admin", "--name", "a"]);
    let output = command.arg("--data").arg(&data).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("no journal in"),
        "{said}"
    );
    assert!(!data.exists());
}

/// The collector runs as its own user, and root creates its journal and tokens.
#[cfg(unix)]
#[test]
fn what_root_makes_belongs_to_the_directorys_owner() {
    use std::os::unix::fs::{MetadataExt, chown};

    const NOBODY: u32 = 65534;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    if chown(data, Some(NOBODY), Some(NOBODY)).is_err() {
        // Only root can create files that belong to another user.
        assert_ne!(fs::metadata(data).unwrap().uid(), 0);
        return;
    }
    process::create_journal(data);
    create_token(data, "admin");
    for name in ["lock", "tasks.json", "tokens.json", "tokens.lock"] {
        let made = fs::metadata(data.join(name)).unwrap();
        assert_eq!((made.uid(), made.gid()), (NOBODY, NOBODY), "{name}");
        assert_eq!(made.mode() & 0o777, 0o600, "{name}");
    }
}

/// Each request passes the first check while the rest is queued, so the writer has to check again.
#[test]
fn of_simultaneous_tasks_with_one_id_one_is_stored() {
    let guarded = Guarded::new();
    let admin = create_token(&guarded.data, "admin");
    let task: Value = serde_json::from_str(COUNTED).unwrap();
    let body = json!({ "task": task }).to_string();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let ask = || guarded.ask("POST /tasks", Some(&admin), &body).0;
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking
            .into_iter()
            .map(|each| each.join().unwrap())
            .collect()
    });
    let created = statuses.iter().filter(|&&status| status == 201).count();
    let refused = statuses.iter().filter(|&&status| status == 409).count();
    assert_eq!((created, refused), (1, 15), "{statuses:?}");
}

#[test]
fn tasks_come_and_go_while_the_collector_runs() {
    let guarded = Guarded::new();
    let admin = create_token(&guarded.data, "admin");
    let ask = |line: &str, body: &str| guarded.ask(line, Some(&admin), body);
    let task: Value = serde_json::from_str(COUNTED).unwrap();
    let body =
        json!({ "task": task, "collection_settings": { "batch": { "least": 2 } } }).to_string();
    let (status, created) = ask("POST /tasks", &body);
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["collection_settings"]["batch"]["least"], 2);
    let expected = draft(COUNTED).resolve_task().unwrap();
    assert_eq!(created["fingerprint"], expected.fingerprint().to_string());
    assert_eq!(
        ask("GET /tasks", "").1["tasks"],
        json!(["settings", "counted"])
    );
    assert_eq!(
        ask("POST /tasks", &body).1["type"],
        "urn:hushbin:problem:task-exists"
    );

    let mut uploads = Uploads::new(&expected, 1);
    let mut client = Client::connect(guarded.address).unwrap();
    let first = uploads.bytes(3);
    assert_eq!(client.post("counted", &first).unwrap().0, 201);
    assert_eq!(ask("POST /tasks/counted/batches", "").0, 202);
    while ask("GET /tasks/counted/batches", "").1["batches"][0]["state"] != "released" {}
    assert_eq!(ask("GET /tasks/counted/estimates", "").1["reports"], 3);
    // Settings that a request leaves out are those of the collector's options.
    let some = ask(
        "PUT /tasks/counted/settings",
        r#"{ "keep_reports_days": 7 }"#,
    )
    .1;
    assert_eq!(
        (&some["batch"]["least"], &some["keep_reports_days"]),
        (&json!(3), &json!(7))
    );
    let (status, settings) = ask("PUT /tasks/counted/settings", SETTINGS_OF_TASK);
    assert_eq!((status, &settings["batch"]["least"]), (200, &json!(5)));
    assert_eq!(ask("GET /tasks/counted/settings", "").1, settings);
    client.post("counted", &uploads.bytes(4)).unwrap();
    let (status, problem) = ask("POST /tasks/counted/batches", "");
    assert_eq!((status, &problem["min_reports"]), (409, &json!(5)));

    assert_eq!(ask("DELETE /tasks/counted", "").0, 204);
    assert_eq!(ask("GET /tasks/counted/estimates", "").0, 404);
    assert_eq!(client.post("counted", &first).unwrap().0, 404);
    let left: Vec<_> = fs::read_dir(guarded.data.join("tasks")).unwrap().collect();
    assert_eq!(left.len(), 1);
    // The id is the same, but nothing remains of the old task.
    assert_eq!(ask("POST /tasks", &body).0, 201);
    assert_eq!(client.post("counted", &first).unwrap().0, 201);
}

#[test]
fn what_an_admin_sends_is_checked() {
    let guarded = Guarded::new();
    let admin = create_token(&guarded.data, "admin");
    let task: Value = serde_json::from_str(COUNTED).unwrap();
    let mut wrong = task.clone();
    wrong["epsilon"] = json!(-1);
    for (line, body, slug, says) in [
        ("POST /tasks", "{".to_owned(), "bad-request", "line 1"),
        (
            "POST /tasks",
            "{}".to_owned(),
            "bad-request",
            "missing field",
        ),
        (
            "POST /tasks",
            json!({ "task": task, "colour": 1 }).to_string(),
            "bad-request",
            "colour",
        ),
        (
            "POST /tasks",
            json!({ "task": wrong }).to_string(),
            "invalid-task",
            "epsilon",
        ),
        (
            "POST /tasks",
            json!({ "task": task, "collection_settings": { "batch": { "least": 0 } } }).to_string(),
            "invalid-task",
            "batch.least",
        ),
        (
            "PUT /tasks/settings/settings",
            json!({ "batch": { "least": 9, "most": 8 } }).to_string(),
            "bad-request",
            "batch.most",
        ),
        (
            "PUT /tasks/settings/settings",
            json!({ "batches": {} }).to_string(),
            "bad-request",
            "batches",
        ),
    ] {
        let (_, problem) = guarded.ask(line, Some(&admin), &body);
        assert_eq!(
            problem["type"],
            format!("urn:hushbin:problem:{slug}"),
            "{body}: {problem}"
        );
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{body}: {detail}");
    }
    assert_eq!(
        guarded.ask("GET /tasks", Some(&admin), "").1["tasks"],
        json!(["settings"])
    );
}
