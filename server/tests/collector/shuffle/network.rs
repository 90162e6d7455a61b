//! A network attacker who forwards all traffic and records it.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use hushbin_tests::process::Client;

/// Traffic to one address, in both directions.
#[derive(Default)]
struct Traffic {
    bytes: Vec<u8>,
    /// Time and sender of each request.
    requests: Vec<(Instant, IpAddr)>,
}

/// A forwarder to an address.
pub(super) struct Network {
    pub(super) address: SocketAddr,
    traffic: Arc<Mutex<Traffic>>,
}

impl Network {
    /// Starts a forwarder. The target sees the addresses of the senders.
    pub(super) fn to(address: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let network = Self {
            address: listener.local_addr().unwrap(),
            traffic: Arc::default(),
        };
        let traffic = Arc::clone(&network.traffic);
        thread::spawn(move || {
            for from in listener.incoming().flatten() {
                let sender = from.peer_addr().unwrap().ip();
                // The target is down, so the connection closes.
                let Ok(to) = Client::connect_from(sender, address) else {
                    continue;
                };
                let to = to.into_socket();
                to.set_read_timeout(None).unwrap();
                let pairs = [(&from, &to, Some(sender)), (&to, &from, None)];
                for (from, to, sender) in pairs {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let traffic = Arc::clone(&traffic);
                    thread::spawn(move || pass(from, to, sender, &traffic));
                }
            }
        });
        network
    }

    /// Bytes that passed so far.
    pub(super) fn passed(&self) -> Vec<u8> {
        self.traffic.lock().unwrap().bytes.clone()
    }

    /// Time and sender of each `POST` request so far.
    pub(super) fn requests(&self) -> Vec<(Instant, IpAddr)> {
        self.traffic.lock().unwrap().requests.clone()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, sender: Option<IpAddr>, traffic: &Mutex<Traffic>) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let read = &bytes[..count];
        let mut traffic = traffic.lock().unwrap();
        traffic.bytes.extend_from_slice(read);
        if let Some(sender) = sender.filter(|_| read.starts_with(b"POST ")) {
            traffic.requests.push((Instant::now(), sender));
        }
        drop(traffic);
        if to.write_all(read).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
