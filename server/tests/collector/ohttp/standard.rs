//! Cases of RFC 9458 (Oblivious HTTP) and RFC 9292 (binary messages), against another
//! implementation: the crate `ohttp` seals requests and opens answers, and the crate `bhttp` writes
//! messages and reads the answers. The table names the section of each case.

use std::io::{Cursor, Read, Write};
use std::net::TcpStream;

use bhttp::{Message, Mode};
use ohttp::{ClientRequest, ClientResponse};

use super::*;
use Expected::{Open, Sealed};

const OHTTP_KEY: &str = "https://iana.org/assignments/http-problem-types#ohttp-key";
const BAD_REQUEST: &str = "urn:hushbin:problem:bad-request";
const MALFORMED: &str = "urn:hushbin:problem:malformed-upload";
const NOT_FOUND: &str = "urn:hushbin:problem:not-found";

/// Status and type of problem that a client gets. The type is empty if there is no problem.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    /// Answer that only the client can read. The relay sees status 200.
    Sealed(u16, &'static str),
    /// Answer that the relay can read.
    Open(u16, &'static str),
}

struct Case {
    section: &'static str,
    name: &'static str,
    /// Makes the message from a new upload.
    message: fn(&[u8]) -> Vec<u8>,
    /// Changes the gateway's key configuration before sealing.
    configure: fn(&mut Vec<u8>),
    /// Changes the sealed request.
    change: fn(&mut Vec<u8>),
    expected: Expected,
}

/// Case of a message that is sealed as the standard says.
const fn read(
    section: &'static str,
    name: &'static str,
    message: fn(&[u8]) -> Vec<u8>,
    expected: Expected,
) -> Case {
    Case {
        section,
        name,
        message,
        configure: |_| {},
        change: |_| {},
        expected,
    }
}

/// Case of a valid request whose sealed bytes are changed.
const fn changed(
    section: &'static str,
    name: &'static str,
    change: fn(&mut Vec<u8>),
    expected: Expected,
) -> Case {
    Case {
        change,
        ..read(section, name, |upload| known(&report(upload)), expected)
    }
}

/// Case of a valid request that is sealed with a changed key configuration.
const fn configured(
    section: &'static str,
    name: &'static str,
    configure: fn(&mut Vec<u8>),
    expected: Expected,
) -> Case {
    Case {
        configure,
        ..read(section, name, |upload| known(&report(upload)), expected)
    }
}

/// Location of the key's id in a key configuration and in a sealed request.
const KEY_ID: usize = 0;

/// Locations of the second bytes of the ids of KEM, KDF and AEAD in a sealed request.
const KEM: usize = 2;
const KDF: usize = 4;
const AEAD: usize = 6;

/// Locations of the encapsulated key and of the message in a sealed request.
const ENCAPSULATED: usize = 7;
const MESSAGE: usize = ENCAPSULATED + 32;

#[rustfmt::skip]
const CASES: [Case; 37] = [
    read("RFC 9292, 3.1", "known length", |upload| known(&report(upload)), Sealed(201, "")),
    read("RFC 9292, 3.2", "indeterminate length", |upload| indeterminate(&report(upload)), Sealed(201, "")),
    read("RFC 9292, 3.2", "content in two chunks", in_two_chunks, Sealed(201, "")),
    read("RFC 9292, 3.2", "an endless content", |upload| cut(indeterminate(&report(upload)), 2), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.3", "a response of known length", |_| known(&Message::response(status(200))), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.3", "a response of indeterminate length", |_| indeterminate(&Message::response(status(200))), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.3", "an unknown framing indicator", |upload| [&[4], &known(&report(upload))[1..]].concat(), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.4", "a host in a field instead of the authority", with_host_field, Sealed(201, "")),
    read("RFC 9292, 3.4", "an invalid method", |_| known(&request("G T", "/tasks/settings")), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.4", "a path that is not served inside", |_| known(&request("GET", "/metrics")), Sealed(404, NOT_FOUND)),
    read("RFC 9292, 3.5.1", "an informational response", |_| b"\x01\x40\x64\x00\x40\xc8\x00\x00\x00".to_vec(), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.6", "repeated and unknown fields", |upload| with_fields(upload, &[("x", "1"), ("x", "2")]), Sealed(201, "")),
    read("RFC 9292, 3.6", "a field name in capitals", |upload| with_fields(upload, &[("X", "1")]), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.6", "a line break in a field", |upload| with_fields(upload, &[("x", "1\r\ny: 2")]), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 3.6", "trailers, known length", |upload| known(&with_trailer(upload)), Sealed(201, "")),
    read("RFC 9292, 3.6", "trailers, indeterminate length", |upload| indeterminate(&with_trailer(upload)), Sealed(201, "")),
    read("RFC 9292, 3.7", "no content", |_| known(&report(b"")), Sealed(400, MALFORMED)),
    read("RFC 9292, 3.7", "no content, indeterminate length", |_| indeterminate(&report(b"")), Sealed(400, MALFORMED)),
    read("RFC 9292, 3.8", "empty parts omitted", |_| cut(known(&request("GET", "/tasks/settings")), 3), Sealed(200, "")),
    read("RFC 9292, 3.8", "padding", |upload| [&known(&report(upload))[..], &[0; 999]].concat(), Sealed(201, "")),
    read("RFC 9292, 3.8", "padding, indeterminate length", |upload| [&indeterminate(&report(upload))[..], &[0; 999]].concat(), Sealed(201, "")),
    read("RFC 9292, 3.8", "padding that is not zero", |upload| [&known(&report(upload))[..], &[0, 0, 1]].concat(), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 4", "cut within the content", |upload| cut(known(&report(upload)), 3), Sealed(400, BAD_REQUEST)),
    read("RFC 9292, 4", "an empty message", |_| Vec::new(), Sealed(400, BAD_REQUEST)),
    configured("RFC 9458, 3.1", "a key id that the gateway lacks", |keys| keys[KEY_ID] ^= 1, Open(400, OHTTP_KEY)),
    configured("RFC 9458, 3.1", "another public key with this id", |keys| keys[3..35].fill(9), Open(400, BAD_REQUEST)),
    configured("RFC 9458, 4.1", "ChaCha20-Poly1305, which is not offered", |keys| *keys.last_mut().unwrap() = 3, Open(400, OHTTP_KEY)),
    changed("RFC 9458, 4.1", "an unknown KEM", |sealed| sealed[KEM] ^= 1, Open(400, OHTTP_KEY)),
    changed("RFC 9458, 4.1", "an unknown KDF", |sealed| sealed[KDF] = 3, Open(400, OHTTP_KEY)),
    changed("RFC 9458, 4.1", "an unknown AEAD", |sealed| sealed[AEAD] = 9, Open(400, OHTTP_KEY)),
    changed("RFC 9458, 4.1", "an empty request", Vec::clear, Open(400, BAD_REQUEST)),
    changed("RFC 9458, 4.1", "cut within the encapsulated key", |sealed| sealed.truncate(MESSAGE - 1), Open(400, BAD_REQUEST)),
    changed("RFC 9458, 4.3", "a changed encapsulated key", |sealed| sealed[ENCAPSULATED] ^= 1, Open(400, BAD_REQUEST)),
    changed("RFC 9458, 4.3", "a changed message", |sealed| sealed[MESSAGE] ^= 1, Open(400, BAD_REQUEST)),
    changed("RFC 9458, 4.3", "a changed tag", |sealed| *sealed.last_mut().unwrap() ^= 1, Open(400, BAD_REQUEST)),
    changed("RFC 9458, 4.3", "a cut message", |sealed| sealed.truncate(sealed.len() - 1), Open(400, BAD_REQUEST)),
    read("RFC 9458, 5.1", "a client that waits for 100 (Continue)", |upload| with_fields(upload, &[("expect", "100-continue")]), Sealed(400, BAD_REQUEST)),
];

fn request(method: &str, path: &str) -> Message {
    let [method, scheme, authority, path] =
        [method, "https", "collector.example", path].map(Vec::from);
    Message::request(method, scheme, authority, path)
}

fn report(upload: &[u8]) -> Message {
    let mut message = request("POST", REPORTS);
    message.write_content(upload);
    message
}

fn status(code: u16) -> bhttp::StatusCode {
    bhttp::StatusCode::try_from(code).unwrap()
}

fn written(message: &Message, mode: Mode) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write_bhttp(mode, &mut bytes).unwrap();
    bytes
}

fn known(message: &Message) -> Vec<u8> {
    written(message, Mode::KnownLength)
}

fn indeterminate(message: &Message) -> Vec<u8> {
    written(message, Mode::IndeterminateLength)
}

/// Returns all bytes but the last `count`.
fn cut(mut bytes: Vec<u8>, count: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - count);
    bytes
}

fn in_two_chunks(upload: &[u8]) -> Vec<u8> {
    let mut bytes = indeterminate(&report(upload));
    // The number of bytes of the first chunk is one byte, and so is that of the second.
    let length = u8::try_from(upload.len()).unwrap();
    assert!(length < 64);
    let windows = &mut bytes.windows(upload.len());
    let begin = windows.position(|window| window == upload).unwrap();
    assert_eq!(bytes[begin - 1], length);
    bytes[begin - 1] = 10;
    bytes.insert(begin + 10, length - 10);
    bytes
}

fn with_host_field(upload: &[u8]) -> Vec<u8> {
    let [method, scheme, path] = ["POST", "https", REPORTS].map(Vec::from);
    let mut message = Message::request(method, scheme, Vec::new(), path);
    message.put_header("host", "collector.example");
    message.write_content(upload);
    known(&message)
}

fn with_fields(upload: &[u8], fields: &[(&str, &str)]) -> Vec<u8> {
    let mut message = report(upload);
    for (name, value) in fields {
        message.put_header(*name, *value);
    }
    known(&message)
}

fn with_trailer(upload: &[u8]) -> Message {
    let mut message = report(upload);
    message.put_trailer("checksum", "1");
    message
}

/// Key configuration of a gateway, without the length before it.
fn configuration(gateway: &Gateway) -> Vec<u8> {
    let (status, list) = gateway.client().get(GATEWAY).unwrap();
    assert_eq!(status, 200);
    list[2..].to_vec()
}

fn encapsulate(configuration: &[u8], message: &[u8]) -> (Vec<u8>, ClientResponse) {
    let request = ClientRequest::from_encoded_config(configuration).unwrap();
    request.encapsulate(message).unwrap()
}

/// Opens a sealed answer, and checks all that the standards ask of it.
fn open(waiting: ClientResponse, answer: &[u8]) -> Message {
    let message = waiting.decapsulate(answer).unwrap();
    // RFC 9292, 3.8: padded to a step of 256 bytes, with zeros.
    assert_eq!(message.len() % 256, 0);
    let mut cursor = Cursor::new(&message[..]);
    let read = Message::read_bhttp(&mut cursor).unwrap();
    let end = cursor.position() as usize;
    assert!(message[end..].iter().all(|byte| *byte == 0));
    // RFC 9292, 3.5: there is a final status alone.
    assert!(read.control().status().is_some());
    assert!(read.informational().is_empty() && read.trailer().is_empty());
    read
}

fn problem(content: &[u8]) -> String {
    let content: Value = serde_json::from_slice(content).unwrap_or_default();
    content["type"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn each_case_of_the_standards_gets_its_answer() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let configuration = configuration(&gateway);
    let task = draft(SETTINGS).resolve_task().unwrap();
    let mut uploads = Uploads::new(&task, 1);
    let mut accepted = 0;
    for case in &CASES {
        let mut own = configuration.clone();
        (case.configure)(&mut own);
        let message = (case.message)(&uploads.bytes(1));
        let (mut sealed, waiting) = encapsulate(&own, &message);
        (case.change)(&mut sealed);
        let (status, answer) = post(&mut gateway.client(), gateway.address, &sealed);
        let (found, kind) = match status {
            200 => {
                let read = open(waiting, &answer);
                let status = read.control().status().unwrap().code();
                (Some(status), problem(read.content()))
            }
            _ => (None, problem(&answer)),
        };
        let Case { section, name, .. } = case;
        match &case.expected {
            Sealed(expected, slug) => {
                assert_eq!(
                    (found, &*kind),
                    (Some(*expected), *slug),
                    "{section}: {name}"
                );
                accepted += u64::from(*expected == 201);
            }
            Open(expected, slug) => {
                assert_eq!((status, &*kind), (*expected, *slug), "{section}: {name}");
            }
        }
    }
    assert_eq!(gateway.count("hushbin_uploads_accepted_total "), accepted);
    assert!(accepted > 0);
}

/// RFC 9458, sections 3.2 and 9, and RFC 9540: what the keys, requests and answers are called.
#[test]
fn media_types_are_those_of_the_standard() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let exchange = |line: &str, kind: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(gateway.address).unwrap();
        let head = format!(
            "{line} {GATEWAY} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             content-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        stream.write_all(&request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|own| own == b"\r\n\r\n");
        let (head, body) = answer.split_at(end.unwrap() + 4);
        (String::from_utf8(head.to_vec()).unwrap(), body.to_vec())
    };
    let (head, keys) = exchange("GET", "", b"");
    assert!(
        head.contains("\r\ncontent-type: application/ohttp-keys"),
        "{head}"
    );
    // The list has the length of each configuration before it.
    let message = known(&request("GET", "/tasks/settings"));
    let seal = || {
        let request = ClientRequest::from_encoded_config_list(&keys).unwrap();
        request.encapsulate(&message).unwrap()
    };
    // The seal binds the type of the message. So the outer type needs no check, and relays that
    // change it lose no report.
    for kind in ["message/ohttp-req", "application/octet-stream"] {
        let (sealed, waiting) = seal();
        let (head, answer) = exchange("POST", kind, &sealed);
        assert!(head.starts_with("HTTP/1.1 200 "), "{kind}: {head}");
        assert!(
            head.contains("\r\ncontent-type: message/ohttp-res"),
            "{head}"
        );
        assert!(head.contains("\r\ncache-control: no-store"), "{head}");
        let read = open(waiting, &answer);
        assert_eq!(
            read.header().get(b"content-type"),
            Some(&b"application/json"[..])
        );
    }
}

/// RFC 9458, section 4.4: an answer is sealed with a fresh nonce, to the request that it is for.
#[test]
fn an_answer_is_opened_by_its_request_alone_and_unchanged() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let configuration = configuration(&gateway);
    let message = known(&request("GET", "/tasks/settings"));
    let ask = || {
        let (sealed, waiting) = encapsulate(&configuration, &message);
        let (status, answer) = post(&mut gateway.client(), gateway.address, &sealed);
        assert_eq!(status, 200);
        (waiting, answer)
    };
    let (waiting, own) = ask();
    let (other, others) = ask();
    assert_eq!(own.len(), others.len());
    assert_ne!(own, others);
    assert!(other.decapsulate(&own).is_err());
    open(waiting, &own);
    // The nonce, the message, the tag, and a cut answer.
    for place in [0, 16, own.len() - 1] {
        let (waiting, mut answer) = ask();
        answer[place] ^= 1;
        assert!(waiting.decapsulate(&answer).is_err(), "{place}");
    }
    let (waiting, mut answer) = ask();
    answer.pop();
    assert!(waiting.decapsulate(&answer).is_err());
}

/// RFC 9458, section 6.5: a relay can send a request again. It is counted once, and the relay cannot
/// tell the answers apart by their lengths.
#[test]
fn a_replayed_request_is_counted_once() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let task = draft(SETTINGS).resolve_task().unwrap();
    let upload = Uploads::new(&task, 1).bytes(3);
    let (sealed, waiting) = encapsulate(&configuration(&gateway), &known(&report(&upload)));
    let send = || post(&mut gateway.client(), gateway.address, &sealed);
    let [first, second, third] = [send(), send(), send()];
    assert_eq!([first.0, second.0, third.0], [200; 3]);
    assert_eq!([first.1.len(), second.1.len()], [third.1.len(); 2]);
    assert!(first.1 != second.1 && second.1 != third.1);
    let read = open(waiting, &third.1);
    assert_eq!(read.control().status().unwrap().code(), 200);
    assert_eq!(json(read.content())["duplicate_uploads"], 1);
    let counted = ["accepted", "duplicate"].map(|name| {
        let name = format!("hushbin_uploads_{name}_total ");
        gateway.count(&name)
    });
    assert_eq!(counted, [1, 2]);
    assert_eq!(gateway.count("hushbin_reports_accepted_total "), 3);
}
