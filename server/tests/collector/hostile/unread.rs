//! Responses that the client does not read.

use std::io::Read;
use std::net::TcpStream;

use hushbin_tests::process::Client;
use serde_json::Value;

use super::{Victim, full};

/// A task with long estimates.
fn many(items: usize) -> String {
    format!(
        r#"{{ "id": "many", "items": {items}, "sparsity": 2, "epsilon": 1.0, "value": "sign" }}"#
    )
}

/// Sends one upload, so that there are estimates.
fn report(victim: &Victim, task: &str) {
    let task = hushbin_tests::uploads::draft(task).resolve_task().unwrap();
    let bytes = hushbin_tests::uploads::Uploads::new(&task, 2).bytes(1);
    let mut client = Client::connect(victim.address).unwrap();
    assert_eq!(client.post("many", &bytes).unwrap().0, 201);
}

fn ask(victim: &Victim, path: &str) -> Client {
    let mut client = Client::connect(victim.address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    client.write(request.as_bytes()).unwrap();
    client
}

#[test]
fn sockets_that_never_read_hold_little_and_are_cut() {
    let (items, sockets) = if full() { (100_000, 60) } else { (20_000, 12) };
    let task = many(items);
    let mut victim = Victim::new(&[&task], &["--write-timeout", "1"]);
    report(&victim, &task);
    let attackers: Vec<Client> = (0..sockets)
        .map(|_| ask(&victim, "/tasks/many/estimates"))
        .collect();
    victim.serves_others();
    // Each attacker has received the first byte, or was refused.
    let mut first = [0; 1];
    for attacker in &attackers {
        assert_eq!(attacker.socket().peek(&mut first).unwrap(), 1);
    }
    victim.serves_others();
    // At most two tables are in memory at once, of less than 2 KiB per item. Cached answers take at
    // most 32 MiB.
    victim.took_at_most("unread answers", 2 * items as u64 * (2 << 10) + (48 << 20));
    victim.wait_for_silence();
    // Interrupted responses are visibly cut off, never complete-looking.
    let mut cut = 0;
    for mut attacker in attackers {
        cut += usize::from(attacker.read().is_err());
    }
    assert!(cut > 0, "every answer came whole");
    // Afterwards there is room for a client that reads.
    let whole = loop {
        let mut reader = ask(&victim, "/tasks/many/estimates");
        let (status, body) = reader.read().unwrap();
        if status == 200 {
            break body;
        }
        assert_eq!(status, 503);
    };
    let estimates: Value = serde_json::from_slice(&whole).unwrap();
    assert_eq!(estimates["estimates"].as_array().unwrap().len(), items);
}

#[test]
fn a_task_that_is_long_is_held_once() {
    let items = if full() { 200_000 } else { 20_000 };
    let names: Vec<String> = (0..items).map(|i| format!("{i:0>60}")).collect();
    let names = serde_json::to_string(&names).unwrap();
    let task = format!(
        r#"{{ "id": "many", "items": {names}, "sparsity": 2, "epsilon": 1.0, "value": "sign" }}"#
    );
    let mut victim = Victim::new(&[&task], &["--write-timeout", "1"]);
    let mut attackers: Vec<Client> = (0..60).map(|_| ask(&victim, "/tasks/many")).collect();
    victim.serves_others();
    let mut first = [0; 1];
    for attacker in &attackers {
        assert_eq!(attacker.socket().peek(&mut first).unwrap(), 1);
    }
    victim.wait_for_silence();
    victim.took_at_most("unread tasks", items as u64 * 500 + (16 << 20));
    for attacker in &mut attackers {
        assert!(attacker.read().is_err(), "an answer came whole");
    }
}

/// A slow reader still gets the whole response.
#[test]
fn slow_readers_get_all() {
    let items = 20_000;
    let task = many(items);
    let victim = Victim::new(&[&task], &["--write-timeout", "1"]);
    report(&victim, &task);
    let mut socket = TcpStream::connect(victim.address).unwrap();
    let request = b"GET /tasks/many/estimates HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    std::io::Write::write_all(&mut socket, request).unwrap();
    let mut read = Vec::new();
    let mut piece = vec![0; 512 << 10];
    loop {
        match socket.read(&mut piece).unwrap() {
            0 => break,
            length => read.extend_from_slice(&piece[..length]),
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let end = String::from_utf8_lossy(&read[read.len() - 16..]).into_owned();
    assert!(end.contains("]}"), "{end}");
}
