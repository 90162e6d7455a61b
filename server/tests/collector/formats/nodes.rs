//! Several processes over a database that an earlier version created.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use hushbin_tests::postgres::Server;
use hushbin_tests::process::Client;

use super::upgrade::{expected, release};
use super::*;
use crate::nodes::{AtEnd, Sender, until};

/// Processes are upgraded and downgraded one after another while the rest keep running. Their
/// answers stay the same, and each upload counts once, those of the first version included.
#[test]
fn processes_of_two_versions_share_a_database() {
    for fixture in all() {
        let server = Server::start(&[]);
        let address = server.database();
        let name = address.rsplit_once('/').unwrap().1;
        let sql = fs::read_to_string(fixture.path("postgres.sql")).unwrap();
        server.ask(name, &sql);
        let version = "SELECT version FROM hushbin.journal";
        let made_by = server.ask(name, version);
        let place = ["--database", address.as_str()];
        let (task, token) = (fixture.task("settings"), fixture.token());

        let (old, first) = serve(before(), place, &[]);
        let (new, second) = serve(command(), place, &[]);
        for address in [first, second] {
            fixture.answers("postgres.json", address);
        }
        let taken = fixture.uploads(&task);
        // The last upload came after the database was copied; the fixture has it in files only.
        let taken = &taken[..12];
        let reports = |address| {
            let (_, said) = ask(address, &token, "GET /tasks/settings/batches", "");
            let batches = said["batches"].as_array().unwrap().clone();
            let each = batches.iter().map(|own| own["reports"].as_u64().unwrap());
            each.sum::<u64>()
        };
        let mut old = Some(old);
        let (mut one, mut other) = (Sender::new(&task, 21), Sender::new(&task, 22));
        // The first process is replaced by this version, then by the earlier one.
        for program in [command(), before()] {
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                let _ended = AtEnd(&stop);
                scope.spawn(|| one.run(&task, &[first, second], &stop));
                scope.spawn(|| other.run(&task, &[second, first], &stop));
                let known = reports(second);
                until(|| reports(second) > known + 50);
                release(first, &token, "settings");
                until(|| reports(second) > known + 100);
                let mut gone = old.take().unwrap();
                gone.stop(Duration::from_secs(60));
                let known = reports(second);
                until(|| reports(second) > known + 50);
                let listen = first.to_string();
                let (again, _) = serve(program, place, &["--listen", &listen]);
                old = Some(again);
                let known = reports(first);
                until(|| reports(first) > known + 50);
                release(second, &token, "settings");
            });
        }
        for sender in [&mut one, &mut other] {
            while sender.open.is_some() {
                sender.send(&task, &mut Client::connect(second).unwrap());
            }
        }
        let sent = one.acknowledged.iter().chain(&other.acknowledged);
        let all: Vec<&Upload> = taken.iter().chain(sent).collect();
        for upload in &all {
            let bytes = upload.encode(&task.fingerprint());
            let mut client = Client::connect(first).unwrap();
            let (status, said) = client.post("settings", &bytes).unwrap();
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
        }
        release(second, &token, "settings");
        let expected = expected(&task, all.iter().copied());
        for address in [first, second] {
            until(|| {
                let (_, found) = ask(address, &token, "GET /tasks/settings/estimates", "");
                found["reports"] == expected["reports"]
            });
            let (_, found) = ask(address, &token, "GET /tasks/settings/estimates", "");
            assert_eq!(found, expected);
        }
        assert_eq!(server.ask(name, version), made_by);
        drop((old, new));
    }
}
