//! Several processes over one database.

mod connections;
mod drills;
mod failover;
mod share;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hushbin::{Task, Upload};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
pub(crate) use hushbin_tests::process::until;
use hushbin_tests::process::{Client, Collector, command, hushbin, token_name};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use crate::support::SETTINGS;

/// Longest time that other nodes may wait for a frozen one, or for a change. The database ends the
/// transaction of a frozen node after three seconds. The bound is far above that, for slow machines.
const PATIENCE: Duration = Duration::from_secs(120);

/// A database, and the options of its nodes.
pub(crate) struct Nodes {
    directory: tempfile::TempDir,
    pub(crate) store: String,
    task: Task,
}

impl Nodes {
    pub(crate) fn over(store: String) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let nodes = Self {
            store,
            task: draft(SETTINGS).resolve_task().unwrap(),
            directory,
        };
        std::fs::write(nodes.path("task.json"), SETTINGS).unwrap();
        nodes
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A collector that closes batches only on request.
    fn collector(&self, more: &[&str]) -> (Collector, SocketAddr) {
        self.collector_at(&self.store, more)
    }

    /// A collector that reaches the database at another address.
    fn collector_at(&self, store: &str, more: &[&str]) -> (Collector, SocketAddr) {
        let mut command = self.command(store);
        command.args(["--log", "error"]).args(more);
        let mut started = Collector::start(command);
        let read_only = more.contains(&"--read-only");
        let address = started.address_after(match read_only {
            true => "hushbin serving read-only",
            false => "hushbin listening",
        });
        (started, address)
    }

    /// Command of a collector that closes batches only on request.
    fn command(&self, store: &str) -> std::process::Command {
        let mut command = command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", store]);
        command.arg("--task").arg(self.path("task.json"));
        command.args(["--batch-least", "1", "--batch-most", "1000000"]);
        command
    }

    /// A collector that writes its log to a file, and a function that reads the file.
    pub(crate) fn logging_collector(
        &self,
        store: &str,
    ) -> (Collector, SocketAddr, impl Fn() -> String) {
        let path = self.path("log");
        let mut command = self.command(store);
        command.stderr(std::fs::File::create(&path).unwrap());
        let mut started = Collector::start(command);
        let address = started.address();
        (started, address, move || {
            std::fs::read_to_string(&path).unwrap()
        })
    }

    /// Runs a command on the database and returns its output.
    fn says(&self, words: &[&str]) -> String {
        let said = hushbin(&[words, &["--database", &self.store]].concat());
        let failed = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{words:?}: {failed}");
        String::from_utf8(said.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    fn token(&self, role: &str) -> String {
        self.says(&["token", "create", "--role", role, "--name", &token_name()])
    }

    /// Estimates from exactly these uploads.
    fn expected<'a>(&self, uploads: impl IntoIterator<Item = &'a Upload>) -> Value {
        let mut totals = Totals::new(&self.task);
        for upload in uploads {
            upload
                .reports
                .iter()
                .for_each(|report| totals.add_report(report));
        }
        let query = EstimateQuery::new(&self.task, &EstimateOptions::default()).unwrap();
        serde_json::to_value(estimates_for_query(&self.task, &totals, &query)).unwrap()
    }

    /// Releases all reports through this node.
    fn release(&self, address: SocketAddr, token: &str) {
        until(|| {
            let (status, said) = ask(address, token, "POST /tasks/settings/batches", "");
            // After the loss of a host, tokens may not be readable for a moment.
            assert!([202, 503].contains(&status), "{said}");
            status == 202
        });
        until(|| {
            let (_, said) = ask(address, token, "GET /tasks/settings/batches", "");
            let batches = said["batches"].as_array().unwrap().clone();
            !batches.iter().any(|batch| batch["state"] == "closed")
        });
    }
}

/// Sends a request with this token and returns the response.
pub(crate) fn ask(address: SocketAddr, token: &str, request: &str, body: &str) -> (u16, Value) {
    let (status, bytes) = bytes_of(address, token, request, body);
    let said = match bytes.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&bytes).unwrap(),
    };
    (status, said)
}

fn bytes_of(address: SocketAddr, token: &str, request: &str, body: &str) -> (u16, Vec<u8>) {
    let mut client = Client::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    client.write(head.as_bytes()).unwrap();
    client.read().unwrap()
}

/// Stops the senders when it is dropped, at the end or by a failed assertion. Otherwise their scope
/// would wait forever.
pub(crate) struct AtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A client that sends until it is stopped, and resends uploads without acknowledgement.
pub(crate) struct Sender {
    uploads: Uploads,
    pub(crate) acknowledged: Vec<Upload>,
    pub(crate) open: Option<Upload>,
}

impl Sender {
    pub(crate) fn new(task: &Task, seed: u64) -> Self {
        Self {
            uploads: Uploads::new(task, seed),
            acknowledged: Vec::new(),
            open: None,
        }
    }

    /// Sends to all addresses in turn, by its own connections.
    pub(crate) fn run(&mut self, task: &Task, addresses: &[SocketAddr], stop: &AtomicBool) {
        for address in addresses.iter().cycle() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let Ok(mut client) = Client::connect(*address) else {
                continue;
            };
            while !stop.load(Ordering::Relaxed) && self.send(task, &mut client) {}
        }
    }

    /// Sends an upload. Returns whether the connection can be reused.
    pub(crate) fn send(&mut self, task: &Task, client: &mut Client) -> bool {
        let reports = 1 + self.acknowledged.len() % 5;
        let open = self.open.take();
        let upload = open.unwrap_or_else(|| self.uploads.make(reports));
        match client.post(task.id(), &upload.encode(&task.fingerprint())) {
            Ok((200 | 201, _)) => {
                self.acknowledged.push(upload);
                true
            }
            // The node is unavailable, so the upload goes to another.
            Ok((503, _)) | Err(_) => {
                self.open = Some(upload);
                false
            }
            Ok((status, body)) => panic!("{status}: {}", String::from_utf8_lossy(&body)),
        }
    }
}
