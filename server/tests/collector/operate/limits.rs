//! Limits on requests per address and on uploads per origin.

use std::net::{IpAddr, Ipv4Addr};

use hushbin_tests::process::Client;
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use super::Operated;
use crate::support::SETTINGS;

fn slug(body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap();
    problem["type"].as_str().unwrap().to_owned()
}

#[test]
fn who_asks_too_often_is_asked_to_come_back() {
    let operated = Operated::new("max_requests_per_peer = 5");
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
fn pages_of_other_origins_and_uploads_of_many_reports_are_refused() {
    let operated = Operated::new("origins = ['https://example.org', 'null']\nupload_reports = 2");
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
