//! Requests to the gateway that no page would send.

use hushbin_tests::oblivious::Waiting;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::*;

const OHTTP_KEY: &str = "https://iana.org/assignments/http-problem-types#ohttp-key";
const BAD_REQUEST: &str = "urn:hushbin:problem:bad-request";

/// Status and type of a problem whose response the relay may read.
fn refused(gateway: &Gateway, sealed: &[u8]) -> (u16, String) {
    let (status, body) = post(&mut gateway.client(), gateway.address, sealed);
    (status, json(&body)["type"].as_str().unwrap().to_owned())
}

#[test]
fn what_cannot_be_opened_is_refused_in_words_that_the_relay_can_read() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let mut asker = gateway.asker(0);
    let (sealed, _) = asker.ask("GET", "/tasks/settings", b"");
    let at = |place: usize| {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        changed
    };
    for (sealed, kind) in [
        (Vec::new(), BAD_REQUEST),
        (sealed[..6].to_vec(), BAD_REQUEST),
        (sealed[..38].to_vec(), BAD_REQUEST),
        (sealed[..54].to_vec(), BAD_REQUEST),
        (sealed[..sealed.len() - 1].to_vec(), BAD_REQUEST),
        // Ids of the key, KEM, KDF and AEAD.
        (at(0), OHTTP_KEY),
        (at(2), OHTTP_KEY),
        (at(4), OHTTP_KEY),
        (at(6), OHTTP_KEY),
        // The encapsulated key, the message and the tag.
        (at(7), BAD_REQUEST),
        (at(39), BAD_REQUEST),
        (at(sealed.len() - 1), BAD_REQUEST),
    ] {
        assert_eq!(refused(&gateway, &sealed), (400, kind.to_owned()));
    }
    assert_eq!(gateway.count("hushbin_requests_relayed_total "), 0);

    let mut client = gateway.client();
    for (field, status, slug) in [
        ("content-length: 999999999999", 413, "too-large"),
        (
            "content-encoding: gzip\r\ncontent-length: 0",
            415,
            "encoded-body",
        ),
    ] {
        let head = format!("POST {GATEWAY} HTTP/1.1\r\nhost: test\r\n{field}\r\n\r\n");
        client.write(head.as_bytes()).unwrap();
        let (found, body) = client.read().unwrap();
        assert_eq!(found, status);
        assert_eq!(json(&body)["type"], format!("urn:hushbin:problem:{slug}"));
        client = gateway.client();
    }
}

#[test]
fn what_is_not_for_pages_is_refused_inside() {
    let gateway = Gateway::new(&["ohttp"], &["--max-upload-bytes", "1000"]);
    let mut asker = gateway.asker(0);
    let mut client = gateway.client();
    let task = draft(SETTINGS).resolve_task().unwrap();
    let upload = Uploads::new(&task, 1).bytes(1);
    let long = vec![2; 1001];
    for (method, path, body, status, slug) in [
        (
            "GET",
            "/tasks/settings/estimates",
            &b""[..],
            404,
            "not-found",
        ),
        ("GET", "/tasks", b"", 404, "not-found"),
        ("POST", "/tasks", b"{}", 404, "not-found"),
        ("GET", "/metrics", b"", 404, "not-found"),
        ("GET", "/", b"", 404, "not-found"),
        ("POST", GATEWAY, &upload, 404, "not-found"),
        ("DELETE", "/tasks/settings", b"", 405, "method-not-allowed"),
        ("PUT", REPORTS, &upload, 405, "method-not-allowed"),
        ("GET", "/tasks/settings/keys", b"", 404, "other-role"),
        ("GET", "/tasks/none", b"", 404, "unknown-task"),
        ("POST", "/tasks/none/reports", &upload, 404, "unknown-task"),
        ("POST", REPORTS, &upload[1..], 400, "malformed-upload"),
        ("POST", REPORTS, &long, 413, "too-large"),
    ] {
        let request = message(method, "collector.example", path, &[], body);
        let answer = ask(&mut client, gateway.address, &mut asker, &request);
        let body = json(&answer.content);
        assert_eq!(answer.status, status, "{method} {path}: {body}");
        assert_eq!(body["type"], format!("urn:hushbin:problem:{slug}"));
        let allows = answer.fields.iter().any(|(name, _)| name == "allow");
        assert_eq!(allows, status == 405);
    }
    // The message is no request, or expects an early response.
    let expects = [("expect", "100-continue")];
    let request = message("POST", "c.example", REPORTS, &expects, &upload);
    for request in [&b""[..], b"\x01\x40\xc8\0\0\0", &upload, &request] {
        let answer = ask(&mut client, gateway.address, &mut asker, request);
        assert_eq!(answer.status, 400);
        assert_eq!(json(&answer.content)["type"], BAD_REQUEST);
    }
    // These problems are counted like those of requests without a relay.
    let counted = |slug| gateway.count(&format!("hushbin_problems_total{{problem=\"{slug}\"}} "));
    assert_eq!([counted("not-found"), counted("bad-request")], [6, 4]);
    assert_eq!(gateway.count("hushbin_uploads_accepted_total "), 0);

    // The longest upload fits, with padding.
    let mut request = message("POST", "c.example", REPORTS, &[], &upload);
    request.resize(1000 + 8192, 0);
    let answer = ask(&mut client, gateway.address, &mut asker, &request);
    assert_eq!(answer.status, 201);
}

#[test]
fn nothing_that_is_made_up_stops_it() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let mut asker = gateway.asker(0);
    let mut client = gateway.client();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let task = draft(SETTINGS).resolve_task().unwrap();
    let request = message(
        "POST",
        "c.example",
        REPORTS,
        &[],
        &Uploads::new(&task, 1).bytes(1),
    );
    let mut change = |bytes: &mut Vec<u8>| {
        for _ in 0..=rng.next_u32() % 4 {
            let at = rng.next_u32() as usize % bytes.len();
            match rng.next_u32() % 3 {
                0 => bytes[at] = rng.next_u32() as u8,
                1 => bytes[at] ^= 1 << (rng.next_u32() % 8),
                _ => bytes.truncate(at + 1),
            }
        }
    };
    let read = |waiting: &Waiting, (status, body): (u16, Vec<u8>)| match status {
        200 => waiting.read(&body).status,
        _ => status,
    };
    for _ in 0..250 {
        // The change is outside of the seal, then inside.
        let (mut sealed, waiting) = asker.seal(&request);
        change(&mut sealed);
        let answer = post(&mut client, gateway.address, &sealed);
        assert!([400, 201, 200].contains(&read(&waiting, answer)));
        let mut changed = request.clone();
        change(&mut changed);
        let (sealed, waiting) = asker.seal(&changed);
        let answer = post(&mut client, gateway.address, &sealed);
        let status = read(&waiting, answer);
        assert!(status < 500, "{status}");
    }
    assert_eq!(
        gateway.count("hushbin_problems_total{problem=\"internal\"} "),
        0
    );
    let answer = ask(&mut client, gateway.address, &mut asker, &request);
    assert!([200, 201].contains(&answer.status));
    let log = fs::read_to_string(gateway.directory.path().join("log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
