//! A relay that forwards requests unchanged and records all bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use hushbin_tests::process::Client;

use super::GATEWAY;

/// Bytes that passed, in both directions.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Vec<u8>>>>);

impl Seen {
    fn keep(&self, bytes: &[u8]) {
        self.0.lock().unwrap().push(bytes.to_vec());
    }

    /// Recorded pieces, one per message.
    pub(crate) fn pieces(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().clone()
    }
}

/// Starts a relay. Returns its address and its record; it runs until the process ends.
pub(crate) fn relay(gateway: SocketAddr) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Seen::default();
    let keeps = seen.clone();
    thread::spawn(move || {
        for page in listener.incoming() {
            let seen = keeps.clone();
            thread::spawn(move || pass(page.unwrap(), gateway, &seen));
        }
    });
    (address, seen)
}

/// Forwards requests of this connection until the page closes it.
fn pass(page: TcpStream, gateway: SocketAddr, seen: &Seen) {
    let mut client = Client::connect(gateway).unwrap();
    let mut reader = BufReader::new(page.try_clone().unwrap());
    let mut page = page;
    while let Ok(request) = read(&mut reader, seen) {
        let (status, answer) = post(&mut client, gateway, &request);
        seen.keep(&answer);
        let head = format!(
            "HTTP/1.1 {status} \r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        page.write_all(&[head.as_bytes(), &answer].concat())
            .unwrap();
    }
}

/// Reads the body of a request.
fn read(reader: &mut impl BufRead, seen: &Seen) -> io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        seen.keep(line.as_bytes());
        let line = line.trim_end().to_ascii_lowercase();
        match line.strip_prefix("content-length: ") {
            Some(value) => length = value.parse().unwrap(),
            None if line.is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    seen.keep(&body);
    Ok(body)
}

/// Sends a sealed request to a gateway, or to the relay of this module.
pub(crate) fn post(client: &mut Client, host: SocketAddr, sealed: &[u8]) -> (u16, Vec<u8>) {
    post_to(client, GATEWAY, &format!("host: {host}\r\n"), sealed)
}

/// Sends a sealed request to a path, with these further lines of its head.
pub(crate) fn post_to<S: Read + Write>(
    client: &mut Client<S>,
    path: &str,
    fields: &str,
    sealed: &[u8],
) -> (u16, Vec<u8>) {
    let head = format!(
        "POST {path} HTTP/1.1\r\n{fields}content-type: message/ohttp-req\r\n\
         content-length: {}\r\n\r\n",
        sealed.len()
    );
    client.write(&[head.as_bytes(), sealed].concat()).unwrap();
    client.read().unwrap()
}
