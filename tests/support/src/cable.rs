//! A cable between two machines that a test can pull: a TCP forwarder on a local port.
//!
//! While the cable is pulled, the forwarder reads and writes nothing, and keeps all sockets open. So
//! neither end gets a FIN or a RST. This needs no privileges, and works on all systems. It is
//! stricter than a real cable: the kernel still acknowledges bytes, so that neither TCP keepalives
//! nor `TCP_USER_TIMEOUT` notice anything.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two looks at the state of the cable.
const POLL: Duration = Duration::from_millis(5);

/// A forwarder to one address. Its connections end when it is dropped.
pub struct Cable {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_pulled: AtomicBool,
    is_dropped: AtomicBool,
}

impl State {
    /// Waits while the cable is pulled. Returns false if the forwarder is dropped.
    fn wait_until_plugged(&self) -> bool {
        while self.is_pulled.load(Ordering::SeqCst) && !self.is_dropped.load(Ordering::SeqCst) {
            thread::sleep(POLL);
        }
        !self.is_dropped.load(Ordering::SeqCst)
    }
}

impl Cable {
    /// Starts a forwarder to `target`, on a free local port.
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let state = Arc::new(State::default());
        let own = Arc::clone(&state);
        thread::spawn(move || {
            while !own.is_dropped.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((near, _)) => {
                        let own = Arc::clone(&own);
                        thread::spawn(move || connect(&near, target, &own));
                    }
                    Err(_) => thread::sleep(POLL),
                }
            }
        });
        Self { address, state }
    }

    /// Returns the address of the forwarder.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops forwarding in both directions.
    pub fn pull(&self) {
        self.state.is_pulled.store(true, Ordering::SeqCst);
    }

    /// Forwards again, first the bytes that have waited.
    pub fn plug(&self) {
        self.state.is_pulled.store(false, Ordering::SeqCst);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.state.is_dropped.store(true, Ordering::SeqCst);
    }
}

/// Connects a client to the target, and forwards in both directions.
fn connect(near: &TcpStream, target: SocketAddr, state: &Arc<State>) {
    if !state.wait_until_plugged() {
        return;
    }
    // If the target refuses, the client's connection ends.
    let Ok(far) = TcpStream::connect(target) else {
        return;
    };
    for socket in [near, &far] {
        socket.set_nonblocking(false).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(POLL)).unwrap();
    }
    let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let own = Arc::clone(state);
    thread::spawn(move || forward(&from, &to, &own));
    forward(&far, near, state);
}

/// Forwards bytes until either end closes.
fn forward(mut from: &TcpStream, mut to: &TcpStream, state: &State) {
    let mut bytes = vec![0; 1 << 16];
    while state.wait_until_plugged() {
        let read = match from.read(&mut bytes) {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => 0,
        };
        // The cable may have been pulled while this thread was reading.
        if !state.wait_until_plugged() || read == 0 || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
