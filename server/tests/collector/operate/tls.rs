//! Encrypted connections, for collectors without a proxy.

use std::collections::HashSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use hushbin_tests::process::Client;
use tokio_rustls::rustls::HandshakeKind::Full;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ProtocolVersion, version};

use super::config::check;
use super::metrics::values;
use super::{Operated, configure};
use crate::support::tls::{self, FILES, connect, issue, living_in_2019, speaking, trusting};

/// Starts a collector with a certificate, and returns both.
pub(super) fn encrypted(more: &str) -> (Operated, CertificateDer<'static>) {
    let directory = tempfile::tempdir().unwrap();
    let certificate = issue(directory.path());
    let operated = Operated::beside(directory, &format!("{FILES}{more}"));
    (operated, certificate)
}

/// Number of failed handshakes, read over another connection.
fn failed(operated: &Operated, certificate: &CertificateDer<'static>) -> f64 {
    let mut client = connect(operated.address, &trusting(certificate)).unwrap();
    values(&mut client)["hushbin_connections_closed_total{reason=\"handshake\"}"]
}

/// Returns whether the peer closes the connection, after any response.
fn is_closed(mut socket: TcpStream) -> bool {
    match socket.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn reports_come_and_estimates_go_encrypted() {
    let (operated, certificate) = encrypted("development = true");
    let mut uploads = operated.uploads();
    for (spoken, expected) in [
        (&version::TLS13, ProtocolVersion::TLSv1_3),
        (&version::TLS12, ProtocolVersion::TLSv1_2),
    ] {
        let config = speaking(&certificate, &[spoken]);
        for _ in 0..2 {
            let mut client = connect(operated.address, &config).unwrap();
            let upload = uploads.bytes(1);
            assert_eq!(client.post("settings", &upload).unwrap().0, 201);
            assert_eq!(client.post("settings", &upload).unwrap().0, 200);
            let (status, body) = client.get("/tasks/settings/estimates").unwrap();
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
            let spoken = &client.stream().conn;
            assert_eq!(spoken.protocol_version(), Some(expected));
            assert_eq!(spoken.alpn_protocol(), Some(&b"http/1.1"[..]));
            // The second handshake is full, too: no ticket links a browser's connections.
            assert_eq!(spoken.handshake_kind(), Some(Full));
        }
    }
    let mut client = connect(operated.address, &trusting(&certificate)).unwrap();
    let found = values(&mut client);
    assert_eq!(found["hushbin_reports_accepted_total"], 4.0);
    // A client that does not trust the certificate gets nothing.
    let other = issue(tempfile::tempdir().unwrap().path());
    assert!(connect(operated.address, &trusting(&other)).is_err());
}

#[test]
fn who_does_not_encrypt_is_closed_counted_and_not_named() {
    let (operated, certificate) = encrypted("log = 'debug'");
    let from = Ipv4Addr::new(127, 77, 66, 55);
    let mut plain = Client::connect_from(IpAddr::V4(from), operated.address).unwrap();
    plain
        .write(b"GET /mark-path HTTP/1.1\r\nhost: mark-host\r\n\r\n")
        .unwrap();
    assert!(is_closed(plain.into_socket()));
    while failed(&operated, &certificate) < 1.0 {}
    let log = operated.log();
    assert!(log.contains("a TLS handshake failed"), "{log}");
    for mark in ["127.77.66.55", "mark-path", "mark-host"] {
        assert!(!log.contains(mark), "{log}");
    }
}

#[test]
fn who_never_ends_a_handshake_is_closed() {
    let (operated, certificate) = encrypted("");
    for begin in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let before = failed(&operated, &certificate);
        let mut silent = Client::connect(operated.address).unwrap().into_socket();
        silent.write_all(begin).unwrap();
        assert!(is_closed(silent), "{begin:?}");
        while failed(&operated, &certificate) < before + 1.0 {}
    }
}

#[test]
fn a_handshake_is_not_waited_for_at_the_end() {
    // The drain timeout is shorter than that of a handshake.
    let (mut operated, certificate) = encrypted("drain_timeout = 5");
    let silent = TcpStream::connect(operated.address).unwrap();
    // This connection is accepted after the silent one.
    assert_eq!(failed(&operated, &certificate), 0.0);
    operated.collector.stop(Duration::from_secs(300));
    let log = operated.log();
    assert!(log.contains("stopped"), "{log}");
    assert!(!log.contains("cut off"), "{log}");
    drop(silent);
}

#[test]
fn sighup_takes_up_another_certificate_and_keeps_one_that_is_good() {
    let (operated, first) = encrypted("");
    let directory = operated.directory.path();
    let wait_for = |text: &str| while !operated.log().contains(text) {};
    let mut before = connect(operated.address, &trusting(&first)).unwrap();
    assert_eq!(before.get("/livez").unwrap().0, 200);

    let second = issue(directory);
    operated.collector.signal("-HUP");
    wait_for("changed=\"tls_certificate\"");
    let mut after = connect(operated.address, &trusting(&second)).unwrap();
    assert_eq!(after.get("/livez").unwrap().0, 200);
    assert!(connect(operated.address, &trusting(&first)).is_err());
    // Existing connections stay open.
    assert_eq!(before.get("/livez").unwrap().0, 200);

    // The new certificate comes without its key.
    let key = fs::read(directory.join("key.pem")).unwrap();
    let third = issue(directory);
    let its_key = fs::read(directory.join("key.pem")).unwrap();
    fs::write(directory.join("key.pem"), key).unwrap();
    operated.collector.signal("-HUP");
    wait_for("the configuration stays as it is");
    let log = operated.log();
    assert!(
        log.contains("key.pem does not match the first certificate in "),
        "{log}"
    );
    assert!(connect(operated.address, &trusting(&second)).is_ok());
    assert!(connect(operated.address, &trusting(&third)).is_err());
    fs::write(directory.join("key.pem"), its_key).unwrap();
    operated.collector.signal("-HUP");
    while connect(operated.address, &trusting(&third)).is_err() {}

    // Neither certificate nor key is set: a proxy terminates TLS now.
    configure(directory, "");
    operated.collector.signal("-HUP");
    wait_for("changed=\"tls_certificate, tls_key\"");
    assert_eq!(operated.client().get("/livez").unwrap().0, 200);
}

/// Checks that the collector has every metric that the shipped alerts name.
fn every_alert_names_metrics(address: SocketAddr, certificate: &CertificateDer<'static>) {
    const RULES: &str = include_str!("../../../deploy/prometheus-rules.yml");
    let mut client = connect(address, &trusting(certificate)).unwrap();
    // A series of problems begins with the first problem.
    assert_eq!(client.get("/nowhere").unwrap().0, 404);
    let found = values(&mut client);
    let names: HashSet<&str> = found
        .keys()
        .filter_map(|key| key.split('{').next())
        .collect();
    let expressions = RULES
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named: Vec<&str> = expressions
        .flat_map(|own| own.split(|c| !is_name(c)))
        .filter(|word| word.starts_with("hushbin_"))
        .collect();
    assert!(named.len() >= 8, "{named:?}");
    for name in named {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn an_expired_certificate_is_told_at_start_and_reload() {
    let directory = tempfile::tempdir().unwrap();
    let expired = tls::issue_until(directory.path(), 2020);
    let operated = Operated::beside(directory, FILES);
    let directory = operated.directory.path();
    let told = || {
        operated
            .log()
            .matches("the TLS certificate has expired")
            .count()
    };
    assert_eq!(told(), 1);
    let expiry = |certificate: &CertificateDer<'static>| {
        let mut client = connect(operated.address, &living_in_2019(certificate)).unwrap();
        values(&mut client)["hushbin_certificate_expiry_seconds"]
    };
    assert_eq!(expiry(&expired), 1_577_836_800.0);
    operated.collector.signal("-HUP");
    while told() < 2 {}
    let renewed = issue(directory);
    operated.collector.signal("-HUP");
    while connect(operated.address, &trusting(&renewed)).is_err() {}
    assert_eq!(expiry(&renewed), 67_090_118_400.0);
    assert_eq!(told(), 2);
    every_alert_names_metrics(operated.address, &renewed);
    // Without TLS, there is no certificate that could expire.
    configure(directory, "");
    operated.collector.signal("-HUP");
    while !operated
        .log()
        .contains("changed=\"tls_certificate, tls_key\"")
    {}
    assert!(!values(&mut operated.client()).contains_key("hushbin_certificate_expiry_seconds"));
}

#[test]
fn what_is_no_pair_is_refused_by_name() {
    let refused = |spoil: &dyn Fn(&Path), more: &str, expected: &str| {
        let directory = tempfile::tempdir().unwrap();
        issue(directory.path());
        let path = configure(directory.path(), more);
        assert!(check(&path, &[], &[]).0);
        spoil(directory.path());
        let (valid, said) = check(&path, &[], &[]);
        assert!(!valid && said.contains(expected), "{expected}: {said}");
        // The log contains no line of the key.
        let key = fs::read_to_string(directory.path().join("key.pem")).unwrap_or_default();
        for line in key
            .lines()
            .filter(|line| line.len() > 20 && !line.contains("---"))
        {
            assert!(!said.contains(line), "{said}");
        }
    };
    let write = |name: &'static str, text: &'static str| {
        move |directory: &Path| fs::write(directory.join(name), text).unwrap()
    };
    let remove = |name: &'static str| move |at: &Path| fs::remove_file(at.join(name)).unwrap();
    let mode = |mode| move |at: &Path| tls::set_mode(&at.join("key.pem"), mode);
    refused(
        &remove("certificate.pem"),
        FILES,
        "certificate.pem: No such file",
    );
    refused(&remove("key.pem"), FILES, "key.pem: No such file");
    refused(
        &write("certificate.pem", "nothing\n"),
        FILES,
        "certificate.pem has no usable PEM block, expected a certificate",
    );
    refused(
        &write("key.pem", "nothing\n"),
        FILES,
        "key.pem has no usable PEM block, expected a private key that is not encrypted",
    );
    refused(
        &write("certificate.pem", "-----BEGIN CERTIFICATE-----\n!\n"),
        FILES,
        "certificate.pem is not a PEM file",
    );
    refused(
        &write(
            "certificate.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
        FILES,
        "expected an X.509 certificate",
    );
    refused(
        &write(
            "key.pem",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ),
        FILES,
        "expected an X.509 certificate and its RSA",
    );
    // The key belongs to another certificate.
    let exchange = |at: &Path| {
        let own = fs::read(at.join("certificate.pem")).unwrap();
        issue(at);
        fs::write(at.join("certificate.pem"), own).unwrap();
    };
    refused(
        &exchange,
        FILES,
        "key.pem does not match the first certificate in",
    );
    for open in [0o604, 0o660, 0o601] {
        let expected = format!("key.pem has mode {open:o}, expected 640 or less");
        refused(&mode(open), FILES, &expected);
    }
    let directory = tempfile::tempdir().unwrap();
    issue(directory.path());
    for mode in [0o400, 0o640] {
        tls::set_mode(&directory.path().join("key.pem"), mode);
        assert!(check(&configure(directory.path(), FILES), &[], &[]).0);
    }
    for (line, expected) in [
        (
            "tls_certificate = 'certificate.pem'",
            "--tls-certificate is given without --tls-key, expected both or neither",
        ),
        (
            "tls_key = 'key.pem'",
            "--tls-key is given without --tls-certificate, expected both or neither",
        ),
    ] {
        let (valid, said) = check(&configure(directory.path(), line), &[], &[]);
        assert!(!valid && said.contains(expected), "{said}");
    }
}
