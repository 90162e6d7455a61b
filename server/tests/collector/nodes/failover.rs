//! The primary database server is lost under load, and its standby takes over.

use hushbin_tests::postgres::{Pair, Server};

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

/// If PostgreSQL no longer waits for the standby, it keeps the commit and warns. The collector then
/// does not acknowledge.
#[test]
fn a_commit_that_no_longer_waits_for_the_standby_is_not_acknowledged() {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (running, address) = nodes.collector(&[]);
    let token = nodes.token("admin");
    let names = |names: &str| {
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
        server.ask("postgres", &set);
        server.ask("postgres", "SELECT pg_reload_conf()");
    };
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
