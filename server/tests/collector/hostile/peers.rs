//! One address that tries to take every connection.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hushbin_tests::process::Client;

use super::Victim;

const CAP: usize = 4;

/// Returns whether a connection from this address is served.
fn served(victim: &Victim, from: Ipv4Addr, kept: &mut Vec<Client>) -> bool {
    let mut client = Client::connect_from(IpAddr::V4(from), victim.address).unwrap();
    client.patience(Duration::from_secs(45));
    let served = client.get("/livez").is_ok_and(|(status, _)| status == 200);
    kept.push(client);
    served
}

#[test]
fn no_peer_has_more_connections_than_its_share() {
    let cap = CAP.to_string();
    let options = [
        "--max-connections-per-peer",
        &cap,
        "--max-connections",
        "64",
    ];
    let victim = Victim::new(&[], &options);
    let greedy = Ipv4Addr::new(127, 0, 0, 2);
    let mut kept = Vec::new();
    let taken = (0..3 * CAP).filter(|_| served(&victim, greedy, &mut kept));
    assert_eq!(taken.count(), CAP);
    // Other addresses are unaffected, and closed connections free their slots.
    assert!(served(
        &victim,
        Ipv4Addr::new(127, 0, 0, 3),
        &mut Vec::new()
    ));
    kept.clear();
    while !served(&victim, greedy, &mut Vec::new()) {}
}

#[test]
fn behind_a_proxy_all_connections_may_be_of_one_peer() {
    // A collector bound to the loopback address has no peers but a proxy, so the cap does not
    // apply.
    for options in [&[][..], &["--max-connections-per-peer", "0"]] {
        let victim = Victim::new(&[], options);
        let proxy = Ipv4Addr::new(127, 0, 0, 2);
        let mut kept = Vec::new();
        assert!((0..300).all(|_| served(&victim, proxy, &mut kept)));
    }
}
