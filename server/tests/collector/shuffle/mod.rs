//! Reports sealed by pages, sent through a shuffler to an analyser.

mod blocks;
mod crash;
#[cfg(target_os = "linux")]
mod learn;
mod network;
mod nodes;
#[cfg(target_os = "linux")]
mod page;
mod proxies;
mod relay;
mod repeats;
mod ring_sealer;
mod roles;
mod sealing_keys;
pub(crate) mod sums;
#[cfg(target_os = "linux")]
mod through;
#[cfg(target_os = "linux")]
mod together;

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use hushbin::sealed;
use hushbin::upload::EncodedUpload;
use hushbin::{Report, Task, Upload, UploadId};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_tests::marks::holds;
use hushbin_tests::postgres::Server;
use hushbin_tests::process::{
    Client, Collector, command, create_journal, hushbin, token_name, until,
};
use hushbin_tests::sealing::Sealer;
use hushbin_tests::uploads::{Uploads, draft};
use network::Network;
use serde_json::Value;

const TASK: &str = r#"{
    "id": "settings", "items": 40, "sparsity": 3, "epsilon": 2.0, "value": "sign"
}"#;

/// Keys and tasks of a shuffler and an analyser, and the locations of their journals.
pub(crate) struct World {
    directory: tempfile::TempDir,
    pub(crate) task: Task,
    /// Address of the analyser at every start.
    pub(crate) analyser: SocketAddr,
    /// True if all log lines go into a file next to the journal.
    pub(crate) logged: bool,
    /// Network that forwards all traffic between shuffler and analyser.
    network: Option<Network>,
    /// Servers that hold the journals of these names instead of directories.
    servers: Vec<(&'static str, Server)>,
    /// Address of an external database with the analyser's journal.
    store: Option<String>,
    /// File with the certificate of the proxy in front of the analyser, if there is one.
    certificates: Option<PathBuf>,
}

/// Returns a port that stays free while its collector is stopped: it is below the ephemeral ports.
pub(crate) fn free() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) + (process::id() % 97 * 100) as u16;
        let address = SocketAddr::from(([127, 0, 0, 1], 20_000 + step % 10_000));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

impl World {
    /// Uses a directory that has all files.
    pub(crate) fn over(directory: tempfile::TempDir) -> Self {
        Self {
            task: draft(TASK).resolve_task().unwrap(),
            analyser: free(),
            logged: false,
            network: None,
            servers: Vec::new(),
            store: None,
            certificates: None,
            directory,
        }
    }

    pub(crate) fn new() -> Self {
        let world = Self::over(tempfile::tempdir().unwrap());
        fs::write(world.path("task.json"), TASK).unwrap();
        for (name, purpose) in [
            ("shuffler", "signing"),
            ("analyser", "signing"),
            ("sealing", "sealing"),
            ("other", "signing"),
        ] {
            world.create_key(name, purpose);
        }
        world
    }

    /// Keeps both journals in databases, on separate servers.
    fn over_databases() -> Self {
        let names = ["shuffled", "analysed"];
        Self {
            servers: names.map(|name| (name, Server::start(&[]))).into(),
            ..Self::new()
        }
    }

    /// Server that holds the journal of this name, if any.
    fn server(&self, name: &str) -> Option<&Server> {
        let own = self.servers.iter().find(|(own, _)| *own == name);
        own.map(|(_, server)| server)
    }

    /// Arguments of commands for the location of the journal of this name.
    fn place(&self, name: &str) -> [String; 2] {
        let of_server = self.server(name).map(|server| server.address("postgres"));
        let elsewhere = self.store.clone().filter(|_| name == "analysed");
        match of_server.or(elsewhere) {
            Some(address) => ["--database".to_owned(), address],
            None => ["--data".to_owned(), self.text(name)],
        }
    }

    /// Contents of all files of the journal of this name, or of its server.
    fn disk(&self, name: &str) -> Vec<u8> {
        let directory = match self.server(name) {
            Some(server) => {
                server.ask("postgres", "CHECKPOINT");
                server.directory().to_owned()
            }
            None => self.path(name),
        };
        let mut all = Vec::new();
        add_files(&directory, &mut all);
        all
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Creates a private key and its public half, in files of this name.
    pub(crate) fn create_key(&self, name: &str, purpose: &str) {
        let private = self.text(&format!("{name}.pem"));
        let made = hushbin(&["key", "create", "--for", purpose, &private]);
        assert!(made.status.success(), "{made:?}");
        fs::write(self.path(&format!("{name}.pub")), made.stdout).unwrap();
    }

    fn start(&self, words: &[&str], data: &str, ready: &str) -> (Collector, SocketAddr) {
        let [option, place] = self.place(data);
        if option == "--data" {
            create_journal(place.as_ref());
        }
        let mut command = command();
        command.args(words).args([option, place]);
        command.arg("--task").arg(self.path("task.json"));
        if let Some(file) = &self.certificates {
            command.env("SSL_CERT_FILE", file);
        }
        if self.logged {
            let log = File::create(self.path(&format!("{data}.log"))).unwrap();
            command.args(["--log", "debug"]).stderr(log);
        } else {
            command.args(["--log", "error"]);
        }
        let mut started = Collector::start(command);
        let address = started.address_after(ready);
        (started, address)
    }

    /// Starts a shuffler whose batches close at `most` reports.
    pub(crate) fn shuffler(&self, most: u64) -> (Collector, SocketAddr) {
        self.shuffler_of(most, &[])
    }

    fn shuffler_of(&self, most: u64, more: &[&str]) -> (Collector, SocketAddr) {
        let network = self.network.as_ref().map(|network| network.address);
        let analyser = network.unwrap_or(self.analyser);
        self.shuffler_to(analyser, "shuffled", most, more)
    }

    /// Starts a shuffler with its journal in the directory of this name, and another analyser.
    fn shuffler_to(
        &self,
        analyser: SocketAddr,
        data: &str,
        most: u64,
        more: &[&str],
    ) -> (Collector, SocketAddr) {
        let scheme = match self.certificates {
            Some(_) => "https",
            None => "http",
        };
        let analyser = format!("{scheme}://{analyser}");
        let [key, of_analyser] = ["shuffler.pem", "analyser.pub"].map(|name| self.text(name));
        let most = most.to_string();
        let words = [
            "serve",
            "--role",
            "shuffler",
            "--listen",
            "127.0.0.1:0",
            "--analyser",
            &analyser,
            "--analyser-key",
            &of_analyser,
            "--signing-key",
            &key,
            "--batch-least",
            &most,
            "--batch-most",
            &most,
        ];
        self.start(&[&words, more].concat(), data, "hushbin shuffling")
    }

    /// Starts an analyser with these sealing keys, whose batches are closed by an admin.
    pub(crate) fn analyser_of(&self, sealing: &[&str]) -> Collector {
        self.analyser_at(self.analyser, sealing, &[])
    }

    fn analyser_at(&self, listen: SocketAddr, sealing: &[&str], more: &[&str]) -> Collector {
        let listen = listen.to_string();
        let [key, of_shuffler] = ["analyser.pem", "shuffler.pub"].map(|name| self.text(name));
        let mut words = vec![
            "serve",
            "--role",
            "analyser",
            "--listen",
            &listen,
            "--signing-key",
            &key,
            "--shuffler-key",
            &of_shuffler,
            "--batch-least",
            "1",
            "--batch-most",
            "1000000",
        ];
        let sealing: Vec<String> = sealing.iter().map(|name| self.text(name)).collect();
        for key in &sealing {
            words.extend(["--sealing-key", key]);
        }
        words.extend(more);
        self.start(&words, "analysed", "hushbin analysing").0
    }

    pub(crate) fn analyser(&self) -> Collector {
        self.analyser_of(&["sealing.pem"])
    }

    pub(crate) fn token(&self, data: &str) -> String {
        let [option, place] = self.place(data);
        let name = token_name();
        let words = ["token", "create", "--role", "admin", "--name", &name];
        let said = hushbin(&[&words[..], &[&option, &place]].concat());
        let failed = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{failed}");
        String::from_utf8(said.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Returns the sealing keys of the collector at this address, once it has them.
    pub(crate) fn keys(&self, address: SocketAddr) -> Vec<Vec<u8>> {
        let mut client = Client::connect(address).unwrap();
        let (mut status, mut body) = (503, Vec::new());
        until(|| {
            (status, body) = client.get("/tasks/settings/keys").unwrap();
            status != 503
        });
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 200, "{body}");
        let keys = body["keys"].as_array().unwrap().iter();
        keys.map(|key| from_hex(key.as_str().unwrap())).collect()
    }

    pub(crate) fn sealer(&self, address: SocketAddr, seed: u64) -> Sealer {
        Sealer::new(&self.keys(address)[0], seed)
    }

    /// Returns the bytes of an upload with sealed reports.
    pub(crate) fn seal(&self, sealer: &mut Sealer, upload: &Upload) -> Vec<u8> {
        let reports: Vec<u8> = upload
            .reports
            .iter()
            .flat_map(|report| sealer.seal(&encoded(report)))
            .collect();
        self.sealed(upload.id, upload.reports.len(), &reports)
    }

    /// Returns the bytes of an upload with one report that its key does not open.
    pub(crate) fn unopenable(&self, address: SocketAddr) -> Vec<u8> {
        let upload = Uploads::new(&self.task, 77).make(1);
        let mut bytes = self.seal(&mut self.sealer(address, 77), &upload);
        *bytes.last_mut().unwrap() ^= 1;
        bytes
    }

    /// Returns the bytes of an upload of `count` sealed reports.
    pub(crate) fn sealed(&self, id: UploadId, count: usize, reports: &[u8]) -> Vec<u8> {
        let count = count as u32;
        sealed::encode_upload(
            &EncodedUpload {
                id,
                report_count: count,
                encoded_reports: reports,
            },
            &self.task.fingerprint(),
        )
    }

    /// Releases the analyser's reports once it has `reports` of them, and returns the estimates.
    #[track_caller]
    pub(crate) fn estimates(&self, reports: u64) -> Value {
        let token = self.token("analysed");
        let ask = |request: &str| ask(self.analyser, &token, request);
        until(|| {
            let (_, batches) = ask("GET /tasks/settings/batches");
            let batches = batches["batches"].as_array().unwrap().clone();
            let sum = |state: &str| -> u64 {
                let of = batches.iter().filter(|batch| batch["state"] == state);
                of.map(|batch| batch["reports"].as_u64().unwrap()).sum()
            };
            let all = sum("released") + sum("closed") + sum("open");
            assert!(all <= reports, "{all} reports, expected {reports}");
            if all == reports && sum("open") > 0 {
                // A batch that is due closes by itself, perhaps between the two requests.
                let (status, answer) = ask("POST /tasks/settings/batches");
                assert!([202, 409].contains(&status), "{answer}");
            }
            sum("released") == reports
        });
        ask("GET /tasks/settings/estimates").1
    }

    /// Sends an upload to the shuffler. Waits until the shuffler has asked its analyser for new keys.
    #[track_caller]
    fn post_once_listed(&self, address: SocketAddr, bytes: &[u8]) {
        let mut client = Client::connect(address).unwrap();
        until(|| client.post("settings", bytes).unwrap().0 != 503);
    }
}

/// Sends a request with this token and returns the response.
pub(crate) fn ask(address: SocketAddr, token: &str, request: &str) -> (u16, Value) {
    let mut client = Client::connect(address).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n"
    );
    client.write(head.as_bytes()).unwrap();
    let (status, body) = client.read().unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

fn encoded(report: &Report) -> Vec<u8> {
    let mut bytes = Vec::new();
    report.encode(&mut bytes);
    bytes
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

/// Estimates from exactly these reports.
pub(crate) fn expected<'a>(task: &Task, uploads: impl IntoIterator<Item = &'a Upload>) -> Value {
    let mut totals = Totals::new(task);
    for upload in uploads {
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
    }
    let query = EstimateQuery::new(task, &EstimateOptions::default()).unwrap();
    serde_json::to_value(estimates_for_query(task, &totals, &query)).unwrap()
}

/// Appends the contents of all files below a directory, in the order of their names.
fn add_files(directory: &Path, all: &mut Vec<u8>) {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => add_files(&path, all),
            // Sockets and files that were deleted meanwhile are skipped.
            false if path.is_file() => all.extend(fs::read(&path).unwrap_or_default()),
            false => {}
        }
    }
}
