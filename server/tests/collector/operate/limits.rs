//! Limits on requests per address and on uploads per origin.

use std::net::{IpAddr, Ipv4Addr};

use hushbin_tests::process::Client;
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use super::Operated;
use crate::access::create_token;
use crate::nodes::{ask, until};
use crate::support::SETTINGS;

fn slug(body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap();
    problem["type"].as_str().unwrap().to_owned()
}

#[test]
fn who_asks_too_often_is_asked_to_come_back() {
    let operated = Operated::new("max_reports_per_peer = 5");
    let mut client = operated.client();
    let mut answers = std::iter::repeat_with(|| client.get("/tasks/settings").unwrap());
    let before = answers.by_ref().take_while(|(status, _)| *status == 200);
    // One more request is allowed every 12 seconds.
    let before = before.take(100).count();
    assert!((5..100).contains(&before), "{before}");
    // Refused requests do not count against the limit, so a client that keeps asking gets through
    // sometimes.
    let refused = (0..100).find_map(|_| {
        client
            .write(
                b"GET /tasks/settings HTTP/1.1\r\nhost: test\r\norigin: https://a.example\r\n\r\n",
            )
            .unwrap();
        client.read().ok().filter(|(status, _)| *status == 429)
    });
    assert_eq!(
        slug(&refused.unwrap().1),
        "urn:hushbin:problem:too-many-requests"
    );
    for _ in 0..10 {
        assert_eq!(client.get("/livez").unwrap().0, 200);
    }
    let other = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    let mut other = Client::connect_from(other, operated.address).unwrap();
    assert_eq!(other.get("/tasks/settings").unwrap().0, 200);
}

#[test]
fn an_address_that_floods_is_slowed_down_and_fills_no_batch() {
    let operated = Operated::with_environment(
        "max_reports_per_peer = 50\nbatch_least = 10\nbatch_most = 10",
        &[("HUSHBIN_BATCH_MIN_MINUTES", "60")],
    );
    let mut client = operated.client();
    let mut uploads = operated.uploads();
    // More than an address may send in a minute is refused for good, and costs one report.
    let (status, body) = client.post("settings", &uploads.bytes(51)).unwrap();
    assert_eq!(
        (status, &*slug(&body)),
        (400, "urn:hushbin:problem:too-many-reports")
    );
    // A request of several uploads counts all their reports.
    let mut post = |reports: usize| {
        let body = [uploads.bytes(reports), uploads.bytes(10)].concat();
        client.post("settings", &body).unwrap()
    };
    let answers: Vec<_> = (0..5).map(|_| post(10)).collect();
    let taken = answers
        .iter()
        .take_while(|(status, _)| *status == 201)
        .count();
    // One more report is allowed every 1.2 seconds.
    assert!((2..5).contains(&taken), "{answers:?}");
    assert_eq!(
        slug(&answers[taken].1),
        "urn:hushbin:problem:too-many-requests"
    );
    // The batch has as many reports as close a batch, and waits for those of others.
    let other = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    let mut other = Client::connect_from(other, operated.address).unwrap();
    assert_eq!(other.post("settings", &uploads.bytes(1)).unwrap().0, 201);
    let data = operated.directory.path().join("data/tasks/00000001");
    let files = std::fs::read_dir(data).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["00000001.log"]);
}

#[test]
fn pages_of_other_origins_and_uploads_of_many_reports_are_refused() {
    let operated =
        Operated::new("origins = ['https://example.org', 'null']\nmax_reports_per_request = 2");
    let mut client = operated.client();
    let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1);
    let mut post = |origin: &str, reports: usize| {
        let body = uploads.bytes(reports);
        let head = format!(
            "POST /tasks/settings/reports HTTP/1.1\r\nhost: test\r\n{origin}content-length: {}\r\n\r\n",
            body.len()
        );
        client.write(&[head.as_bytes(), &body].concat()).unwrap();
        client.read().unwrap()
    };
    for origin in ["origin: https://example.org\r\n", "origin: null\r\n"] {
        assert_eq!(post(origin, 2).0, 201, "{origin}");
    }
    for origin in [
        "",
        "origin: https://example.org:8443\r\n",
        "origin: http://example.org\r\n",
        "origin: https://example.org.evil.example\r\n",
    ] {
        let (status, body) = post(origin, 1);
        assert_eq!(
            (status, &*slug(&body)),
            (403, "urn:hushbin:problem:origin-not-allowed"),
            "{origin}"
        );
    }
    let (status, body) = post("origin: null\r\n", 3);
    assert_eq!(
        (status, &*slug(&body)),
        (400, "urn:hushbin:problem:too-many-reports")
    );
}

/// Readers of released data learn what the limits cannot do, with the limits that hold.
#[test]
fn privacy_says_what_a_flood_can_still_do() {
    let said = |more: &str, minutes: &str| {
        let operated = Operated::with_environment(
            &format!("batch_least = 1\n{more}"),
            &[("HUSHBIN_BATCH_MIN_MINUTES", minutes)],
        );
        let bytes = operated.uploads().bytes(1);
        assert_eq!(operated.client().post("settings", &bytes).unwrap().0, 201);
        let admin = create_token(&operated.directory.path().join("data"), "admin");
        let ask = |line: &str, body: &str| ask(operated.address, &admin, line, body);
        let flood = || ask("GET /tasks/settings/privacy", "").1["flood_statement"].clone();
        assert_eq!(ask("POST /tasks/settings/batches", "").0, 202);
        until(|| !flood().is_null());
        let first = flood().as_str().unwrap().to_owned();
        let changed = r#"{ "batch": { "least": 1, "min_minutes": 7 } }"#;
        assert_eq!(ask("PUT /tasks/settings/settings", changed).0, 200);
        (first, flood().as_str().unwrap().to_owned())
    };
    let (limited, changed) = said("max_reports_per_peer = 1200", "60");
    for words in [
        "in the worst case one person's report is left",
        "only the local ε of 2 protects",
        "one address may send 1200 reports at once, and as many a minute after that",
        "open for at least 60 minutes",
    ] {
        assert!(limited.contains(words), "{limited}");
    }
    // The answer is not an old one from before the change.
    assert!(changed.contains("open for at least 7 minutes"), "{changed}");
    let (free, _) = said("", "0");
    for words in ["does not count by address", "may close at any age"] {
        assert!(free.contains(words), "{free}");
    }
}
