use std::io::Cursor;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bhttp::Mode;
use data_encoding::HEXLOWER;
use http_body_util::BodyExt;
use hushbin_tests::oblivious::{Asker, message as written};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

use super::message::{MalformedRequest, decode_request, encode_response};
use super::*;
use crate::sealed;

fn gateway(keys: &[u8]) -> OhttpGateway {
    let keys: Vec<_> = keys.iter().map(|&byte| [byte; 32]).collect();
    OhttpGateway::new(&keys).unwrap()
}

fn asker(key: u8) -> Asker {
    Asker::new(
        &key_configuration(&sealed::x25519_public_key(&[key; 32])),
        1,
    )
}

/// Method, complete address, fields and content.
type Read = (String, String, Vec<(String, Vec<u8>)>, Vec<u8>);

fn read(bytes: &[u8]) -> Result<Read, MalformedRequest> {
    let (parts, body) = decode_request(&Bytes::copy_from_slice(bytes))?.into_parts();
    // The content is complete, so one poll suffices.
    let content = pin!(body.collect()).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(content)) = content else {
        panic!("it is still to come");
    };
    let fields = parts.headers.iter();
    let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
    Ok((
        parts.method.to_string(),
        parts.uri.to_string(),
        fields.collect(),
        content.to_bytes().to_vec(),
    ))
}

fn reference() -> impl Fn(&str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reference/ohttp.json");
    let vector: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    move |name| {
        HEXLOWER
            .decode(vector[name].as_str().unwrap().as_bytes())
            .unwrap()
    }
}

#[test]
fn opens_what_the_standard_sealed_and_seals_what_it_opens() {
    let bytes = reference();
    let key = *bytes("sk").first_chunk().unwrap();
    let mut gateway = OhttpGateway::without_keys();
    gateway.add_key(1, &key).unwrap();
    // The configuration of the standard has a second pair of KDF and AEAD.
    let id_and_key = &bytes("configuration")[..35];
    let own = gateway.key_configurations();
    assert_eq!(own, [&[0, 41], id_and_key, &[0, 4, 0, 1, 0, 1]].concat());

    let (message, reply) = gateway.open_request(bytes("encapsulated_request")).unwrap();
    assert_eq!(message, bytes("request"));
    let (method, address, fields, content) = read(&message).unwrap();
    assert_eq!((&*method, &*address), ("GET", "https://example.com/"));
    assert!(fields.is_empty() && content.is_empty());

    let nonce = *bytes("response_nonce").first_chunk().unwrap();
    let sealed = reply.seal_with_nonce(nonce, &bytes("response"));
    assert_eq!(sealed, bytes("encapsulated_response"));
}

#[test]
fn who_asks_reads_the_answer_and_nobody_else() {
    let gateway = gateway(&[1]);
    let mut asker = asker(1);
    let (first, waiting) = asker.ask("GET", "/tasks/t", b"");
    let (second, other) = asker.ask("GET", "/tasks/t", b"");
    assert_ne!(first, second);
    let (message, reply) = gateway.open_request(first.clone()).unwrap();
    // The difference is the head (7 bytes), the encapsulated key (32) and the tag (16).
    assert_eq!(message.len() + 7 + 32 + 16, first.len());
    let answers = [0, 1].map(|_| reply.seal(b"answer").unwrap());
    assert_ne!(answers[0], answers[1]);
    for answer in &answers {
        assert_eq!(waiting.open(answer).as_deref(), Some(&b"answer"[..]));
        assert_eq!(other.open(answer), None);
    }
}

#[test]
fn old_keys_open_while_new_ones_are_named_first() {
    let both = gateway(&[2, 1]);
    let configurations = both.key_configurations();
    let (new, old) = configurations.split_at(43);
    assert_eq!(
        new[2..],
        key_configuration(&sealed::x25519_public_key(&[2; 32]))
    );
    assert_eq!(old, gateway(&[1]).key_configurations());
    for key in [1, 2] {
        let (sealed, _) = asker(key).ask("GET", "/", b"");
        assert!(both.open_request(sealed.clone()).is_ok());
        let of_one = gateway(&[1]).open_request(sealed).map(|_| ());
        assert_eq!(of_one.is_ok(), key == 1);
        if key == 2 {
            assert_eq!(of_one, Err(DecapsulationError::UnknownKeyOrSuite));
        }
    }
}

#[test]
fn keys_of_one_id_are_refused_together() {
    let id = |key: u8| key_configuration(&sealed::x25519_public_key(&[key; 32]))[0];
    let same = (0..=255).flat_map(|one| (0..one).map(move |other| (one, other)));
    let (one, other) = same
        .into_iter()
        .find(|&(one, other)| id(one) == id(other))
        .unwrap();
    for keys in [[one, other], [one, one]] {
        let refused = OhttpGateway::new(&keys.map(|key| [key; 32])).unwrap_err();
        let said = format!(
            "two keys of --ohttp-key have the id {}: create another key",
            id(one)
        );
        assert_eq!(refused.to_string(), said);
    }
}

#[test]
fn whatever_is_changed_is_not_opened() {
    let gateway = gateway(&[1, 2]);
    let (sealed, _) = asker(1).ask("POST", "/tasks/t/reports", b"report");
    assert!(gateway.open_request(sealed.clone()).is_ok());
    for bit in 0..8 * sealed.len() {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = gateway.open_request(changed).map(|_| ()).unwrap_err();
        let expected = match bit / 8 {
            0..7 => DecapsulationError::UnknownKeyOrSuite,
            _ => DecapsulationError::DecryptionFailed,
        };
        assert_eq!(error, expected, "bit {bit}");
    }
    for length in 0..sealed.len() {
        let error = gateway.open_request(sealed[..length].to_vec()).map(|_| ());
        let expected = match length {
            0..55 => DecapsulationError::RequestTooShort,
            _ => DecapsulationError::DecryptionFailed,
        };
        assert_eq!(error, Err(expected), "{length} bytes");
    }
    // The id of a key alone is refused. So is a point of low order, with which the secret is always
    // the same.
    let id = key_configuration(&sealed::x25519_public_key(&[2; 32]))[0];
    let (claimed, _) = asker(1).named(id).ask("GET", "/", b"");
    assert_eq!(
        gateway.open_request(claimed).map(|_| ()),
        Err(DecapsulationError::DecryptionFailed)
    );
    let mut low = sealed;
    low[7..39].fill(0);
    assert_eq!(
        gateway.open_request(low).map(|_| ()),
        Err(DecapsulationError::DecryptionFailed)
    );
}

#[test]
fn messages_of_either_form_are_read() {
    let fields = [("origin", "https://page.example"), ("x", ""), ("x", "2")];
    let known = written(
        "POST",
        "c.example:8443",
        "/tasks/t/reports?a=b",
        &fields,
        b"report",
    );
    let expected = read(&known).unwrap();
    assert_eq!(expected.0, "POST");
    assert_eq!(expected.1, "https://c.example:8443/tasks/t/reports?a=b");
    assert_eq!(expected.2.len(), 3);
    assert_eq!(expected.3, b"report");

    let mut bhttp = bhttp::Message::read_bhttp(&mut Cursor::new(&known[..])).unwrap();
    let mut indeterminate = Vec::new();
    bhttp
        .write_bhttp(Mode::IndeterminateLength, &mut indeterminate)
        .unwrap();
    assert_eq!(read(&indeterminate).unwrap(), expected);
    // The content is split into two pieces.
    let content = indeterminate
        .windows(7)
        .position(|own| own == b"\x06report")
        .unwrap();
    indeterminate.splice(content..=content + 3, *b"\x03rep\x03");
    assert_eq!(read(&indeterminate).unwrap(), expected);

    // Trailers and padding are accepted.
    bhttp.put_trailer("t", "1");
    let mut padded = Vec::new();
    bhttp.write_bhttp(Mode::KnownLength, &mut padded).unwrap();
    padded.resize(4096, 0);
    assert_eq!(read(&padded).unwrap(), expected);
    padded.push(1);
    assert_eq!(read(&padded).unwrap_err(), MalformedRequest::InvalidPadding);

    // Empty parts at the end may be missing, and so may the authority.
    let short = written("GET", "", "/tasks/t", &[], b"");
    for cut in 0..=3 {
        let read = read(&short[..short.len() - cut]).unwrap();
        assert_eq!(read, ("GET".into(), "/tasks/t".into(), vec![], vec![]));
    }
    assert_eq!(
        read(&short[..short.len() - 4]).unwrap_err(),
        MalformedRequest::EndsEarly
    );
    // Parts may not be missing elsewhere.
    for cut in [1, 2, 3, 9] {
        let cut = &indeterminate[..indeterminate.len() - cut];
        let expected = (cut.len() + 1 < indeterminate.len()).then_some(MalformedRequest::EndsEarly);
        assert_eq!(read(cut).err(), expected);
    }
}

#[test]
fn what_is_no_request_is_named() {
    let of = |method: &str, authority: &str, path: &str, fields: &[(&str, &str)]| {
        read(&written(method, authority, path, fields, b"")).unwrap_err()
    };
    assert_eq!(read(b"").unwrap_err(), MalformedRequest::EndsEarly);
    assert_eq!(
        read(b"\x01\x40\xc8").unwrap_err(),
        MalformedRequest::NotARequest
    );
    assert_eq!(read(b"\x04").unwrap_err(), MalformedRequest::NotARequest);
    assert_eq!(
        of("G T", "a", "/", &[]),
        MalformedRequest::InvalidControlData
    );
    assert_eq!(
        of("GET", "a b", "/", &[]),
        MalformedRequest::InvalidControlData
    );
    for path in ["", "/ ", "/#a", "a"] {
        assert_eq!(
            of("GET", "a", path, &[]),
            MalformedRequest::InvalidControlData,
            "{path}"
        );
    }
    for field in [("A", "1"), ("a b", "1"), ("a", "1\n2")] {
        assert_eq!(
            of("GET", "a", "/", &[field]),
            MalformedRequest::InvalidHeaderField,
            "{field:?}"
        );
    }
    let many = [("a", "1"); 101];
    assert_eq!(of("GET", "a", "/", &many), MalformedRequest::TooManyFields);
    assert!(read(&written("GET", "a", "/", &many[1..], b"")).is_ok());
    // These lengths exceed the message.
    for length in [
        &[0x3f][..],
        &[0x7f, 0xff],
        &[0xbf, 0xff, 0xff, 0xff],
        &[0xff; 8],
    ] {
        assert_eq!(
            read(&[&[0], length].concat()).unwrap_err(),
            MalformedRequest::EndsEarly
        );
    }
}

/// Decodes a message with the crate bhttp, which requires the end of a message of indeterminate
/// length.
fn by_bhttp(bytes: &[u8]) -> bhttp::Message {
    let whole = [bytes, &[0; 3]].concat();
    bhttp::Message::read_bhttp(&mut Cursor::new(whole)).unwrap()
}

#[test]
fn what_is_changed_at_random_is_read_as_others_read_it_or_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let fields = [("origin", "https://page.example"), ("accept", "*/*")];
    let known = written("POST", "c.example", "/tasks/t/reports", &fields, &[7; 70]);
    let mut indeterminate = Vec::new();
    let message = bhttp::Message::read_bhttp(&mut Cursor::new(&known[..])).unwrap();
    message
        .write_bhttp(Mode::IndeterminateLength, &mut indeterminate)
        .unwrap();
    let (mut taken, mut refused) = (0, 0);
    for round in 0..100_000 {
        let mut bytes = [&known, &indeterminate][round % 2].clone();
        for _ in 0..=rng.next_u32() % 3 {
            let at = rng.next_u32() as usize % bytes.len().max(1);
            match rng.next_u32() % 4 {
                _ if bytes.is_empty() => {}
                0 => bytes[at] ^= 1 << (rng.next_u32() % 8),
                1 => bytes[at] = rng.next_u32() as u8,
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        match read(&bytes) {
            Err(_) => refused += 1,
            Ok((method, address, fields, content)) => {
                taken += 1;
                let theirs = by_bhttp(&bytes);
                let control = theirs.control();
                assert_eq!(control.method(), Some(method.as_bytes()));
                let path = str::from_utf8(control.path().unwrap()).unwrap();
                assert!(address.ends_with(path), "{address}");
                // The crate bhttp joins cookies, so it may have fewer fields.
                assert!(fields.len() >= theirs.header().fields().len());
                assert_eq!(content, theirs.content());
            }
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "{taken} {refused}");
}

#[test]
fn answers_are_padded_and_read_by_others() {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
    // This field is for browsers, and is left out.
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    for length in [0, 1, 63, 64, 200, 16_383, 16_384, 1 << 20] {
        let content: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        let bytes = encode_response(StatusCode::SERVICE_UNAVAILABLE, &headers, &content);
        assert_eq!(bytes.len() % 256, 0);
        let read = bhttp::Message::read_bhttp(&mut Cursor::new(&bytes[..])).unwrap();
        assert_eq!(read.control().status().map(|own| own.code()), Some(503));
        assert_eq!(read.header().fields().len(), 2);
        assert_eq!(read.header().get(b"retry-after"), Some(&b"30"[..]));
        assert_eq!(read.content(), content);
        assert!(read.trailer().is_empty());
    }
    // Responses with different statuses have equal lengths.
    let counted = br#"{"uploads":1,"accepted_reports":1,"duplicate_uploads":0}"#;
    let length = encode_response(StatusCode::CREATED, &headers, counted).len();
    assert_eq!(
        encode_response(StatusCode::OK, &headers, counted).len(),
        length
    );
}
