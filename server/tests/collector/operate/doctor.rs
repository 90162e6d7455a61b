//! `hushbin doctor`: each check, where all is well and where something is wrong.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use hushbin_tests::postgres::Server;
use hushbin_tests::process;

use super::proxies::{caddy_allows, nginx_allows};
use super::{Operated, configure};
use crate::access::create_token;
use crate::nodes::ask;
use crate::ohttp::create_key;
use crate::shuffle::free;
use crate::support::proxy::{CADDY, NGINX};
use crate::support::{SETTINGS, tls};

/// Runs the command on a file, with a limit on open files. Returns success, and the output.
fn doctor_within(files: u32, config: &Path, flags: &[&str]) -> (bool, String) {
    let mut limited = Command::new("sh");
    let script = format!("ulimit -n {files}; exec \"$@\"");
    let output = limited
        .args(["-c", &script, "sh"])
        .arg(process::command().get_program())
        .args(["doctor", "--config"])
        .arg(config)
        .args(flags)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

fn doctor(config: &Path, flags: &[&str]) -> (bool, String) {
    doctor_within(20_000, config, flags)
}

/// Checks that the line of a check has this grade and contains this text, and that the status is 1
/// if the grade is "error".
#[track_caller]
fn is((success, said): &(bool, String), check: &str, grade: &str, text: &str) {
    let name = format!(" {check}: ");
    let line = said.lines().find(|line| line.contains(&name));
    let line = line.unwrap_or_else(|| panic!("no {check}: {said}"));
    assert!(line.starts_with(grade) && line.contains(text), "{said}");
    assert!(said.starts_with("errors: "), "{said}");
    assert!(grade != "error" || !success, "{said}");
}

#[test]
fn all_is_well() {
    let directory = tempfile::tempdir().unwrap();
    tls::issue(directory.path());
    let config = configure(directory.path(), tls::FILES);
    create_token(&directory.path().join("data"), "admin");
    let files = |path: &Path| fs::read_dir(path).unwrap().count();
    let before = files(&directory.path().join("data"));
    let found = doctor(&config, &[]);
    assert!(found.0 && found.1.starts_with("errors: 0, "), "{}", found.1);
    for (check, text) in [
        ("certificate", "it matches its key, and expires in"),
        ("settings", "are valid"),
        ("lock", "no collector is running"),
        ("descriptors", "open files suffice for 4096 connections"),
        ("tokens", "1 tokens, 1 of admins"),
        ("clock", "not behind the journal"),
    ] {
        is(&found, check, "ok", text);
    }
    assert_eq!(files(&directory.path().join("data")), before);
}

#[test]
fn what_is_wrong_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let config = configure(directory.path(), "");
    let data = directory.path().join("data");
    is(
        &doctor(&config, &[]),
        "tokens",
        "warning",
        "token create --role admin",
    );
    fs::write(data.join("tokens.json"), "nothing").unwrap();
    is(
        &doctor(&config, &[]),
        "tokens",
        "error",
        "is not a list of tokens",
    );
    fs::remove_file(data.join("tokens.json")).unwrap();

    let elsewhere = directory.path().join("elsewhere");
    let flags = ["--data", elsewhere.to_str().unwrap()];
    is(
        &doctor(&config, &flags),
        "settings",
        "error",
        "no journal in",
    );
    is(&doctor(&config, &flags), "disk", "error", "elsewhere: ");
    is(
        &doctor(&config, &flags),
        "disk",
        "error",
        "create it, or mount",
    );
    is(&doctor(&config, &flags), "lock", "warning", "cannot tell");
    let few = ["--batch-least", "99"];
    is(
        &doctor(&config, &few),
        "settings",
        "warning",
        "the default is 1000",
    );
    let few = ["--batch-least", "99", "--development"];
    is(&doctor(&config, &few), "settings", "ok", "are valid");
    is(
        &doctor(&config, &["--write-timeout", "0"]),
        "settings",
        "error",
        "expected 1 to 3600",
    );

    // No disk has this much room.
    let most = (1_u64 << 40).to_string();
    let disk = doctor(&config, &["--queue-bytes", &most]);
    if !disk.1.contains(" TiB of free space") {
        is(&disk, "disk", "error", "make room, or uploads are refused");
    }
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    is(&doctor(&config, &[]), "disk", "warning", "run chmod 700");
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();

    let few = doctor_within(256, &config, &[]);
    is(&few, "descriptors", "warning", "raise that limit");
    let few = doctor_within(256, &config, &["--max-connections", "500"]);
    is(&few, "descriptors", "error", "raise that limit");

    let list = File::options()
        .write(true)
        .open(data.join("tasks.json"))
        .unwrap();
    let hour = Duration::from_secs(3600);
    list.set_modified(SystemTime::now() + hour).unwrap();
    is(
        &doctor(&config, &[]),
        "clock",
        "error",
        "behind the newest time in the journal",
    );
    for name in ["tasks.json", "lock"] {
        let file = File::options().write(true).open(data.join(name)).unwrap();
        file.set_modified(SystemTime::now() - 9610 * hour).unwrap();
    }
    is(&doctor(&config, &[]), "clock", "warning", "is 400 days ago");
}

#[test]
fn certificates_are_judged() {
    let directory = tempfile::tempdir().unwrap();
    let config = configure(directory.path(), tls::FILES);
    tls::issue_until(directory.path(), 2020);
    is(
        &doctor(&config, &[]),
        "certificate",
        "error",
        "has expired; renew it",
    );
    let key = fs::read(directory.path().join("key.pem")).unwrap();
    tls::issue(directory.path());
    fs::write(directory.path().join("key.pem"), key).unwrap();
    let found = doctor(&config, &[]);
    is(
        &found,
        "certificate",
        "error",
        "does not match the first certificate",
    );
    // The rest is checked nevertheless.
    is(&found, "settings", "ok", "are valid");
}

#[test]
fn a_running_collector_is_seen() {
    let operated = Operated::new("");
    let config = operated.directory.path().join("hushbin.toml");
    let url = format!("http://{}", operated.address);
    let listen = operated.address.to_string();
    let found = doctor(&config, &["--public-url", &url, "--listen", &listen]);
    is(&found, "lock", "ok", "a collector is running");
    // The collector itself is reached, so its metrics are public.
    is(
        &found,
        "proxy",
        "warning",
        "/metrics answers this machine; it is public unless",
    );
    is(&found, "clock", "ok", "and that of http://");
    for allows in SHIPPED {
        let url = proxy_for(operated.address, "connection: close\r\n", allows);
        let found = doctor(&config, &["--public-url", &url, "--listen", &listen]);
        is(&found, "proxy", "ok", "the collector answers at");
    }
    let lock = operated.directory.path().join("data/lock");
    let moved = lock.with_extension("moved");
    fs::rename(&lock, &moved).unwrap();
    is(&doctor(&config, &[]), "lock", "warning", "cannot tell");
    fs::rename(&moved, &lock).unwrap();
    create_key(operated.directory.path(), "ohttp");
    let key = operated.directory.path().join("ohttp.pem");
    let flags = [
        "--public-url",
        &url,
        "--listen",
        &listen,
        "--ohttp-key",
        key.to_str().unwrap(),
    ];
    is(
        &doctor(&config, &flags),
        "proxy",
        "error",
        "the keys of --ohttp-key",
    );
}

/// Tasks of requests need descriptors, too, and no task file names them.
#[test]
fn descriptors_of_all_stored_tasks_are_counted() {
    let operated = Operated::new("");
    let config = operated.directory.path().join("hushbin.toml");
    let admin = create_token(&operated.directory.path().join("data"), "admin");
    // 256 files less 128 for everything else, and one for the task.
    let wanted = ["--max-connections", "127"];
    is(
        &doctor_within(256, &config, &wanted),
        "descriptors",
        "ok",
        "suffice",
    );
    let other = SETTINGS.replacen("settings", "other", 1);
    let (status, answer) = ask(operated.address, &admin, "POST /tasks", &other);
    assert_eq!(status, 201, "{answer}");
    let found = doctor_within(256, &config, &wanted);
    is(&found, "descriptors", "error", "for 126 connections only");
}

#[test]
fn a_name_that_is_not_served_is_found() {
    let operated = Operated::new("hosts = ['stats.example.org']");
    let config = operated.directory.path().join("hushbin.toml");
    let (listen, url) = (
        operated.address.to_string(),
        format!("http://{}", operated.address),
    );
    let found = doctor(&config, &["--public-url", &url, "--listen", &listen]);
    is(&found, "proxy", "error", "does not serve this name");
}

#[test]
fn untrusted_certificates_are_named() {
    let (operated, certificate) = super::tls::encrypted("");
    let config = operated.directory.path().join("hushbin.toml");
    let url = format!("https://{}", operated.address);
    let listen = operated.address.to_string();
    let flags = ["--public-url", &url, "--listen", &listen];
    is(
        &doctor(&config, &flags),
        "proxy",
        "error",
        "this machine does not trust the certificate",
    );
    drop(certificate);
}

/// A disk of its own has a directory of root. What the collector writes lies deeper.
#[test]
fn only_the_journals_own_files_are_checked_and_all_of_them() {
    const NOBODY: u32 = 65534;
    let operated = Operated::new("");
    let bytes = operated.uploads().bytes(1);
    assert_eq!(operated.client().post("settings", &bytes).unwrap().0, 201);
    let config = operated.directory.path().join("hushbin.toml");
    let data = operated.directory.path().join("data");
    fs::create_dir(data.join("lost+found")).unwrap();
    let strange = [data.join("lost+found"), data.join("tasks/notes")];
    fs::write(&strange[1], "of the operator").unwrap();
    if chown(&strange[0], Some(NOBODY), None).is_err() {
        // Only root can give files away.
        assert_ne!(fs::metadata(&data).unwrap().uid(), 0);
        return;
    }
    chown(&strange[1], Some(NOBODY), None).unwrap();
    let found = doctor(&config, &[]);
    assert!(!found.1.contains("belongs to user"), "{}", found.1);
    let task = data.join("tasks/00000001");
    for path in [task.join("00000001.log"), task] {
        chown(&path, Some(NOBODY), None).unwrap();
        let text = format!("{} belongs to user 65534", path.display());
        is(&doctor(&config, &[]), "disk", "error", &text);
        chown(&path, Some(0), None).unwrap();
    }
}

/// Root can read every key, and the collector's user cannot.
#[test]
fn a_key_that_only_root_can_read_is_found() {
    const NOBODY: u32 = 65534;
    let directory = tempfile::tempdir().unwrap();
    tls::issue(directory.path());
    let config = configure(directory.path(), tls::FILES);
    let data = directory.path().join("data");
    if chown(&data, Some(NOBODY), Some(NOBODY)).is_err() {
        // Only root can give files away.
        assert_ne!(fs::metadata(&data).unwrap().uid(), 0);
        return;
    }
    let found = |text: &str, grade: &str| {
        is(&doctor(&config, &[]), "certificate", grade, text);
        let mut check = process::command();
        check
            .args(["serve", "--check-config", "--config"])
            .arg(&config);
        let output = String::from_utf8(check.output().unwrap().stdout).unwrap();
        assert_eq!(output.contains("warning: "), grade == "warning", "{output}");
        assert!(output.contains("the configuration is valid"), "{output}");
    };
    tls::set_mode(directory.path(), 0o700);
    found("certificate.pem", "warning");
    tls::set_mode(directory.path(), 0o711);
    found("key.pem", "warning");
    let key = directory.path().join("key.pem");
    chown(&key, None, Some(NOBODY)).unwrap();
    tls::set_mode(&key, 0o640);
    found("it matches its key", "ok");
}

/// What the shipped files of proxies hand on.
const SHIPPED: [fn(&str) -> bool; 2] = [
    |route| nginx_allows(NGINX, route),
    |route| caddy_allows(CADDY, route),
];

/// A proxy on a free port, which adds lines to the head of each request.
fn proxy(to: SocketAddr, lines: &'static str) -> String {
    proxy_for(to, lines, |_| true)
}

/// A proxy that hands on the routes that `allows` accepts, and answers the others with 403. Requests
/// of others arrive before each.
fn proxy_for(to: SocketAddr, lines: &'static str, allows: fn(&str) -> bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut from = stream.unwrap();
            let mut head = [0; 4096];
            let length = from.read(&mut head).unwrap();
            let head = String::from_utf8_lossy(&head[..length]).replacen(
                "\r\n",
                &format!("\r\n{lines}"),
                1,
            );
            let path = head.split(' ').nth(1).unwrap();
            let route = match path.strip_prefix("/tasks/") {
                Some(id) if !id.contains('/') => "/tasks/{id}",
                _ => path,
            };
            if !allows(route) {
                let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
                from.write_all(refusal).unwrap();
                continue;
            }
            // One of these says nothing, and the other names a client.
            silent.extend(TcpStream::connect(to));
            if let Ok(mut stranger) = TcpStream::connect(to) {
                let request = b"GET /tasks/a HTTP/1.1\r\nhost: a\r\nforwarded: for=192.0.2.9\r\n\
                                connection: close\r\n\r\n";
                stranger.write_all(request).unwrap();
                let _ = stranger.read_to_end(&mut Vec::new());
            }
            let Ok(mut back) = TcpStream::connect(to) else {
                continue;
            };
            back.write_all(head.as_bytes()).unwrap();
            let mut answer = Vec::new();
            back.read_to_end(&mut answer).unwrap();
            from.write_all(&answer).unwrap();
        }
    });
    url
}

#[test]
fn requests_through_a_proxy_are_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let config = configure(directory.path(), "");
    let listen = free();
    let address = listen.to_string();
    let through = |url: &str, more: &[&str]| {
        let flags = ["--listen", &address, "--public-url", url];
        doctor(&config, &[&flags[..], more].concat())
    };
    let silent = proxy(listen, "");
    is(
        &through(&silent, &[]),
        "proxy",
        "ok",
        "arrive, without the client's address",
    );
    let limited = through(&silent, &["--max-reports-per-peer", "60"]);
    is(
        &limited,
        "proxy",
        "error",
        "all requests come from the proxy at 127.0.0.1",
    );
    for line in [
        "X-Forwarded-For: 192.0.2.1\r\n",
        "Forwarded: for=192.0.2.1\r\n",
    ] {
        is(
            &through(&proxy(listen, line), &[]),
            "proxy",
            "warning",
            "remove it there",
        );
    }
    for allows in SHIPPED {
        let found = through(&proxy_for(listen, "", allows), &[]);
        is(
            &found,
            "proxy",
            "ok",
            "arrive, without the client's address",
        );
    }
    let direct = format!("http://{listen}");
    is(&through(&direct, &[]), "proxy", "ok", "without a proxy");
    let wrong = through(&proxy(free(), ""), &[]);
    is(&wrong, "proxy", "error", "does not arrive at");
}

#[test]
fn other_clocks_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let config = configure(directory.path(), "");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // A server with a wrong clock, which keeps its own address busy.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"type":"urn:hushbin:problem:unknown-task"}"#;
            let answer = format!(
                "HTTP/1.1 404 Not Found\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
                 content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let url = format!("http://{address}");
    let found = doctor(
        &config,
        &["--listen", &address.to_string(), "--public-url", &url],
    );
    is(&found, "clock", "error", "from that of http://127.0.0.1");
}

#[test]
fn databases_are_reached_or_not() {
    let server = Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("hushbin.toml");
    fs::write(
        directory.path().join("settings.json"),
        crate::support::SETTINGS,
    )
    .unwrap();
    let store = |address: &str| {
        let text = format!("database = '{address}'\ntasks = ['settings.json']\n");
        fs::write(&config, text).unwrap();
        doctor(&config, &[])
    };
    let address = server.database();
    let found = store(&address);
    assert!(found.0, "{}", found.1);
    is(&found, "tokens", "warning", "token create --role admin");
    let created = process::hushbin(&[
        "token",
        "create",
        "--role",
        "admin",
        "--name",
        "a",
        "--database",
        &address,
    ]);
    assert!(created.status.success());
    let found = store(&address);
    assert!(found.0, "{}", found.1);
    is(&found, "database", "ok", "answers");
    is(&found, "clock", "ok", "and that of the database");
    server.ask(
        address.rsplit('/').next().unwrap(),
        "UPDATE hushbin.journal SET version = 3",
    );
    is(&store(&address), "database", "error", "has version 3");
    is(
        &store("postgres://hushbin@127.0.0.1:1/none"),
        "database",
        "error",
        "check --database",
    );
}
