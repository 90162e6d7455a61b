//! A database connection over TLS, with a verified certificate.

use std::process::{Output, Stdio};

use hushbin_tests::postgres::Server;
use rcgen::CertifiedKey;

use super::*;

/// Runs a command that trusts only this certificate.
fn list_tokens(store: &str, trusted: &str, nodes: &Nodes) -> Output {
    let path = nodes.path("trusted.pem");
    std::fs::write(&path, trusted).unwrap();
    let mut command = command();
    command.args(["token", "list", "--database", store]);
    command.env("SSL_CERT_FILE", path).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn it_is_known_by_a_certificate_that_is_trusted() {
    let issue = |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let CertifiedKey { cert, signing_key } = issue("localhost");
    let server = Server::with_tls(&cert.pem(), &signing_key.serialize_pem());
    let store = server.database().replace("127.0.0.1", "localhost");
    let nodes = Nodes::over(store.clone());
    // A client on the same machine needs no TLS.
    nodes.token("admin");
    let encrypted = format!("{store}?sslmode=require");
    let said = list_tokens(&encrypted, &cert.pem(), &nodes);
    assert!(said.status.success(), "{said:?}");
    assert!(String::from_utf8(said.stdout).unwrap().contains("test "));
    // The certificate is another one, or has another name.
    let other = list_tokens(&encrypted, &issue("localhost").cert.pem(), &nodes);
    let renamed = encrypted.replace("localhost", "127.0.0.1");
    for said in [other, list_tokens(&renamed, &cert.pem(), &nodes)] {
        assert!(!said.status.success());
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains("certificate"), "{said}");
    }
}
