//! Clients that mean harm, against the real binary: others are served meanwhile, and
//! memory stays bounded.
//!
//! What is asserted are states and bounds, never speed. `HUSHBIN_HOSTILE=full` makes attacks as
//! large as those that the bounds were made for, and prints the memory that each took.

mod headers;
mod idle;
mod peers;
mod unread;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use hushbin_tests::process::{Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::support::{SETTINGS, tls};

/// Whether attacks are to have their full size.
fn full() -> bool {
    std::env::var_os("HUSHBIN_HOSTILE").is_some_and(|size| size == "full")
}

/// What requests and answers go over.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A collector under attack, on a data directory that vanishes with it.
struct Victim {
    collector: Collector,
    address: SocketAddr,
    /// Resident memory before the attack.
    calm: u64,
    /// Sockets while nobody is connected.
    silent: usize,
    uploads: Uploads,
    /// Its own, where it encrypts.
    certificate: Option<CertificateDer<'static>>,
    _directory: tempfile::TempDir,
}

impl Victim {
    /// With the task "settings", and more of them.
    fn new(more_tasks: &[&str], options: &[&str]) -> Self {
        Self::on(tempfile::tempdir().unwrap(), None, more_tasks, options)
    }

    /// With the task "settings", by HTTPS.
    fn encrypted(options: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificate = tls::issue(directory.path());
        let file = |name| directory.path().join(name).display().to_string();
        let (chain, key) = (file("certificate.pem"), file("key.pem"));
        let mut all = vec!["--tls-certificate", &chain, "--tls-key", &key];
        all.extend(options);
        Self::on(directory, Some(certificate), &[], &all)
    }

    fn on(
        directory: tempfile::TempDir,
        certificate: Option<CertificateDer<'static>>,
        more_tasks: &[&str],
        options: &[&str],
    ) -> Self {
        let write = |index: usize, task: &str| {
            let path = directory.path().join(format!("task-{index}.json"));
            fs::write(&path, task).unwrap();
            path
        };
        let mut files = vec![write(0, SETTINGS)];
        files.extend(more_tasks.iter().enumerate().map(|(i, t)| write(i + 1, t)));
        let files: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
        let data = directory.path().join("data");
        let mut collector = Collector::spawn(&data, &files, options);
        let address = collector.address();
        let mut victim = Self {
            calm: 0,
            silent: collector.sockets(),
            address,
            collector,
            uploads: Uploads::new(&draft(SETTINGS).resolve().unwrap(), 1),
            certificate,
            _directory: directory,
        };
        victim.serves_others();
        victim.calm = victim.collector.memory();
        victim
    }

    /// A connection of somebody who waits so long for answers.
    fn connect(&self, patience: Duration) -> Client<Box<dyn Stream>> {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(patience)).unwrap();
        Client::new(match &self.certificate {
            None => Box::new(socket),
            Some(own) => Box::new(tls::encrypt(socket, &tls::trusting(own)).unwrap()),
        })
    }

    /// An honest client is answered, takes part and reads.
    fn serves_others(&mut self) {
        let mut honest = self.connect(Duration::from_secs(300));
        assert_eq!(honest.get("/livez").unwrap().0, 200);
        let bytes = self.uploads.bytes(1);
        assert_eq!(honest.post("settings", &bytes).unwrap().0, 201);
        let (status, _) = honest.get("/tasks/settings/estimates").unwrap();
        assert_eq!(status, 200);
    }

    /// Waits until the collector has no connection any more.
    fn wait_for_silence(&self) {
        while self.collector.sockets() > self.silent {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asserts that the attack took no more memory than this so far.
    #[track_caller]
    fn took_at_most(&self, attack: &str, bytes: u64) {
        let took = self.collector.memory().saturating_sub(self.calm);
        if full() {
            println!("{attack}: {} MB", took >> 20);
        }
        assert!(took <= bytes, "{attack} took {} MB", took >> 20);
    }
}
