//! Requests by another implementation of Oblivious HTTP, directly and through the relay of hushbin.

use std::io::{Read, Write};

use hushbin_tests::oblivious::{Answer, Asker, message};
use ohttp::ClientRequest;

use super::forward::{REVEALING_FIELDS, Relay, path_to};
use super::*;

/// Sends a message that the crate `ohttp` seals, and returns the answer that it opens.
pub(crate) fn ask_by_ohttp<S: Read + Write>(
    client: &mut Client<S>,
    path: &str,
    configurations: &[u8],
    message: &[u8],
) -> Answer {
    let request = ClientRequest::from_encoded_config_list(configurations).unwrap();
    let (sealed, waiting) = request.encapsulate(message).unwrap();
    let fields = format!("host: 127.0.0.1\r\n{REVEALING_FIELDS}");
    let (status, answer) = post_to(client, path, &fields, &sealed);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    Answer::parse(&waiting.decapsulate(&answer).unwrap())
}

#[test]
fn another_implementation_is_answered_directly_and_through_the_relay() {
    const UPLOADS: u64 = 20;
    let mut gateway = Gateway::new(&["ohttp"], &[]);
    let mut relay = Relay::to(&[gateway.address], &[]);
    let (_, configurations) = gateway.client().get(GATEWAY).unwrap();
    let task = draft(SETTINGS).resolve_task().unwrap();
    let mut uploads = Uploads::new(&task, 1);
    let own_path = path_to(gateway.address);
    let from = |address| Client::connect_from(IpAddr::V4(FROM), address).unwrap();
    for (address, path) in [(gateway.address, GATEWAY), (relay.address, &own_path)] {
        let mut page = from(address);
        let mut ask = |method: &str, path_inside: &str, body: &[u8]| {
            let message = message(method, "collector.example", path_inside, &[], body);
            ask_by_ohttp(&mut page, path, &configurations, &message)
        };
        for _ in 0..UPLOADS {
            let bytes = uploads.bytes(1);
            for (status, accepted) in [(201, 1), (200, 0)] {
                let answer = ask("POST", REPORTS, &bytes);
                assert_eq!(answer.status, status);
                assert_eq!(json(&answer.content)["accepted_reports"], accepted);
            }
        }
        let answer = ask("GET", "/tasks/settings", b"");
        let direct = gateway.client().get("/tasks/settings").unwrap();
        assert_eq!((answer.status, answer.content), direct);
        assert_eq!(ask("GET", "/metrics", b"").status, 404);
    }
    let (_, estimates) = gateway.client().get("/tasks/settings/estimates").unwrap();
    assert_eq!(json(&estimates)["reports"], 2 * UPLOADS);
    let forwarded = relay.forwarded(gateway.address, "answered");
    assert_eq!(forwarded, 2 * UPLOADS + 2);
    assert_eq!(relay.forwarded(gateway.address, "refused"), 0);

    // A request for another key is refused by the gateway, in words that the relay forwards.
    let other = create_key(gateway.directory.path(), "other");
    let public = other.with_extension("pub");
    let told = hushbin(&["key", "gateway", public.to_str().unwrap()]);
    let digits = String::from_utf8(told.stdout).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let configuration: Vec<u8> = digits.trim_end().as_bytes().chunks(2).map(byte).collect();
    // The id is another one, too, so that the gateway does not try its own key.
    let id = configurations[2].wrapping_add(1);
    let mut asker = Asker::new(&configuration, 1).named(id);
    let (sealed, _) = asker.ask("GET", "/tasks/settings", b"");
    let (status, body) = post_to(&mut from(relay.address), &own_path, "", &sealed);
    assert_eq!(status, 400);
    let kind = "https://iana.org/assignments/http-problem-types#ohttp-key";
    assert_eq!(json(&body)["type"], kind);
    assert_eq!(relay.forwarded(gateway.address, "refused"), 1);

    // Neither keeps a trace of the page. The search itself works.
    let told = [relay.metrics(), relay.log()].concat();
    for process in [&mut relay.process, &mut gateway.collector] {
        process.stop(Duration::from_secs(300));
    }
    let kept = [
        files(gateway.directory.path()),
        relay.files(),
        vec![told.into_bytes()],
    ]
    .concat();
    assert!(holds(&kept, b"dark-mode") && holds(&kept, b"hushbin_requests_forwarded"));
    for secret in [
        "127.88.33.201",
        "A page's agent",
        "a-page-of-somebody",
        "page-token",
    ] {
        assert!(!holds(&kept, secret.as_bytes()), "{secret}");
    }
}
