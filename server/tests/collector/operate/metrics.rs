//! `GET /metrics`.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use hushbin_tests::process::Client;

use super::Operated;

/// Values by name and labels, in the text format of Prometheus.
pub(crate) fn values<S: Read + Write>(client: &mut Client<S>) -> BTreeMap<String, f64> {
    let (status, body) = client.get("/metrics").unwrap();
    assert_eq!(status, 200);
    let text = String::from_utf8(body).unwrap();
    assert!(
        !text.contains("# EOF") && !text.contains("# UNIT"),
        "{text}"
    );
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("hushbin_"), "{line}");
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn it_counts_what_happened() {
    let operated = Operated::new("max_connections_per_peer = 4");
    let mut client = operated.client();
    let mut uploads = operated.uploads();
    let upload = uploads.make(3);
    let fingerprint = hushbin_tests::uploads::draft(crate::support::SETTINGS)
        .resolve_task()
        .unwrap()
        .fingerprint();
    let bytes = upload.encode(&fingerprint);
    let mut other = uploads.make(2);
    other.id = upload.id;
    for (body, status) in [
        (&bytes, 201),
        (&bytes, 200),
        (&[bytes.clone(), uploads.bytes(2)].concat(), 201),
        (&other.encode(&fingerprint), 409),
        (&b"x".to_vec(), 400),
        (&b"y".to_vec(), 400),
    ] {
        assert_eq!(client.post("settings", body).unwrap().0, status);
    }
    assert_eq!(client.get("/nothing").unwrap().0, 404);
    // One connection above the limit is closed, which the client sees as the end of the stream.
    let kept: Vec<_> = (0..3).map(|_| operated.client()).collect();
    let mut refused = TcpStream::connect(operated.address).unwrap();
    let mut byte = [0; 1];
    assert!(!matches!(refused.read(&mut byte), Ok(1..)));
    drop(kept);

    let found = values(&mut client);
    let is = |name: &str, expected: f64| assert_eq!(found[name], expected, "{name}");
    is("hushbin_uploads_accepted_total", 2.0);
    is("hushbin_reports_accepted_total", 5.0);
    is("hushbin_uploads_duplicate_total", 2.0);
    is("hushbin_uploads_conflicting_total", 1.0);
    is("hushbin_problems_total{problem=\"malformed-upload\"}", 2.0);
    is(
        "hushbin_problems_total{problem=\"upload-id-conflict\"}",
        1.0,
    );
    is("hushbin_problems_total{problem=\"not-found\"}", 1.0);
    is("hushbin_connections_closed_total{reason=\"peer\"}", 1.0);
    is("hushbin_connections_closed_total{reason=\"room\"}", 0.0);
    is("hushbin_commits_failed_total", 0.0);
    is("hushbin_requests_queued", 0.0);
    is("hushbin_ready", 1.0);
    assert!(found["hushbin_connections"] >= 1.0);
    assert!(found["hushbin_commit_seconds_count"] >= 4.0);
    assert!(found["hushbin_commit_seconds_sum"] > 0.0);
    assert!(found["hushbin_commit_seconds_bucket{le=\"+Inf\"}"] >= 4.0);
    assert!(found["hushbin_journal_bytes"] > bytes.len() as f64);
    assert!(found["hushbin_start_time_seconds"] > 1.7e9);
    let version = env!("CARGO_PKG_VERSION");
    is(&format!("hushbin_build_info{{version=\"{version}\"}}"), 1.0);
}
