//! The primary database server is lost under load, and its standby takes over.

use std::time::Instant;

use hushbin_tests::cable::Cable;
use hushbin_tests::postgres::{Pair, Server};

use super::drills::refusal;
use super::*;

#[test]
fn nothing_acknowledged_is_lost_with_the_primary() {
    let pair = Pair::start(&[]);
    let nodes = Nodes::over(pair.database());
    let running: Vec<_> = (0..3).map(|_| nodes.collector(&[])).collect();
    let addresses: Vec<SocketAddr> = running.iter().map(|(_, address)| *address).collect();
    let token = nodes.token("admin");
    let stop = AtomicBool::new(false);
    let mut senders: Vec<Sender> = (0..6).map(|seed| Sender::new(&nodes.task, seed)).collect();
    let before = thread::scope(|scope| {
        let _ended = AtEnd(&stop);
        for (own, sender) in senders.iter_mut().enumerate() {
            let mut addresses = addresses.clone();
            addresses.rotate_left(own % 3);
            let (task, stop) = (&nodes.task, &stop);
            scope.spawn(move || sender.run(task, &addresses, stop));
        }
        let reports = || {
            let batches = ask(addresses[0], &token, "GET /tasks/settings/batches", "").1;
            let batches = batches["batches"].as_array().cloned().unwrap_or_default();
            let reports = batches
                .iter()
                .map(|batch| batch["reports"].as_u64().unwrap());
            reports.sum::<u64>()
        };
        until(|| reports() > 200);
        // The first server releases one batch.
        nodes.release(addresses[1], &token);
        let known = reports();
        until(|| reports() > known + 200);
        pair.primary.kill();
        let before = bytes_of(addresses[0], &token, "GET /tasks/settings/batches", "").0;
        pair.standby.promote();
        until(|| reports() > known + 600);
        before
    });
    // An unavailable database gives an error, never an estimate.
    assert_eq!(before, 503);
    // Unacknowledged uploads are resent to another node.
    for sender in &mut senders {
        while sender.open.is_some() {
            let mut client = Client::connect(addresses[2]).unwrap();
            sender.send(&nodes.task, &mut client);
        }
    }
    nodes.release(addresses[2], &token);
    let all: Vec<&Upload> = senders.iter().flat_map(|own| &own.acknowledged).collect();
    let expected = nodes.expected(all.iter().copied());
    for &address in &addresses {
        let (status, found) = ask(address, &token, "GET /tasks/settings/estimates", "");
        assert_eq!((status, &found), (200, &expected));
    }
    println!("{} uploads acknowledged", all.len());
    drop(running);
}

/// Names the standbys that commits wait for.
fn name_standbys(server: &Server, names: &str) {
    let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
    server.ask("postgres", &set);
    server.ask("postgres", "SELECT pg_reload_conf()");
}

/// If PostgreSQL no longer waits for the standby, it keeps the commit and warns. The collector then
/// does not acknowledge.
#[test]
fn a_commit_that_no_longer_waits_for_the_standby_is_not_acknowledged() {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (running, address) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let names = |names: &str| name_standbys(&server, names);
    names("nobody");
    let mut sender = Sender::new(&nodes.task, 1);
    thread::scope(|scope| {
        // Servers apply settings with a delay. Until then uploads are acknowledged.
        let sending = scope.spawn(|| {
            let mut client = Client::connect(address).unwrap();
            while sender.send(&nodes.task, &mut client) {}
        });
        // A cancelled backend no longer waits.
        until(|| {
            server.ask(
                "postgres",
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
            );
            sending.is_finished()
        });
        sending.join().unwrap();
    });
    names("");
    let mut client = Client::connect(address).unwrap();
    until(|| sender.send(&nodes.task, &mut Client::connect(address).unwrap()));
    assert!(sender.send(&nodes.task, &mut client));
    nodes.release(address, &token);
    let found = ask(address, &token, "GET /tasks/settings/estimates", "").1;
    assert_eq!(found, nodes.expected(&sender.acknowledged));
    drop(running);
}

/// A commit that waits for a lost standby is cancelled. Otherwise its backend would wait for ever,
/// and hold the locks that the next commit needs.
#[test]
fn a_lost_standby_is_named_and_leaves_no_backend_behind() {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (running, address, log) = nodes.logging_collector(&nodes.store);
    let token = nodes.token("admin");
    let mut sender = Sender::new(&nodes.task, 1);
    let send =
        |sender: &mut Sender| sender.send(&nodes.task, &mut Client::connect(address).unwrap());
    assert!(send(&mut sender));
    name_standbys(&server, "nobody");
    // The server applies the setting with a delay.
    until(|| !send(&mut sender));
    until(|| log().contains("taking uploads fails"));
    let said = log();
    assert!(said.contains("synchronous standby"), "{said}");
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    // No backend waits for the standby.
    until(|| server.ask("postgres", waiting) == "0");
    let metrics = String::from_utf8(bytes_of(address, "", "GET /metrics", "").1).unwrap();
    let failed = metrics
        .lines()
        .find_map(|line| line.strip_prefix("hushbin_commits_failed_total "));
    let failed: u64 = failed.unwrap().parse().unwrap();
    assert!(failed > 0);
    name_standbys(&server, "");
    until(|| send(&mut sender));
    nodes.release(address, &token);
    let found = ask(address, &token, "GET /tasks/settings/estimates", "").1;
    assert_eq!(found, nodes.expected(&sender.acknowledged));
    drop(running);
}

/// A node that is frozen in the middle of a transaction holds locks.
#[test]
fn a_frozen_node_stops_no_other() {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (frozen, frozen_address) = nodes.collector(&[]);
    let (running, address) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let stop = AtomicBool::new(false);
    let mut senders: Vec<Sender> = (0..4).map(|seed| Sender::new(&nodes.task, seed)).collect();
    thread::scope(|scope| {
        let _ended = AtEnd(&stop);
        for (own, sender) in senders.iter_mut().enumerate() {
            let own_address = [frozen_address, address][own % 2];
            let (task, stop) = (&nodes.task, &stop);
            scope.spawn(move || sender.run(task, &[own_address], stop));
        }
        until(|| {
            // Stopped at any moment, the node is often within a transaction.
            frozen.signal("-STOP");
            thread::sleep(Duration::from_millis(50));
            let idle = "SELECT count(*) FROM pg_stat_activity \
                WHERE state = 'idle in transaction' AND application_name = 'hushbin'";
            let is_caught = server.ask("postgres", idle).trim() != "0";
            if !is_caught {
                frozen.signal("-CONT");
                thread::sleep(Duration::from_millis(20));
            }
            is_caught
        });
        // Closing the batch needs the lock of the frozen node.
        let begin = Instant::now();
        until(|| {
            let (status, said) = ask(address, &token, "POST /tasks/settings/batches", "");
            assert!(status == 202 || status == 503, "{said}");
            assert!(
                begin.elapsed() < PATIENCE,
                "the frozen node stops the other"
            );
            status == 202
        });
        assert_eq!(ask(address, "", "GET /readyz", "").0, 200);
        frozen.signal("-CONT");
    });
    for sender in &mut senders {
        while sender.open.is_some() {
            let mut client = Client::connect(address).unwrap();
            sender.send(&nodes.task, &mut client);
        }
    }
    nodes.release(address, &token);
    let all: Vec<&Upload> = senders.iter().flat_map(|own| &own.acknowledged).collect();
    let (status, found) = ask(address, &token, "GET /tasks/settings/estimates", "");
    assert_eq!(
        (status, &found),
        (200, &nodes.expected(all.iter().copied()))
    );
    drop((frozen, running));
}

/// A node that cannot reach its database refuses uploads, and says so. The kernel acknowledges what
/// the node sends, so TCP notices nothing.
#[test]
fn a_node_that_is_cut_off_refuses_uploads_and_says_so() {
    let server = Server::start(&[]);
    let cable = Cable::to(SocketAddr::from(([127, 0, 0, 1], server.port())));
    let store = server.database();
    let direct = format!(":{}", server.port());
    let store = store.replace(&direct, &format!(":{}", cable.address().port()));
    let nodes = Nodes::over(store);
    let (running, address, log) = nodes.logging_collector(&nodes.store);
    let mut sender = Sender::new(&nodes.task, 1);
    let metrics = || String::from_utf8(bytes_of(address, "", "GET /metrics", "").1).unwrap();
    assert!(sender.send(&nodes.task, &mut Client::connect(address).unwrap()));
    assert!(metrics().contains("hushbin_commits_failed_total 0\n"));
    cable.pull();
    let upload = Uploads::new(&nodes.task, 2).make(1);
    // The second is refused while the node tries to connect again.
    for _ in 0..2 {
        let (head, _) = refusal(&nodes.task, address, &upload);
        assert!(head.starts_with("http/1.1 503"), "{head}");
        assert!(head.contains("retry-after: 1\r\n"), "{head}");
    }
    until(|| log().contains("taking uploads fails"));
    assert!(
        log().contains("the database has not answered within"),
        "{}",
        log()
    );
    assert!(!metrics().contains("hushbin_commits_failed_total 0\n"));
    assert!(metrics().contains("hushbin_ready 0\n"));
    cable.plug();
    until(|| sender.send(&nodes.task, &mut Client::connect(address).unwrap()));
    until(|| log().contains("taking uploads works again"));
    until(|| metrics().contains("hushbin_ready 1\n"));
    drop(running);
}

/// A database that does not answer is told by health checks, which answer themselves.
#[test]
fn a_frozen_database_is_told_by_health_checks() {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (running, address) = nodes.collector(&[]);
    assert_eq!(ask(address, "", "GET /readyz", "").0, 200);
    server.freeze();
    let (status, said) = ask(address, "", "GET /readyz", "");
    assert_eq!((status, said["reason"].as_str()), (503, Some("no-answer")));
    let (status, text) = bytes_of(address, "", "GET /metrics", "");
    assert_eq!(status, 200);
    assert!(
        String::from_utf8(text)
            .unwrap()
            .contains("hushbin_ready 0\n")
    );
    server.thaw();
    until(|| ask(address, "", "GET /readyz", "").0 == 200);
    drop(running);
}
