//! A network attacker who forwards all traffic and records it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A forwarder to an address.
pub(super) struct Network {
    pub(super) address: SocketAddr,
    passed: Arc<Mutex<Vec<u8>>>,
}

impl Network {
    pub(super) fn to(address: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let network = Self {
            address: listener.local_addr().unwrap(),
            passed: Arc::default(),
        };
        let passed = Arc::clone(&network.passed);
        thread::spawn(move || {
            for from in listener.incoming().flatten() {
                // The target is down, so the connection closes.
                let Ok(to) = TcpStream::connect(address) else {
                    continue;
                };
                let pairs = [(&from, &to), (&to, &from)];
                for (from, to) in pairs.map(|(from, to)| (from.try_clone(), to.try_clone())) {
                    let passed = Arc::clone(&passed);
                    thread::spawn(move || pass(from.unwrap(), to.unwrap(), &passed));
                }
            }
        });
        network
    }

    /// Bytes that passed so far.
    pub(super) fn passed(&self) -> Vec<u8> {
        self.passed.lock().unwrap().clone()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, passed: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        passed.lock().unwrap().extend_from_slice(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
