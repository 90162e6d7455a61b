//! Data stored by one node is visible to all.

use std::fs;
use std::time::Instant;

use hushbin_tests::postgres::shared;

use super::*;
use crate::support::COUNTED;

#[test]
fn any_node_answers_the_same() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let running: Vec<_> = (0..3).map(|_| nodes.collector(&[])).collect();
    let addresses: Vec<SocketAddr> = running.iter().map(|(_, address)| *address).collect();
    let token = nodes.token("admin");
    let mut uploads = Uploads::new(&nodes.task, 1);
    let made: Vec<Upload> = (0..60).map(|_| uploads.make(2)).collect();
    let send = |address: SocketAddr, upload: &Upload| {
        let mut client = Client::connect(address).unwrap();
        let bytes = upload.encode(&nodes.task.fingerprint());
        client.post("settings", &bytes).unwrap().0
    };
    for (upload, address) in made.iter().zip(addresses.iter().cycle()) {
        assert_eq!(send(*address, upload), 201);
    }
    for (upload, address) in made.iter().zip(addresses.iter().rev().cycle()) {
        assert_eq!(send(*address, upload), 200, "it is known everywhere");
    }
    let batches = "GET /tasks/settings/batches";
    for &address in &addresses {
        assert_eq!(
            ask(address, &token, batches, "").1["batches"][0]["reports"],
            120
        );
    }
    nodes.release(addresses[1], &token);
    let estimates = "GET /tasks/settings/estimates";
    let answers: Vec<_> = addresses
        .iter()
        .map(|&address| bytes_of(address, &token, estimates, ""))
        .collect();
    assert_eq!(answers[0].0, 200);
    assert!(answers.iter().all(|own| *own == answers[0]));
    let found: Value = serde_json::from_slice(&answers[0].1).unwrap();
    assert_eq!(found, nodes.expected(&made));

    // The journal is exported to a file.
    let file = nodes.path("reports.csv");
    let file = file.to_str().unwrap();
    let export = ["journal", "export", "--task", "settings", "--format", "csv"];
    nodes.says(&[&export[..], &["--out", file]].concat());
    let estimated = hushbin(&["estimate", file, "--format", "json"]);
    assert_eq!(estimated.stdout, answers[0].1);

    // A report is erased while the nodes run.
    let rows = std::fs::read_to_string(file).unwrap();
    let (row, report) = rows
        .lines()
        .skip(1)
        .map(|row| (row, row.rsplit(',').next().unwrap()))
        .nth(50)
        .unwrap();
    nodes.says(&["journal", "erase", "--task", "settings", report]);
    let left = rows.replacen(&format!("{row}\n"), "", 1);
    assert_eq!(nodes.says(&export), left.trim_end());
    assert_eq!(bytes_of(addresses[0], &token, estimates, ""), answers[0]);

    // A read-only node gives the same answer.
    let (reading, address) = nodes.collector(&["--read-only"]);
    assert_eq!(bytes_of(address, &token, estimates, ""), answers[0]);
    assert_eq!(send(address, &uploads.make(1)), 503);
    // The batch is closed already and cannot be closed twice.
    assert_eq!(
        ask(addresses[0], &token, "POST /tasks/settings/batches", "").0,
        409
    );
    assert_eq!(send(addresses[2], &uploads.make(1)), 201);
    nodes.release(addresses[0], &token);
    let all = ask(addresses[2], &token, estimates, "").1;
    assert_eq!(ask(address, &token, estimates, "").1, all);
    assert_eq!(all["reports"], 121);
    drop((reading, running));
}

#[test]
fn tasks_settings_and_tokens_are_those_of_all_nodes() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let (one, first) = nodes.collector(&[]);
    let (two, second) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let id = nodes.says(&["token", "list"]);
    let id = id.split_whitespace().next().unwrap().to_owned();
    let task = |json: &str| format!(r#"{{ "task": {json} }}"#);
    assert_eq!(ask(first, &token, "POST /tasks", &task(COUNTED)).0, 201);
    until(|| ask(second, &token, "GET /tasks/counted", "").0 == 200);
    let differs = COUNTED.replace("1.0", "2.0");
    assert_eq!(ask(second, &token, "POST /tasks", &task(&differs)).0, 409);
    let settings = r#"{ "batch": { "least": 7, "most": 50, "hours": 1 } }"#;
    let put = "PUT /tasks/counted/settings";
    assert_eq!(ask(second, &token, put, settings).0, 200);
    let batches = "GET /tasks/counted/batches";
    until(|| ask(first, &token, batches, "").1["batch_settings"]["least"] == 7);
    // The same holds after a restart.
    drop(one);
    let (one, first) = nodes.collector(&[]);
    assert_eq!(
        ask(first, &token, batches, "").1["batch_settings"]["least"],
        7
    );
    assert_eq!(ask(first, &token, "DELETE /tasks/counted", "").0, 204);
    until(|| ask(second, &token, "GET /tasks/counted", "").0 == 404);
    assert_eq!(ask(second, &token, "POST /tasks", &task(&differs)).0, 201);
    // The revocation has immediate effect.
    nodes.says(&["token", "revoke", &id]);
    for address in [first, second] {
        assert_eq!(ask(address, &token, batches, "").0, 401);
    }
    drop((one, two));
}

/// A newer version may know more settings. Their task hides no other.
#[test]
fn a_task_with_unknown_settings_hides_no_other() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let (one, first) = nodes.collector(&[]);
    let (two, second) = nodes.collector(&[]);
    let token = nodes.token("admin");
    server.ask(
        nodes.store.rsplit_once('/').unwrap().1,
        "UPDATE hushbin.task SET settings = '{}' WHERE id = 'settings'",
    );
    let task = format!(r#"{{ "task": {COUNTED} }}"#);
    assert_eq!(ask(first, &token, "POST /tasks", &task).0, 201);
    let begin = Instant::now();
    until(|| {
        assert!(begin.elapsed() < PATIENCE, "the new task is hidden");
        ask(second, &token, "GET /tasks/counted", "").0 == 200
    });
    drop((one, two));
}

/// Other nodes serve a task as soon as it is stored. So it is kept even if the task log cannot be
/// written, and listed as soon as it can be.
#[test]
fn a_task_that_cannot_be_listed_is_served_and_listed_later() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let database = nodes.store.rsplit_once('/').unwrap().1;
    let (one, first, log) = nodes.logging_collector(&nodes.store);
    let (two, second) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let listed = |address: SocketAddr| -> Vec<String> {
        let (_, log) = ask(address, &token, "GET /task-log", "");
        let entries = log["entries"].as_array().unwrap().iter();
        let ids = entries.map(|entry| entry["task"].as_str().unwrap().to_owned());
        ids.collect()
    };
    assert_eq!(listed(first), ["settings"]);
    server.ask(
        database,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'as the test wants it'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON hushbin.task_log \
         FOR EACH ROW EXECUTE FUNCTION refuse()",
    );

    let task = format!(r#"{{ "task": {COUNTED} }}"#);
    assert_eq!(ask(first, &token, "POST /tasks", &task).0, 201);
    until(|| ask(second, &token, "GET /tasks/counted", "").0 == 200);
    let counted = draft(COUNTED).resolve_task().unwrap();
    let mut uploads = Uploads::new(&counted, 1);
    for address in [first, second] {
        let bytes = uploads.make(3).encode(&counted.fingerprint());
        let mut client = Client::connect(address).unwrap();
        assert_eq!(client.post("counted", &bytes).unwrap().0, 201);
        assert_eq!(listed(address), ["settings"]);
    }
    let failure = "appending to the task log fails";
    assert!(log().contains(failure), "{}", log());
    assert!(log().contains("as the test wants it"), "{}", log());

    server.ask(database, "DROP TRIGGER refuse ON hushbin.task_log");
    for address in [first, second] {
        until(|| listed(address) == ["settings", "counted"]);
        let (_, batches) = ask(address, &token, "GET /tasks/counted/batches", "");
        assert_eq!(batches["batches"][0]["reports"], 6, "{batches}");
    }
    drop((one, two));
}

/// Nodes log changes of tokens by other processes, at the next use of a token.
#[test]
fn changes_of_tokens_are_logged() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let (running, address, log) = nodes.logging_collector(&nodes.store);
    let token = nodes.token("admin");
    let ask = || ask(address, &token, "GET /tasks/settings/batches", "").0;
    assert_eq!(ask(), 200);
    let name = token_name();
    nodes.says(&["token", "create", "--role", "analyst", "--name", &name]);
    assert!(!log().contains(&name), "{}", log());
    assert_eq!(ask(), 200);
    let lines = |event: &str| -> Vec<String> {
        let log = log();
        let lines = log.lines().filter(|line| line.contains(event));
        lines.map(str::to_owned).collect()
    };
    let created = lines("a token was created");
    // Before it, the first token was created.
    assert_eq!(created.len(), 2, "{created:?}");
    assert!(created[1].contains(&name), "{created:?}");
    assert!(created[1].contains("analyst"), "{created:?}");
    assert!(nodes.says(&["token", "revoke", &name]).contains(&name));
    assert_eq!(ask(), 200);
    let revoked = lines("a token was revoked");
    assert_eq!(revoked.len(), 1, "{revoked:?}");
    assert!(revoked[0].contains(&name), "{revoked:?}");
    // A token is revoked once.
    let again = hushbin(&["token", "revoke", &name, "--database", &nodes.store]);
    assert!(!again.status.success());
    drop(running);
}

/// A newer version may know more roles. Its tokens stop nobody else's.
#[test]
fn a_token_of_an_unknown_role_permits_nothing_and_stops_no_other() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let (running, address, log) = nodes.logging_collector(&nodes.store);
    let [admin, other] = ["admin", "analyst"].map(|role| nodes.token(role));
    let status = |token: &str| ask(address, token, "GET /tasks/settings/batches", "").0;
    assert_eq!((status(&admin), status(&other)), (200, 200));
    server.ask(
        nodes.store.rsplit_once('/').unwrap().1,
        "UPDATE hushbin.token SET role = 'auditor' WHERE role = 'analyst'",
    );
    for _ in 0..3 {
        assert_eq!((status(&admin), status(&other)), (200, 403));
    }
    assert_eq!(log().matches("an unknown role").count(), 1, "{}", log());
    let listed = nodes.says(&["token", "list"]);
    let row = listed
        .lines()
        .find(|line| line.contains("auditor"))
        .unwrap();
    assert!(row.contains("unknown role"), "{listed}");
    assert!(
        nodes
            .says(&["token", "revoke", &row[..8]])
            .contains("revoked")
    );
    assert_eq!((status(&admin), status(&other)), (200, 401));
    drop(running);
}

#[test]
fn what_is_no_database_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("task.json");
    fs::write(&path, SETTINGS).unwrap();
    let serve = |store: &str| {
        let path = path.to_str().unwrap();
        let said = hushbin(&["serve", "--database", store, "--task", path]);
        assert!(!said.status.success());
        String::from_utf8(said.stderr).unwrap()
    };
    let said = serve("postgres://hushbin:secret@127.0.0.1:1/none");
    assert!(
        said.contains("database") && said.contains("refused"),
        "{said}"
    );
    assert!(!said.contains("secret"), "{said}");
    let server = shared();
    let address = server.database();
    server.ask(
        address.rsplit_once('/').unwrap().1,
        "CREATE SCHEMA hushbin; CREATE TABLE hushbin.journal (version BIGINT, probes BIGINT); \
         INSERT INTO hushbin.journal VALUES (3, 0)",
    );
    let said = serve(&address);
    assert!(
        said.contains("version 3") && said.contains("version 2"),
        "{said}"
    );
    // The error reveals nothing about a host that is not asked over TLS.
    let other = address.replace("127.0.0.1", "127.0.0.1.nip.invalid");
    assert!(serve(&other).contains("database"));
    let encrypted = format!("{address}?sslmode=require");
    let said = serve(&encrypted);
    assert!(said.contains("TLS"), "{said}");
}

/// Whichever node reads a new task file first, the others find the same task.
#[test]
fn nodes_that_read_the_same_new_task_file_agree() {
    let server = shared();
    let nodes = Nodes::over(server.database());
    let logs = ["a", "b", "c"].map(|name| nodes.path(name));
    let files = nodes.path("tasks");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("settings.json"), SETTINGS).unwrap();
    let running = logs.each_ref().map(|log| {
        let mut command = command();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database",
            &nodes.store,
        ]);
        command.arg("--task").arg(&files);
        command.stderr(fs::File::create(log).unwrap());
        let mut started = Collector::start(command);
        let address = started.address();
        (started, address)
    });
    fs::write(files.join("counted.json"), COUNTED).unwrap();
    for (node, _) in &running {
        node.signal("-HUP");
    }
    for (log, (_, address)) in logs.iter().zip(&running) {
        let log = || fs::read_to_string(log).unwrap();
        until(|| log().contains("task files read"));
        let log = log();
        assert!(!log.contains("refused"), "{log}");
        assert!(log.contains("counted"), "{log}");
        let mut client = Client::connect(*address).unwrap();
        assert_eq!(client.get("/tasks/counted").unwrap().0, 200);
    }
}
