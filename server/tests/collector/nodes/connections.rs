//! Ways to a database: sockets, several hosts, and poolers.

use hushbin_tests::postgres::{PoolMode, Pooler, Server, shared};

use super::*;

/// Runs a command on a database, which must fail, and returns its error.
fn failure(store: &str) -> String {
    let said = hushbin(&["token", "list", "--database", store]);
    assert!(!said.status.success());
    String::from_utf8(said.stderr).unwrap()
}

#[test]
fn a_socket_is_named_in_both_spellings() {
    let server = Server::start(&[]);
    let store = server.database();
    let name = store.rsplit_once('/').unwrap().1;
    let (directory, port) = (server.directory().display().to_string(), server.port());
    let encoded = directory.replace('/', "%2F");
    let stores = [
        format!("host={directory} port={port} user=hushbin dbname={name}"),
        format!("postgres:///{name}?host={directory}&port={port}&user=hushbin"),
        format!("postgres://hushbin@{encoded}:{port}/{name}"),
        // Spaces around the sign, and a value in quotes.
        format!("host = '{directory}' port = {port} user = hushbin dbname = '{name}'"),
    ];
    let tokens: Vec<_> = stores
        .iter()
        .map(|store| Nodes::over(store.clone()).token("admin"))
        .collect();
    let nodes = Nodes::over(stores[0].clone());
    let (running, address) = nodes.collector(&[]);
    let mut sender = Sender::new(&nodes.task, 1);
    assert!(sender.send(&nodes.task, &mut Client::connect(address).unwrap()));
    nodes.release(address, &tokens[0]);
    for token in &tokens {
        let (status, found) = ask(address, token, "GET /tasks/settings/estimates", "");
        assert_eq!(status, 200);
        assert_eq!(found, nodes.expected(&sender.acknowledged));
    }
    drop(running);
}

#[test]
fn an_address_that_cannot_be_one_is_named() {
    for (store, expected) in [
        ("hushbin", "neither a URL nor key=value pairs"),
        ("dbname=hushbin", "names no host"),
        ("host=a,b port=1,2,3", "2 hosts and 3 ports"),
        ("host=a colour=red", "colour"),
        ("postgres://a/b?sslmode=perhaps", "sslmode"),
    ] {
        let said = failure(store);
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("expected an address such as"), "{said}");
    }
}

/// A pooler in transaction mode loses the settings of sessions.
#[test]
fn a_pooler_in_transaction_mode_is_refused() {
    let server = shared();
    let store = server.database();
    let through = |pooler: &Pooler| {
        let direct = format!(":{}", server.port());
        store.replace(&direct, &format!(":{}", pooler.port()))
    };
    for connections in [1, 20] {
        let pooler = Pooler::start(&server, PoolMode::Transaction, connections);
        let said = failure(&through(&pooler));
        assert!(said.contains("a pooler in transaction mode"), "{said}");
        assert!(said.contains("pool_mode = session"), "{said}");
    }
    let pooler = Pooler::start(&server, PoolMode::Session, 20);
    let nodes = Nodes::over(through(&pooler));
    let (running, address) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let mut sender = Sender::new(&nodes.task, 1);
    assert!(sender.send(&nodes.task, &mut Client::connect(address).unwrap()));
    nodes.release(address, &token);
    let found = ask(address, &token, "GET /tasks/settings/estimates", "").1;
    assert_eq!(found, nodes.expected(&sender.acknowledged));
    drop(running);
}
