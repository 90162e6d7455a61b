//! Hostile clients against the real binary: honest clients are still served, and memory stays
//! bounded.
//!
//! The tests assert states and bounds, never speed. `HUSHBIN_HOSTILE=full` runs attacks of the size
//! that the bounds are made for, and prints the memory of each.

mod headers;
mod idle;
mod peers;
mod unread;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use hushbin_tests::process::{Client, Collector, until};
use hushbin_tests::uploads::{Uploads, draft};
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::support::{SETTINGS, tls};

/// Returns whether attacks have the full size.
fn full() -> bool {
    std::env::var_os("HUSHBIN_HOSTILE").is_some_and(|size| size == "full")
}

/// Transport of requests and responses.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A collector under attack, on a temporary data directory.
struct Victim {
    collector: Collector,
    address: SocketAddr,
    /// Resident memory in bytes before the attack.
    calm: u64,
    /// Open sockets without any connection.
    silent: usize,
    uploads: Uploads,
    /// Certificate of an encrypted collector.
    certificate: Option<CertificateDer<'static>>,
    _directory: tempfile::TempDir,
}

impl Victim {
    /// Starts a collector with the task "settings" and further ones.
    fn new(more_tasks: &[&str], options: &[&str]) -> Self {
        Self::on(tempfile::tempdir().unwrap(), None, more_tasks, options)
    }

    /// Starts a collector with the task "settings" over HTTPS.
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
            uploads: Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1),
            certificate,
            _directory: directory,
        };
        victim.serves_others();
        victim.calm = victim.collector.memory();
        victim
    }

    /// Connects with `patience` as the timeout of responses.
    fn connect(&self, patience: Duration) -> Client<Box<dyn Stream>> {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(patience)).unwrap();
        Client::new(match &self.certificate {
            None => Box::new(socket),
            Some(own) => Box::new(tls::encrypt(socket, &tls::trusting(own)).unwrap()),
        })
    }

    /// Checks that an honest client can upload and read.
    fn serves_others(&mut self) {
        let mut honest = self.connect(Duration::from_secs(300));
        assert_eq!(honest.get("/livez").unwrap().0, 200);
        let bytes = self.uploads.bytes(1);
        assert_eq!(honest.post("settings", &bytes).unwrap().0, 201);
        let (status, _) = honest.get("/tasks/settings/estimates").unwrap();
        assert_eq!(status, 200);
    }

    /// Waits until the collector has no connection.
    fn wait_for_silence(&self) {
        until(|| self.collector.sockets() <= self.silent);
    }

    /// Checks that the attack used at most this much memory so far.
    #[track_caller]
    fn took_at_most(&self, attack: &str, bytes: u64) {
        let took = self.collector.memory().saturating_sub(self.calm);
        if full() {
            println!("{attack}: {} MB", took >> 20);
        }
        assert!(took <= bytes, "{attack} took {} MB", took >> 20);
    }
}
