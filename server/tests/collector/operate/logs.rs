//! Logs and metrics reveal nothing about people.

use std::net::{IpAddr, Ipv4Addr};

use hushbin_tests::process::{self, Client};
use serde_json::Value;

use super::Operated;
use crate::access::create_token;

/// Source address of requests, used by nothing else.
const FROM: Ipv4Addr = Ipv4Addr::new(127, 77, 66, 55);

/// Identifying strings of requests, apart from ids.
const MARKS: [&str; 7] = [
    "127.77.66.55",
    "mark-agent",
    "mark-query",
    "mark-path",
    "mark-referrer",
    "203.0.113.9",
    "mark-host",
];

/// Sends a request of every kind, each with identifying strings.
fn be_seen(operated: &Operated, mut client: Client) -> Vec<String> {
    let upload = operated.uploads().make(1);
    let fingerprint = hushbin_tests::uploads::draft(crate::support::SETTINGS)
        .resolve_task()
        .unwrap()
        .fingerprint();
    let good = upload.encode(&fingerprint);
    let mut other = operated.uploads().make(2);
    other.id = upload.id;
    let conflicting = other.encode(&fingerprint);
    let reports = "POST /tasks/settings/reports?mark-query";
    for (line, body, status) in [
        (reports, &good[..], 201),
        (reports, &good, 200),
        (reports, &conflicting, 409),
        (reports, b"mark-query", 400),
        ("POST /tasks/mark-path/reports", &good, 404),
        ("GET /tasks/settings/estimates?items=mark-query", b"", 404),
        ("GET /tasks/settings/estimates?items=autoplay", b"", 200),
        ("GET /tasks/settings/estimates?mark-query=1", b"", 400),
        ("GET /tasks/settings?mark-query", b"", 200),
        ("GET /mark-path?mark-query", b"", 404),
        ("GET /metrics?mark-query", b"", 200),
        ("GET /readyz?mark-query", b"", 200),
    ] {
        let head = format!(
            "{line} HTTP/1.1\r\nhost: mark-host\r\nuser-agent: mark-agent\r\n\
             referer: https://mark-referrer/\r\nx-forwarded-for: 203.0.113.9\r\n\
             forwarded: for=203.0.113.9\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.write(&[head.as_bytes(), body].concat()).unwrap();
        let (found, answer) = client.read().unwrap();
        assert_eq!(
            found,
            status,
            "{line}: {}",
            String::from_utf8_lossy(&answer)
        );
    }
    // The head is invalid.
    client.write(b"mark-query mark-path\r\n\r\n").unwrap();
    assert_eq!(client.read().unwrap().0, 400);
    let bytes = upload.id.0;
    let mut ids = vec![
        upload.id.to_string(),
        format!("{bytes:?}"),
        format!("{bytes:x?}"),
    ];
    ids.push(bytes.iter().map(|byte| format!("{byte:02X}")).collect());
    ids
}

fn says_nothing_of_people(format: &str) -> String {
    let more = format!(
        "development = true\nlog = 'debug'\nlog_format = '{format}'\nmax_connections_per_peer = 1"
    );
    let mut operated = Operated::new(&more);
    let connect = || Client::connect_from(IpAddr::V4(FROM), operated.address).unwrap();
    let first = connect();
    // One connection too many, from an address that is known already.
    assert!(connect().get("/livez").is_err());
    let ids = be_seen(&operated, first);
    let metrics = operated.client().get("/metrics").unwrap().1;
    let metrics = String::from_utf8(metrics).unwrap();
    operated.collector.signal("-HUP");
    operated.collector.stop(std::time::Duration::from_secs(300));
    let log = operated.log();
    assert!(log.matches("answered").count() >= 5, "{log}");
    assert!(metrics.contains("malformed-upload"), "{metrics}");
    for mark in MARKS.into_iter().chain(ids.iter().map(String::as_str)) {
        assert!(!log.contains(mark), "{mark} in {log}");
        assert!(!metrics.contains(mark), "{mark} in {metrics}");
    }
    log
}

#[test]
fn text_says_nothing_of_people() {
    says_nothing_of_people("text");
}

#[test]
fn json_says_nothing_of_people_and_is_json() {
    for line in says_nothing_of_people("json").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for field in ["timestamp", "level", "message"] {
            assert!(line[field].is_string(), "{line}");
        }
    }
}

/// What admins do is logged with the id of their token, and tokens and refusals are, too.
#[test]
fn changes_name_the_token_that_made_them() {
    let operated = Operated::new("");
    let data = operated.directory.path().join("data");
    let admin = create_token(&data, "admin");
    let send = |line: &str, token: &str, body: &str| {
        let mut client = operated.client();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write(head.as_bytes()).unwrap();
        client.read().unwrap().0
    };
    let task = crate::support::COUNTED;
    let settings = r#"{ "batch": { "least": 5, "most": 50, "hours": 1 } }"#;
    for (line, body, status) in [
        ("POST /tasks", &*format!(r#"{{ "task": {task} }}"#), 201),
        ("PUT /tasks/counted/settings", settings, 200),
        ("DELETE /tasks/counted", "", 204),
    ] {
        assert_eq!(send(line, &admin, body), status, "{line}");
    }
    // A token that is created later is noticed at its first use.
    let analyst = create_token(&data, "analyst");
    assert_eq!(send("GET /tasks", &analyst, ""), 200);
    for _ in 0..50 {
        assert_eq!(send("GET /tasks", "hushbin_guessed", ""), 401);
    }
    let log = operated.log();
    let listed = process::hushbin(&["token", "list", "--data", data.to_str().unwrap()]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let ids: Vec<&str> = listed.lines().map(|line| &line[..8]).collect();
    let found = |text: &str| -> Vec<&str> {
        let lines = log.lines().filter(|line| line.contains(text));
        lines.collect()
    };
    let lines = |text: &str| {
        let found = found(text);
        assert_eq!(found.len(), 1, "{text}: {log}");
        found[0].to_owned()
    };
    for change in [
        "a task was created",
        "its settings were changed",
        "a task was deleted",
    ] {
        assert!(lines(change).contains(ids[0]), "{log}");
    }
    // The first token is logged, too, although there was no file of tokens at the start.
    let created = found("a token was created");
    assert_eq!(created.len(), 2, "{log}");
    assert!(
        created.iter().zip(&ids).all(|(line, id)| line.contains(id)),
        "{log}"
    );
    // Many refusals are one line.
    assert!(
        lines("unknown or revoked tokens").contains("requests=1"),
        "{log}"
    );
    assert!(!log.contains("hushbin_") && !log.contains(&admin), "{log}");
}
