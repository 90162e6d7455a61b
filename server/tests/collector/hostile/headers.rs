//! Request heads that never end.

use std::io::Write;
use std::net::TcpStream;

use super::{Victim, full};

/// Bytes sent of each endless head.
const HEAD_BYTES: usize = 400 << 10;

#[test]
fn endless_heads_are_not_kept() {
    let sockets = if full() { 4000 } else { 300 };
    let mut victim = Victim::new(&[], &["--max-connections", "4096"]);
    let line = format!("x: {}\r\n", "y".repeat(HEAD_BYTES - 5));
    let attackers: Vec<TcpStream> = (0..sockets)
        .map(|_| {
            let mut socket = TcpStream::connect(victim.address).unwrap();
            // The collector refuses the head before it is complete.
            let _ = socket.write_all(b"GET / HTTP/1.1\r\n");
            let _ = socket.write_all(line.as_bytes());
            socket
        })
        .collect();
    victim.serves_others();
    victim.took_at_most("endless heads", sockets as u64 * (64 << 10) + (16 << 20));
    drop(attackers);
}
