//! Connections that send nothing, or too little, encrypted or not.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use hushbin_tests::process::Client;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::{Victim, full};
use crate::support::tls::{connect, trusting};

/// Patience of a client: less than the time after which the collector closes silent connections.
const PATIENCE: Duration = Duration::from_secs(45);

fn places() -> usize {
    if full() { 4096 } else { 48 }
}

/// Opens twice as many connections as there are slots, and sends `begin` on each.
fn occupy(victim: &Victim, begin: &[u8]) -> Vec<TcpStream> {
    (0..2 * places())
        .map(|_| {
            let mut socket = TcpStream::connect(victim.address).unwrap();
            // A connection that has lost its slot meanwhile cannot write.
            let _ = socket.write_all(begin);
            socket
        })
        .collect()
}

fn others_are_served(victim: Victim, begin: &[u8]) {
    holds_against(victim, "idle connections", |victim| occupy(victim, begin));
}

/// Checks that honest clients are served while the attackers stay connected.
fn holds_against<T>(mut victim: Victim, attack: &str, begin: impl Fn(&Victim) -> T) {
    let attackers = begin(&victim);
    let mut honest = victim.connect(PATIENCE);
    assert_eq!(honest.get("/livez").unwrap().0, 200);
    victim.serves_others();
    victim.took_at_most(attack, (places() as u64) * (32 << 10) + (8 << 20));
    drop(attackers);
}

fn plain() -> Victim {
    Victim::new(&[], &["--max-connections", &places().to_string()])
}

fn encrypted() -> Victim {
    Victim::encrypted(&["--max-connections", &places().to_string()])
}

#[test]
fn silent_connections_shut_nobody_out() {
    others_are_served(plain(), b"");
}

/// The sockets need more descriptors than the process has left.
#[test]
fn silent_connections_that_take_all_descriptors_shut_nobody_out() {
    let mut victim = Victim::new(&[], &[]);
    let pid = Pid::from_raw(victim.collector.pid().cast_signed());
    let limit = Rlimit {
        current: Some(100),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    prlimit(pid, Resource::Nofile, limit).unwrap();
    let attackers: Vec<TcpStream> = (0..400)
        .map(|_| TcpStream::connect(victim.address).unwrap())
        .collect();
    let mut honest = victim.connect(PATIENCE);
    assert_eq!(honest.get("/livez").unwrap().0, 200);
    drop(honest);
    victim.serves_others();
    drop(attackers);
}

#[test]
fn half_a_head_shuts_nobody_out() {
    others_are_served(plain(), b"GET /livez HTTP/1.1\r\nhost: x\r\nx: ");
}

#[test]
fn connections_that_were_answered_once_shut_nobody_out() {
    others_are_served(plain(), b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
}

#[test]
fn handshakes_that_do_not_begin_shut_nobody_out() {
    others_are_served(encrypted(), b"");
}

#[test]
fn handshakes_that_do_not_end_shut_nobody_out() {
    others_are_served(encrypted(), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
}

#[test]
fn silence_behind_handshakes_shuts_nobody_out() {
    holds_against(encrypted(), "encrypted connections", |victim| {
        let config = trusting(victim.certificate.as_ref().unwrap());
        let shake = |_| connect(victim.address, &config).unwrap();
        (0..2 * places()).map(shake).collect::<Vec<_>>()
    });
}

/// A connection in the middle of an upload keeps its slot.
#[test]
fn a_request_under_way_is_not_cut_for_others() {
    let most = places().to_string();
    let mut victim = Victim::new(&[], &["--max-connections", &most]);
    let bytes = victim.uploads.bytes(2);
    let (before, after) = bytes.split_at(20);
    let mut slow = Client::connect(victim.address).unwrap();
    slow.write(&hushbin_tests::process::head("settings", bytes.len()))
        .unwrap();
    slow.write(before).unwrap();
    victim.serves_others();
    let attackers = occupy(&victim, b"");
    victim.serves_others();
    slow.write(after).unwrap();
    assert_eq!(slow.read().unwrap().0, 201);
    drop(attackers);
}
